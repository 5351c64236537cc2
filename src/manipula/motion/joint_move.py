"""Moves from one joint vector to another in which all joints start and arrive together."""

from __future__ import annotations

import importlib.util
from typing import Annotated, Any, Literal

import numpy as np

from manipula.algebra.arguments import SMALLEST, choice, finite_array
from manipula.errors import CompileError, DescriptionError, ShapeError, SolveError
from manipula.motion.piecewise import PiecewiseTrajectory
from manipula.motion.timing.base import PiecewiseProfile, from_jerks
from manipula.motion.timing.double_s import double_s_profile
from manipula.parts.checks import check_arguments
from manipula.parts.field import Choice, Numbers, PerJoint

Phases = tuple[list[float], list[float]]  # durations, jerks


def joint_move(
    start: Annotated[Any, Numbers("rad or m", "joint vector at the start", degrees=True)],
    goal: Annotated[Any, Numbers("rad or m", "joint vector at the end", degrees=True)],
    *,
    velocity: Annotated[Any, PerJoint("rad/s or m/s", "largest speed", above=0.0, degrees=True)],
    acceleration: Annotated[Any, PerJoint("rad/s² or m/s²", "largest acceleration", above=0.0, degrees=True)],
    jerk: Annotated[Any, PerJoint("rad/s³ or m/s³", "largest jerk", above=0.0, degrees=True)],
    synchronise: Annotated[
        Literal["time", "phase"],
        Choice("time: all arrive together; phase: a straight line in joint space"),
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
    check_arguments(joint_move, locals(), "a joint move")
    a, b = finite_array(start, "start"), finite_array(goal, "goal")
    if a.ndim != 1 or a.shape != b.shape:
        raise ShapeError(f"'start' and 'goal' must have one shape (n,); found {a.shape} and {b.shape}.")
    if np.array_equal(a, b):
        raise DescriptionError("'start' and 'goal' are the same; the move has zero length.", field="goal")
    limits = [
        _limit(x, name, len(a)) for x, name in ((velocity, "velocity"), (acceleration, "acceleration"), (jerk, "jerk"))
    ]
    rates = [
        np.zeros(len(a)) if x is None else _per_joint(x, name, len(a))
        for x, name in (
            (start_velocity, "start_velocity"),
            (start_acceleration, "start_acceleration"),
            (goal_velocity, "goal_velocity"),
            (goal_acceleration, "goal_acceleration"),
        )
    ]
    at_rest = not any(np.any(rate) for rate in rates)
    choice(method, "method", ("auto", "double_s", "ruckig"))
    choice(synchronise, "synchronise", ("time", "phase"))
    if method == "double_s" and not at_rest:
        raise DescriptionError(
            "'double_s' moves start and end at rest; use method='ruckig' for others.", field="method"
        )
    if method == "ruckig" or not at_rest:
        move = _ruckig(a, b, limits, rates, synchronise)
    else:
        move = _double_s(a, b, limits, synchronise)
    named = ("start_velocity", "start_acceleration", "goal_velocity", "goal_acceleration")
    move.description = {
        "kind": "joint_move", "start": a.tolist(), "goal": b.tolist(), "synchronise": synchronise, "method": method,
        **{name: x.tolist() for name, x in zip(("velocity", "acceleration", "jerk"), limits)},
        **{name: x.tolist() for name, x in zip(named, rates) if np.any(x)},
    }  # fmt: skip
    return move


def _per_joint(value: Any, name: str, n: int) -> np.ndarray:
    array = finite_array(value, name)
    if array.shape not in ((), (n,)):
        raise ShapeError(f"'{name}' must be one number or {n}, one per joint; found shape {array.shape}.")
    return np.broadcast_to(array, (n,))


def _limit(value: Any, name: str, n: int) -> np.ndarray:
    found = _per_joint(value, name, n)
    if np.any(found < SMALLEST):
        raise DescriptionError(f"'{name}' must be greater than 0.", field=name)
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
    profiles = [(i, double_s_profile(*of)) for i, *of in joints]
    longest = max(profile.duration for _, profile in profiles)
    stretched: dict[int, PiecewiseProfile] = {}
    for i, profile in profiles:
        k = longest / profile.duration  # ≥ 1: speeds, accelerations and jerks only become smaller
        sign = 1.0 if b[i] > a[i] else -1.0
        rows = profile.coefficients * (sign, sign / k, sign / k**2, sign / k**3)
        rows[:, 0] += a[i]
        stretched[i] = PiecewiseProfile(profile.breaks * k, rows)
    return _together(stretched, a, longest)


def _together(profiles: dict[int, PiecewiseProfile], start: np.ndarray, duration: float) -> PiecewiseTrajectory:
    """One table over the union of all breaks; a joint without a profile stays at its start."""
    breaks = np.sort(np.concatenate([[0.0, duration], *(p.breaks for p in profiles.values())]))
    breaks = breaks[np.concatenate([[True], np.diff(breaks) > 1e-12 * duration])]
    breaks[-1] = duration
    middle = (breaks[:-1] + breaks[1:]) / 2
    count = max(len(p.coefficients) for p in profiles.values())
    ends = np.full((len(profiles), count - 1), np.inf)  # of every piece but the last
    begins, powers = np.zeros((len(profiles), count)), np.zeros((len(profiles), count, 4))
    for r, p in enumerate(profiles.values()):
        own = len(p.coefficients)
        ends[r, : own - 1], begins[r, :own], powers[r, :own] = p.breaks[1:-1], p.breaks[:-1], p.coefficients
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
        profiles[i] = from_jerks(durations, [*profile.brake.j, *profile.j, 0.0], (a[i], rates[0][i], rates[1][i]))
        reached = profiles[i].evaluate(found.duration, 0, "left")[0]
        if abs(reached - b[i]) > 1e-6 * max(1.0, abs(b[i])):
            raise SolveError(f"ruckig's move of joint {i} ends at {reached:.9g}; the goal is {b[i]:.9g}.", outcome)
    return _together(profiles, a, found.duration)
