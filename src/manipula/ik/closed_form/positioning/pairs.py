"""Two joints carry a point along a surface: planar 2R, RP, PR, PP, and pan–tilt heads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from manipula.algebra.linear import array, dot
from manipula.algebra.ops import Vector
from manipula.ik.closed_form.geometry import Axis, Relations
from manipula.ik.closed_form.positioning.base import Mirrored, PositionArm, mirror
from manipula.ik.closed_form.positioning.rrp import slide_to_distance
from manipula.ik.closed_form.positioning.rrr import planar_pair
from manipula.ik.closed_form.program import Row
from manipula.ik.closed_form.subproblems import turn_onto, turn_to_plane


class PlanarPair(PositionArm):
    """Two parallel revolute joints: elbow up and elbow down."""

    name, branches = "planar 2R", 2

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        return [list(pair) for pair in planar_pair(self.axes[0], self.axes[1], array(c), array(t))]


class SkewPair(PositionArm):
    """Two revolute joints that are not parallel: the height along the first gives θ₂."""

    name, branches = "2R", 2

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        one, two = self.axes
        out: list[Row] = []
        for t2 in turn_to_plane(one.h, two.h, array(c - two.p), dot(one.h, t - two.p)):
            out.append([turn_onto(one.h, array(two.move(t2, c) - one.p), array(t - one.p)), t2])
        return out


class PolarArm(PositionArm):
    """A revolute joint and a slide across it: the distance gives the slide."""

    name, branches = "RP", 2

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        one, two = self.axes
        reach = array(t - one.p)
        x = array(c - one.p)
        return [
            [turn_onto(one.h, array(x + d * two.h), reach), d] for d in slide_to_distance(x, two.h, dot(reach, reach))
        ]


class ScrewArm(PositionArm):
    """A revolute joint and a slide that is not at right angles to it: the height gives the slide."""

    name, branches = "RP", 1

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        one, two = self.axes
        d = dot(one.h, array(t) - c) / dot(one.h, two.h)
        return [[turn_onto(one.h, array(two.move(d, c) - one.p), array(t - one.p)), d]]


class XYTable(PositionArm):
    """Two slides: least squares in their plane."""

    name, branches = "PP", 1

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        inverse = np.linalg.pinv(np.column_stack([a.h for a in self.axes]))
        step = array(t) - c
        return [[dot(row, step) for row in inverse]]


def arm_of_two(axes: Sequence[Axis], relations: Relations) -> PositionArm:
    """The program for two joints."""
    one, two = axes
    if one.revolute and two.revolute:
        return PlanarPair(axes) if relations.parallel(one, two) else SkewPair(axes)
    if one.revolute:
        return PolarArm(axes) if relations.perpendicular(one, two) else ScrewArm(axes)
    if two.revolute:
        return Mirrored(arm_of_two(mirror(axes), relations), axes)
    return XYTable(axes)
