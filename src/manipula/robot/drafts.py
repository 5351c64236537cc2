"""Links, joints and frames as a file states them, before they are a robot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from manipula.algebra.linear import array
from manipula.algebra.pose import IDENTITY, Pose, Vec3, vec3
from manipula.algebra.rotation import about_axis
from manipula.algebra.symbols import is_symbolic
from manipula.errors import DescriptionError, printable
from manipula.robot.checks import check_number
from manipula.robot.drives.base import Drive
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.limits import UNLIMITED, Limits
from manipula.robot.link import NO_INERTIA, ZERO3, Balance

SHORTEST_AXIS = 1e-6


@dataclass
class LinkDraft:
    """A link as a file states it; ``line`` and ``field`` are for messages."""

    name: str
    mass: Any = 0.0
    com: Any = ZERO3
    inertia: Any = NO_INERTIA  # 3×3 about the centre of mass, link axes
    described: bool = True
    balance: Balance | None = None
    between: bool = False
    line: int | None = None
    field: str | None = None

    @classmethod
    def with_inertial_frame(cls, name: str, mass: Any, X_LI: Pose, inertia: Any, **place: Any) -> LinkDraft:
        """A link whose inertia is stated in the axes of a frame at its centre of mass: URDF, SDF, MJCF."""
        if X_LI.rotation != IDENTITY.rotation:
            inertia = X_LI.R @ inertia @ X_LI.R.T
            inertia = (inertia + inertia.T) / 2
        return cls(name, mass, X_LI.translation, inertia, **place)


@dataclass
class JointDraft:
    """A joint as a file states it.

    Attributes:
        kind: "revolute", "prismatic" or "fixed"; another word stays only until a selection locks or leaves out the joint.
        origin: X_PJ in the parent's frame.
        frame: X_JL (see ``Link.frame``).
        follows: name of the joint that this one is coupled to, ``q = offset + ratio · q[follows]``.
        driven: has it a motor of its own? That of a follower helps its leader's.
        refusal: why a robot cannot have this joint, for a kind that is none of the three.
        line, field: for messages.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Pose = IDENTITY
    axis: Any = (0.0, 0.0, 1.0)
    frame: Pose = IDENTITY
    limits: Limits = UNLIMITED
    rotor_inertia: Any = 0.0
    gear_ratio: Any = 1.0
    friction: FrictionLaw | None = None
    drive: Drive | None = None
    follows: str | None = None
    ratio: Any = 1.0
    offset: Any = 0.0
    driven: bool = False
    refusal: str | None = None
    line: int | None = None
    field: str | None = None

    @property
    def moves(self) -> bool:
        return self.kind != "fixed"

    def place(self) -> dict[str, Any]:
        """Where it stands in its file, for messages."""
        return {"line": self.line, "field": self.field}

    def held_at(self, q: Any) -> JointDraft:
        """The same joint made fixed at a position: placement · motion(axis, q)."""
        if self.kind == "revolute":
            motion = Pose.of(about_axis(unit_axis(self), q))
        elif self.kind == "prismatic":
            motion = Pose.of(None, array(unit_axis(self)) * q)
        else:
            motion = IDENTITY
        return JointDraft(
            self.name, "fixed", self.parent, self.child, self.origin @ motion, frame=self.frame, **self.place()
        )


def unit_axis(j: JointDraft) -> Vec3:
    """The axis of a joint with length one; symbols are taken on trust."""
    axis = vec3(j.axis)
    if any(is_symbolic(v) for v in axis):
        return axis
    for v in axis:
        check_number(v, f"The axis of joint '{printable(j.name)}'", **j.place())
    length = math.hypot(*axis)
    if length < SHORTEST_AXIS:
        raise DescriptionError(f"The axis of joint '{printable(j.name)}' is zero.", **j.place())
    return axis if abs(length - 1.0) <= 1e-15 else vec3([v / length for v in axis])


@dataclass
class FrameDraft:
    """A named frame fixed to a link."""

    name: str
    link: str
    pose: Pose = IDENTITY
    line: int | None = None
    field: str | None = None
