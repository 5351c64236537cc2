"""Where steps end: on samples, on whole steps, and on every instant at which something is known to jump."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.simulation.plant.disturbances import Disturbance, PayloadChange, Wrench
from manipula.simulation.stepping.instants import in_order

FAR = 1e300  # s, later than anything
SNAP = 1e-14  # of a time of size 1, about forty units in the last place: instants closer than this are one
DIVERGED = 1e10  # |x| beyond which a run has diverged
MOST_PARTS = 1e15  # of steps between two samples: no bound, time always advances
WHOLE = 1.0  # parts are taken as they are
LOOKS = 1e-3  # s, and of a run: what does not depend on steps is compared with limits at least so often
RATIO = 2.0 - 2.0**0.5  # where a verification divides every part: irrational, so that nothing periodic hides from both


class Grid(NamedTuple):
    """Run-time data of a compiled loop that say where its steps end.

    Attributes:
        times: of the samples, (S,).
        marks, ends: known instants as a table: the first mark after t is the value of the piece that t lies in, (k + 1,), (k, 1).
        low, high: positions beyond which a run ends, (n,).
    """

    times: Any
    marks: Any
    ends: Any
    low: Any
    high: Any

    @classmethod
    def of(cls, times: np.ndarray, instants: np.ndarray, low: np.ndarray, high: np.ndarray) -> Grid:
        inner = in_order(instants[(instants > times[0]) & (instants < times[-1])])
        marks = np.concatenate([[-FAR], inner, [FAR]])
        return cls(times, marks, marks[1:, None].copy(), low, high)

    def with_marks(self, more: np.ndarray) -> Grid:
        """The same samples with more instants on which steps end."""
        return Grid.of(self.times, np.concatenate([self.marks[1:-1], more]), self.low, self.high)

    def with_wider_limits(self, tolerance: float) -> Grid:
        """The same, but a run ends only where it is beyond a limit by more than it is exact: a repetition of a run that touches one goes on."""
        low, high = (np.asarray(x, float) for x in (self.low, self.high))
        more = [tolerance * np.fmax(1.0, np.abs(np.where(np.isfinite(x), x, 0.0))) for x in (low, high)]
        return self._replace(low=low - more[0], high=high + more[1])

    def steps(self, h: float) -> float:
        """How many steps of h a run takes, roughly: whole ones, and one more at every sample and mark."""
        return float(self.times[-1] - self.times[0]) / h + len(self.times) + len(self.marks)

    @property
    def intervals(self) -> int:
        """Intervals between samples."""
        return len(self.times) - 1


def inputs_of(n: int) -> dict[str, tuple[Any, ...]]:
    """Shapes of a grid among the inputs of a compiled loop, all of them shared by a batch."""
    return {"times": ("s",), "marks": ("k+1",), "ends": ("k", 1), "low": (n,), "high": (n,), "samples": ()}


def margin(t: Any) -> Any:
    """How far apart two instants near t may be and still be the same one."""
    return SNAP * (1.0 + ops.abs(t))


def stage_times(t: Any, h: Any) -> Any:
    """Stage times of the step from t to t + h, kept off its ends by some rounding errors.

    Where a reference or a disturbance jumps on the border of two steps, each step sees its own side of the jump.
    """
    off = 2.0 * margin(t)
    return lambda s: ops.minimum(ops.maximum(s, t + off), t + h - off)


def switching(disturbances: Sequence[Disturbance]) -> list[Any]:
    """Instants at which disturbances begin and end, traced or plain: each run of a batch may have its own."""
    found: list[Any] = []
    for d in disturbances:
        if isinstance(d, Wrench):
            found += [d.start, d.stop]
        elif isinstance(d, PayloadChange):
            found.append(d.time)
    return found


def first_after(marks: Any, ends: Any, own: Sequence[Any] = ()) -> Callable[[Any], Any]:
    """``first(t)``: the first of the marks, and of the instants ``own``, that lies after t."""
    table = native.table(marks, ends)

    def first(t: Any) -> Any:
        past = t + margin(t)
        found = table(past)
        for instant in own:
            found = ops.minimum(found, ops.where(instant > past, instant, FAR))
        return found

    return first


def halved(t: Any, end: Any, half: Any, ratio: Any) -> tuple[Any, Any]:
    """Where the part of a step from t towards ``end`` stops, and whether it stops on the way (ratio < 1, a verification)."""
    half = ops.where((half < 0.5) & (ratio < 1.0), 1.0, 0.0)
    return ops.where(half > 0.5, t + ratio * (end - t), end), half


def watch_step(step: float, duration: float) -> float:
    """The time between two looks at a motion whose accuracy does not depend on its step."""
    return min(step, LOOKS, LOOKS * duration)


def every(width: float, duration: float) -> np.ndarray:
    """The multiples of a width from 0 on, and the end."""
    inner = np.arange(math.ceil(duration / width * (1.0 - 1e-12))) * width
    return np.append(inner, duration)


def periods(delay: float, step: float) -> int:
    """Control periods that a delay reaches into: 0 for none, 1 for less than one period, 2 for one up to two."""
    return 0 if delay == 0.0 else math.floor(delay / step * (1.0 + 1e-12) + 1e-12) + 1


def diverged(x: Any, n: int) -> Any:
    """Have positions and velocities left all bounds, or is anything not finite?"""
    size: Any = 0.0
    for value in x[: 2 * n]:
        size = size + ops.abs(value)
    rest: Any = 0.0
    for value in x[2 * n :]:
        rest = rest + value
    return ops.where((size <= DIVERGED) & native.is_finite(rest), 0.0, 1.0) > 0.5


def beyond(x: Any, grid: Grid) -> Any:
    """Is a joint outside its range (where the run ends there)?"""
    out: Any = 0.0
    for q, low, high in zip(x, grid.low, grid.high):
        out = ops.where((q < low) | (q > high), 1.0, out)
    return out > 0.5


def must_end(x: Any, n: int, grid: Grid) -> Any:
    """Must the run end in this state?"""
    return diverged(x, n) | beyond(x, grid)
