"""Arc lengths along a path with everything that limits say there, refined where it has to be; see :mod:`.time_optimal`."""

from __future__ import annotations

import functools
import math
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
SURE = 1e-6  # of a limit: what parabolas add to the places is taken for all there is between them, which slows a motion by half of it at most
FINER = 8  # times that an interval is cut to be surer
CORNER = 1e-6  # rad: a tangent that turns by more at once


def even_grid(path: Path, count: int) -> np.ndarray:
    """Even arc lengths with every break of the path among them."""
    even, near = np.arange(count + 1.0) * (path.length / count), 1e-9 * path.length
    even[-1] = path.length
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
        begins: of all stored intervals.
        table: all stored intervals solved for u, see :func:`~.phase_plane.solved_for_u`; it has room for more.
        bounds: of x at the beginning and at the end of every stored interval, (2, M).
        corners: arc lengths at which the tangent jumps.
    """

    def __init__(self, limits: PathLimits, scheme: str, s: np.ndarray) -> None:
        first = Intervals(limits, s[:-1], s[1:])
        self._be(limits, scheme, s, np.arange(len(s) - 1), (first,), s[:-1])
        self.flat_below, self.table = FLAT * first.largest, np.empty((0, 0))
        self.bounds = self._solve(first, self.delta, 0)
        self.seen, self.used = np.full((3, len(s) - 1), np.nan), np.zeros((2, len(s) - 1))
        at = s.searchsorted(limits.path.breaks[1:-1])
        jump = first.rows[0, at, : limits.n] - first.rows[-1, at - 1, : limits.n]
        self.corners = s[at[(jump * jump).sum(axis=1) > CORNER**2]]

    def _be(
        self, limits: PathLimits, scheme: str, s: np.ndarray, slots: np.ndarray, stored: tuple[Intervals, ...], begins: np.ndarray
    ) -> None:  # fmt: skip
        self.limits, self.scheme, self.s, self.delta = limits, scheme, s, s[1:] - s[:-1]
        self.slots, self.stored, self.begins = slots, stored, begins

    def refined(self, wanting: np.ndarray) -> PathGrid | None:
        """The grid with the marked intervals and their neighbours cut into four; None when that is too fine. It takes over the table."""
        near = np.zeros(len(wanting) + 2, bool)
        near[1:-1] = wanting
        near[:-2] |= wanting
        near[2:] |= wanting
        near[0] = near[-1] = False
        edges = (near[1:] != near[:-1]).nonzero()[0].reshape(-1, 2).tolist()  # of runs of such intervals
        cut = near[1:-1].nonzero()[0]
        if len(self.s) + 3 * len(cut) > MAX_GRID:
            return None
        cuts = self.s[cut][:, None] + self.delta[cut][:, None] * (np.arange(4.0) / 4)
        ends = np.empty_like(cuts)
        ends[:, :-1], ends[:, -1] = cuts[:, 1:], self.s[cut + 1]
        begin, end, count = cuts.ravel(), ends.ravel(), len(self.begins)
        new, slots, kept, added = Intervals(self.limits, begin, end), [], 0, count
        for first, last in edges:
            slots += [self.slots[kept:first], np.arange(added, added := added + 4 * (last - first))]
            kept = last
        order, finer = np.concatenate([*slots, self.slots[kept:]]), object.__new__(PathGrid)
        begins, s = np.concatenate([self.begins, begin]), np.empty(len(order) + 1)
        s[:-1], s[-1] = begins[order], self.s[-1]
        finer._be(self.limits, self.scheme, s, order, (*self.stored, new), begins)
        finer.flat_below, finer.corners, finer.table = self.flat_below, self.corners, self.table
        finer.bounds = np.concatenate([self.bounds, finer._solve(new, end - begin, count)], axis=1)
        finer.seen = np.concatenate([self.seen, np.full((3, len(begin)), np.nan)], axis=1)
        finer.used = np.concatenate([self.used, np.zeros((2, len(begin)))], axis=1)
        return finer

    def _solve(self, part: Intervals, delta: np.ndarray, used: int) -> np.ndarray:
        """Append the solved rows of more intervals to the table, of which so many rows are used; the bounds of x of these intervals."""
        bounds, both = (
            part.bounds(),
            (part.rows[0], part.rows[-1]) if self.scheme == "interpolation" else (part.rows[0],),
        )
        given = *both, delta, bounds[0], np.array(self.flat_below), self.limits.of_rows
        old, needed = self.table, used + part.count
        fits = needed <= len(old)
        for flat_rows in (False, True):  # hardly ever is a row flat
            kernel = _stage_kernel(self.limits.n, self.limits.kinds, len(both), flat_rows, self.limits.compiled)
            rows = kernel(part.count, *given, **({} if fits else {"before": used, "behind": needed // 2}))
            if not math.isnan((rows[:, -1] if fits else rows[used:needed, -1]).min()):
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
        out = np.empty(len(self.s))
        out[:-1], out[-1] = self.bounds[0, self.slots], self.bounds[1, self.slots[-1]]
        if len(self.corners):
            out[self.s.searchsorted(self.corners)] = 0.0
        return out

    def tightest(self, u: np.ndarray, x: np.ndarray, rise: np.ndarray) -> np.ndarray:
        """Use of the tightest limit in every interval, for u, x at its beginning and the rise of x in it, (N,) each.

        Intervals that were looked at before with the very same numbers are not looked at again.
        """
        now, slots = self.seen.copy(), self.slots
        now[0, slots], now[1, slots], now[2, slots] = u, x, rise
        changed, used, begin = (now != self.seen).any(axis=0), self.used.copy(), 0
        for part in self.stored:
            here = slice(begin, begin + part.count)
            which = changed[here].nonzero()[0]
            if 4 * len(which) >= part.count:
                used[0, here], used[1, here] = part.tightest(now[:, here].copy())
            elif len(which):
                which += begin
                used[0, which], used[1, which] = part.tightest(now.take(which, axis=1), which - begin)
            begin += part.count
        self.seen, self.used = now, used
        return used[0, slots]

    def missed(self) -> np.ndarray:
        """Intervals in which the path bends more sharply than the places show, (N,)."""
        return np.concatenate([part.missed for part in self.stored])[self.slots]

    def most_between(self) -> float:
        """Use of the tightest limit between the places too, for what was last looked at; where parabolas through the places say more than
        these by ``SURE`` it is looked at in finer parts."""
        (used, above), begin, end, now = self.used.take(self.slots, axis=1), self.s[:-1], self.s[1:], None
        most = float(used.max())
        for _ in range(FINER):
            unsure = above - used > SURE
            most = max(most, float(above.max(initial=0.0, where=~unsure)))
            unsure &= above > most
            which = unsure.nonzero()[0]
            if not len(which):
                return most
            now = self.seen.take(self.slots[which], axis=1) if now is None else now.take(which, axis=1)
            begin, end, now = _cut(begin[which], end[which], now)
            used, above = Intervals(self.limits, begin, end).tightest(now)
            most = max(most, float(used.max()))
        return max(most, float(above.max()))

    def shares(self, u: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Use of every kind of limit, (5, N, kinds), for u (N,) and x (5, N)."""
        counts = np.cumsum([0, *(part.count for part in self.stored)])
        all_u, all_x = np.zeros(counts[-1]), np.zeros((len(BETWEEN), counts[-1]))
        all_u[self.slots], all_x[:, self.slots] = u, x
        parts = [part.shares(all_u[a:b], all_x[:, a:b]) for part, a, b in zip(self.stored, counts, counts[1:])]
        return np.concatenate(parts, axis=1)[:, self.slots]


def _cut(begin: np.ndarray, end: np.ndarray, now: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Intervals in four, with u, x at the beginning and the rise of x of every part, (3, 4N)."""
    at = begin[:, None] + (end - begin)[:, None] * (np.arange(5.0) / 4)
    at[:, -1] = end
    u, x, rise = np.repeat(now, 4, axis=1)
    return (
        at[:, :-1].ravel(),
        at[:, 1:].ravel(),
        np.array([u, x + rise * np.tile(np.arange(4.0) / 4, len(begin)), rise / 4]),
    )


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
