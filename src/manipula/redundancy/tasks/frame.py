"""Tasks of one frame of the arm: where it is, how it is turned, or both."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra.linear import array
from manipula.algebra.ops import Vector
from manipula.algebra.rotation import from_rpy
from manipula.errors import DescriptionError, printable
from manipula.parts.field import Choice, Frame, VectorField
from manipula.physics import kinematics
from manipula.redundancy.arm import Arm
from manipula.redundancy.orientation import SIZES, TurnTarget, resolved_turn, turn_error
from manipula.redundancy.tasks.base import (
    ArmTask,
    Coordinates,
    Damping,
    Gain,
    Priority,
    TaskRows,
    Weight,
    check_goal,
    coordinates_of,
    point_rows,
)
from manipula.robot.link import TIP

Which = Annotated[str, Frame("which frame of the arm")]
Turned = Annotated[
    str,
    Choice(
        "how much of the orientation: all that the arm can turn, all, the direction of one axis of the frame, or one angle",
        "auto", "full", "x", "y", "z", "angle",
    ),
]  # fmt: skip


def of_frame(arm: Arm, frame: str) -> Arm:
    """The arm as it moves another frame."""
    kinematics.find_frame(arm.full, frame)
    return Arm(arm.robot, arm.full, frame=frame)


def _called(frame: str) -> str:
    return "the tip" if frame == TIP else f"the frame '{printable(frame)}'"


def check_place(own: Arm, frame: str, goal: Any) -> None:
    """Does a goal say of coordinates that no joint changes what they are? (``check_goal``)"""
    if goal is not None and not own.robot.parameters:
        check_goal(goal, own.task, kinematics.position(own.full, np.zeros(own.n), frame), _called(frame))


@dataclass(frozen=True)
class FramePosition(ArmTask):
    """The origin of a frame at a point, or along the reference: e = x_d − x."""

    goal: Annotated[Any, VectorField("m", "the point; the position of the reference when omitted")] = None
    frame: Which = TIP
    coordinates: Coordinates = "auto"
    priority: Priority = 1
    weight: Weight = 1.0
    gain: Gain = 10.0
    damping: Damping = 0.0
    name: ClassVar[str] = "frame_position"
    follows_place: ClassVar[bool] = True

    def decided(self, arm: Arm) -> ArmTask:
        own = of_frame(arm, self.frame)
        if not own.task:
            raise DescriptionError(f"No joint of '{arm.robot.name}' moves the frame '{self.frame}'.", field="frame")
        if self.coordinates == "auto":
            check_place(own, self.frame, self.goal)
        return dataclasses.replace(self, coordinates=coordinates_of(self.coordinates, own.task, _called(self.frame)))

    def rows(self, arm: Arm, q: Vector, qd: Vector, target: Any, near: Vector | None = None) -> TaskRows:
        if self.coordinates == "auto":
            return self.decided(arm).rows(arm, q, qd, target, near)
        place, J = kinematics.position(arm.full, q, self.frame), kinematics.jacobian(arm.full, q, self.frame)
        drift = kinematics.jacobian_rate(arm.full, q, qd, self.frame) @ qd
        return point_rows(self.coordinates, self.goal, target, place, J, drift, qd)


@dataclass(frozen=True)
class FrameOrientation(ArmTask):
    """The orientation of a frame, or the direction of one of its axes, by the errors of ``orientation.py``."""

    goal: Annotated[Any, VectorField("rad", "roll, pitch, yaw; the orientation of the reference when omitted")] = None
    frame: Which = TIP
    turn: Turned = "auto"
    priority: Priority = 1
    weight: Weight = 1.0
    gain: Gain = 10.0
    damping: Damping = 0.0
    name: ClassVar[str] = "frame_orientation"
    follows_turn: ClassVar[bool] = True

    def decided(self, arm: Arm) -> ArmTask:
        kinematics.find_frame(arm.full, self.frame)
        free = Arm(arm.robot, arm.full, frame=self.frame, rows=())  # the rows of other tasks are counted elsewhere
        return dataclasses.replace(self, turn=resolved_turn(self.turn, free, f"The task '{self.name}'"))

    @property
    def states(self) -> int:
        return SIZES.get(self.turn, 0)

    def rows(self, arm: Arm, q: Vector, qd: Vector, target: Any, near: Vector | None = None) -> TaskRows:
        if self.turn == "auto":
            return self.decided(arm).rows(arm, q, qd, target, near)
        J = kinematics.jacobian(arm.full, q, self.frame)[3:]
        still = np.zeros(3)
        wanted = target.turn if self.goal is None else TurnTarget(from_rpy(*self.goal), still, still)
        axis = of_frame(arm, self.frame).turn_axes[0] if self.turn == "angle" else None
        R = kinematics.pose(arm.full, q, self.frame)[:3, :3]
        found = turn_error(self.turn, R, array(J @ qd), wanted, near, axis)
        drift = (kinematics.jacobian_rate(arm.full, q, qd, self.frame) @ qd)[3:]
        return TaskRows(found.e, found.rate, array(found.rows @ J), array(found.bias - found.rows @ drift))


@dataclass(frozen=True)
class FramePose(ArmTask):
    """Position and orientation of a frame together."""

    goal: Annotated[
        Any, VectorField("m, rad", "x, y, z, roll, pitch, yaw; the pose of the reference when omitted", lengths=(6,))
    ] = None
    frame: Which = TIP
    turn: Turned = "auto"
    priority: Priority = 1
    weight: Weight = 1.0
    gain: Gain = 10.0
    damping: Damping = 0.0
    name: ClassVar[str] = "frame_pose"
    follows_place: ClassVar[bool] = True
    follows_turn: ClassVar[bool] = True

    def decided(self, arm: Arm) -> ArmTask:
        turn: Any = self._turn().decided(arm)
        check_place(of_frame(arm, self.frame), self.frame, None if self.goal is None else self.goal[:3])
        return dataclasses.replace(self, turn=turn.turn)

    @property
    def states(self) -> int:
        return SIZES.get(self.turn, 0)

    def _turn(self) -> FrameOrientation:
        return FrameOrientation(None if self.goal is None else self.goal[3:], self.frame, self.turn)

    def rows(self, arm: Arm, q: Vector, qd: Vector, target: Any, near: Vector | None = None) -> TaskRows:
        coordinates = coordinates_of("auto", of_frame(arm, self.frame).task)
        place = FramePosition(None if self.goal is None else self.goal[:3], self.frame, coordinates)
        both = zip(place.rows(arm, q, qd, target), self._turn().rows(arm, q, qd, target, near))
        return TaskRows(*(array(np.concatenate(pair)) for pair in both))
