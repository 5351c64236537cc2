"""Moves from one joint vector to another in which all joints start and arrive together."""

from __future__ import annotations

import importlib.util
import math
from typing import Annotated, Any, Literal

import numpy as np

from manipula.algebra.arguments import LARGEST, SMALLEST, choice, finite_array
from manipula.errors import CompileError, DescriptionError, ShapeError, SolveError
from manipula.lazy import cached_property
from manipula.motion.piecewise import PiecewiseTrajectory
from manipula.motion.timing.base import PiecewiseProfile, jerk_pieces
from manipula.motion.timing.double_s import double_s_phases, double_s_pieces, double_s_profile
from manipula.parts.checks import check_arguments
from manipula.parts.field import Choice, Numbers, PerJoint

SHORT, LONG = 1e-6, 1e6  # [s] of moves whose tables are certainly in order

Pieces = tuple[list[float], list[list[float]]]  # breaks and coefficients of one joint
RATES = ("start_velocity", "start_acceleration", "goal_velocity", "goal_acceleration")


def joint_move(
    start: Annotated[Any, Numbers("rad or m", "joint vector at the start", degrees=True)],
    goal: Annotated[Any, Numbers("rad or m", "joint vector at the end", degrees=True)],
    *,
    velocity: Annotated[Any, PerJoint("rad/s or m/s", "largest speed", above=0.0, degrees=True)],
    acceleration: Annotated[Any, PerJoint("rad/s² or m/s²", "largest acceleration", above=0.0, degrees=True)],
    jerk: Annotated[Any, PerJoint("rad/s³ or m/s³", "largest jerk", above=0.0, degrees=True)],
    synchronise: Annotated[
        Literal["time", "phase"], Choice("time: all arrive together; phase: a straight line in joint space")
    ] = "time",
    method: Annotated[
        Literal["auto", "double_s", "ruckig"],
        Choice("ruckig is needed for moves that do not start and end at rest", "auto", "double_s", "ruckig"),
    ] = "auto",
    start_velocity: Annotated[Any, PerJoint("rad/s or m/s", "speed at the start; none: 0", degrees=True)] = None,
    start_acceleration: Annotated[
        Any, PerJoint("rad/s² or m/s²", "acceleration at the start; none: 0", degrees=True)
    ] = None,
    goal_velocity: Annotated[Any, PerJoint("rad/s or m/s", "speed at the end; none: 0", degrees=True)] = None,
    goal_acceleration: Annotated[
        Any, PerJoint("rad/s² or m/s²", "acceleration at the end; none: 0", degrees=True)
    ] = None,
) -> PiecewiseTrajectory:
    """The synchronised jerk-limited move from ``start`` to ``goal``, shape (n,) each [rad or m].

    Args:
        velocity, acceleration, jerk: limits, one number or one per joint.
        synchronise: ``"time"``: every joint has its own double S, the faster ones slowed down to arrive with the slowest;
            ``"phase"``: all joints follow one law, so the move is a straight line in joint space (rest to rest only).
        method: ``"ruckig"`` uses that library; it is needed (and chosen by ``"auto"`` when installed) for moves that do
            not start and end at rest. Rest-to-rest moves take the same time either way.
        start_velocity, start_acceleration, goal_velocity, goal_acceleration: 0 by default.
    """
    at_rest = start_velocity is start_acceleration is goal_velocity is goal_acceleration is None
    named = type(method) is str and type(synchronise) is str
    if at_rest and named and method in ("auto", "double_s") and synchronise in ("time", "phase"):
        plain = _plain(start, goal, (velocity, acceleration, jerk))
        if plain is not None:
            return _RestToRest(*plain, synchronise, method)
    check_arguments(joint_move, locals(), "a joint move")
    a, b = finite_array(start, "start"), finite_array(goal, "goal")
    if a.ndim != 1 or a.shape != b.shape:
        raise ShapeError(f"'start' and 'goal' must have one shape (n,); found {a.shape} and {b.shape}.")
    if np.array_equal(a, b):
        raise DescriptionError("'start' and 'goal' are the same; the move has zero length.", field="goal")
    limits = [
        _limit(x, name, len(a)) for x, name in ((velocity, "velocity"), (acceleration, "acceleration"), (jerk, "jerk"))
    ]
    given_rates = (start_velocity, start_acceleration, goal_velocity, goal_acceleration)
    rates = [np.zeros(len(a)) if x is None else _per_joint(x, name, len(a)) for x, name in zip(given_rates, RATES)]
    at_rest = not any(np.any(rate) for rate in rates)
    choice(method, "method", ("auto", "double_s", "ruckig"))
    choice(synchronise, "synchronise", ("time", "phase"))
    if method == "double_s" and not at_rest:
        raise DescriptionError(
            "'double_s' moves start and end at rest; use method='ruckig' for others.", field="method"
        )
    if synchronise == "phase" and not at_rest:
        raise DescriptionError(
            "A straight line in joint space ('phase') starts and ends at rest; use synchronise='time'.",
            field="synchronise",
        )
    for name, rate, most in zip(RATES, rates, (limits[0], limits[1], limits[0], limits[1])):
        if np.any(np.abs(rate) > most):
            i = int(np.argmax(np.abs(rate) - most))
            raise DescriptionError(f"'{name}' of joint {i + 1} is {rate[i]:g}; its limit is {most[i]:g}.", field=name)
    lists = [x.tolist() for x in limits]
    if method != "ruckig" and at_rest:
        return _RestToRest(a.tolist(), b.tolist(), lists, synchronise, method)
    move = _ruckig(a, b, limits, rates, synchronise)
    given = {name: x.tolist() for name, x in zip(RATES, rates) if np.any(x)}
    move.description = _described(a.tolist(), b.tolist(), lists, synchronise, method) | given
    return move


