"""Why a target was not met: out of reach, limits in the way, a singular posture, or simply not converged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from manipula.ik.base import Status
from manipula.ik.search.confined import confined
from manipula.ik.search.joint_box import JointBox
from manipula.ik.search.reach import Reach, reach_of
from manipula.ik.task import Task
from manipula.robot.robot import Robot

if TYPE_CHECKING:
    from manipula.ik.search.starts import Search

NEAR = 1e-3  # m or rad: an answer this close is a posture worth looking at
BORDER = 1e-6  # m or rad: nearer to the border of the reach a closed form may miss a posture by rounding
SINGULAR = 1e-4  # smallest singular value of J, against the largest


class IkVerdict(NamedTuple):
    """The status of an answer and its reason in words."""

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


def unreachable(robot: Robot, task: Task, gap: float) -> IkVerdict:
    """The verdict on a target ``gap`` metres beyond the reach."""
    frame = task.parts[0][0]
    reach = reach_of(robot, frame)
    span = f"{reach.nearest:.6g} to {reach.farthest:.6g} m from its shoulder" if reach else "nowhere"
    return IkVerdict(
        "unreachable", f"The target is {gap:.6g} m outside the reach of '{robot.name}' ({span}); no posture gets there."
    )


def immovable(robot: Robot, task: Task, targets: np.ndarray, tolerance: float) -> list[IkVerdict | None]:
    """For targets (N, parts, 4, 4) that differ where no joint can move the frame: why they are out of reach."""
    out: list[IkVerdict | None] = [None] * len(targets)
    for kept in confined(robot, task):
        frame, rows = task.parts[kept.part]
        frame = frame or "tip"
        places, angles = kept.misses(targets, rows)
        for k in np.flatnonzero((places > tolerance) | (angles > tolerance)):
            if places[k] > tolerance:
                words = f"No joint of '{robot.name}' moves '{frame}' in every direction: {places[k]:.6g} m remain whatever the posture."
            else:
                how = "turns about one direction only" if kept.turns else "does not turn"
                words = f"'{frame}' of '{robot.name}' {how}: the target is tilted by {np.degrees(angles[k]):.6g}° against all it can do."
            out[k] = IkVerdict("unreachable", words)
    return out


def beyond_limits(robot: Robot, q: np.ndarray) -> IkVerdict:
    """A posture exists, but not within the limits."""
    low, high = np.asarray(robot.position_limits, float).T
    q = np.asarray(JointBox(robot, True).home(q), float)
    joints = [
        f"{name} at {x:.4g} (allowed {a:.4g} to {b:.4g})"
        for name, x, a, b in zip(robot.joint_names, q, low, high)
        if x < a or x > b
    ]
    where = f": {', '.join(joints)}" if joints else ""
    return IkVerdict("limits", f"Only postures beyond joint limits were found{where}.")


def stuck(
    search: Search,
    targets: np.ndarray,
    q: np.ndarray,
    iterations: float,
    tolerance: float,
    none_exists: bool,
    complete: bool,
) -> IkVerdict:
    """The nearest posture that many starts gave: out of reach, singular, or not converged.

    ``none_exists``: does an exact closed form say that no posture, within the limits or not, gets there? ``complete``: were as many starts made
    as it takes to believe that they would have found one?
    """
    _, J, size = search.errors(targets, q)
    s = np.linalg.svd(np.asarray(J, float), compute_uv=False)
    ratio = float(s[-1] / max(s[0], 1e-300))
    if none_exists and size > max(BORDER, tolerance):
        return IkVerdict(
            "unreachable",
            f"The closed form has no posture for this target; the nearest one found misses it by {size:.3g} {unit(search.task)}.",
        )
    if not complete:
        words = f"{int(iterations)} iterations were not enough to reach the target or to know that nothing does; {size:.3g} {unit(search.task)} are left."
        return IkVerdict("not_converged", words)
    if size > NEAR:
        return IkVerdict(
            "unreachable",
            f"No posture found gets nearer than {size:.6g} {unit(search.task)}: the target is out of reach.",
        )
    if ratio < SINGULAR:
        words = f"The nearest posture is singular (smallest over largest singular value {ratio:.1e}); the error stays at {size:.3g}."
        return IkVerdict("singular", words)
    words = (
        f"{int(iterations)} iterations by '{search.rule.name}' left an error of {size:.3g} (allowed {tolerance:.1g})."
    )
    return IkVerdict("not_converged", words)


def unit(task: Task) -> str:
    """Of the error of a task: metres, or metres and radians."""
    return "m" if all(r < 3 for _, rows in task.parts for r in rows) else "m or rad"
