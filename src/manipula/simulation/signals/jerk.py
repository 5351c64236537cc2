r"""Jerk of a run: exact derivatives along its own flow, which do not depend on how often the run was recorded.

With the state's rate :math:`\dot x = f(t, x)` the jerk is part of :math:`\ddot x = \partial_t f + \partial_x f\, f`, differentiated in the
compiled code. Between two samples the state is the quintic through :math:`x, \dot x, \ddot x` at both, and the derivative is taken there
again; so the largest value is found wherever it lies. Where the acceleration jumps (dry friction that turns, a switched force, a command held
over a step) the jerk is infinite, and the instant is named.

A result without its scenario (read from a file) has nothing but samples: the jerk is then an estimate, and carries how far it may be off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.algebra.value import Value
from manipula.errors import DescriptionError, ShapeError
from manipula.simulation.point_motion import Point, point_rates, read_point
from manipula.simulation.signals.jerk_instants import (
    Dense,
    doubtful,
    followed_closely,
    integrated_again,
    jumps_in,
    middle_of,
    steep,
    unexplained,
)
from manipula.simulation.signals.jerk_of_points import Pointed, retooled
from manipula.simulation.signals.jerk_sources import Following, JerkSource, Look, Looking, source_of, timed

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory
    from manipula.robot.robot import Robot
    from manipula.simulation.result import Result

ZOOMS, PLACES, SEARCHED = 3, 16, 12  # how finely, and in how many intervals, the largest jerk is looked for


Shown = Callable[..., Any]  # t, q, qd, qdd, jerk of the joints → acceleration and jerk of what is asked for


@dataclass(frozen=True, eq=False, repr=False)
class Jerk(Value):
    """Third derivative of the joints (S, n), or of a point (S, 3); (N, S, …) of a batch.

    Attributes:
        t, values: at the samples. exact: from the flow itself, else an estimate from the samples, off by about ``error``.
        jumps: (run, component, time) of every jump of the acceleration, where the jerk is infinite. The time is exact to about 1e-13 of
            itself (and 1e-13 s); where a function of the state decides it, as exact as the states of the run, and with a controller in Python as
            the polynomials through its samples.
        between: (run, time, jerk of every component) where it is larger between samples than at them.
        remark: a sentence where the numbers need one.
    """

    t: np.ndarray
    values: np.ndarray
    exact: bool = True
    error: float = 0.0
    jumps: tuple[tuple[int, int, float], ...] = ()
    between: tuple[tuple[int, float, tuple[float, ...]], ...] = ()
    remark: str = ""

    def run(self, index: int) -> Jerk:
        """Of one run of a batch."""
        if self.values.ndim != 3:
            raise ShapeError("This is the jerk of a single run.")
        jumps = tuple((0, i, t) for k, i, t in self.jumps if k == index)
        between = tuple((0, t, v) for k, t, v in self.between if k == index)
        return replace(self, values=self.values[index], jumps=jumps, between=between)

    def signal(self, component: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Times and values of one component of a single run (of the size when omitted), with what lies between the samples."""
        if self.values.ndim != 2:
            raise ShapeError("This is the jerk of a batch; take one run: .run(i).")
        size = lambda v: np.linalg.norm(v, axis=-1) if component is None else v[..., component]  # noqa: E731
        jumps = [t for _, i, t in self.jumps if component is None or i == component]
        more = [t for _, t, _ in self.between]
        found = [np.asarray(v) for _, _, v in self.between]
        times = np.concatenate([self.t, more, jumps])
        values = np.concatenate(
            [size(self.values), size(np.array(found)) if found else [], np.full(len(jumps), np.inf)]
        )
        order = np.argsort(times, kind="stable")
        return times[order], values[order]

    @property
    def largest(self) -> np.ndarray:
        """Largest |jerk| of every component, (n,) or (N, n); infinite where the acceleration jumps."""
        if self.values.ndim == 3:
            return np.array([self.run(k).largest for k in range(len(self.values))])
        count = self.values.shape[-1]
        return np.array([np.nanmax(np.abs(self.signal(i)[1]), initial=0.0) for i in range(count)])


def jerk_of(result: Result, frame: str | None = None, point: Any = None) -> Jerk:
    """Jerk of the joints of a result, or in base axes of the origin of a frame (``"tip"``: where the tool is) or a point of a link."""
    kept, where = result.jerks, read_point(frame, point)
    if where not in kept:
        if not all(name in result.arrays for name in ("q", "qd", "qdd")):
            raise DescriptionError("The jerk needs the signals q, qd and qdd; this result does not have them.")
        kept[where] = _found(result, _joints if where is None else Pointed(result, where))
    return kept[where]


