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


class _Rows(NamedTuple):
    """Rows solved for u, ``down ≤ 2Δu + (1 − slope) x ≤ up`` (N, m), and the interval of x in which some u is left."""

    up: np.ndarray
    down: np.ndarray
    slope: np.ndarray
    cap: np.ndarray
    floor: np.ndarray


def _solved_for_u(a: Any, b: Any, c: Any, low: Any, high: Any, delta: Any, x_max: Any, flat_below: Any) -> Any:
    """One stage of :class:`_Rows`, for machine code."""
    m, step = len(a), 2.0 * delta
    up, down, r = [], [], []
    cap, floor = x_max, 0.0 * x_max
    for k in range(m):
        flat = ops.abs(a[k]) <= flat_below
        over, under = high[k] - c[k], low[k] - c[k]
        inverse = 1.0 / ops.where(flat, 1.0, a[k])
        one, two = over * inverse, under * inverse
        up.append(ops.where(flat, INFINITE, ops.maximum(one, two)))
        down.append(ops.where(flat, -INFINITE, ops.minimum(one, two)))
        r.append(ops.where(flat, 0.0, b[k] * inverse))
        # low ≤ b x + c ≤ high bounds x itself where the row is flat
        still = ops.abs(b[k]) <= 0.0
        part = 1.0 / ops.where(still, 1.0, b[k])
        one, two = over * part, under * part
        top = ops.where(still, ops.where((over < 0.0) | (under > 0.0), -1.0, INFINITE), ops.maximum(one, two))
        cap = ops.where(flat, ops.minimum(cap, top), cap)
        floor = ops.where(flat & ~still, ops.maximum(floor, ops.minimum(one, two)), floor)
    cap, floor = _meet(up, down, r, cap, 1.0), _meet(up, down, r, floor, -1.0)
    return {
        "up": array([step * x for x in up]), "down": array([step * x for x in down]),
        "slope": array([1.0 - step * x for x in r]), "cap": ops.where(floor <= cap + 1e-12, cap, -1.0), "floor": floor,
    }  # fmt: skip


def _meet(up: list[Any], down: list[Any], r: list[Any], bound: Any, sign: float) -> Any:
    """Lower the cap (sign 1) or raise the floor (−1) to where the largest lower and smallest upper line cross.

    upper(x) − lower(x) is concave, so Newton's steps from outside never cross the root.
    """

    def newton(x: Any, done: Any) -> Any:
        upper, lower, ru, rl = INFINITE, -INFINITE, 0.0, 0.0
        for u, d, rate in zip(up, down, r):
            u, d = u - rate * x, d - rate * x
            ru, rl = ops.where(u < upper, rate, ru), ops.where(d > lower, rate, rl)
            upper, lower = ops.minimum(upper, u), ops.maximum(lower, d)
        gap, fall = upper - lower, ru - rl
        bad = gap < -1e-12 * (1.0 + ops.abs(upper))
        hopeless = sign * fall <= 0.0
        moved = ops.where(hopeless, -sign * INFINITE, x + gap / ops.where(hopeless, 1.0, fall))
        return ops.where(bad, moved, x), ops.where(bad & ~hopeless, 0.0, 1.0)

    return native.until(newton, (bound, 0.0), lambda x, done: done > 0.5, 4.0 * len(up) + 8.0).state[0]


def _backward(up: Any, down: Any, slope: Any, cap: Any, floor: Any, steps: Any, x_end: Any, resting: Any) -> Any:
    """Largest and least x from which the end can be reached, of the last grid point first, and the least before it was cut."""

    def stage(i: Any, high: Any, low: Any, least: Any) -> Any:
        j = steps - 1.0 - i
        top, bottom = native.lookup(cap, j), native.lookup(floor, j)
        bottom = ops.maximum(bottom, 0.0)
        for u, d, g in zip(native.lookup(up, j), native.lookup(down, j), native.lookup(slope, j)):
            rising, falling = g > 0.0, g < 0.0
            inverse = 1.0 / ops.where(rising | falling, g, 1.0)
            reach, leave = (high - d) * inverse, (low - u) * inverse
            # where standing still is always allowed a falling row asks for nothing
            leaves = ops.where(falling & (resting < 0.5), leave, INFINITE)
            top = ops.minimum(top, ops.where(rising, reach, leaves))
            bottom = ops.maximum(bottom, ops.where(rising, leave, ops.where(falling, reach, 0.0)))
        return top, ops.minimum(bottom, top), bottom

    def record(i: Any, high: Any, low: Any, least: Any) -> Any:
        return {"high": high, "low": low, "least": least}

    return native.repeat(stage, (x_end, x_end, x_end), steps, record=record).samples


