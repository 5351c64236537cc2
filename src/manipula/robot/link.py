"""A moving rigid body, as its owner described it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.inertia import Moments, moments
from manipula.algebra.linear import array
from manipula.algebra.pose import IDENTITY, Mat3, Pose, Vec3
from manipula.errors import DescriptionError, printable

TIP = ""
"""Stands for the tip of the robot, tool included, where a frame is asked for; no file can give this name to anything."""


def check_frame_name(frame: Any) -> None:
    """Refuse what is no name of a frame."""
    if not isinstance(frame, str):
        raise DescriptionError(f"'frame' is the name of a frame; found {printable(repr(frame), 60)}.", field="frame")


ZERO3: Vec3 = (0.0, 0.0, 0.0)
NO_INERTIA: Mat3 = (ZERO3, ZERO3, ZERO3)


@dataclass(frozen=True)
class Balance:
    """Weight that something else carries: gravity does not act on ``mass`` [kg] at ``com`` [m, in the link's frame].

    It is a force, −mass · gravity at that point, and no body: mass and inertia of the link stay what they are. A balancer, or
    ``gravcomp`` of MuJoCo. More than the link's own mass lifts it, less than nothing makes it heavier.
    """

    mass: Any
    com: Vec3 = ZERO3

    def moments(self) -> Moments:
        """Mass and first moments [kg·m] whose weight is carried; they have no inertia."""
        return Moments(self.mass, array([self.mass * x for x in self.com]), np.zeros((3, 3)))


@dataclass(frozen=True)
class Link:
    """One body of the tree.

    Attributes:
        name: unique name; also the name of the link's frame L.
        mass: [kg]. Zero is legal (the doctor says so); nothing is ever invented.
        com: centre of mass in frame L [m].
        inertia: about the centre of mass, axes of L [kg·m²], three rows.
        frame: X_JL, the link's frame in the joint-centred frame J that moves with it. The identity for URDF and
            modified DH; ``Tx(a) Rx(alpha)`` for standard DH, whose link frame sits at the far end.
        described: False when the source said nothing about mass and inertia.
        balance: weight of the link that something else carries, ``None`` for none.
        between: it stands between two joints of one body, and has no body of its own (MJCF allows several joints a body).
    """

    name: str
    mass: Any = 0.0
    com: Vec3 = ZERO3
    inertia: Mat3 = NO_INERTIA
    frame: Pose = IDENTITY
    described: bool = True
    balance: Balance | None = None
    between: bool = False

    def moments(self) -> Moments:
        """Mass, first moment and inertia about the origin of L, in L."""
        return moments(self.mass, self.com, self.inertia)


@dataclass(frozen=True)
class Payload:
    """A body carried at the tip: mass [kg], centre of mass [m] and central inertia [kg·m²] in the tip frame."""

    mass: Any
    com: Vec3 = ZERO3
    inertia: Mat3 = NO_INERTIA

    def moments(self) -> Moments:
        """Mass, first moments [kg·m] and inertia about the origin [kg·m²]."""
        return moments(self.mass, self.com, self.inertia)


@dataclass(frozen=True)
class Frame:
    """A named frame F fixed to a link: ``pose`` is X_LF; ``link`` is an index, -1 for the base."""

    name: str
    link: int
    pose: Pose = IDENTITY
