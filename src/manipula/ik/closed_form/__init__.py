"""Closed forms: every posture of an arm whose geometry allows it, recognised from its joint axes.

``find(robot)`` looks at lines in space, not at the description, and gives a :class:`ClosedForm` or ``None``.

================  ================================================================================
``solver``        ``ClosedForm``: bound to a robot, in machine code, checked by forward kinematics
``wrist``         three axes through one point, and a positioning arm
``parallel``      three parallel neighbours (Universal Robots)
``planar``        planar 3R and SCARA
``srs``           shoulder, elbow, wrist with seven joints (iiwa)
``locked``        seven joints with one given (Panda)
``positioning/``  two or three joints that carry a point
``program``       what a closed form is: from a target to rows of postures
``subproblems``   turns that bring points and directions onto each other
``quartic``       real roots without a branch on a number
``geometry``      joint axes as lines, and what they have in common
================  ================================================================================
"""

from __future__ import annotations

from collections.abc import Callable

from manipula.ik.closed_form import locked, parallel, planar, srs, wrist
from manipula.ik.closed_form.geometry import NEAR, Lines, Relations, lines_of, rank
from manipula.ik.closed_form.positioning import position_arm
from manipula.ik.closed_form.program import ClosedFormProgram
from manipula.ik.closed_form.solver import ClosedForm, PointProgram
from manipula.robot.link import TIP
from manipula.robot.once import once_per_mechanism
from manipula.robot.robot import Robot


def _positioning(lines: Lines, relations: Relations) -> ClosedFormProgram | None:
    """A program for two or three joints that carry the tip."""
    tip = lines.home[:3, 3]
    if len(lines.axes) not in (2, 3) or rank(lines.axes, tip) < len(lines.axes):
        return None
    return PointProgram(position_arm(lines.axes, relations), tip)


FAMILIES: dict[str, Callable[[Lines, Relations], ClosedFormProgram | None]] = {
    "planar": planar.recognise,
    "wrist": wrist.recognise,
    "parallel": parallel.recognise,
    "positioning": _positioning,
    "srs": srs.recognise,
    "locked": locked.recognise,
}


@once_per_mechanism(64)
def find(robot: Robot, frame: str = TIP) -> ClosedForm | None:
    """The closed form of a robot for a frame, or ``None`` when its geometry has none here.

    Geometry within 2e-3 of a family (rad, fractions of the reach) is accepted with ``exact = False``.
    """
    lines = lines_of(robot, frame)
    if lines is None:
        return None
    best: ClosedForm | None = None
    for recognise in FAMILIES.values():
        relations = Relations(lines.reach, NEAR)
        program = recognise(lines, relations)
        if program is None:
            continue
        found = ClosedForm(robot, frame, lines, program, relations.deviation)
        if found.exact:
            return found
        if best is None or found.deviation < best.deviation:
            best = found
    return best


__all__ = ["FAMILIES", "ClosedForm", "find"]