def _forward(up: Any, slope: Any, high: Any, low: Any, steps: Any, x_start: Any) -> Any:
    """The largest x that every stage lets follow."""

    def stage(i: Any, x: Any) -> Any:
        best = native.lookup(high, i + 1.0)
        for u, g in zip(native.lookup(up, i), native.lookup(slope, i)):
            best = ops.minimum(best, u + g * x)
        return ops.maximum(native.lookup(low, i + 1.0), best)

    return {"x": native.repeat(stage, (x_start,), steps, record=lambda i, x: x).samples}


@functools.lru_cache(64)
def _kernels(m: int, compiled: bool) -> tuple[native.Kernel, native.Kernel, native.Kernel]:
    """For m rows a stage, where machine code can be made and where it cannot."""
    rows = {name: (m,) for name in ("a", "b", "c", "low", "high")} | {name: () for name in ("delta", "x_max", "flat_below")}
    table = ("N", m)
    back = {"up": table, "down": table, "slope": table, "cap": ("N",), "floor": ("N",), "steps": (), "x_end": (), "resting": ()}
    forth = {"up": table, "slope": table, "high": ("N+1",), "low": ("N+1",), "steps": (), "x_start": ()}
    parts = identity(m)
    return (
        native.kernel_of(_solved_for_u, rows, "phase_plane.rows", parts),
        native.kernel_of(_backward, back, "phase_plane.backward", parts, tuple(back)[:6]),
        native.kernel_of(_forward, forth, "phase_plane.forward", parts, tuple(forth)[:5]),
    )


def solve(stages: Stages, x_start: float, x_end: float) -> PhasePlane:
    """The fastest x over the grid from ``x_start`` to ``x_end``."""
    N, m = stages.a.shape
    solved, backward, forward = _kernels(m, native.has_compiler())
    flat_below = FLAT * np.abs(stages.a).max(initial=0.0)
    given = stages.a, stages.b, stages.c, stages.low, stages.high, stages.delta, stages.x_max[:-1], flat_below
    rows = _Rows(*solved(*given, turns=8.0))
    cap = np.append(rows.cap, stages.x_max[-1])
    if x_end > stages.x_max[-1] * (1 + 1e-12):
        return PhasePlane(None, cap, N, "the end speed is above the velocity limit there")
    if np.any(rows.cap < 0):
        return PhasePlane(None, cap, int(np.argmax(rows.cap < 0)), "no speed and acceleration meet all limits there")
    resting = x_end == 0 and bool(np.all(rows.up >= 0) and np.all(rows.down <= 0) and np.all(rows.floor <= 0))
    high, low, least = (x[::-1] for x in backward(*rows, N, x_end, float(resting), turns=float(N)))
    lost = np.flatnonzero(~(least <= high * (1 + 1e-9) + 1e-15))
    if len(lost):
        return PhasePlane(None, cap, int(lost[-1]), "the end cannot be reached from there within the limits")
    if not low[0] * (1 - 1e-9) <= x_start <= high[0] * (1 + 1e-9):
        allowed = f"must lie between {low[0] ** 0.5:.6g} and {high[0] ** 0.5:.6g}"
        if resting:
            allowed = f"is above the largest possible {high[0] ** 0.5:.6g}"
        return PhasePlane(None, cap, 0, f"the start speed {x_start**0.5:.6g} {allowed}")
    begin = min(max(x_start, float(low[0])), float(high[0]))
    return PhasePlane(forward(rows.up, rows.slope, high, low, N, begin, turns=float(N)), cap)
