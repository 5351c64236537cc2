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

where :math:`\mathrm{cap}_i` (no u is left above it) does not depend on the pass. Both are minima of straight lines; which
lines matter is found for all stages at once, so the sequential part is a few operations a stage.

The result is the pointwise largest profile on the grid whenever all 1 − 2Δr_k are positive. Near a vanishing a that needs
a fine grid; on a coarse one the greedy forward pass can give away a little time there, but never breaks a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FLAT = 1e-12  # a row whose |a| is below this share of the largest does not limit u (zero-inertia point): it limits x


@dataclass(frozen=True)
class Stages:
    """Two-sided constraints ``low ≤ a u + b x + c ≤ high`` of N stages, arrays (N, m), with x from x_i.

    Attributes:
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


class _Rows:
    """Rows solved for u, and the interval of x in which some u is left."""

    def __init__(self, stages: Stages) -> None:
        a, step = stages.a, stages.delta[:, None]
        magnitude = np.abs(a)
        flat = magnitude <= FLAT * magnitude.max(initial=0.0)
        inverse = 1.0 / np.where(flat, 1.0, a)
        one, two = (stages.high - stages.c) * inverse, (stages.low - stages.c) * inverse
        self.r = np.where(flat, 0.0, stages.b * inverse)
        self.up = np.where(flat, np.inf, np.maximum(one, two))
        self.down = np.where(flat, -np.inf, np.minimum(one, two))
        self.slope = 1.0 - 2.0 * step * self.r
        self.cap, self.floor = stages.x_max[:-1].copy(), np.zeros(len(a))
        if flat.any():
            self._flat_rows(stages, flat)
        self._meet()

    def _flat_rows(self, stages: Stages, flat: np.ndarray) -> None:
        """low ≤ b x + c ≤ high bounds x itself."""
        i, k = np.nonzero(flat)
        b = stages.b[i, k]
        over, under = stages.high[i, k] - stages.c[i, k], stages.low[i, k] - stages.c[i, k]
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.sort(np.stack([over / b, under / b]), axis=0)
        bounded = np.abs(b) > 0
        np.minimum.at(self.cap, i[bounded], ends[1, bounded])
        np.maximum.at(self.floor, i[bounded], ends[0, bounded])
        broken = i[~bounded & ((over < 0) | (under > 0))]
        self.cap[broken] = -1.0

    def _meet(self) -> None:
        """Lower the cap (and raise the floor) to where the largest lower and smallest upper line cross.

        upper(x) − lower(x) is concave, so Newton's steps from outside never cross the root.
        """
        for bound, sign in ((self.cap, 1.0), (self.floor, -1.0)):
            left = np.arange(len(bound))
            for _ in range(4 * self.r.shape[1] + 8):
                rx = self.r[left] * bound[left, None]
                upper, lower = self.up[left] - rx, self.down[left] - rx
                k, l = np.argmin(upper, axis=1), np.argmax(lower, axis=1)
                n = np.arange(len(left))
                gap = upper[n, k] - lower[n, l]
                bad = gap < -1e-12 * (1.0 + np.abs(upper[n, k]))
                left, k, l, gap = left[bad], k[bad], l[bad], gap[bad]
                if not len(left):
                    break
                fall = self.r[left, k] - self.r[left, l]
                hopeless = sign * fall <= 0
                with np.errstate(divide="ignore", invalid="ignore"):
                    bound[left] = np.where(hopeless, -sign * np.inf, bound[left] + gap / fall)
                left = left[~hopeless]
        self.cap[~(self.floor <= self.cap + 1e-12)] = -1.0


def solve(stages: Stages, x_start: float, x_end: float) -> PhasePlane:
    """The fastest x over the grid from ``x_start`` to ``x_end``."""
    rows = _Rows(stages)
    cap = np.append(rows.cap, stages.x_max[-1])
    if x_end > stages.x_max[-1] * (1 + 1e-12):
        return PhasePlane(None, cap, len(stages.delta), "the end speed is above the velocity limit there")
    if np.any(rows.cap < 0):
        return PhasePlane(None, cap, int(np.argmax(rows.cap < 0)), "no speed and acceleration meet all limits there")
    resting = np.all(rows.up >= 0) and np.all(rows.down <= 0) and np.all(rows.floor <= 0)
    if resting and x_end == 0:
        return _fast(rows, stages.delta, cap, x_start)
    return _general(rows, stages.delta, cap, x_start, x_end)


def _fast(rows: _Rows, delta: np.ndarray, cap: np.ndarray, x_start: float) -> PhasePlane:
    """Standstill is allowed everywhere: only the upper bound K needs to be carried."""
    step = 2.0 * delta[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(rows.slope > 0, 1.0 / rows.slope, 0.0)
        offset = np.where(rows.slope > 0, -step * rows.down * gain, np.inf)
    back = _Envelope(offset, gain, cap[1:])
    K = [0.0] * len(cap)
    caps = cap.tolist()
    value = 0.0
    for i in range(len(delta) - 1, -1, -1):
        p, g, q, h, full = back.lines[i]
        value = min(caps[i], p + g * value, q + h * value) if not full else min(caps[i], back.all(i, value))
        K[i] = value
    if x_start > K[0] * (1 + 1e-9):
        return PhasePlane(
            None, cap, 0, f"the start speed {x_start**0.5:.6g} is above the largest possible {K[0] ** 0.5:.6g}"
        )
    forth = _Envelope(step * rows.up, rows.slope, np.array(K[:-1]))
    x = [min(x_start, K[0])] + [0.0] * len(delta)
    value = x[0]
    for i in range(len(delta)):
        p, g, q, h, full = forth.lines[i]
        value = min(K[i + 1], p + g * value, q + h * value) if not full else min(K[i + 1], forth.all(i, value))
        x[i + 1] = value = max(0.0, value)
    return PhasePlane(np.array(x), cap)


class _Envelope:
    """min_k offset[i, k] + gain[i, k]·v for 0 ≤ v ≤ top[i]: the one or two lines that matter, or all of them."""

    def __init__(self, offset: np.ndarray, gain: np.ndarray, top: np.ndarray) -> None:
        n = np.arange(len(offset))
        first = np.argmin(offset, axis=1)
        last = np.argmin(offset + gain * top[:, None], axis=1)
        self.offset, self.gain = offset, gain
        self.full = np.zeros(len(offset), bool)
        two = np.flatnonzero(first != last)
        if len(two):
            a, b = first[two], last[two]
            with np.errstate(divide="ignore", invalid="ignore"):
                at = (offset[two, b] - offset[two, a]) / (gain[two, a] - gain[two, b])
            at = np.where(np.isfinite(at), np.clip(at, 0.0, top[two]), 0.0)
            corner = offset[two, a] + gain[two, a] * at
            lowest = np.min(offset[two] + gain[two] * at[:, None], axis=1)
            self.full[two] = lowest < corner - 1e-12 * (1.0 + np.abs(corner))
        self.lines = list(
            zip(
                offset[n, first].tolist(), gain[n, first].tolist(), offset[n, last].tolist(), gain[n, last].tolist(),
                self.full.tolist(),
            )
        )  # fmt: skip

    def all(self, i: int, v: float) -> float:
        return float(np.min(self.offset[i] + self.gain[i] * v))


def _general(rows: _Rows, delta: np.ndarray, cap: np.ndarray, x_start: float, x_end: float) -> PhasePlane:
    """Both bounds of the controllable interval are carried: needed when standing still is not always allowed."""
    N = len(delta)
    high, low = np.zeros(N + 1), np.zeros(N + 1)
    high[N] = low[N] = x_end
    step = 2.0 * delta[:, None]
    up, down, slope = step * rows.up, step * rows.down, rows.slope
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(N - 1, -1, -1):
            reach, leave = (high[i + 1] - down[i]) / slope[i], (low[i + 1] - up[i]) / slope[i]
            rising, falling = slope[i] > 0, slope[i] < 0
            high[i] = min(cap[i], np.min(reach[rising], initial=np.inf), np.min(leave[falling], initial=np.inf))
            low[i] = max(rows.floor[i], np.max(leave[rising], initial=0.0), np.max(reach[falling], initial=0.0))
            if not low[i] <= high[i] * (1 + 1e-9) + 1e-15:
                return PhasePlane(None, cap, i, "the end cannot be reached from there within the limits")
            low[i] = min(low[i], high[i])
    if not low[0] * (1 - 1e-9) <= x_start <= high[0] * (1 + 1e-9):
        reason = f"the start speed {x_start**0.5:.6g} must lie between {low[0] ** 0.5:.6g} and {high[0] ** 0.5:.6g}"
        return PhasePlane(None, cap, 0, reason)
    x = np.empty(N + 1)
    x[0] = min(max(x_start, low[0]), high[0])
    for i in range(N):
        x[i + 1] = max(low[i + 1], min(high[i + 1], float(np.min(up[i] + slope[i] * x[i]))))
    return PhasePlane(x, cap)
