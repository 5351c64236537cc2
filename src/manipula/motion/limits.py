"""Does a trajectory keep its limits? Peaks with their times, coordinate by coordinate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.arguments import between, function_of, positive, real_array, rows_of, whole_number
from manipula.algebra.value import Value
from manipula.errors import DescriptionError, ShapeError, told_apart
from manipula.motion.trajectory import Trajectory

MOST_SAMPLES = 1_000_000
QUANTITIES = ("position", "velocity", "acceleration", "jerk")
JUMP = 1e-6  # of the largest value: a smaller step at a break is rounding


@dataclass(frozen=True, eq=False, repr=False)
class Peak(Value):
    """The extreme of one coordinate toward one limit.

    Attributes:
        quantity: position, velocity, acceleration, jerk or speed.
        coordinate: its index; −1 for the speed.
        value: the extreme value.
        limit: the limit on that side.
        time: when [s].
        excess: how far it lies beyond the limit; negative when kept.
    """

    quantity: str
    coordinate: int
    value: float
    limit: float
    time: float
    excess: float


@dataclass(frozen=True, eq=False, repr=False)
class LimitReport(Value):
    """Outcome of :func:`check_limits`; true when everything is kept."""

    kept: bool
    peaks: tuple[Peak, ...]
    violations: tuple[Peak, ...]
    unreachable: tuple[float, ...] = ()

    def __bool__(self) -> bool:
        return self.kept

    def __str__(self) -> str:
        if self.kept:
            return "All limits are kept."
        lines = []
        for v in self.violations:
            value, limit = told_apart(v.value, v.limit)
            what = v.quantity if v.coordinate < 0 else f"{v.quantity} of coordinate {v.coordinate}"
            lines.append(f"{what} is {value} at t = {v.time:.6g} s; the limit is {limit}.")
        if self.unreachable:
            lines.append(
                f"{len(self.unreachable)} sampled positions cannot be reached, first at t = {self.unreachable[0]:.6g} s."
            )
        return "\n".join(lines)


def check_limits(
    trajectory: Trajectory,
    *,
    position: Any = None,
    velocity: Any = None,
    acceleration: Any = None,
    jerk: Any = None,
    speed: float | None = None,
    reachable: Callable[[np.ndarray], np.ndarray] | None = None,
    samples: int = 2001,
    tolerance: float = 1e-9,
) -> LimitReport:
    """Compare a motion with limits, on both sides of every break and at peaks refined between samples.

    Where a derivative jumps at a break inside the motion (a corner passed with speed, a change of phase of the law) the next ones are
    infinite.

    Args:
        position: (lower, upper), each one number or one a coordinate.
        velocity, acceleration, jerk: greatest magnitudes, one number or one a coordinate.
        speed: greatest Euclidean norm of the velocity (reported as coordinate −1).
        reachable: function of positions (N, dimension) that says which can be reached.
        samples: evenly spaced instants, to which the breaks are added, and where formulas have to be looked at.
        tolerance: relative excess that is still taken as rounding.
    """
    if not isinstance(trajectory, Trajectory):
        raise DescriptionError(
            f"'trajectory' must be a trajectory such as mp.trajectory(path, law); found {type(trajectory).__name__}.",
            field="trajectory",
        )
    speed = None if speed is None else positive(speed, "speed")
    tolerance = between(tolerance, "tolerance", 0.0, 1.0)
    t, side_left = _instants(trajectory, whole_number(samples, "samples", 2, MOST_SAMPLES))
    order = 3 if jerk is not None else 2
    values = trajectory.derivatives(t, order)
    values[:, side_left] = trajectory.derivatives(t[side_left], order, "left")
    wanted: list[tuple[int, int, float, float]] = []  # derivative, coordinate, sign, limit
    for k, (quantity, limit) in enumerate(zip(QUANTITIES, (position, velocity, acceleration, jerk))):
        if limit is not None:
            low, high = _bounds(limit, quantity, trajectory.dimension)
            for i in range(trajectory.dimension):
                wanted += [(k, i, 1.0, float(high[i])), (k, i, -1.0, float(low[i]))]
    peaks = _with_jumps(trajectory, values, wanted, _peaks(trajectory, t, values, wanted))
    if speed is not None:
        norm = np.linalg.norm(values[1], axis=-1)
        at = int(np.argmax(norm))
        peaks.append(Peak("speed", -1, float(norm[at]), float(speed), float(t[at]), float(norm[at] - speed)))
    violations = tuple(p for p in peaks if p.excess > tolerance * max(1.0, abs(p.limit)))
    missed: tuple[float, ...] = ()
    if reachable is not None:
        answers = np.asarray(function_of(reachable, "reachable", "positions")(values[0]))
        if answers.shape != t.shape or answers.dtype != bool:
            raise ShapeError(
                f"'reachable' must say True or False for each of {len(t)} positions; found {answers.dtype} {answers.shape}."
            )
        missed = tuple(float(x) for x in t[~answers])
    return LimitReport(not violations and not missed, tuple(peaks), violations, missed)


def _instants(trajectory: Trajectory, samples: int) -> tuple[np.ndarray, np.ndarray]:
    breaks = trajectory.breaks
    looked = np.concatenate([np.linspace(0.0, trajectory.duration, samples), trajectory.looks().places])
    t = np.concatenate([looked, breaks, breaks])
    left = np.concatenate([np.zeros(len(looked) + len(breaks), bool), np.ones(len(breaks), bool)])
    left &= t > 0
    order = np.lexsort((~left, t))
    return t[order], left[order]


def _bounds(limit: Any, quantity: str, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits, shape (dimension,) each; infinities mean no limit."""
    given = rows_of(limit, quantity) if quantity == "position" else (limit,)
    if quantity == "position" and len(given) != 2:
        raise ShapeError(f"The limits of position are (lower, upper); found {len(given)} entries.")
    sides = [real_array(x, quantity) for x in given]
    for x in sides:
        if x.shape not in ((), (dimension,)):
            raise ShapeError(f"The limit of {quantity} must be one number or {dimension}; found shape {x.shape}.")
    low, high = (np.broadcast_to(x, (dimension,)) for x in (sides if len(sides) == 2 else (-sides[0], sides[0])))
    if np.any(np.isnan(low)) or np.any(np.isnan(high)) or np.any(low > high):
        shown = ", ".join(f"{a:g} to {b:g}" for a, b in zip(low, high))
        raise DescriptionError(
            f"The limits of {quantity} must not be nan and lower ≤ upper; found {shown}.", field=quantity
        )
    return low, high


