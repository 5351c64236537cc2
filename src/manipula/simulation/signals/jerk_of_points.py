r"""Jerk of points: in the world where the base moves, and of the tip where its tool is changed during the run.

From a change of the tool on "tip" means another point of the last link. Both are looked at: the old one until that instant, the new one from then on.
That the one is not where the other was is no jump; where the acceleration of a point jumps because the new load does, its jerk is infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manipula.errors import DescriptionError
from manipula.simulation.carried_points import BESIDE, rates_of
from manipula.simulation.point_motion import Point
from manipula.simulation.recorded import carrying_of, robot_of
from manipula.simulation.signals.jerk_sources import Looking
from manipula.simulation.stepping.grid import margin

if TYPE_CHECKING:
    from manipula.simulation.result import Result

QUIET = 1e-6  # of the acceleration: a change below this is no jump
SMALL = 1e-9  # m/s²

Showing = Callable[..., Any]  # t, q, qd, qdd, jerk of the joints → acceleration and jerk of a point


class Pointed:
    """A point of a result: what it shows in every run, and when it becomes another one."""

    def __init__(self, result: Result, point: Point) -> None:
        robot = robot_of(result)
        if robot is None:
            raise DescriptionError(
                "The result does not say which robot moved, so the motion of a point is not known.", field="frame"
            )
        robot.frame(point[0])
        q = result.arrays["q"]
        self.robot, self.point = robot, point
        self.carried = [carrying_of(result, point[0], k) for k in range(len(q))] if q.ndim == 3 else [carrying_of(result, point[0])]  # fmt: skip

    def __call__(self, run: int) -> Showing:
        found = self.carried[run]
        return lambda t, *motion: rates_of(found, self.robot, self.point, t, *motion)[2:]

    def parts(self, run: int, end: float) -> list[tuple[float, Showing]]:
        """From when on which point is meant within a run, and what it shows."""
        found = self.carried[run]
        if found is None or not found.changes(self.point):
            return []
        out: list[tuple[float, Showing]] = []
        for k, time in enumerate([-np.inf, *found.changes(self.point)]):
            fixed, place = replace(found, tools=()), found.place(self.point, k)
            out.append((time, lambda t, *motion, c=fixed, at=place: c.rates(self.robot, at, t, *motion)[2:]))
        begun = sum(time <= 0.0 for time, _ in out) - 1
        return [part for part in out[begun:] if part[0] < end]


class InParts(NamedTuple):
    """Jerk at the samples (S, 3), jumps of the acceleration, and what lies between the samples."""

    values: np.ndarray
    jumps: tuple[tuple[int, int, float], ...]
    between: tuple[tuple[int, float, tuple[float, ...]], ...]


def retooled(t: np.ndarray, x: np.ndarray, looking: Looking, parts: list[tuple[float, Showing]], along: Callable[..., Any]) -> InParts:  # fmt: skip
    """The jerk of a point that becomes another one during a run.

    Args:
        t, x: samples and states (S, size). parts: from when on which point is meant. along: gives the jerk of one point at some times.
    """
    alive = np.isfinite(x).all(axis=1)
    last = len(t) if alive.all() else int(np.argmin(alive))
    values, jumps, between = np.full((len(t), 3), np.nan), [], []
    ends = [*(time for time, _ in parts[1:]), np.inf]
    beginning, state = -np.inf, None
    for k, ((_, shown), end) in enumerate(zip(parts, ends)):
        inner = np.flatnonzero((t[:last] > beginning + BESIDE * margin(t[:last])) & (t[:last] < end - BESIDE * margin(t[:last])))  # fmt: skip
        times, states = t[inner], x[inner]
        if state is not None:
            times, states = np.append(beginning, times), np.vstack([state[None], states])
        ending = last > 0 and end <= t[last - 1]
        closed = end - BESIDE * float(margin(end)) if ending else np.inf
        if ending:
            state = _state_at(t[:last], x[:last], looking, end, closed)
            times, states = np.append(times, closed), np.vstack([states, state[None]])
        found = along(times, states, looking, shown)
        at = dict(zip(times.tolist(), found.values))
        for i in range(last):
            here = at.get(float(t[i]))
            if here is not None or (np.isfinite(beginning) and abs(t[i] - beginning) <= BESIDE * margin(t[i])):
                values[i] = at[beginning] if here is None else here
        jumps += found.jumps
        between += found.between
        edges = ([float(beginning)] if np.isfinite(beginning) else []) + ([float(closed)] if ending else [])
        between += [(0, time, tuple(at[time].tolist())) for time in edges]
        if not ending:
            break
        assert state is not None
        jumps += _torn(looking, (shown, parts[k + 1][1]), state, closed, end)
        beginning = end
    return InParts(values, tuple(jumps), tuple(between))


def _state_at(t: np.ndarray, x: np.ndarray, looking: Looking, instant: float, before: float) -> np.ndarray:
    """The state at an instant, integrated from the sample before it with what acts until then."""
    from scipy.integrate import solve_ivp

    k = int(np.searchsorted(t, instant + BESIDE * float(margin(instant)), side="right")) - 1
    if abs(t[k] - instant) <= BESIDE * margin(instant):
        return x[k]
    size = x.shape[1]
    rate = lambda s, y: looking(y[None], np.array([min(s, before)])).rate[0][:size]  # noqa: E731
    done = solve_ivp(rate, (float(t[k]), instant), x[k], method="DOP853", rtol=1e-11, atol=1e-12)
    return done.y[:, -1]


def _torn(looking: Looking, shown: tuple[Showing, Showing], state: np.ndarray, before: float, after: float) -> list[tuple[int, int, float]]:  # fmt: skip
    """Components in which the acceleration of the old or the new point jumps with the load."""
    found: set[int] = set()
    for show in shown:
        sides = []
        for t in (before, after):
            seen, at = looking(state[None], np.array([t])), np.array([after])
            n = seen.jerk.shape[1]
            sides.append(np.asarray(show(at, state[None, :n], seen.rate[:, :n], seen.acceleration, seen.jerk)[0])[0])
        size = max(float(np.abs(side).max()) for side in sides)
        found |= set(np.flatnonzero(np.abs(sides[1] - sides[0]) > QUIET * size + SMALL).tolist())
    return [(0, component, float(after)) for component in sorted(found)]
