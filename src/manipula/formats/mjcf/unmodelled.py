"""What a robot of this package cannot have: it may stand in a file as long as the selection leaves it out.

A closed loop in a gripper, a tendon that pulls, a body whose mesh file is missing: they are found while the file is read, and refused once it is known
which links and joints the caller wants (``load(…, lock=, drop=, chain=)``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from manipula.errors import DescriptionError
from manipula.formats.mjcf.gravcomp import Gravcomp
from manipula.robot import Robot

WORLD = "world"


@dataclass(frozen=True)
class Unmodelled:
    """The error that is raised when one of ``joints`` moves, when ``link`` moves, or when the two bodies of ``loop`` move against each other."""

    error: DescriptionError
    joints: tuple[str, ...] = ()
    link: str | None = None
    loop: tuple[str, str] | None = None

    def left_out(self, robot: Robot, where: Mapping[str, int]) -> bool:
        """Is it left out of the robot? ``where`` says on which of its links a body is (-1: the base)."""
        if self.loop is not None:
            ends = [where.get(name, -1 if name == WORLD else None) for name in self.loop]
            return None in ends or ends[0] == ends[1]
        if self.link is not None:
            return where.get(self.link, -1) < 0
        return not {j.name for j in robot.moving_joints} & set(self.joints)


def without_unmodelled(robot: Robot, found: Iterable[Unmodelled], weights: Gravcomp) -> Robot:
    """The robot, when nothing that it cannot have is part of it; ``gravcomp`` of its bodies is honoured (``gravcomp.py``).

    Raises:
        DescriptionError: the first that is part of the robot.
    """
    where = {f.name: f.link for f in robot.frames}
    notes = []
    for item in found:
        if not item.left_out(robot, where):
            raise item.error
        if item.loop is not None:
            notes.append(f"{item.error.field}: left out with the bodies that it ties together.")
    return weights.settled(robot.replace(notes=(*robot.notes, *notes)) if notes else robot)
