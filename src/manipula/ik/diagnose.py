"""Why a target was not met: out of reach, limits in the way, a singular posture, or simply not converged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from manipula.ik.base import Status
from manipula.ik.driver import Walls
from manipula.ik.methods.optimisation import Optimisation
from manipula.ik.reach import Reach, reach_of
from manipula.ik.task import Task
from manipula.robot.robot import Robot

if TYPE_CHECKING:
    from manipula.ik.search import Found, Search

NEAR = 1e-3  # m or rad: an answer this close is a posture worth looking at
SINGULAR = 1e-4  # smallest singular value of J, against the largest
FREE_ITERATIONS = 3000  # spent on looking for postures beyond the limits
POLISHED = 16  # failed targets of a batch whose nearest posture is refined
EVALUATIONS = 100


class Verdict(NamedTuple):
    status: Status
    reason: str


def shells(robot: Robot, task: Task, limited: bool) -> list[tuple[int, Reach]]:
    """For every part whose whole position counts: its number, and the shell in which its frame can be."""
    out = []
    for k, (frame, rows) in enumerate(task.parts):
        reach = reach_of(robot, frame, limited) if {0, 1, 2} <= set(rows) else None
        if reach is not None:
            out.append((k, reach))
    return out


def out_of_reach(robot: Robot, task: Task, targets: np.ndarray, limited: bool, tolerance: float) -> np.ndarray:
    """Distance (N,) by which targets (N, parts, 4, 4) miss what the lengths of the links allow; 0 where they may be reachable."""
    worst = np.zeros(len(targets))
    for k, reach in shells(robot, task, limited):
        worst = np.maximum(worst, reach.gap(targets[:, k, :3, 3]))
    return np.where(worst > tolerance, worst, 0.0)


def unreachable(robot: Robot, task: Task, gap: float) -> Verdict:
    frame = task.parts[0][0]
    reach = reach_of(robot, frame)
    span = f"{reach.nearest:.6g} to {reach.farthest:.6g} m from its shoulder" if reach else "nowhere"
    return Verdict(
        "unreachable", f"The target is {gap:.6g} m outside the reach of '{robot.name}' ({span}); no posture gets there."
    )


def explain(
    robot: Robot, search: Search, free: Search | None, targets: np.ndarray, found: Found, tolerance: float, seed: int
) -> tuple[list[Verdict], np.ndarray]:
    """Status and reason of every failed target (N, parts, 4, 4), and the nearest postures (N, n)."""
    q = np.array(found.q)
    beyond = free.many(targets, None, tolerance, FREE_ITERATIONS, seed) if free is not None else None
    nearest = [_nearest(search, x, row) if k < POLISHED else row for k, (x, row) in enumerate(zip(targets, q))]
    verdicts = []
    for k, x in enumerate(targets):
        if beyond is not None and bool(beyond.solved[k]):
            verdicts.append(Verdict("limits", _limits_sentence(robot, beyond.q[k])))
            continue
        q[k] = nearest[k]
        _, J, size = search.errors(x, q[k])
        s = np.linalg.svd(J, compute_uv=False)
        ratio = float(s[-1] / max(s[0], 1e-300))
        if size > NEAR:
            words = f"No posture found gets nearer than {size:.6g} {_unit(search.task)}: the target is out of reach."
            verdicts.append(Verdict("unreachable", words))
        elif ratio < SINGULAR:
            words = f"The nearest posture is singular (smallest over largest singular value {ratio:.1e}); the error stays at {size:.3g}."
            verdicts.append(Verdict("singular", words))
        else:
            words = f"{int(found.iterations[k])} iterations by '{search.rule.name}' left an error of {size:.3g} (allowed {tolerance:.1g})."
            verdicts.append(Verdict("not_converged", words))
    return verdicts, q


def _nearest(search: Search, targets: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The posture within the limits to which the error falls from q."""
    error, jacobian = (lambda x: search.errors(targets, x)[0]), (lambda x: -search.errors(targets, x)[1])
    better, _ = Optimisation().minimise(error, jacobian, np.array(q), search.walls.hard, EVALUATIONS)
    better = np.asarray(search.walls.clipped(better), float)
    return better if search.errors(targets, better)[2] < search.errors(targets, q)[2] else q


def _unit(task: Task) -> str:
    return "m" if all(r < 3 for _, rows in task.parts for r in rows) else "m or rad"


def _limits_sentence(robot: Robot, q: np.ndarray) -> str:
    low, high = np.asarray(robot.position_limits, float).T
    q = np.asarray(Walls(robot, True).home(q), float)
    beyond = [
        f"{name} at {x:.4g} (allowed {a:.4g} to {b:.4g})"
        for name, x, a, b in zip(robot.joint_names, q, low, high)
        if x < a or x > b
    ]
    return f"Only postures beyond joint limits were found: {', '.join(beyond) or 'several joints'}. limits=False returns one."