def _described(
    a: list[float], b: list[float], limits: list[list[float]], synchronise: str, method: str
) -> dict[str, Any]:
    """What a scenario file holds of a move."""
    velocity, acceleration, jerk = limits
    return {
        "kind": "joint_move", "start": a, "goal": b, "synchronise": synchronise, "method": method,
        "velocity": velocity, "acceleration": acceleration, "jerk": jerk,
    }  # fmt: skip


def _plain(start: Any, goal: Any, limits: tuple[Any, ...]) -> tuple[list[float], list[float], list[list[float]]] | None:
    """Start, goal and limits as lists when all are plainly right; None when they deserve a careful look."""
    a, b = _floats(start), _floats(goal)
    if not a or b is None or len(a) != len(b) or a == b:
        return None
    rows = []
    for x in limits:
        row = [float(x)] * len(a) if type(x) in (float, int) and x <= LARGEST else _floats(x)
        if row is None or len(row) != len(a) or not min(row) >= SMALLEST:
            return None
        rows.append(row)
    return a, b, rows


def _floats(x: Any) -> list[float] | None:
    if type(x) is np.ndarray and x.dtype == np.float64 and x.ndim == 1:
        row = x.tolist()
    elif type(x) in (list, tuple) and all(type(v) is float for v in x):
        row = list(x)
    else:
        return None
    return row if sum(map(abs, row)) <= LARGEST else None  # not for nan either