def _peaks(
    trajectory: Trajectory, t: np.ndarray, values: np.ndarray, wanted: list[tuple[int, int, float, float]]
) -> list[Peak]:
    """The extremes, refined by three rounds of denser samples around the best one."""
    if not wanted:
        return []
    k, i = np.array([w[0] for w in wanted]), np.array([w[1] for w in wanted])
    sign = np.array([w[2] for w in wanted])
    row = np.arange(len(wanted))
    x = sign[:, None] * values[k, :, i]
    at = np.argmax(x, axis=1)
    best, when = x[row, at], t[at]
    low, high = t[np.maximum(at - 1, 0)], t[np.minimum(at + 1, len(t) - 1)]
    for _ in range(3):
        times = np.linspace(low, high, 33, axis=1)
        found = trajectory.derivatives(times, len(values) - 1)
        x = sign[:, None] * found[k, row, :, i]
        at = np.argmax(x, axis=1)
        better = x[row, at] > best
        best, when = np.where(better, x[row, at], best), np.where(better, times[row, at], when)
        low, high = times[row, np.maximum(at - 1, 0)], times[row, np.minimum(at + 1, 32)]
    return [
        Peak(QUANTITIES[w[0]], w[1], float(w[2] * b), w[3], float(time), float(b - w[2] * w[3]))
        for w, b, time in zip(wanted, best, when)
    ]


def _with_jumps(
    trajectory: Trajectory, values: np.ndarray, wanted: list[tuple[int, int, float, float]], peaks: list[Peak]
) -> list[Peak]:
    """The peaks, infinite where a lower derivative jumps."""
    breaks = trajectory.breaks[1:-1]
    if not len(breaks) or not peaks:
        return peaks
    order = max(w[0] for w in wanted)
    left, right = (trajectory.derivatives(breaks, order, side) for side in ("left", "right"))
    size = np.abs(values[: order + 1]).max(axis=(1, 2))[:, None, None]
    steps = np.where(np.abs(right - left) > JUMP * np.maximum(size, 1e-12), right - left, 0.0)
    out = []
    for (k, i, sign, limit), peak in zip(wanted, peaks):
        torn = (steps[: max(k - 1, 0), :, i] != 0).any(axis=0)  # a jump of something lower goes both ways
        torn |= sign * steps[k - 1, :, i] > 0 if k else False
        if torn.any() and np.isfinite(limit):
            when = float(breaks[int(np.argmax(torn))])
            peak = Peak(peak.quantity, i, sign * float("inf"), limit, when, float("inf"))
        out.append(peak)
    return out
