r"""Three axes through one point, and arms that have them at one end.

Six joints whose last three axes meet in a point o: the first three joints carry o to where the target wants it, the last three turn.
The arm in front may be any of RRR, RRP, … PPP (``positioning``), so that this serves the Puma 560, the Stanford arm, gantries and, read
backwards, arms with a spherical shoulder [Pieper 1968].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from manipula.algebra.linear import array
from manipula.algebra.ops import Vector
from manipula.ik.closed_form.geometry import Axis, Lines, Relations, carry, rank, turn_vector
from manipula.ik.closed_form.positioning import PositionArm, position_arm
from manipula.ik.closed_form.program import ClosedFormProgram, Row, backwards
from manipula.ik.closed_form.subproblems import CosSin, any_normal, rotate_back, turn_both, turn_onto


def orientation(h: Sequence[np.ndarray], last: Vector, side: Vector) -> list[list[CosSin]]:
    r"""Both (θ₁, θ₂, θ₃) with :math:`R(h_1,\theta_1)R(h_2,\theta_2)R(h_3,\theta_3) = R`.

    Args:
        h: the three directions at rest; neighbours are not parallel.
        last: :math:`R h_3`. side: :math:`R v` for ``v = any_normal(h[2])``.
    """
    v = any_normal(h[2])
    out = []
    for t1, t2 in turn_both(array(-h[0]), last, h[1], h[2]):
        back = rotate_back(h[1], t2, rotate_back(h[0], t1, side))
        out.append([t1, t2, turn_onto(h[2], v, back)])
    return out


class WristArm(ClosedFormProgram):
    """Six joints, the last three through one point."""

    kind = "pose"

    def __init__(self, arm: PositionArm, wrist: Sequence[Axis], centre: np.ndarray) -> None:
        self.arm, self.wrist, self.centre = arm, wrist, centre
        self.name = f"{arm.name} and spherical wrist"
        self.branches = 2 * arm.branches

    def rows(self, target: Vector) -> list[Row]:
        h = [a.h for a in self.wrist]
        last, side = turn_vector(target, h[2]), turn_vector(target, any_normal(h[2]))
        out: list[Row] = []
        for row in self.arm.rows(self.centre, carry(target, self.centre)):
            a, b = last, side
            for axis, value in zip(self.arm.axes, row):
                if isinstance(value, CosSin):
                    a, b = rotate_back(axis.h, value, a), rotate_back(axis.h, value, b)
            out += [[*row, *turns] for turns in orientation(h, a, b)]
        return out


class Pivot(ClosedFormProgram):
    """Three joints through one point: they only turn."""

    kind = "pose"
    name = "spherical joint"
    branches = 2

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.axes = axes

    def rows(self, target: Vector) -> list[Row]:
        h = [a.h for a in self.axes]
        return [list(t) for t in orientation(h, turn_vector(target, h[2]), turn_vector(target, any_normal(h[2])))]


def recognise(lines: Lines, relations: Relations) -> ClosedFormProgram | None:
    """A program for six joints with a spherical wrist or shoulder, or for three joints through one point."""
    if len(lines.axes) == 3 and lines.kinds == "RRR":
        return Pivot(lines.axes) if relations.meeting_point(*lines.axes) is not None else None
    if len(lines.axes) != 6:
        return None
    found = _at_the_end(lines.axes, relations)
    if found is not None:
        return found
    other = _at_the_end([a.flipped() for a in reversed(lines.axes)], relations)
    return None if other is None else backwards(other, other.name.replace("wrist", "shoulder"))


def _at_the_end(axes: Sequence[Axis], relations: Relations) -> WristArm | None:
    if not all(a.revolute for a in axes[3:]):
        return None
    centre = relations.meeting_point(*axes[3:])
    if centre is None or rank(axes[:3], centre) < 3:
        return None
    return WristArm(position_arm(axes[:3], relations), axes[3:], centre)