class _RestToRest(PiecewiseTrajectory):
    """A move of double S laws. Its duration is known at once; its table of polynomials is made when somebody looks at it."""

    def __init__(
        self, a: list[float], b: list[float], limits: list[list[float]], synchronise: str, method: str
    ) -> None:
        self.accuracy, self.dimension, self.space = (0.0, 0.0, 0.0), len(a), "joint"
        self.description = _described(a, b, limits, synchronise, method)
        self._given = tuple(a), tuple(b), tuple(map(tuple, limits)), synchronise
        moving = [(abs(y - x), *of) for x, y, *of in zip(a, b, *limits) if x != y]
        if synchronise == "phase":
            moving = [(1.0, *(min(of[k] / of[0] for of in moving) for k in (1, 2, 3)))]
        self.duration = 0.0
        for of in moving:
            rise, steady, cruise, _ = double_s_phases(*of)
            self.duration = max(self.duration, rise + steady + rise + cruise + rise + steady + rise)
        if not SHORT < self.duration < LONG:
            _ = self._table  # with its checks, at once

    @cached_property
    def _table(self) -> PiecewiseTrajectory:
        a, b, limits, synchronise = self._given
        return _double_s(np.array(a), np.array(b), [np.array(x) for x in limits], synchronise)

    @property
    def _breaks(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._table._breaks

    @property
    def coefficients(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._table.coefficients


def _per_joint(value: Any, name: str, n: int) -> np.ndarray:
    array = finite_array(value, name)
    if array.shape not in ((), (n,)):
        raise ShapeError(f"'{name}' must be one number or {n}, one per joint; found shape {array.shape}.")
    return np.broadcast_to(array, (n,))


def _limit(value: Any, name: str, n: int) -> np.ndarray:
    found = _per_joint(value, name, n)
    if np.any(found < SMALLEST):
        raise DescriptionError(
            f"'{name}' must be greater than 0 (at least {SMALLEST:g}), found {found.min():g}.", field=name
        )
    return found


def _double_s(a: np.ndarray, b: np.ndarray, limits: list[np.ndarray], synchronise: str) -> PiecewiseTrajectory:
    distance = np.abs(b - a)
    moving = distance > 0
    if synchronise == "phase":
        v, acc, j = (float(np.min(x[moving] / distance[moving])) for x in limits)
        unit = double_s_profile(1.0, v, acc, j)
        rows = unit.coefficients[:, :, None] * (b - a)
        rows[:, 0] += a
        return PiecewiseTrajectory(unit.breaks, rows, "joint")
    joints = zip(np.flatnonzero(moving).tolist(), *(x[moving].tolist() for x in (distance, *limits)))
    found = [(i, *double_s_pieces(*of)) for i, *of in joints]
    longest = max(times[-1] for _, times, _ in found)
    stretched: dict[int, Pieces] = {}
    for i, times, rows in found:
        k, begin = longest / times[-1], float(a[i])  # ≥ 1: speeds, accelerations and jerks only become smaller
        sign = 1.0 if b[i] > a[i] else -1.0
        f0, f1, f2, f3 = sign, sign / k, sign / k**2, sign / k**3
        stretched[i] = (
            [t * k for t in times],
            [[c0 * f0 + begin, c1 * f1, c2 * f2, c3 * f3] for c0, c1, c2, c3 in rows],
        )
    return _together(stretched, a, longest)


def _together(profiles: dict[int, Pieces], start: np.ndarray, duration: float) -> PiecewiseTrajectory:
    """One table over the union of all breaks; a joint without a profile stays at its start."""
    breaks = np.array(sorted([0.0, duration, *(t for times, _ in profiles.values() for t in times)]))
    breaks = breaks[np.concatenate([[True], np.diff(breaks) > 1e-12 * duration])]
    breaks[-1] = duration
    middle = (breaks[:-1] + breaks[1:]) / 2
    count = max(len(rows) for _, rows in profiles.values())
    short = [(times, rows, count - len(rows)) for times, rows in profiles.values()]
    ends = np.array([times[1:-1] + [math.inf] * more for times, _, more in short])  # of every piece but the last
    begins = np.array([times[:-1] + [0.0] * more for times, _, more in short])
    powers = np.array([rows + [[0.0] * 4] * more for _, rows, more in short])
    piece = (ends[:, None, :] < middle[:, None]).sum(axis=2)  # (profiles, pieces of the table)
    which = np.arange(len(profiles))[:, None]
    c, x = powers[which, piece].transpose(2, 0, 1), breaks[:-1] - begins[which, piece]
    for k in range(3):  # the polynomials about the table's own breaks, by repeated synthetic division
        for j in range(2, k - 1, -1):
            c[j] += x * c[j + 1]
    rows = np.zeros((len(middle), 4, len(start)))
    rows[:, 0] = start
    rows[:, :, list(profiles)] = c.transpose(2, 0, 1)
    return PiecewiseTrajectory(breaks, rows, "joint")


def _ruckig(
    a: np.ndarray, b: np.ndarray, limits: list[np.ndarray], rates: list[np.ndarray], synchronise: str
) -> PiecewiseTrajectory:
    """The phases found by ruckig [Berscheid & Kröger 2021], integrated here."""
    if importlib.util.find_spec("ruckig") is None:
        raise CompileError("Moves that do not start and end at rest need ruckig. Install it with: pip install ruckig")
    import ruckig

    n = len(a)
    given = ruckig.InputParameter(n)
    given.current_position, given.target_position = a.tolist(), b.tolist()
    given.max_velocity, given.max_acceleration, given.max_jerk = (x.tolist() for x in limits)
    given.current_velocity, given.current_acceleration = rates[0].tolist(), rates[1].tolist()
    given.target_velocity, given.target_acceleration = rates[2].tolist(), rates[3].tolist()
    given.synchronization = ruckig.Synchronization.Phase if synchronise == "phase" else ruckig.Synchronization.Time
    found = ruckig.Trajectory(n)
    outcome = ruckig.Ruckig(n).calculate(given, found)
    if outcome not in (ruckig.Result.Working, ruckig.Result.Finished):
        raise SolveError(f"ruckig found no move: {outcome.name}.", outcome)
    profiles = {}
    for i, profile in enumerate(found.profiles[0]):
        durations = [*profile.brake.t, *profile.t]
        waiting = found.duration - sum(durations)  # at the goal, for the slowest joint
        durations.append(waiting if waiting > 1e-12 * found.duration else 0.0)
        profiles[i] = jerk_pieces(durations, [*profile.brake.j, *profile.j, 0.0], (a[i], rates[0][i], rates[1][i]))
        reached = PiecewiseProfile(*profiles[i]).evaluate(found.duration, 0, "left")[0]
        if abs(reached - b[i]) > 1e-6 * max(1.0, abs(b[i])):
            raise SolveError(f"ruckig's move of joint {i} ends at {reached:.9g}; the goal is {b[i]:.9g}.", outcome)
    return _together(profiles, a, found.duration)
