"""A slide between two revolute joints carries a point: RPR."""

from __future__ import annotations

from collections.abc import Sequence

from manipula.algebra.linear import array, cross, dot
from manipula.algebra.ops import Vector
from manipula.ik.closed_form.geometry import Axis, Relations
from manipula.ik.closed_form.positioning.base import Mirrored, PositionArm, mirror
from manipula.ik.closed_form.positioning.rrp import slide_to_distance
from manipula.ik.closed_form.program import Row
from manipula.ik.closed_form.quartic import combine, product, solve_trigonometric_quartic
from manipula.ik.closed_form.subproblems import turn_onto, turn_to_plane


class CrossedSlideBetween(PositionArm):
    """The slide at right angles to axis 1: the height along it gives θ₃, the distance the slide."""

    name, branches = "RPR arm", 4

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        one, two, three = self.axes
        reach = array(t - one.p)
        out: list[Row] = []
        for t3 in turn_to_plane(one.h, three.h, array(c - three.p), dot(one.h, t - three.p)):
            x = array(three.move(t3, c) - one.p)
            for d in slide_to_distance(x, two.h, dot(reach, reach)):
                out.append([turn_onto(one.h, array(x + d * two.h), reach), d, t3])
        return out


class GeneralBetween(PositionArm):
    r"""The height along axis 1 makes the slide an affine function of (cos θ₃, sin θ₃), the distance an equation of degree two."""

    name, branches = "general RPR arm", 4

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        one, two, three = self.axes
        reach = array(t - one.p)
        e = array(c - three.p)
        axial = array(dot(three.h, e) * three.h)
        parts = (array(three.p - one.p + axial), array(e - axial), cross(three.h, e))
        slope = 1.0 / dot(one.h, two.h)
        d = tuple((dot(one.h, reach) * (k == 0) - dot(one.h, g)) * slope for k, g in enumerate(parts))
        along = tuple(dot(two.h, g) for g in parts)
        b = array(three.p - one.p)
        N = (dot(b, b) + dot(e, e) + 2.0 * dot(b, axial), 2.0 * dot(b, parts[1]), 2.0 * dot(b, parts[2]))
        f = combine((1.0, N), (2.0, product(d, along)), (1.0, product(d, d)), (-1.0, (dot(reach, reach), 0.0, 0.0)))
        out: list[Row] = []
        for t3 in solve_trigonometric_quartic(f):
            x = array(three.move(t3, c) - one.p)
            slide = (dot(one.h, reach) - dot(one.h, x)) * slope
            out.append([turn_onto(one.h, array(x + slide * two.h), reach), slide, t3])
        return out


def arm_rpr(axes: Sequence[Axis], relations: Relations) -> PositionArm:
    """The program for a slide between two revolute joints."""
    one, two, three = axes
    if relations.perpendicular(one, two):
        return CrossedSlideBetween(axes)
    if relations.perpendicular(two, three):
        return Mirrored(CrossedSlideBetween(mirror(axes)), axes)
    return GeneralBetween(axes)
