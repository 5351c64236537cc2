"""Two or three slides carry a point: cartesian (PPP) and cylindrical arms (RPP, PRP, PPR)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from manipula.algebra.linear import array, cross, dot
from manipula.algebra.ops import Vector
from manipula.ik.closed_form.geometry import Axis, Relations
from manipula.ik.closed_form.positioning.base import Mirrored, PositionArm, mirror
from manipula.ik.closed_form.program import Row
from manipula.ik.closed_form.subproblems import solve_quadratic, turn_onto, turn_to_plane


class CartesianArm(PositionArm):
    """Three slides: t − c in their (oblique) axes."""

    name, branches = "cartesian arm", 1

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        inverse = np.linalg.inv(np.column_stack([a.h for a in self.axes]))
        step = array(t) - c
        return [[dot(row, step) for row in inverse]]


class TurnedSlides(PositionArm):
    """RPP: the plane of the slides gives θ₁, its coordinates are the slides."""

    name, branches = "cylindrical arm", 2

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        one, two, three = self.axes
        normal = cross(two.h, three.h)
        square = dot(normal, normal)
        out: list[Row] = []
        for t1 in turn_to_plane(normal, array(-one.h), array(t - one.p), dot(normal, array(c) - one.p)):
            step = array(one.undo(t1, t) - c)
            d2 = dot(step, cross(three.h, normal)) / square
            d3 = dot(step, cross(normal, two.h)) / square
            out.append([t1, d2, d3])
        return out


class TurnBetweenSlides(PositionArm):
    r"""PRP: the height along axis 2 is linear in both slides, the distance from it quadratic.

    .. math:: d_1\,h_1\cdot h_2 + d_3\,h_3\cdot h_2 = h_2\cdot(t-c),\quad |t - p_2 - d_1h_1|^2 = |c - p_2 + d_3h_3|^2
    """

    name, branches = "cylindrical arm", 2

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        one, two, three = self.axes
        a, b = float(one.h @ two.h), float(three.h @ two.h)
        K = dot(two.h, array(t) - c)
        y, z = array(t - two.p), array(c - two.p)
        pairs = []
        if abs(b) < abs(a):  # d1 = K/a − (b/a) d3
            f = b / a
            y = array(y - (K / a) * one.h)
            for d3 in self._distance(y, f * one.h, z, three.h):
                pairs.append((K / a - f * d3, d3))
        else:
            f = a / b
            z = array(z + (K / b) * three.h)
            for d1 in self._distance(z, -f * three.h, y, -one.h):
                pairs.append((d1, K / b - f * d1))
        return [
            [d1, turn_onto(two.h, array(c - two.p + d3 * three.h), array(t - two.p - d1 * one.h)), d3]
            for d1, d3 in pairs
        ]

    @staticmethod
    def _distance(y: Vector, g: np.ndarray, z: Vector, h: np.ndarray) -> list:
        """x with |y + x g|² = |z + x h|² for |g| < |h| = 1, or linear when |g| = 1."""
        square = 1.0 - float(g @ g)
        half, constant = dot(z, h) - dot(y, g), dot(z, z) - dot(y, y)
        if square < 1e-9:
            x = -0.5 * constant / half
            return [x, float("nan") * x]
        return solve_quadratic(square, half, constant)


def arm_of_slides(axes: Sequence[Axis], relations: Relations) -> PositionArm:
    """The program for three joints of which at least two are slides."""
    del relations
    kinds = "".join("R" if a.revolute else "P" for a in axes)
    if kinds == "PPP":
        return CartesianArm(axes)
    if kinds == "RPP":
        return TurnedSlides(axes)
    if kinds == "PPR":
        return Mirrored(TurnedSlides(mirror(axes)), axes)
    return TurnBetweenSlides(axes)