def jerk_along(trajectory: Trajectory, t: np.ndarray, robot: Robot | None = None, point: str | Point = "tip") -> Jerk:
    """Jerk of a joint trajectory at times t, or of a point of the robot that follows it."""
    shown: Shown = lambda t, *motion: motion[2:] if robot is None else point_rates(robot, point, *motion)[2:]  # noqa: E731
    found = _along(t, np.asarray(trajectory.derivatives(t, 0))[0], timed(trajectory), shown, False)
    return replace(found, remark=_told(found.jumps, False, ""))


def _joints(_: int) -> Shown:
    return lambda t, *motion: motion[2:]


def _finite(x: np.ndarray) -> int:
    """Number of leading rows that are finite."""
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    return int(bad[0]) if len(bad) else len(x)


def _found(result: Result, shown: Callable[[int], Shown]) -> Jerk:
    q = np.asarray(result.arrays["q"], float)
    source = source_of(result)
    if isinstance(source, str):
        return estimated(result, shown, source)
    if source.held:
        components = q.shape[-1] if shown is _joints else 3
        values = np.full((*q.shape[:-1], components), np.inf)
        values[~np.isfinite(q).all(axis=-1)] = np.nan
        return Jerk(result.t, values, remark=source.held)
    runs = [_one(result, source, shown, k) for k in range(len(source.states))]
    jumps = tuple((k, i, t) for k, run in enumerate(runs) for _, i, t in run.jumps)
    between = tuple((k, t, v) for k, run in enumerate(runs) for _, t, v in run.between)
    values = np.array([run.values for run in runs]) if q.ndim == 3 else runs[0].values
    return Jerk(result.t, values, source.exact, source.error, jumps, between, _told(jumps, q.ndim == 3, source.remark))


def _told(jumps: tuple[tuple[int, int, float], ...], batch: bool, remark: str) -> str:
    if not jumps:
        return remark
    run, _, t = min(jumps, key=lambda j: j[2])
    where = f" of run {run}" if batch else ""
    times = len({(k, when) for k, _, when in jumps})
    more = f", and at {times - 1} other instant{'s' if times > 2 else ''}" if times > 1 else ""
    return f"The acceleration{where} jumps at t = {t:.4g} s{more}: the jerk is infinite there. {remark}".strip()


# along a flow --------------------------------------------------------------------------------------------------------


def _one(result: Result, source: JerkSource, shown: Callable[[int], Shown], run: int) -> Jerk:
    """Jerk of one run; of a point that a change of tool replaces in parts, of which every one shows the same point."""
    t, x, looking = result.t, source.states[run], source.looking(run)
    following = None if source.following is None else source.following(run)
    step = float(result.meta.get("step") or np.inf)

    def along(t: np.ndarray, x: np.ndarray, looking: Looking, shown: Shown) -> Jerk:
        return _along(t, x, looking, shown, not source.exact, following, step)

    parts = shown.parts(run, float(t[-1])) if isinstance(shown, Pointed) else []
    if len(parts) < 2:
        return along(t, x, looking, shown(run))
    found = retooled(t, x, looking, parts, along)
    return Jerk(t, found.values, jumps=found.jumps, between=found.between)


def _along(t: np.ndarray, x: np.ndarray, looking: Looking, shown: Shown, slow: bool, following: Following | None = None,
           step: float = np.inf) -> Jerk:  # fmt: skip
    """Jerk of one run from its states (S, size); ``slow``: every look costs a call of a user's Python.

    Args:
        following: how the run itself is followed, where it has a loop. step: of the run.
    """

    def look(x: np.ndarray, t: np.ndarray) -> Look:
        seen = looking(x, t)
        n = seen.jerk.shape[1]
        return Look(seen.rate, seen.second, *shown(t, x[:, :n], seen.rate[:, :n], seen.acceleration, seen.jerk))

    last = _finite(x)
    seen = look(x[:last], t[:last])
    values = np.full((len(t), seen.jerk.shape[1]), np.nan)
    values[:last] = seen.jerk
    if last < 2:
        return Jerk(t, values)
    dense = Dense(t[:last], x[:last], seen.rate, seen.second)
    middle = middle_of(dense, look)
    if following is None:
        places = steep(dense.t, seen, middle)
    else:
        places = doubtful(dense, seen, middle, looking(x[:1], t[:1]).jerk.shape[1])
    if len(places) and not slow:
        if following is None:
            knots, states = integrated_again(dense, places, looking)
        else:
            smallest = unexplained(dense.t, seen, middle)[1]
            knots, states = followed_closely(dense, places, smallest, look, step, following)
        seen = look(states, knots)
        dense = Dense(knots, states, seen.rate, seen.second)
        middle = middle_of(dense, look)
    jumps, steep_places = jumps_in(dense, seen, middle, look)
    peaks = _peaks(dense, seen, middle, look, {k for k, _, _ in jumps}, 1 if slow else SEARCHED)
    between = tuple((0, when, tuple(v.tolist())) for when, v in (*steep_places, *peaks))
    return Jerk(t, values, jumps=tuple((0, i, when) for _, i, when in jumps), between=between)


