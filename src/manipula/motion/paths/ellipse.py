"""Ellipses in any plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from manipula.algebra import ops
from manipula.algebra.arguments import positive
from manipula.motion.paths.base import Curve, Path
from manipula.motion.paths.checks import plane_axes, vector3
from manipula.motion.paths.fields import Axis, Center, Normal, Turns
from manipula.motion.paths.primitive import primitive
from manipula.parts.field import Number


class EllipticArc(Curve):
    """p(u) = c + a cos u + b sin u with semi-axis vectors a, b; u over ``breaks``."""

    def __init__(self, center: np.ndarray, a: np.ndarray, b: np.ndarray, breaks: np.ndarray) -> None:
        self.center, self.a, self.b, self.breaks = center, a, b, breaks
        self.dimension = len(center)

    def point(self, u: Any, piece: Any) -> Sequence[Any]:
        c, s = ops.cos(u), ops.sin(u)
        return [self.center[i] + self.a[i] * c + self.b[i] * s for i in range(self.dimension)]


@primitive
def ellipse(
    center: Center,
    a: Annotated[float, Number("m", "semi-axis along axis", above=0.0)],
    b: Annotated[float, Number("m", "semi-axis perpendicular to it", above=0.0)],
    *,
    normal: Normal = (0.0, 0.0, 1.0),
    axis: Axis = None,
    turns: Turns = 1.0,
) -> Path:
    """An ellipse, anticlockwise seen from the tip of ``normal``, starting at the end of semi-axis ``a``.

    Args:
        center: [m], two coordinates mean z = 0.
        a: semi-axis along ``axis`` [m].
        b: semi-axis perpendicular to it [m].
        normal: of the plane.
        axis: direction of ``a``; default base x made perpendicular to the normal.
        turns: how many times around.
    """
    e1, e2, _ = plane_axes(normal, axis)
    breaks = np.array([0.0, 2.0 * np.pi * positive(turns, "turns")])
    return Path([EllipticArc(vector3(center, "center"), positive(a, "a") * e1, positive(b, "b") * e2, breaks)])
