"""Do the fields of a robot belong together? Looked at whenever one is made, however it is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from manipula.errors import DescriptionError, LengthError, printable, unknown_name
from manipula.robot.appearance import Visual
from manipula.robot.checks import check_name
from manipula.robot.coupled_joint import CoupledJoint
from manipula.robot.drives.gear import geared
from manipula.robot.joint import Joint
from manipula.robot.link import Frame, Link

if TYPE_CHECKING:
    from manipula.robot.robot import Robot


def check_consistent(robot: Robot) -> None:
    """Every number of a body, name of a frame and length of a list means something in this robot.

    Raises:
        DescriptionError: with the field that does not fit the others.
    """
    kinds = (("links", Link), ("joints", Joint), ("followers", CoupledJoint), ("frames", Frame), ("appearance", Visual))
    for field, kind in kinds:
        given = getattr(robot, field)
        if not isinstance(given, tuple) or not all(isinstance(part, kind) for part in given):
            raise DescriptionError(
                f"A tuple of {kind.__name__} objects is needed, found {printable(repr(given), 60)}.", field=field
            )
    n, bodies = len(robot.joints), len(robot.links) + len(robot.followers)
    if len(robot.links) != n:
        raise LengthError(f"Every joint moves one link: {len(robot.links)} links and {n} joints.", field="links")
    _check_names("joints", [j.name for j in robot.moving_joints])
    _check_names("links", [link.name for link in robot.bodies])
    _check_names("frames", [f.name for f in robot.frames])
    for i, joint in enumerate(robot.moving_joints):
        field = f"joints[{i}].parent" if i < n else f"followers[{i - n}].joint.parent"
        _check_body(joint.parent, bodies, f"the parent of joint '{printable(joint.name)}'", field)
        if joint.kind not in ("revolute", "prismatic"):
            raise unknown_name(
                "kind of joint", joint.kind, ("revolute", "prismatic"), field=field.replace("parent", "kind")
            )
    for i, joint in enumerate(robot.joints):
        geared(joint.drive, joint, field=f"joints[{i}].drive")
    for i, follower in enumerate(robot.followers):
        if not _is_number(follower.leader) or not 0 <= follower.leader < n:
            raise DescriptionError(
                f"Joint '{printable(follower.name)}' follows joint number {printable(follower.leader)}; there are {_range(0, n)}.",
                field=f"followers[{i}].leader",
            )
    for i, frame in enumerate(robot.frames):
        _check_body(frame.link, bodies, f"the link of frame '{printable(frame.name)}'", f"frames[{i}].link")
    for i, shape in enumerate(robot.appearance):
        _check_body(shape.link, bodies, "the link of a shape", f"appearance[{i}].link")
    _check_tree(robot)
    if robot.tip is not None and not isinstance(robot.tip, str):
        raise DescriptionError(f"The name of a frame is needed, found {printable(repr(robot.tip), 60)}.", field="tip")
    if robot.tip is not None and robot.tip not in (names := robot.frame_names):
        raise unknown_name("frame", robot.tip, names, field="tip")
    for name, posture in robot.postures:
        if len(posture) != n:
            raise LengthError(
                f"The posture '{printable(name)}' has {len(posture)} numbers; {n} are needed, one per joint.",
                field="postures",
            )


def _check_names(field: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if check_name(field.removesuffix("s"), name, field=field) in seen:
            raise DescriptionError(f"Two of them are named '{printable(name, 60)}'.", field=field)
        seen.add(name)


def _check_body(number: Any, bodies: int, what: str, field: str) -> None:
    if not _is_number(number) or not -1 <= number < bodies:
        raise DescriptionError(
            f"There is no body {printable(number)}, {what}; there are {_range(-1, bodies)}, and −1 is the base.",
            field=field,
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _range(first: int, behind: int) -> str:
    return f"{first} to {behind - 1}" if behind > first else "none"


def _check_tree(robot: Robot) -> None:
    """From every body parents lead to the base, and those with a coordinate come after theirs."""
    parents, n = [j.parent for j in robot.moving_joints], len(robot.joints)
    if any(i <= p < n for i, p in enumerate(parents[:n])):
        i = next(i for i, p in enumerate(parents[:n]) if i <= p < n)
        raise DescriptionError(
            f"The parent of joint '{printable(robot.joints[i].name)}' comes after it; parents come before children.",
            field=f"joints[{i}].parent",
        )
    if not robot.followers:
        return
    rooted = {-1}
    for i in range(len(parents)):
        way = []
        while i not in rooted:
            if i in way:
                raise DescriptionError(
                    f"The joint '{printable(robot.moving_joints[i].name)}' hangs on itself.", field="followers"
                )
            way.append(i)
            i = parents[i]
        rooted.update(way)
