"""A joint: how a link moves against its parent, and what drives and resists it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from manipula.algebra.pose import IDENTITY, Pose, Vec3
from manipula.robot.drives.base import Drive
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.limits import UNLIMITED, Limits

JointKind = Literal["revolute", "prismatic"]


@dataclass(frozen=True)
class Joint:
    """Joint i moves link i against link ``parent``.

    ``X_PL(q) = placement · motion(axis, q) · link.frame`` where the motion turns about or slides along ``axis``.

    Attributes:
        name: unique name; ``robot.joint_names`` gives the order of q.
        kind: "revolute" or "prismatic". Fixed joints do not exist here: they are merged when a robot is built.
        parent: index of the parent link, -1 for the base.
        placement: X_PJ at q = 0, in the parent's link frame.
        axis: unit vector in J.
        limits: position, velocity, acceleration, jerk, effort.
        rotor_inertia: of the motor about its own axis [kg·m²].
        gear_ratio: motor turns per joint turn. The joint feels ``gear_ratio² · rotor_inertia`` (see ``armature``).
        friction: a law from ``robot.friction``, or ``None``.
        drive: how the motor is connected, from ``robot.drives``; ``None`` is a rigid one.
    """

    name: str
    kind: JointKind
    parent: int
    placement: Pose = IDENTITY
    axis: Vec3 = (0.0, 0.0, 1.0)
    limits: Limits = UNLIMITED
    rotor_inertia: Any = 0.0
    gear_ratio: Any = 1.0
    friction: FrictionLaw | None = None
    drive: Drive | None = None

    @property
    def is_revolute(self) -> bool:
        return self.kind == "revolute"

    @property
    def armature(self) -> Any:
        """Rotor inertia seen by the joint [kg·m² or kg]; it sits on the diagonal of M."""
        return self.gear_ratio * self.gear_ratio * self.rotor_inertia
