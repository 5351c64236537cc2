r"""The fastest speed profile under linear constraints along a path, by one pass back and one forth.

With :math:`x=\dot s^2` and :math:`u=\ddot s`, constant u between grid points gives :math:`x_{i+1}=x_i+2\Delta_i u_i`, and
limits of acceleration and torque are linear: :math:`\ell\le a\,u+b\,x+c\le h`. The backward pass finds the largest
:math:`x_i` from which the end can be reached, the forward pass takes the largest :math:`u_i` that stays below it
[Pham & Pham, *A new approach to time-optimal path parameterization based on reachability analysis*, 2018].

Each pass is a sequence of two-variable linear programs. Eliminating u (Fourier–Motzkin) leaves, for a stage whose rows
read :math:`\underline m_k - r_k x\le u\le \overline m_k - r_k x` with :math:`r=b/a`,

.. math::
    K_i=\min\Big(\mathrm{cap}_i,\ \min_k \frac{K_{i+1}-2\Delta\,\underline m_k}{1-2\Delta r_k}\Big),\qquad
    x_{i+1}=\min\Big(K_{i+1},\ \min_k\, 2\Delta\,\overline m_k+(1-2\Delta r_k)x_i\Big)

where :math:`\mathrm{cap}_i` (no u is left above it) does not depend on the pass. The rows of all stages are solved for u in one
batched call of machine code, and each pass is one compiled loop.

The result is the pointwise largest profile on the grid whenever all 1 − 2Δr_k are positive. Near a vanishing a that needs
a fine grid; on a coarse one the greedy forward pass can give away a little time there, but never breaks a row.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.identity import identity

INFINITE = float("inf")
FLAT = 1e-12  # a row whose |a| is below this share of the largest does not limit u (zero-inertia point): it limits x


@dataclass(frozen=True)
class Stages:
    """Two-sided constraints ``low ≤ a u + b x + c ≤ high`` of N stages, with x from x_i; a, b, c of shape (N, m).

    Attributes:
        low, high: shape (N, m), or (m,) when they are the same everywhere.
        delta: grid steps, shape (N,).
        x_max: bounds of x at the grid points, shape (N + 1,).
    """

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    low: np.ndarray
    high: np.ndarray
    delta: np.ndarray
    x_max: np.ndarray


@dataclass(frozen=True)
class PhasePlane:
    """Outcome: ``x`` (N + 1,) on success, else None with the grid point where it failed and why."""

    x: np.ndarray | None
    cap: np.ndarray
    failed_at: int = -1
    reason: str = ""


def solved_for_u(
    a: Any, b: Any, c: Any, low: Any, high: Any, delta: Any, x_max: Any, flat_below: Any, flat_rows: bool = True
) -> Any:
    """The m rows of one stage solved for u, ``down ≤ 2Δu + (1 − slope) x ≤ up``, over any scalar: one row of a table.

    It holds up, slope, down, offset and gain of all rows (``x_i ≤ offset + gain·x_{i+1}`` is what rows with a positive slope ask for on the
    way back), then the interval floor … cap of x in which some u is left, and how much room standing still has. Without ``flat_rows`` the
    room is NaN where a row would have been flat: such a stage has to be solved with them.
    """
    m, step = len(a), 2.0 * delta
    up, down, r = [], [], []
    cap, floor = x_max, 0.0 * x_max
    missed: Any = False
    for k in range(m):
        flat = ops.abs(a[k]) <= flat_below
        over, under = high[k] - c[k], low[k] - c[k]
        inverse = 1.0 / (ops.where(flat, 1.0, a[k]) if flat_rows else a[k])
        one, two = over * inverse, under * inverse
        if not flat_rows:
            missed = missed | flat
            up.append(_greater(one, two))
            down.append(_lesser(one, two))
            r.append(b[k] * inverse)
            continue
        up.append(ops.where(flat, INFINITE, _greater(one, two)))
        down.append(ops.where(flat, -INFINITE, _lesser(one, two)))
        r.append(ops.where(flat, 0.0, b[k] * inverse))
        # low ≤ b x + c ≤ high bounds x itself where the row is flat
        still = ops.abs(b[k]) <= 0.0
        part = 1.0 / ops.where(still, 1.0, b[k])
        one, two = over * part, under * part
        top = ops.where(still, ops.where((over < 0.0) | (under > 0.0), -1.0, INFINITE), _greater(one, two))
        cap = ops.where(flat, _lesser(cap, top), cap)
        floor = ops.where(flat & ~still, _greater(floor, _lesser(one, two)), floor)
    room = _least([*up, *(-x for x in down)])
    room = room if flat_rows else ops.where(missed, math.nan, room)
    cap, floor = _meet(up, down, r, cap, 1.0), _meet(up, down, r, floor, -1.0)
    up, down, slope = [step * x for x in up], [step * x for x in down], [1.0 - step * x for x in r]
    gain = [ops.where(x > 0.0, 1.0 / ops.where(x > 0.0, x, 1.0), 0.0) for x in slope]
    offset = [ops.where(x > 0.0, -d * g, INFINITE) for x, d, g in zip(slope, down, gain)]
    cap = ops.where(floor <= cap + 1e-12, cap, -1.0)
    return array([*up, *slope, *down, *offset, *gain, floor, cap, room])


class _Stage(NamedTuple):
    """A row of the table of :func:`solved_for_u`."""

    up: Any
    slope: Any
    down: Any
    offset: Any
    gain: Any
    floor: Any
    cap: Any
    room: Any

    @classmethod
    def of(cls, row: Any) -> _Stage:
        m = (len(row) - 3) // 5
        return cls(*(row[k * m : (k + 1) * m] for k in range(5)), *row[-3:])


def _meet(up: list[Any], down: list[Any], r: list[Any], bound: Any, sign: float) -> Any:
    """Lower the cap (sign 1) or raise the floor (−1) to where the largest lower and smallest upper line cross.

    upper(x) − lower(x) is concave, so Newton's steps from outside never cross the root.
    """

    def newton(x: Any, done: Any) -> Any:
        upper, lower, ru, rl = INFINITE, -INFINITE, 0.0, 0.0
        for u, d, rate in zip(up, down, r):
            u, d = u - rate * x, d - rate * x
            ru, rl = ops.where(u < upper, rate, ru), ops.where(d > lower, rate, rl)
            upper, lower = _lesser(u, upper), _greater(d, lower)
        gap, fall = upper - lower, ru - rl
        bad = gap < -1e-12 * (1.0 + ops.abs(upper))
        hopeless = sign * fall <= 0.0
        moved = ops.where(hopeless, -sign * INFINITE, x + gap / ops.where(hopeless, 1.0, fall))
        return ops.where(bad, moved, x), ops.where(bad & ~hopeless, 0.0, 1.0)

    return native.until(newton, (bound, 0.0), lambda x, done: done > 0.5, 4.0 * len(up) + 8.0).state[0]


def _lesser(a: Any, b: Any) -> Any:
    """The smaller of two numbers, neither of them NaN: one instruction."""
    return ops.where(a < b, a, b)


def _greater(a: Any, b: Any) -> Any:
    """The larger of two numbers, neither of them NaN."""
    return ops.where(a > b, a, b)


def _least(values: list[Any]) -> Any:
    """The smallest, found in pairs: a processor compares several at a time."""
    while len(values) > 1:
        values = [*map(_lesser, values[::2], values[1::2]), *values[len(values) // 2 * 2 :]]
    return values[0]


def _stage(table: Any, slots: Any, x_max: Any, j: Any) -> tuple[_Stage, Any]:
    """A row of the table, and the largest x there; -1 where no x is allowed."""
    row = _Stage.of(native.lookup(table, native.lookup(slots, j)))
    cap = _lesser(row.cap, native.lookup(x_max, j))
    return row, ops.where(row.floor > cap + 1e-12, -1.0, cap)


def _back_to_rest(table: Any, slots: Any, x_max: Any, steps: Any, x_end: Any) -> Any:
    """Largest x from which the end can be reached, of the last grid point first, where standing still is allowed everywhere.

    With it the cap of every stage, and how far standing still is from being forbidden there: negative where it is.
    """

    def stage(i: Any, high: Any, cap: Any, room: Any) -> Any:
        row, cap = _stage(table, slots, x_max, steps - 1.0 - i)
        high = _lesser(cap, _least([o + g * high for o, g in zip(row.offset, row.gain)]))
        return high, cap, ops.where(row.floor > 0.0, -1.0, row.room)

    def record(i: Any, high: Any, cap: Any, room: Any) -> Any:
        return {"high": high, "cap": cap, "room": room}

    return native.repeat(stage, (x_end, x_end, 0.0), steps, record=record).samples


def _backward(table: Any, slots: Any, x_max: Any, steps: Any, x_end: Any) -> Any:
    """Largest and least x from which the end can be reached, of the last grid point first, the least before it was cut, and the cap."""

    def stage(i: Any, high: Any, low: Any, least: Any, cap: Any) -> Any:
        row, cap = _stage(table, slots, x_max, steps - 1.0 - i)
        tops, bottoms = [cap], [_lesser(-row.floor, 0.0)]
        for u, d, g in zip(row.up, row.down, row.slope):
            rising, falling = g > 0.0, g < 0.0
            inverse = 1.0 / ops.where(rising | falling, g, 1.0)
            reach, leave = (high - d) * inverse, (low - u) * inverse
            tops.append(ops.where(rising, reach, ops.where(falling, leave, INFINITE)))
            bottoms.append(-ops.where(rising, leave, ops.where(falling, reach, 0.0)))
        top, bottom = _least(tops), -_least(bottoms)
        return top, _lesser(bottom, top), bottom, cap

    def record(i: Any, high: Any, low: Any, least: Any, cap: Any) -> Any:
        return {"high": high, "low": low, "least": least, "cap": cap}

    return native.repeat(stage, (x_end, x_end, x_end, x_end), steps, record=record).samples


def _forward(table: Any, slots: Any, high: Any, low: Any, steps: Any, x_start: Any) -> Any:
    """The largest x that every stage lets follow."""

    def stage(i: Any, x: Any) -> Any:
        row = _Stage.of(native.lookup(table, native.lookup(slots, i)))
        best = _lesser(native.lookup(high, i + 1.0), _least([u + g * x for u, g in zip(row.up, row.slope)]))
        return _greater(native.lookup(low, i + 1.0), best)

    return {"x": native.repeat(stage, (x_start,), steps, record=lambda i, x: x).samples}


class _Kernels(NamedTuple):
    rows: native.Kernel
    rest: native.RowsCall
    back: native.RowsCall
    forth: native.RowsCall


@functools.lru_cache(64)
def _kernels(m: int, compiled: bool) -> _Kernels:
    """For m rows a stage, where machine code can be made and where it cannot."""
    stage: dict[str, tuple] = {}
    stage |= dict.fromkeys(("a", "b", "c", "low", "high"), (m,)) | dict.fromkeys(("delta", "x_max", "flat_below"), ())
    table, line, ends = ("rows", 5 * m + 3), ("N",), ("N+1",)
    back = {"table": table, "slots": line, "x_max": ends, "steps": (), "x_end": ()}
    forth = {"table": table, "slots": line, "high": ends, "low": ends, "steps": (), "x_start": ()}
    passes = (_back_to_rest, back), (_backward, back), (_forward, forth)
    parts = identity(m)
    return _Kernels(
        native.kernel_of(solved_for_u, stage, "phase_plane.rows", parts),
        *(
            native.RowsCall(native.kernel_of(f, i, f"phase_plane.{f.__name__}", parts, tuple(i)[:-1]))
            for f, i in passes
        ),
    )


def solve(stages: Stages, x_start: float, x_end: float) -> PhasePlane:
    """The fastest x over the grid from ``x_start`` to ``x_end``."""
    flat_below = FLAT * np.abs(stages.a).max(initial=0.0)
    given = stages.a, stages.b, stages.c, stages.low, stages.high, stages.delta, stages.x_max[:-1], flat_below
    table = _kernels(stages.a.shape[1], native.has_compiler()).rows(*given, threads=1)
    return solve_passes(table, np.arange(len(table)), stages.x_max, x_start, x_end)


def solve_passes(table: np.ndarray, slots: np.ndarray, x_max: np.ndarray, x_start: float, x_end: float) -> PhasePlane:
    """The same from solved rows, (…, 5m + 3), of which stage i is number ``slots[i]``; ``x_max`` (N + 1,) may be lower than what
    they were solved with."""
    N, steps, places = len(slots), np.array(float(len(slots))), slots.astype(float)
    kernels = _kernels((table.shape[1] - 3) // 5, native.has_compiler())
    if x_end > x_max[-1] * (1 + 1e-12):
        return PhasePlane(None, _caps(table, slots, x_max), N, "the end speed is above the velocity limit there")
    given = N + 1, table, places, x_max, steps, np.array(x_end)
    low, least = np.zeros(N + 1), None
    high, cap, room = kernels.rest(*given) if x_end == 0 else (low, low, np.array([-1.0]))
    resting = bool(room.min() >= 0.0)
    if not resting:
        high, low, least, cap = kernels.back(*given)
        low, least = low[::-1].copy(), least[::-1]
    high, cap = high[::-1].copy(), cap[::-1].copy()
    cap[-1] = x_max[-1]
    if cap.min() < 0:
        return PhasePlane(None, cap, int(np.argmax(cap < 0)), "no speed and acceleration meet all limits there")
    if least is not None:
        lost = np.flatnonzero(~(least <= high * (1 + 1e-9) + 1e-15))
        if len(lost):
            return PhasePlane(None, cap, int(lost[-1]), "the end cannot be reached from there within the limits")
    if not low[0] * (1 - 1e-9) <= x_start <= high[0] * (1 + 1e-9):
        allowed = f"must lie between {low[0] ** 0.5:.6g} and {high[0] ** 0.5:.6g}"
        if resting:
            allowed = f"is above the largest possible {high[0] ** 0.5:.6g}"
        return PhasePlane(None, cap, 0, f"the start speed {x_start**0.5:.6g} {allowed}")
    begin = min(max(x_start, float(low[0])), float(high[0]))
    return PhasePlane(kernels.forth(N + 1, table, places, high, low, steps, np.array(begin)), cap)


def _caps(table: np.ndarray, slots: np.ndarray, x_max: np.ndarray) -> np.ndarray:
    """The largest x of every grid point; -1 where no x is allowed."""
    floor, cap, _ = table[:, -3:][slots].T
    cap = np.minimum(cap, x_max[:-1])
    cap[floor > cap + 1e-12] = -1.0
    return np.append(cap, x_max[-1])
