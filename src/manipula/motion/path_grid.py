"""Arc lengths along a path with everything that limits say there, refined where it has to be; see :mod:`.time_optimal`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from manipula import native
from manipula.algebra.linear import array
from manipula.identity import identity
from manipula.motion.path_limits import BETWEEN, Intervals, PathLimits, row_width, rows_at
from manipula.motion.paths.base import Path
from manipula.motion.phase_plane import FLAT, solved_for_u

MAX_GRID = 50_000
CORNER = 1e-6  # rad: a tangent that turns by more at once


def even_grid(path: Path, count: int) -> np.ndarray:
    """Even arc lengths with every break of the path among them."""
    even, near = np.linspace(0.0, path.length, count + 1), 1e-9 * path.length
    s = np.concatenate([even, path.breaks[1:-1]])
    s.sort()
    if (s[1:] - s[:-1]).min() > near:
        return s
    s = np.union1d(even, path.breaks)
    apart = np.diff(s) > near
    inner = np.concatenate([[True], apart]) & np.concatenate([apart, [True]])
    return s[np.isin(s, path.breaks) | inner]


class PathGrid:
    """Arc lengths s (N + 1,) and the coefficients at its intervals; those of intervals that stay are kept in refinement.

    Interval i of the grid is column ``slots[i]`` of all ``stored`` intervals put side by side.

    Attributes:
        table: all stored intervals solved for u, see :func:`~.phase_plane.solved_for_u`; it has room for more.
        bounds: of x at the beginning and at the end of every interval, (N, 2).
        corners: arc lengths at which the tangent jumps.
    """

    def __init__(self, limits: PathLimits, scheme: str, s: np.ndarray, coarse: PathGrid | None = None) -> None:
        self.limits, self.scheme, self.s, self.delta = limits, scheme, s, np.diff(s)
        if coarse is None:
            self.slots = np.arange(len(s) - 1)
            first = Intervals(limits, s[:-1], s[1:])
            self.stored: tuple[Intervals, ...] = (first,)
            self.flat_below = FLAT * self._largest_factor(first.rows[0])
            self.table, self.bounds = np.empty((0, 0)), np.empty((0, 2))
            self.bounds = self._solve(first, self.delta, 0)
            at = np.searchsorted(s, limits.path.breaks[1:-1])
            jump = first.q1[0][at] - first.q1[-1][at - 1]
            self.corners = s[at[np.einsum("ij,ij->i", jump, jump) > CORNER**2]]

    def refined(self, wanting: np.ndarray) -> PathGrid | None:
        """The grid with the marked intervals and their neighbours cut into four; None when that is too fine. It takes over the table."""
        near = wanting.copy()
        near[1:] |= wanting[:-1]
        near[:-1] |= wanting[1:]
        if len(self.s) + 3 * int(near.sum()) > MAX_GRID:
            return None
        cuts = self.s[:-1][near] + self.delta[near] * (np.arange(4.0) / 4)[:, None]
        begin, end = cuts.T.ravel(), np.concatenate([cuts[1:], self.s[1:][near][None]]).T.ravel()
        new = Intervals(self.limits, begin, end)
        edges = (
            np.flatnonzero(np.diff(near, prepend=False, append=False)).reshape(-1, 2).tolist()
        )  # of runs of such intervals

        def spliced(old: np.ndarray, instead: np.ndarray) -> np.ndarray:
            parts, kept, used = [], 0, 0
            for first, last in edges:
                parts += [old[kept:first], instead[used : used + 4 * (last - first)]]
                kept, used = last, used + 4 * (last - first)
            return np.concatenate([*parts, old[kept:]])

        finer = PathGrid(self.limits, self.scheme, np.append(spliced(self.s[:-1], begin), self.s[-1]), self)
        count = sum(part.count for part in self.stored)
        finer.stored, finer.flat_below, finer.corners = (*self.stored, new), self.flat_below, self.corners
        finer.slots, finer.table = spliced(self.slots, count + np.arange(len(begin))), self.table
        finer.bounds = spliced(self.bounds, finer._solve(new, end - begin, count))
        return finer

    def _largest_factor(self, rows: np.ndarray) -> float:
        """The largest coefficient of u of all rows, at the beginnings of the intervals."""
        n, largest = self.limits.n, np.maximum(rows.max(axis=0), -rows.min(axis=0)).tolist()
        found = largest[:n] if self.limits.acceleration is not None else []
        return max(found + (largest[2 * n + 1 : 3 * n + 1] if self.limits.torque is not None else []))

    def _solve(self, part: Intervals, delta: np.ndarray, used: int) -> np.ndarray:
        """Append the solved rows of more intervals to the table, of which so many rows are used; the bounds of x of these intervals."""
        bounds = np.stack([part.bound(0), part.bound(-1)], axis=1)
        both = (part.rows[0], part.rows[-1]) if self.scheme == "interpolation" else (part.rows[0],)
        given = (
            *map(np.ascontiguousarray, both),
            delta,
            bounds[:, 0].copy(),
            np.array(self.flat_below),
            self.limits.of_rows,
        )
        old, needed = self.table, used + part.count
        fits = needed <= len(old)
        for flat_rows in (False, True):  # hardly ever is a row flat
            kernel = _stage_kernel(self.limits.n, self.limits.kinds, len(both), flat_rows, native.has_compiler())
            rows = kernel(part.count, *given, **({} if fits else {"before": used, "behind": needed // 2}))
            if not np.isnan(rows[:, -1] if fits else rows[used:needed, -1]).any():
                break
        if fits:
            old[used:needed] = rows
        else:
            self.table = rows
            if used:
                rows[:used] = old[:used]
        return bounds

    def joined(self, part: Callable[[Intervals], np.ndarray]) -> np.ndarray:
        """What ``part`` takes of all stored intervals, (…, N, k), in the order of the grid."""
        if len(self.stored) == 1:
            return part(self.stored[0])
        return np.concatenate([part(x) for x in self.stored], axis=-2)[..., self.slots, :]

    def x_max(self) -> np.ndarray:
        """Bounds of x on the grid; 0 at corners, where only standstill is smooth."""
        out = np.append(self.bounds[:, 0], self.bounds[-1, 1])
        out[np.searchsorted(self.s, self.corners)] = 0.0
        return out

    def tightest(self, u: np.ndarray, x: np.ndarray, rise: np.ndarray) -> np.ndarray:
        """Use of the tightest limit in every interval, for u, x at its beginning and the rise of x in it, (N,) each."""
        if len(self.stored) == 1:
            return self.stored[0].tightest(u, x, rise)
        every = np.concatenate([part.seen() for part in self.stored], axis=1)
        every[0, self.slots], every[1, self.slots], every[2, self.slots] = u, x, rise
        parts = np.split(every, np.cumsum([part.count for part in self.stored])[:-1], axis=1)
        return np.concatenate([part.tightest(*now) for part, now in zip(self.stored, parts)])[self.slots]

    def shares(self, u: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Use of every kind of limit, (5, N, kinds), for u (N,) and x (5, N)."""
        counts = np.cumsum([0, *(part.count for part in self.stored)])
        all_u, all_x = np.zeros(counts[-1]), np.zeros((len(BETWEEN), counts[-1]))
        all_u[self.slots], all_x[:, self.slots] = u, x
        parts = [part.shares(all_u[a:b], all_x[:, a:b]) for part, a, b in zip(self.stored, counts, counts[1:])]
        return np.concatenate(parts, axis=1)[:, self.slots]


@functools.lru_cache(64)
def _stage_kernel(n: int, kinds: tuple[str, ...], places: int, flat_rows: bool, compiled: bool) -> native.RowsCall:
    """The rows of an interval solved for u, from the coefficients at its beginning and, with two places, at its end."""

    def stage(*given: Any) -> Any:
        *both, delta, x_max, flat_below, limits = given
        rows, *last = ([row for _, part in rows_at(n, kinds, x, limits) for row in part] for x in both)
        for end in last:  # rows of the next point, at x + 2Δu
            rows += [(a + 2.0 * delta * b, b, c, low, high) for a, b, c, low, high in end]
        a, b, c, low, high = map(array, zip(*rows))
        return solved_for_u(a, b, c, low, high, delta, x_max, flat_below, flat_rows)

    inputs: dict[str, tuple] = {f"row_{k}": (row_width(n, kinds),) for k in range(places)}
    inputs |= {
        "delta": (),
        "x_max": (),
        "flat_below": (),
        "limits": (2 * len({"acceleration", "torque"} & set(kinds)), n),
    }
    shared = ("flat_below", "limits")
    parts = identity(n, kinds, places, flat_rows)
    return native.RowsCall(native.kernel_of(stage, inputs, "time_optimal.stage", parts, shared))
