"""Circles, and arcs through three points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from manipula.algebra import ops
from manipula.algebra.arguments import positive
from manipula.errors import DescriptionError
from manipula.motion.paths.base import Curve, Path
from manipula.motion.paths.checks import COINCIDENT, plane_axes, vector3
from manipula.motion.paths.fields import Axis, Center, End, Normal, Radius, Start, Turns, point
from manipula.motion.paths.primitive import primitive


class CircularArc(Curve):
    """p(u) = c + r (e1 cos u + e2 sin u), u from 0 to ``angle``; e1, e2 orthonormal, of any dimension."""

    def __init__(self, center: np.ndarray, e1: np.ndarray, e2: np.ndarray, radius: float, angle: float) -> None:
        self.center, self.e1, self.e2 = center, e1, e2
        self.dimension, self.speed = len(center), float(radius)
        self.breaks = np.array([0.0, angle])

    def point(self, u: Any, piece: Any) -> Sequence[Any]:
        r, c, s = self.speed, ops.cos(u), ops.sin(u)
        return [self.center[i] + r * (self.e1[i] * c + self.e2[i] * s) for i in range(self.dimension)]


@primitive
def circle(
    center: Center, radius: Radius, *, normal: Normal = (0.0, 0.0, 1.0), axis: Axis = None, turns: Turns = 1.0
) -> Path:
    """A circle, anticlockwise seen from the tip of ``normal``; turn the normal over to go clockwise.

    Args:
        center: [m], two coordinates mean z = 0.
        radius: [m].
        normal: of the plane.
        axis: direction from the centre to the start; default base x made perpendicular to the normal.
        turns: how many times around.
    """
    e1, e2, _ = plane_axes(normal, axis)
    angle = 2.0 * np.pi * positive(turns, "turns")
    return Path([CircularArc(vector3(center, "center"), e1, e2, positive(radius, "radius"), angle)])


@primitive
def arc(start: Start, via: Annotated[Any, point("a point between")], end: End) -> Path:
    """The circular arc from ``start`` through ``via`` to ``end`` [m].

    The centre is that of the circumcircle of the three points.
    """
    a, b, c = vector3(start, "start"), vector3(via, "via"), vector3(end, "end")
    x, y = b - a, c - a
    n = np.cross(x, y)
    size = max(float(x @ x), float(y @ y), float((c - b) @ (c - b)))
    area = float(np.linalg.norm(n))
    if area <= COINCIDENT * size or size == 0:
        raise DescriptionError(
            "The three points of an arc lie on one line (or coincide), so no circle passes through them; "
            "use 'line' for a straight path."
        )
    to_center = np.cross(float(x @ x) * y - float(y @ y) * x, n) / (2.0 * area * area)
    radius = float(np.linalg.norm(to_center))
    e1 = -to_center / radius
    e2 = np.cross(n / area, e1)
    toward = y - to_center
    angle = float(np.arctan2(toward @ e2, toward @ e1)) % (2.0 * np.pi)
    return Path([CircularArc(a + to_center, e1, e2, radius, angle)])