def _peaks(
    dense: Dense, ends: Look, middle: Look, look: Looking, without: set[int], searched: int
) -> list[tuple[float, np.ndarray]]:
    """Where a component of the jerk, or its size, is largest between samples; intervals with a jump have no largest one."""
    measured = lambda v: np.concatenate([np.abs(v), np.linalg.norm(v, axis=-1, keepdims=True)], axis=-1)  # noqa: E731
    size = np.maximum(np.maximum(measured(ends.jerk[:-1]), measured(ends.jerk[1:])), measured(middle.jerk))
    chosen: list[tuple[int, int]] = []  # component and interval
    for i in range(size.shape[1]):
        order = np.argsort(-size[:, i])[:searched]
        chosen += [(i, int(k)) for k in order if size[k, i] > 0.5 * size[order[0], i] and int(k) not in without]
    if not chosen:
        return []
    which, k = np.array(chosen).T
    rows, low, high = np.arange(len(k)), np.zeros(len(k)), np.ones(len(k))
    best = np.full(size.shape[1], -1.0)
    found: dict[int, tuple[float, np.ndarray]] = {}
    for _ in range(ZOOMS):  # all of them at once
        u = np.linspace(low, high, PLACES + 1, axis=-1)
        states, times = dense.at(np.repeat(k, PLACES + 1), u.ravel())
        seen = look(states, times).jerk
        sizes = measured(seen).reshape(len(k), PLACES + 1, -1)[rows, :, which]
        at = np.argmax(np.nan_to_num(sizes, nan=-1.0), axis=1)
        low, high = u[rows, np.maximum(at - 1, 0)], u[rows, np.minimum(at + 1, PLACES)]
        for row, i in enumerate(which):
            if sizes[row, at[row]] > best[i]:
                place = row * (PLACES + 1) + at[row]
                best[i], found[int(i)] = sizes[row, at[row]], (float(times[place]), seen[place])
    return list(found.values())


# from samples alone --------------------------------------------------------------------------------------------------


def estimated(result: Result, shown: Callable[[int], Shown], why: str) -> Jerk:
    """Jerk from recorded velocities and accelerations.

    At every sample the quintic through qd and qdd of three neighbours is differentiated; the same with neighbours twice as far
    apart says how far it may be off. Between samples it is larger by what a parabola through three of them reaches.
    """
    q, qd, qdd = (np.asarray(result.arrays[name], float) for name in ("q", "qd", "qdd"))
    batch = q.ndim == 3
    q, qd, qdd = (part if batch else part[None] for part in (q, qd, qdd))
    values, error = [], 0.0
    for k in range(len(q)):
        near, far = (_sampled(result.t, qd[k], qdd[k], stride) for stride in (1, 2))
        seen, other = (np.asarray(shown(k)(result.t, q[k], qd[k], qdd[k], part)[1]) for part in (near, far))
        values.append(seen)
        off = np.abs(seen - other)
        bends = np.abs(np.diff(seen, 2, axis=0)) / 8.0
        between = float(np.nanmax(bends)) if np.isfinite(bends).any() else 0.0
        error = max(error, float(np.nanmax(off)) + between if np.isfinite(off).any() else np.inf)
    told = f"to about {error:.2g}" if np.isfinite(error) else "with an unknown error"
    remark = f"The jerk is estimated from the recorded samples, {told}: {why}."
    return Jerk(result.t, np.array(values) if batch else values[0], False, error, remark=remark)


def _sampled(t: np.ndarray, qd: np.ndarray, qdd: np.ndarray, stride: int) -> np.ndarray:
    """Second derivative of the quintic through qd and its derivative qdd at three samples, at every sample."""
    count = _finite(qdd)
    out = np.full_like(qdd, np.nan)
    if count < 1 + 2 * stride:
        return out
    centre = np.clip(np.arange(count), stride, count - 1 - stride)
    index = centre[:, None] + stride * np.array([-1, 0, 1])
    h = (t[index[:, 2]] - t[index[:, 0]]) / 2
    u = (t[index] - t[:count, None]) / h[:, None]
    powers = np.arange(6)
    # qd, and h·qdd, at three samples
    rows = [u[..., None] ** powers, powers * u[..., None] ** np.maximum(powers - 1, 0)]
    given = [qd[index], h[:, None, None] * qdd[index]]
    out[:count] = (
        2.0 * np.linalg.solve(np.concatenate(rows, axis=1), np.concatenate(given, axis=1))[:, 2] / (h * h)[:, None]
    )
    return out
