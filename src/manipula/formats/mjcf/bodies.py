"""Bodies as MuJoCo demands them: what moves has a mass, and moments that a body can have.

Links without mass between two joints (universal and spherical joints written as hinges) have no body of their own: their joints
stand, in order, in the next body that has mass, all described in its frame at q = 0. A moment of exactly zero, as of a
rod about its own axis, is written as the smallest one that MuJoCo takes; what was meant stands in ``<custom>``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.pose import IDENTITY, Pose
from manipula.errors import DescriptionError, UnphysicalError, printable
from manipula.robot import Link, Robot
from manipula.robot.link import NO_INERTIA

SMALLEST = 1e-15  # mjMINVAL: MuJoCo takes no mass or moment below it
MARGIN = 1e-9  # of the largest moment: nearer to what MuJoCo refuses its own iteration may cross the border
ROUNDING = 1e-12  # of the largest moment: by so much a tensor may be lifted to fulfil what it fulfils but for rounding


@dataclass(frozen=True)
class MjcfBody:
    """A link with the joints that move it: (number of the joint, its frame and its link's, seen from the body at q = 0)."""

    joints: tuple[tuple[int, Pose, Pose], ...]
    placement: Pose  # in the parent's frame, at q = 0
    link: int


def weightless(link: Link) -> bool:
    """Has the link neither mass nor inertia?"""
    return link.mass == 0 and link.inertia == NO_INERTIA


def bodies(robot: Robot) -> dict[int, list[MjcfBody]]:
    """The bodies that hang on each link (-1: the base).

    Raises:
        DescriptionError: for a link that moves and has no mass, where its joint cannot be given to a body that has.
    """
    children: dict[int, list[int]] = {}
    for i, joint in enumerate(robot.moving_joints):
        children.setdefault(joint.parent, []).append(i)
    seen = {f.link for f in robot.frames if f.name != (robot.bodies[f.link].name if f.link >= 0 else "")}
    if robot.tip is not None:
        seen.add(robot.tip_frame.link)
    out: dict[int, list[MjcfBody]] = {}
    todo = list(children.get(-1, []))
    while todo:
        first = last = todo.pop()
        members = [first]
        while weightless(robot.bodies[last]) and not _carries(robot, last):
            below = children.get(last, [])
            if len(below) != 1 or last in seen:
                _refuse(robot, last, len(below))
            last = below[0]
            members.append(last)
        if robot.bodies[last].mass <= 0 and not _carries(robot, last):
            _refuse(robot, last, len(children.get(last, [])))
        out.setdefault(robot.moving_joints[first].parent, []).append(_body(robot, members))
        todo.extend(children.get(last, []))
    for found in out.values():
        found.sort(key=lambda b: b.joints[0][0])
    return out


def _body(robot: Robot, members: list[int]) -> MjcfBody:
    placement = IDENTITY
    for i in members:
        placement = placement @ robot.moving_joints[i].placement @ robot.bodies[i].frame
    joints = []
    X_JB = IDENTITY
    for i in reversed(members):
        X_BL = X_JB.inverse()
        X_JB = robot.bodies[i].frame @ X_JB
        joints.append((i, X_JB.inverse(), X_BL))
        X_JB = robot.moving_joints[i].placement @ X_JB
    return MjcfBody(tuple(reversed(joints)), placement, members[-1])


def _carries(robot: Robot, link: int) -> bool:
    """Is the payload on this link? It is a body of its own there, whose mass counts."""
    return robot.payload is not None and robot.tip is not None and robot.tip_frame.link == link


def _refuse(robot: Robot, link: int, below: int) -> None:
    name = printable(robot.bodies[link].name, 60)
    why = (
        "nothing follows it"
        if below == 0
        else f"{below} joints follow it"
        if below > 1
        else "a named frame stands on it"
    )
    if robot.bodies[link].inertia != NO_INERTIA:
        why = "it has an inertia"
    raise DescriptionError(
        f"Link '{name}' moves and has no mass, and {why}: MuJoCo refuses such a body, and no mass is invented. Give it one, or "
        "write URDF or TOML.")  # fmt: skip


class Inertia(NamedTuple):
    """A tensor as MuJoCo takes it: R · tensor · Rᵀ; ``exact`` when it is the one that was meant, to the last bit."""

    tensor: np.ndarray
    R: np.ndarray | None = None
    exact: bool = True


def written_inertia(body: Any, name: str) -> Inertia:
    """The moments as they are, or lifted by less than rounding to what MuJoCo demands of them.

    MuJoCo diagonalises a full tensor by its own iteration, which may push a moment near zero below it; such a tensor is
    written by its principal moments and axes.

    Raises:
        UnphysicalError: no body has these moments, by more than rounding.
    """
    tensor = np.array(body.inertia, float)
    if body.mass == 0 and not np.any(tensor):
        return Inertia(tensor)
    diagonal = not np.any(tensor - np.diag(np.diag(tensor)))
    moments, axes = (np.diag(tensor).copy(), np.eye(3)) if diagonal else np.linalg.eigh(tensor)
    a, b, c = np.sort(moments)
    lift = max(SMALLEST - a, 0.0)
    if c + lift > (a + lift) + (b + lift):
        lift = c - a - b + 4e-16 * c
    if lift > max(ROUNDING * c, 2 * SMALLEST):
        raise UnphysicalError(
            f"No body has the principal moments {a:.4g}, {b:.4g}, {c:.4g} kg·m² of '{printable(name, 60)}', and MuJoCo refuses them; "
            "the doctor says more. URDF and TOML hold them as they are.")  # fmt: skip
    if diagonal:
        return Inertia(tensor + lift * np.eye(3), exact=lift == 0)
    if lift == 0 and min(a, a + b - c) > MARGIN * c:
        return Inertia(tensor)
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    return Inertia(np.diag(np.maximum(moments, 0.0) + max(lift, ROUNDING * 1e-3 * c)), axes, exact=False)
