"""Parts given for the joints of a robot: one for all, one each, or by joint name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from manipula.errors import DescriptionError, UnknownNameError, printable, unknown_name
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.robot import Robot


def each_joint(robot: Robot, given: Any, kind: type, what: str, field: str) -> tuple[Any, ...] | None:
    """One part (or None) a joint: from ``None`` (the robot's own), ``()`` (none), one part for all, a list, or a mapping by joint name.

    Raises:
        DescriptionError: when the count or the kind is wrong; UnknownNameError for a joint that does not exist.
    """
    if given is None:
        if kind is FrictionLaw:
            check_laws(robot, tuple(j.friction for j in robot.joints), field)
        return None
    if isinstance(given, kind):
        given = (given,) * robot.n
    if isinstance(given, Mapping):
        if not given:
            raise DescriptionError(
                f'An empty table names no joint: () (in files "none") is no {what} at any joint; left out, the robot\'s own act.',
                field=field,
            )
        for name in given:
            if name not in robot.joint_names:
                raise no_such_joint(robot, name, what, field=field)
        given = [given.get(name) for name in robot.joint_names]
    try:
        parts = tuple(given)
    except TypeError:
        parts = (given,)
    for part in parts:
        if part is not None and not isinstance(part, kind):
            raise DescriptionError(
                f"A {what} (or None) is needed for every joint, found {type(part).__name__}.", field=field
            )
    if parts and len(parts) != robot.n:
        raise DescriptionError(
            f"One {what} per joint is needed ({robot.n}), or one for all; found {len(parts)}.", field=field
        )
    if kind is FrictionLaw:
        check_laws(robot, parts, field)
    return parts


def no_such_joint(robot: Robot, name: Any, what: str, **place: Any) -> DescriptionError:
    """The error about a joint that has no coordinate of its own: it does not exist, or it follows another."""
    follower = next((f for f in robot.followers if f.name == name), None)
    if follower is None:
        return unknown_name(f"joint in robot '{robot.name}'", name, robot.joint_names, **place)
    leader = printable(robot.joints[follower.leader].name, 60)
    return UnknownNameError(
        f"Joint '{printable(name, 60)}' follows '{leader}' and has no {what} of its own: give it to '{leader}', which feels "
        "that of both.",
        **place,
    )


def check_laws(robot: Robot, laws: Sequence[FrictionLaw | None], field: str) -> None:
    """Can every friction law act in a joint of its kind?

    Raises:
        DescriptionError: with the law, the joint and what is needed.
    """
    for i, (law, joint) in enumerate(zip(laws, robot.joints)):
        why = "" if law is None else law.unfit(joint.is_revolute)
        if why:
            raise DescriptionError(f"Joint '{joint.name}': {why}", field=f"{field}[{i}]")
