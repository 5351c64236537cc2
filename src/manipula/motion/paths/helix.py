"""Helices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from manipula.algebra import ops
from manipula.algebra.arguments import number, positive
from manipula.motion.paths.base import Curve, Path
from manipula.motion.paths.checks import plane_axes, vector3
from manipula.motion.paths.fields import Axis, Center, Normal, Radius, Turns
from manipula.motion.paths.primitive import primitive
from manipula.parts.field import Number


class Helix(Curve):
    """p(u) = c + r (e1 cos u + e2 sin u) + n h u/2π; |p'| = √(r² + (h/2π)²)."""

    def __init__(self, center: np.ndarray, frame: np.ndarray, radius: float, pitch: float, angle: float) -> None:
        self.center, self.frame, self.radius, self.rise = center, frame, radius, pitch / (2.0 * np.pi)
        self.speed = float(np.hypot(radius, self.rise))
        self.breaks = np.array([0.0, angle])

    def point(self, u: Any, piece: Any) -> Sequence[Any]:
        r, c, s = self.radius, ops.cos(u), ops.sin(u)
        e1, e2, n = self.frame
        return [self.center[i] + r * (e1[i] * c + e2[i] * s) + (self.rise * n[i]) * u for i in range(3)]


@primitive
def helix(
    center: Center,
    radius: Radius,
    pitch: Annotated[float, Number("m", "rise along the normal in one turn; negative descends")],
    turns: Turns,
    *,
    normal: Normal = (0.0, 0.0, 1.0),
    axis: Axis = None,
) -> Path:
    """A helix around the line through ``center`` along ``normal``.

    Args:
        center: foot of the axis at the start [m].
        radius: [m].
        pitch: rise along ``normal`` in one turn [m]; negative descends (a left-handed helix).
        turns: number of turns.
        normal: direction of the axis.
        axis: direction from the centre to the start; default base x made perpendicular to the normal.
    """
    frame = plane_axes(normal, axis)
    angle = 2.0 * np.pi * positive(turns, "turns")
    return Path([Helix(vector3(center, "center"), frame, positive(radius, "radius"), number(pitch, "pitch"), angle)])
