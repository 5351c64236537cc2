"""What a contact is: a declared part that turns where the arm is and how it moves into forces on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from manipula.algebra.fields import freeze
from manipula.algebra.ops import Scalar
from manipula.parts.checks import check_part

if TYPE_CHECKING:
    from manipula.robot.robot import Robot
    from manipula.simulation.plant.surroundings import Surroundings


class Touch(NamedTuple):
    """What one contact does at one instant.

    Attributes:
        torque: on the joints, (n,). power: that it gives to the arm [W].
        wrench: on the arm at the origin of the contact's frame, in axes of the world, force first, (6,); zero for end stops.
        normal: normal force, of all points or stops together [N or N·m]. depth: of the deepest, below zero where nothing touches [m or rad].
        energy: held by its springs [J].
        gaps: distances, one per point or stop; where one changes its sign a step ends.
    """

    torque: np.ndarray
    power: Scalar
    wrench: np.ndarray
    normal: Scalar
    depth: Scalar
    energy: Scalar
    gaps: list[Scalar]


class Contact(ABC):
    """One thing that the arm may touch. Written over ``ops``, so that it runs on floats and is compiled when traced."""

    part: ClassVar[str] = "contact"
    name: ClassVar[str]
    structure: ClassVar[frozenset[str]] = frozenset({"exponent"})

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)

    @abstractmethod
    def touch(self, around: Surroundings) -> Touch:
        """Forces of the contact at the state that ``around`` shows."""

    def travel(self, around: Surroundings, way: Sequence[Scalar]) -> Scalar | None:
        """By how much a distance changes at most while the joints go these ways from where they are, (n,); none: not known."""
        return None

    def unfit(self, robot: Robot) -> str:
        """Why it cannot act on this robot, with what is allowed; empty when it can. A name that the robot does not have is raised."""
        return ""

    def unit(self, robot: Robot) -> str:
        """What its normal force is measured in."""
        return "N"

    def fitted(self, robot: Robot) -> Any:
        """The contact with what it takes from the robot (limits of joints) as numbers."""
        return self
