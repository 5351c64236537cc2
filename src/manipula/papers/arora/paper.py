"""Arora from the tables to the square and the surveyed methods of inverse kinematics."""

from __future__ import annotations

from dataclasses import replace

from manipula.papers.arora import dynamics, inverse_kinematics, square
from manipula.papers.arora.misprints import errata
from manipula.papers.base import Reproduction
from manipula.papers.printed import paper_info

OPEN = (
    "Figures 1 to 3 are not part of the text that is at hand; the postures along the square cannot be compared, only redrawn.",
    (
        "Not printed: how the masses are spread (uniform rods follow from M), gravity (−y is taken, and none), side and direction of the square, how "
        "the redundancy is resolved."
    ),
    "The angles of Table 3.1 put the tip 0.27 mm beside the corner (2, 2); the start is moved onto it.",
    "The initial rates of 1 deg/min do not fit the square, whose first rates are up to 243 deg/min; they serve h only.",
    "The text speaks of a first manipulation variable; a second one, of lower priority, is never named.",
    "Velocities turn at the corners at constant speed: torques there are impulses, and corners are left out of the comparison.",
    "(3.40)–(3.50) and (3.52)–(3.63), the steps between the general formulas and M, are missing from the text.",
    "Elimination [4] is a method for six revolute joints; it is refused here with this reason.",
)


def reproduce(quick: bool = False) -> Reproduction:
    """Run everything that the paper shows."""
    first, robot = dynamics.the_robot()
    listed, row = errata(robot)
    links = dynamics.mass_distribution()
    way, result = square.square(robot)
    sections = (
        first, dynamics.kinematics(robot), dynamics.dynamics(robot), replace(links, rows=(*links.rows, row)), way, square.other_squares(robot),
        inverse_kinematics.comparison(robot, quick),
    )  # fmt: skip
    return Reproduction(paper_info("arora"), sections, listed, (("square of 1 m", result),), OPEN)
