r"""When the acceleration of a motion jumps: found between samples, and divided until the instant is known to rounding.

A change of the acceleration that the jerk does not explain lies in ever shorter parts of an interval. A run whose own loop can be followed is
followed there from the state before, so its steps end where something happens; the flow of other runs is integrated again. An instant that
is known beforehand or at which the loop ends a step is exact to some units in the last place of t; one that a user's function of the state
decides is as exact as the state there, divided by its speed.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from manipula.simulation.signals.jerk_sources import Following, Look, Looking
from manipula.simulation.stepping.grid import margin

HALVINGS = 12  # of an interval until what is left of a change of the acceleration is a jump
QUIET = 1e-6  # of the largest acceleration: changes below this are no jumps
STAYS = 0.2  # of a change that is left after all halvings: then it is a jump
EXAMINED = 60  # intervals of a run in which a jump is looked for, those that need it most first
PATIENCE = 20_000  # evaluations within one of them
PARTS, DIVISIONS = 16, 500  # of an interval in which the run is followed, at least, and of how many of them altogether
INSTANT = 8.0  # margins of t: a shorter interval is one instant


class Dense(NamedTuple):
    """The motion between samples: knots (K,), states there and their first and second derivatives (K, size)."""

    t: np.ndarray
    x: np.ndarray
    rate: np.ndarray
    second: np.ndarray

    def at(self, k: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States and times at the fractions u of the intervals k: the quintic through both ends."""
        h = (self.t[k + 1] - self.t[k])[:, None]
        u = u[:, None]
        a, b = self.x[k], self.x[k + 1]
        v, w = h * self.rate[k], h * self.rate[k + 1]
        p, r = h * h * self.second[k] / 2, h * h * self.second[k + 1] / 2
        c2, c3 = 3.0 * (b - a) - 2.0 * v - w, 2.0 * (a - b) + v + w
        bubble = (u * (1 - u)) ** 2 * ((p - c2) * (1 - u) + (r - c2 - 3.0 * c3) * u)
        x = a + u * (v + u * (c2 + u * c3)) + bubble
        return x, self.t[k] + u[:, 0] * h[:, 0]


def unexplained(t: np.ndarray, ends: Look, middle: Look) -> tuple[np.ndarray, np.ndarray]:
    r"""What of a change of the acceleration the jerk does not explain, (K − 1, n), and how much of it is nothing, (n,).

    .. math:: a_1 - a_0 - \tfrac h6 (j_0 + 4 j_m + j_1)
    """
    change = np.diff(ends.acceleration, axis=0)
    rest = change - np.diff(t)[:, None] / 6 * (ends.jerk[:-1] + 4 * middle.jerk + ends.jerk[1:])
    scale = np.abs(ends.acceleration).max(axis=0, initial=0.0) + np.abs(change).max(axis=0, initial=0.0)
    return rest, QUIET * scale + 1e-9


def steep(t: np.ndarray, ends: Look, middle: Look) -> np.ndarray:
    """Intervals in which the motion is not the smooth curve through the samples, those that need a look most first."""
    rest, smallest = unexplained(t, ends, middle)
    ratio = (np.abs(rest) / smallest).max(axis=1)
    order = np.argsort(-ratio)[:EXAMINED]
    return order[ratio[order] > 1.0]


def doubtful(dense: Dense, ends: Look, middle: Look, n: int) -> np.ndarray:
    r"""The same intervals, and those in which what follows from the rates is not what n positions and speeds do, though both ends look alike.

    .. math:: x_1 - x_0 - \tfrac h6 (\dot x_0 + 4 \dot x_m + \dot x_1)
    """
    h = np.diff(dense.t)[:, None]
    states = slice(0, min(2 * n, dense.x.shape[1]))
    rate, inner = ends.rate[:, states], middle.rate[:, states]
    rest = np.diff(dense.x[:, states], axis=0) - h / 6 * (rate[:-1] + 4 * inner + rate[1:])
    smallest = h * (QUIET * np.abs(rate).max(axis=0, initial=0.0) + 1e-9)
    ratio = (np.abs(rest) / smallest).max(axis=1)
    order = np.argsort(-ratio)[:EXAMINED]
    return np.unique(np.concatenate([steep(dense.t, ends, middle), order[ratio[order] > 1.0]]))


def middle_of(dense: Dense, look: Looking) -> Look:
    """What is known in the middle of every interval."""
    count = len(dense.t) - 1
    return look(*dense.at(np.arange(count), np.full(count, 0.5)))


