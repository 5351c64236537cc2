"""Two revolute joints and a slide carry a point: RRP and, read backwards, PRR (SCARA without its wrist, spherical arms, …)."""

from __future__ import annotations

from collections.abc import Sequence

from manipula.algebra.linear import array, dot
from manipula.algebra.ops import Scalar, Vector
from manipula.ik.closed_form.geometry import Axis, Relations
from manipula.ik.closed_form.positioning.base import FirstTwoMeet, Mirrored, PositionArm, mirror
from manipula.ik.closed_form.positioning.rrr import SkewAxes, planar_pair
from manipula.ik.closed_form.program import Row
from manipula.ik.closed_form.quartic import solve_quartic
from manipula.ik.closed_form.subproblems import solve_quadratic, turn_onto, turn_to_plane


class ScaraArm(PositionArm):
    """1 ∥ 2: the height gives the slide, the rest is planar."""

    name, branches = "SCARA", 2

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        one, two, three = self.axes
        d = dot(one.h, array(t) - c) / dot(one.h, three.h)
        return [[t1, t2, d] for t1, t2 in planar_pair(one, two, three.move(d, c), array(t))]


class CrossedSlide(PositionArm):
    """The slide at right angles to axis 2: the plane of motion gives θ₁, the distance from axis 2 the slide."""

    name, branches = "spherical arm", 4

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        one, two, three = self.axes
        out: list[Row] = []
        for t1 in turn_to_plane(two.h, array(-one.h), array(t - one.p), dot(two.h, array(c) - one.p)):
            y = array(one.undo(t1, t) - two.p)
            for d in slide_to_distance(array(c - two.p), three.h, dot(y, y)):
                out.append([t1, turn_onto(two.h, array(three.move(d, c) - two.p), y), d])
        return out


class MeetingAxes(FirstTwoMeet):
    """1 and 2 meet in o: the distance from o gives the slide, two rotations the rest."""

    name, branches = "spherical arm", 4

    def third(self, c: Vector, square: Scalar) -> Sequence[Scalar]:
        return slide_to_distance(array(c - self.o), self.axes[2].h, square)


class GeneralSlide(SkewAxes):
    """Skew axes 1 and 2: of degree four in the slide."""

    name = "general RRP arm"

    def third(self, c: Vector, K: Scalar, H: Scalar) -> Sequence[Scalar]:
        _, two, three = self.axes
        a, _, _, ca, sa = self.frame
        y = array(c - two.p)
        N = (dot(y, y), 2.0 * dot(y, three.h), 1.0)
        w = (dot(two.h, y), float(two.h @ three.h))
        k, s = 4.0 * a * a, sa * sa
        far = (K - N[0], -N[1], -1.0)
        high = (H - ca * w[0], -ca * w[1])
        e4 = s
        e3 = s * 2.0 * far[1] * far[2]
        e2 = s * (far[1] * far[1] + 2.0 * far[0] * far[2]) + k * (high[1] * high[1] - s + s * w[1] * w[1])
        e1 = s * 2.0 * far[0] * far[1] + k * (2.0 * high[0] * high[1] - s * N[1] + s * 2.0 * w[0] * w[1])
        e0 = s * far[0] * far[0] + k * (high[0] * high[0] - s * N[0] + s * w[0] * w[0])
        return solve_quartic(e4, e3, e2, e1, e0)


def slide_to_distance(start: Vector, h: Vector, square: Vector) -> list:
    """Both d with |start + d h|² = square."""
    return solve_quadratic(1.0, dot(start, h), dot(start, start) - square)


def arm_rrp(axes: Sequence[Axis], relations: Relations) -> PositionArm:
    """The program for two revolute joints followed by a slide."""
    one, two, three = axes
    if relations.parallel(one, two):
        return ScaraArm(axes)
    if relations.perpendicular(two, three):
        return CrossedSlide(axes)
    meeting = relations.meeting_point(one, two)
    return MeetingAxes(axes, meeting) if meeting is not None else GeneralSlide(axes)


def arm_prr(axes: Sequence[Axis], relations: Relations) -> PositionArm:
    """The program for a slide followed by two revolute joints."""
    return Mirrored(arm_rrp(mirror(axes), relations), axes)
