r"""Three revolute joints carry a point: every geometry, at most four postures [Pieper 1968].

Neighbouring axes that are parallel or meet make the problem fall into quadratic ones; without that it is one of degree four.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from manipula.algebra.linear import array, cross, dot
from manipula.algebra.ops import Scalar, Vector
from manipula.ik.closed_form.geometry import Axis, Relations
from manipula.ik.closed_form.positioning.base import FirstTwoMeet, Mirrored, PositionArm, mirror
from manipula.ik.closed_form.program import Row
from manipula.ik.closed_form.quartic import combine, product, solve_trigonometric_quartic
from manipula.ik.closed_form.subproblems import CosSin, rotate, turn_onto, turn_to_distance, turn_to_plane  # fmt: skip


def planar_pair(one: Axis, two: Axis, x: Vector, t: Vector) -> list[tuple[CosSin, CosSin]]:
    """Both (θ₁, θ₂) of parallel axes with E1 E2 x = t: distance first, then direction."""
    reach = array(t - one.p)
    out = []
    for t2 in turn_to_distance(two.h, array(x - two.p), array(one.p - two.p), dot(reach, reach)):
        out.append((turn_onto(one.h, array(two.move(t2, x) - one.p), reach), t2))
    return out


class FirstTwoParallel(PositionArm):
    """1 ∥ 2: the height along them gives θ₃, the rest is planar."""

    name, branches = "articulated arm", 4

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        one, two, three = self.axes
        out: list[Row] = []
        for t3 in turn_to_plane(one.h, three.h, array(c - three.p), dot(one.h, t - three.p)):
            x = three.move(t3, c)
            out += [[t1, t2, t3] for t1, t2 in planar_pair(one, two, x, array(t))]
        return out


class ArticulatedArm(FirstTwoMeet):
    """1 and 2 meet in o: the distance from o gives θ₃, two rotations the rest."""

    name, branches = "articulated arm", 4

    def third(self, c: Vector, square: Scalar) -> Sequence[CosSin]:
        three = self.axes[2]
        return turn_to_distance(three.h, array(c - three.p), array(self.o - three.p), square)


class SkewAxes(PositionArm):
    r"""Axes 1 and 2 neither parallel nor meeting.

    With the common normal a n of axes 1 and 2, :math:`m = h_2\times n`, :math:`y = E_3c - p_2` and twist α:

    .. math:: u = n\cdot R_2y = (|t-p_1|^2 - a^2 - |y|^2)/2a,\quad v = m\cdot R_2y = (h_1\cdot(t-p_1) - \cos\alpha\,h_2\cdot y)/\sin\alpha

    and :math:`u^2 + v^2 = |y|^2 - (h_2\cdot y)^2` has degree four in joint 3.
    """

    branches = 4

    def __init__(self, axes: Sequence[Axis]) -> None:
        one, two = common_normal(axes[0], axes[1])
        super().__init__([one, two, axes[2]])
        self.frame = normal_frame(one, two)

    @abstractmethod
    def third(self, c: Vector, K: Scalar, H: Scalar) -> Sequence[CosSin | Scalar]:
        """The four values of joint 3, for K = |t − p₁|² − a² and H = h₁·(t − p₁)."""

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        one, two, three = self.axes
        a, n, m, ca, sa = self.frame
        reach = array(t - one.p)
        K, H = dot(reach, reach) - a * a, dot(one.h, reach)
        out: list[Row] = []
        for value in self.third(c, K, H):
            y = array(three.move(value, c) - two.p)
            u = (K - dot(y, y)) / (2.0 * a)
            v = (H - ca * dot(two.h, y)) / sa
            t2 = turn_onto(two.h, y, array(u * n + v * m))
            out.append([turn_onto(one.h, array(array(a * n) + rotate(two.h, t2, y)), reach), t2, value])
        return out


class GeneralThree(SkewAxes):
    """No two neighbours parallel or meeting: of degree two in (cos θ₃, sin θ₃)."""

    name = "general 3R arm"

    def third(self, c: Vector, K: Scalar, H: Scalar) -> Sequence[CosSin]:
        _, two, three = self.axes
        a, _, _, ca, sa = self.frame
        e, b = array(c - three.p), array(three.p - two.p)
        axial = array(dot(three.h, e) * three.h)
        side = cross(three.h, e)
        flat = array(e - axial)
        N = (dot(b, b) + dot(e, e) + 2.0 * dot(b, axial), 2.0 * dot(b, flat), 2.0 * dot(b, side))
        w = (dot(two.h, b + axial), dot(two.h, flat), dot(two.h, side))
        far = (K - N[0], -N[1], -N[2])
        high = (H - ca * w[0], -ca * w[1], -ca * w[2])
        k = 4.0 * a * a
        return solve_trigonometric_quartic(
            combine(
                (sa * sa, product(far, far)), (k, product(high, high)), (-k * sa * sa, N), (k * sa * sa, product(w, w))
            )
        )


def common_normal(one: Axis, two: Axis) -> tuple[Axis, Axis]:
    """Both lines given by their feet of the common normal (numeric, not parallel)."""
    normal = np.cross(one.h, two.h)
    d = two.p - one.p
    square = normal @ normal
    s = np.cross(d, two.h) @ normal / square
    t = np.cross(d, one.h) @ normal / square
    return one.at(one.p + s * one.h), two.at(two.p + t * two.h)


def normal_frame(one: Axis, two: Axis) -> tuple[float, np.ndarray, np.ndarray, float, float]:
    """a, n, m = h₂ × n, cos α, sin α of two lines given by their feet: h₁ = cos α h₂ + sin α m."""
    d = two.p - one.p
    a = float(np.linalg.norm(d))
    n = d / a
    m = np.cross(two.h, n)
    return a, n, m, float(one.h @ two.h), float(one.h @ m)


def arm_rrr(axes: Sequence[Axis], relations: Relations) -> PositionArm:
    """The program for three revolute joints."""
    one, two, three = axes
    if relations.parallel(two, three):
        return Mirrored(FirstTwoParallel(mirror(axes)), axes)
    if relations.parallel(one, two):
        return FirstTwoParallel(axes)
    meeting = relations.meeting_point(one, two)
    if meeting is not None:
        return ArticulatedArm(axes, meeting)
    meeting = relations.meeting_point(two, three)
    if meeting is not None:
        return Mirrored(ArticulatedArm(mirror(axes), meeting), axes)
    return GeneralThree(axes)