def followed_closely(
    dense: Dense, intervals: np.ndarray, smallest: np.ndarray, look: Looking, step: float, following: Following
) -> tuple[np.ndarray, np.ndarray]:
    """Knots and states with some intervals divided again and again where the jerk does not explain the acceleration, along the run itself.

    Args:
        smallest: what is nothing of a change of the acceleration. step: of the run: no part is longer.
    """
    knots, states, left = [dense.t], [dense.x], DIVISIONS
    waiting = [(-np.inf, float(dense.t[k]), float(dense.t[k + 1]), dense.x[k]) for k in intervals]
    while waiting and left > 0:
        left -= 1
        _, a, b, x = heapq.heappop(waiting)
        parts = PARTS if b - a <= PARTS * step else min(10_000, int(np.ceil((b - a) / step)))
        times = np.linspace(a, b, parts + 1)
        found = following(x, times)
        if not np.isfinite(found).all():
            continue
        seen = look(found, times)
        inner = Dense(times, found, seen.rate, seen.second)
        rest = unexplained(times, seen, middle_of(inner, look))[0]
        knots.append(times[1:-1])
        states.append(found[1:-1])
        ratio = (np.abs(rest) / smallest).max(axis=1)
        for k in np.flatnonzero(ratio > 1.0):
            if times[k + 1] - times[k] > INSTANT * margin(times[k]):
                heapq.heappush(waiting, (-float(ratio[k]), float(times[k]), float(times[k + 1]), found[k]))
    times = np.concatenate(knots)
    times, order = np.unique(times, return_index=True)
    return times, np.concatenate(states)[order]


def integrated_again(dense: Dense, intervals: np.ndarray, look: Looking) -> tuple[np.ndarray, np.ndarray]:
    """Knots and states with the motion inside some intervals integrated again, finely, from the sample before: of runs that have no loop of their own."""
    import warnings

    from scipy.integrate import solve_ivp

    knots, states = [dense.t], [dense.x]
    for k in intervals:
        asked = 0

        def rate(t: float, x: np.ndarray) -> np.ndarray:
            nonlocal asked
            asked += 1
            if asked > PATIENCE:
                raise _EndlessError
            return look(x[None], np.array([t])).rate[0]

        span = float(dense.t[k]), float(dense.t[k + 1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a discontinuity makes it complain; what it reached is used
            try:
                done = solve_ivp(rate, span, dense.x[k], method="LSODA", rtol=1e-10, atol=1e-12)
            except _EndlessError:
                continue
        inside = (done.t > span[0] + 1e-9 * (span[1] - span[0])) & (done.t < span[1] - 1e-9 * (span[1] - span[0]))
        good = inside & np.isfinite(done.y).all(axis=0)
        knots.append(done.t[good])
        states.append(done.y.T[good])
    times = np.concatenate(knots)
    order = np.argsort(times, kind="stable")
    return times[order], np.concatenate(states)[order]


class _EndlessError(Exception):
    """A motion that switches faster and faster."""


def jumps_in(dense: Dense, ends: Look, middle: Look, look: Looking
             ) -> tuple[list[tuple[int, int, float]], list[tuple[float, np.ndarray]]]:  # fmt: skip
    """(interval, component, time) where the acceleration changes by what the jerk does not explain, however short the interval.

    A smooth motion that is recorded too coarsely also differs, but less and less as the interval is halved. What was seen on the
    way is given as well: a steep change that is no jump has its largest jerk there.
    """
    h = np.diff(dense.t)
    rest, smallest = unexplained(dense.t, ends, middle)
    found: list[tuple[int, int, float]] = []
    seen_steep: list[tuple[float, np.ndarray]] = []
    for k in steep(dense.t, ends, middle):
        i = int(np.argmax(np.abs(rest[k]) / smallest))
        low, high = 0.0, 1.0
        a, b, m = (Look(*(p[n : n + 1] for p in part)) for part, n in ((ends, k), (ends, k + 1), (middle, k)))
        left, seen, halvings = np.abs(rest[k]), [], 0
        torn = np.flatnonzero(left > smallest)
        while (high - low) * h[k] > INSTANT * margin(dense.t[k]):
            quarters = np.array([0.75 * low + 0.25 * high, 0.25 * low + 0.75 * high])
            inner = look(*dense.at(np.array([k, k]), quarters))
            seen += [(float(dense.t[k] + u * h[k]), inner.jerk[n]) for n, u in enumerate(quarters)]
            width = (high - low) * h[k] / 2
            halves = []
            for n, (start, end) in enumerate(((a, m), (m, b))):
                explained = width / 6 * (start.jerk[0] + 4 * inner.jerk[n] + end.jerk[0])
                halves.append(np.abs(end.acceleration[0] - start.acceleration[0] - explained))
            side = int(halves[1][i] > halves[0][i])
            part = Look(*(p[side : side + 1] for p in inner))
            if halvings < HALVINGS:
                left, halvings = halves[side], halvings + 1
                torn = np.flatnonzero((left > smallest) & (left > STAYS * np.abs(rest[k])))
            if left[i] < smallest[i] or (halvings == HALVINGS and not len(torn)):
                break
            low, high = (low, (low + high) / 2) if side == 0 else ((low + high) / 2, high)
            a, b, m = (a, m, part) if side == 0 else (m, b, part)
        when = float(dense.t[k] + (low + high) / 2 * h[k])
        found += [(int(k), int(c), when) for c in torn]
        seen_steep += [] if len(torn) else seen
    return found, seen_steep
