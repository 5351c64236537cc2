"""What the page shows of a robot beside its document: joints, frames, its DH table, what it looks like, what the doctor says."""

from __future__ import annotations

from typing import Any

from manipula.errors import DescriptionError, ManipulaError
from manipula.formats.dh import to_dh
from manipula.robot.doctor import doctor
from manipula.robot.joint import Joint
from manipula.robot.robot import Robot
from manipula.studio.documents import starting_posture
from manipula.studio.pages import robot_page
from manipula.studio.wire import to_json


def robot_view(robot: Robot, start: list[float] | None = None) -> dict[str, Any]:
    """A robot as the page lists and draws it.

    Args:
        start: where it stands; none: where it begins best.

    Raises:
        DescriptionError: a parameter of the robot has no value.
    """
    robot = robot.numeric
    if robot.parameters:
        raise DescriptionError(
            f"The parameters {', '.join(robot.parameters)} have no value; give them one to see the robot.",
            field="robot",
        )
    start = starting_posture(robot) if start is None else start
    return to_json({
        "name": robot.name, "n": robot.n, "joints": [_joint(robot, i) for i in range(len(robot.moving_joints))],
        "frames": [f.name for f in robot.frames], "tip": robot.tip, "postures": dict(robot.postures), "start": start, "dh": _dh(robot),
        "notes": robot.notes, "drawn": robot_page(robot, start) if robot.n else None,
    })  # fmt: skip


def diagnosis(robot: Robot) -> dict[str, Any]:
    """What the doctor says, with the number of the link or joint that each finding is about."""
    found = doctor(robot.numeric).to_dict()
    numbers = {body.name: i for i, body in enumerate(robot.bodies)}
    numbers |= {joint.name: i for i, joint in enumerate(robot.moving_joints)}
    for finding in found["findings"]:
        words = str(finding.get("place") or "").replace("'", " ").split()
        finding["body"] = next((numbers[word] for word in words if word in numbers), None)
    return to_json(found)


def _joint(robot: Robot, i: int) -> dict[str, Any]:
    joint: Joint = robot.moving_joints[i]
    leads = None
    if i >= robot.n:
        follower = robot.followers[i - robot.n]
        leads = {"leader": follower.leader, "ratio": follower.ratio, "offset": follower.offset}
    limits = joint.limits
    return {
        "name": joint.name, "kind": joint.kind, "lower": limits.lower, "upper": limits.upper, "velocity": limits.velocity,
        "acceleration": limits.acceleration, "effort": limits.effort, "follows": leads,
    }  # fmt: skip


def _dh(robot: Robot) -> dict[str, Any]:
    """The robot as standard and modified DH rows, or why it has none."""
    out: dict[str, Any] = {}
    for convention in ("standard", "modified"):
        if robot.followers:
            out[convention] = {"rows": None, "why": "Joints of this robot follow others."}
            continue
        try:
            out[convention] = {"rows": [dict(row) for row in to_dh(robot, convention).rows]}
        except ManipulaError as error:
            out[convention] = {"rows": None, "why": getattr(error, "problem", str(error))}
    return out
