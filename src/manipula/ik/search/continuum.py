r"""Does a posture stand for a continuum of others that reach the same target?

At a singular posture (and at every posture of a redundant arm) there are joint motions v with :math:`Jv = 0`. Some of them go on: two wrist axes
that are parallel turn against each other and the tool stays. Others do not: a stretched arm has one posture. So a posture is moved along
every v by a finite step, brought back to the target by Newton's method, and counts as one of a continuum when it arrives elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.ik.search.distinct import joint_distances
from manipula.ik.search.driver import SOLVED
from manipula.ik.search.inspection import SINGULAR, TWINS
from manipula.ik.search.joint_box import SLACK
from manipula.robot.robot import Robot

if TYPE_CHECKING:
    from manipula.ik.search.analytic import Analytic
    from manipula.ik.solver import Solver

STEP = 0.05  # rad or m along a free direction
ARRIVED = (0.3 * STEP, 3.0 * STEP)  # largest joint difference from where it began
CORRECTIONS = 40  # Newton halves the distance to a double root in every step
MOVING = 0.02  # of the largest: joints that take part


def continua(solver: Solver, targets: np.ndarray, q: np.ndarray, tolerance: float) -> tuple[np.ndarray, str]:
    """Which of the postures q (k, n) are members of a continuum, (k,), and for singular targets a sentence about the free joints."""
    errors = solver.search.errors
    J = np.asarray(errors(targets[None], q)[1], float)
    found = np.zeros(len(q), bool)
    n = q.shape[1]
    if J.shape[1] >= n:
        s = np.linalg.svd(J, compute_uv=False)
        suspects = np.flatnonzero(s[:, -1] < SINGULAR * s[:, 0])
    else:
        suspects = np.arange(len(q))
    if not len(suspects):
        return found, ""
    _, s, Vt = np.linalg.svd(J[suspects])
    rank = np.sum(s > SINGULAR * s[:, :1], axis=1)
    owner, start = [], []
    for i, v, r in zip(suspects, Vt, rank):
        for sign in (STEP, -STEP):
            owner += [i] * (n - int(r))
            start += list(q[i] + sign * v[r:])
    origin, moved = q[owner], _brought_back(errors, targets, np.array(start), 0.1 * tolerance)
    gone = np.max(np.abs(moved - origin), axis=1)
    hard = solver.search.joint_box.hard
    good = (gone > ARRIVED[0]) & (gone < ARRIVED[1]) & np.all((moved >= hard[:, 0]) & (moved <= hard[:, 1]), axis=1)
    good &= np.atleast_1d(np.asarray(solver.check(targets[None], moved), float)) <= tolerance
    found[np.array(owner)[good]] = True
    if J.shape[1] < n or not found.any():
        return found, ""
    which = f"{int(found.sum())} of them stand" if found.sum() > 1 else "One of them stands"
    which = which if len(q) > 1 else "It stands"
    words = _words(solver.robot.joint_names, (moved - origin)[good])
    return found, f" {which} for a continuum, because the target is singular: {words}."


def told_twins(robot: Robot, q: np.ndarray, continuum: np.ndarray) -> str:
    """A sentence about postures that nearly coincide, as they do beside a singular target; empty when none do."""
    turning = np.array([j.is_revolute for j in robot.joints])
    near = int(np.sum(joint_distances(q[~continuum], turning).min(axis=1, initial=np.inf) < TWINS))
    if not near:
        return ""
    return f" {near} of them have a neighbour within {TWINS:g} rad or m: the target is beside a singular one, where they meet."


def branches_within(solver: Solver, analytic: Analytic, targets: np.ndarray, tolerance: float) -> np.ndarray:
    """(k, n) branches of a closed form within the limits. A branch beyond them that stands for a continuum is replaced by a member that is
    within them, when a descent from the limits finds one."""
    every = analytic.every(targets[0])
    kept = analytic.kept(every)
    if len(kept) == len(every) or analytic.redundant:
        return kept
    home, beyond = analytic.joint_box.beyond_by(every)
    outside = home[beyond > SLACK]
    s = np.linalg.svd(np.asarray(solver.search.errors(targets[None], outside)[1], float), compute_uv=False)
    lost = outside[s[:, -1] < SINGULAR * s[:, 0]]
    if not len(lost):
        return kept
    start = np.array([analytic.joint_box.clipped(q) for q in lost], float)
    q, _, _, verdict = solver.search.descend(targets[None], start, np.zeros(len(lost)), 0.5 * tolerance, 40.0)
    return np.vstack([kept, q[verdict == SOLVED]])


def _brought_back(errors: Callable[..., Any], targets: np.ndarray, q: np.ndarray, goal: float) -> np.ndarray:
    """Newton's steps of least length, none longer than STEP, until the error is below the goal."""
    for _ in range(CORRECTIONS):
        e, J, size = (np.asarray(x, float) for x in errors(targets[None], q))
        open_ = np.flatnonzero(size > goal)
        if not len(open_):
            break
        step = (np.linalg.pinv(J[open_], rcond=1e-9) @ e[open_][:, :, None])[:, :, 0]
        q[open_] += step * np.minimum(1.0, STEP / np.maximum(np.max(np.abs(step), axis=1), 1e-30))[:, None]
    return q


def _words(names: tuple[str, ...], moves: np.ndarray) -> str:
    """``joints 'j4' and 'j6' may turn against each other freely``, from the moves that were found."""
    seen: dict[str, None] = {}
    for move in moves:
        part = np.flatnonzero(np.abs(move) > MOVING * np.max(np.abs(move)))
        chosen = [f"'{names[i]}'" for i in part]
        if len(part) == 1:
            seen[f"joint {chosen[0]} may move freely"] = None
        else:
            against = len(part) == 2 and move[part[0]] * move[part[1]] < 0
            how = "against each other" if against else "together"
            seen[f"joints {', '.join(chosen[:-1])} and {chosen[-1]} may move {how} freely"] = None
    return "; ".join(list(seen)[:3])
