"""``solve_ik(model, target) -> IkResult``: the one verb of this room."""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.algebra.arguments import flag
from manipula.bounded_cache import BoundedCache
from manipula.errors import DescriptionError, ShapeError, unknown_name
from manipula.ik.base import TOLERANCE, IkResult, units_of
from manipula.ik.methods import ALIASES, REGISTRY
from manipula.ik.preferred import checked_preference, preferred, stacked
from manipula.ik.search.at_once import EveryBranch, NearestBranch
from manipula.ik.solver import MAX_ITERATIONS, Solver
from manipula.ik.targets import carrying_arm, read_numbers, read_start, read_targets
from manipula.ik.task import Task
from manipula.model import Model
from manipula.robot.link import TIP
from manipula.robot.robot import Robot

KEPT = 256  # solvers


def solve_ik(
    model: Model | Robot,
    target: Any,
    method: str = "auto",
    all_solutions: bool = False,
    q0: Any = None,
    limits: bool = True,
    *,
    frame: str = TIP,
    rows: Any = None,
    tolerance: float = TOLERANCE,
    max_iterations: int | None = None,
    seed: int = 0,
    prefer: str | None = None,
) -> IkResult:
    """Joint positions that bring a frame to a target.

    Args:
        model: a Model, or a Robot.
        target: a position (3,), a pose (4, 4), a batch (..., 3) or (..., 4, 4), or {frame: target} for several frames at once.
        method: "auto" (a closed form when the geometry has one, else "levenberg_marquardt"), or one of ``manipula.ik.methods.REGISTRY``:
            "newton_raphson", "pseudoinverse", "ccd", "continuation", "optimisation", "geometric" (closed forms), "elimination" …
        all_solutions: every distinct posture, (k, n), instead of one; where there is a continuum (a redundant arm, a singular target),
            samples of it are given and ``continuum`` says so.
        q0: posture (n,) to start from; its own solution is preferred to others. All solutions are sorted by their distance from it.
        limits: keep joint limits.
        frame: which frame goes to the target.
        rows: the part of the pose that counts, among x y z rx ry rz (base axes); all of it when omitted.
        tolerance: [m] and [rad].
        max_iterations: of all starts together, for each target, but four where four starts race for one: 12 000 when omitted. All solutions
            are searched for until many starts bring nothing new, or until this many iterations when it is given.
        seed: of the random restarts, a whole number from 0.
        prefer: look for all solutions and take the one nearest to the "middle" of the ranges (to zero where there are none), or "nearest"
            to q0, by the largest joint difference. Without it the first that is found: the nearest branch of a closed form, else
            that of the start. Angles are always turned by whole turns towards q0, or the middle without one.

    Raises:
        ShapeError, DescriptionError: for wrong input. A target that cannot be met is a status with a reason, not an exception.
    """
    robot = model.robot if isinstance(model, Model) else model
    plain = (
        rows is max_iterations is prefer is None and type(seed) is int and not seed
        and type(method) is type(frame) is str and type(limits) is type(all_solutions) is bool
        and type(target) is np.ndarray and type(tolerance) is float and 0.0 < tolerance < 1.0
    )  # fmt: skip
    key = (id(robot), method, frame, target.ndim, limits, all_solutions) if plain else None
    known = _AT_ONCE.get(key)
    if known is not None and known[0]() is robot:
        found = known[1].answer(target, q0, tolerance)
        if found is not None:
            return found
    if not isinstance(robot, Robot):
        raise DescriptionError(f"solve_ik() takes a Model or a Robot, found {type(model).__name__}.")
    found = _solved(
        robot, target, method, all_solutions, q0, limits, frame, rows, tolerance, max_iterations, seed, prefer, key
    )
    return dataclasses.replace(found, units=units_of(robot))


def _solved(
    robot: Robot, target: Any, method: str, all_solutions: bool, q0: Any, limits: bool, frame: str, rows: Any, tolerance: float,
    max_iterations: int | None, seed: int, prefer: str | None, key: Any,
) -> IkResult:  # fmt: skip
    """The same by the long way; ``key``: where what answers such targets at once is kept, None where nothing may be."""
    chosen = ALIASES.get(method, method) if isinstance(method, str) else method
    if not isinstance(chosen, str) or (chosen != "auto" and chosen not in REGISTRY):
        raise unknown_name("method of solve_ik()", method, ("auto", *REGISTRY, *ALIASES), field="method")
    tolerance, seed, most = read_numbers(tolerance, seed, max_iterations)
    all_solutions, limits = flag(all_solutions, "all_solutions"), flag(limits, "limits")
    prefer = checked_preference(prefer, q0)
    task, targets, lead = read_targets(robot, target, frame, rows)
    start = None if q0 is None else read_start(robot, q0, lead, all_solutions)
    arm = None if isinstance(target, Mapping) else carrying_arm(robot, task.parts[0][0])
    if arm is not None:
        own = None if q0 is None else np.asarray(q0, float)[..., list(arm.joints)]
        found = solve_ik(arm.robot, target, method, all_solutions, own, limits, frame=task.parts[0][0], rows=rows,
                         tolerance=tolerance, max_iterations=max_iterations, seed=seed, prefer=prefer)  # fmt: skip
        return dataclasses.replace(found, q=arm.whole(found.q, q0))
    solver = solver_for(robot, task, chosen, limits)
    at_once = solver.every if all_solutions else solver.nearest
    if key is not None and at_once is not None and type(robot) is Robot:
        if len(_AT_ONCE) >= KEPT:
            _AT_ONCE.clear()
        _AT_ONCE[key] = (weakref.ref(robot), at_once)
    if all_solutions and lead:
        raise ShapeError(f"solve_ik(all_solutions=True) takes one target, found a batch of shape {lead}.")
    if prefer is not None:
        starts = [None] * len(targets) if start is None else start if lead else [start]
        rows_ = [preferred(solver, prefer, x, s, all_solutions, tolerance, most, seed) for x, s in zip(targets, starts)]
        return stacked(rows_).reshaped(lead) if lead else rows_[0]
    if all_solutions:
        return solver.all(targets[0], start, tolerance, most, seed)
    most = MAX_ITERATIONS if most is None else most
    found = (
        solver.many(targets, start, tolerance, most, seed)
        if lead
        else solver.one(targets[0], start, tolerance, most, seed)
    )
    q = solver.unwound(found.q, start)
    found = found if q is found.q else dataclasses.replace(found, q=q)
    return found.reshaped(lead) if lead else found


# ---------------------------------------------------------------------- solvers are made once
_AT_ONCE: dict[Any, tuple[weakref.ref[Robot], NearestBranch | EveryBranch]] = {}  # by how solve_ik was called
_SOLVERS: BoundedCache[tuple[weakref.ref[Robot], Solver]] = BoundedCache(KEPT)


def solver_for(robot: Robot, task: Task, method: str, limited: bool) -> Solver:
    """The prepared solver; found again by the robot's identity, because hashing a whole robot takes longer than solving."""
    if type(robot) is not Robot:  # a user's class, whose objects may change
        return Solver(robot.bare, task, method, limited)
    key = (id(robot), task.parts, method, limited)
    kept = _SOLVERS.get(key)
    if kept is None or kept[0]() is not robot:
        kept = _SOLVERS.replace(key, (weakref.ref(robot), _solver(robot.bare, task, method, limited)))
    return kept[1].renewed()


@functools.lru_cache(maxsize=KEPT)
def _solver(robot: Robot, task: Task, method: str, limited: bool) -> Solver:
    return Solver(robot, task, method, limited)
