"""The figure eight (lemniscate of Gerono)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manipula.algebra import ops
from manipula.algebra.arguments import positive
from manipula.motion.paths.base import Curve, Path
from manipula.motion.paths.checks import plane_axes, vector3
from manipula.motion.paths.fields import Axis, Center, Height, Normal, Turns, Width
from manipula.motion.paths.primitive import primitive


class Lemniscate(Curve):
    """p(u) = c + ½w e1 sin u + ½h e2 sin 2u."""

    def __init__(self, center: np.ndarray, frame: np.ndarray, width: float, height: float, angle: float) -> None:
        self.center, self.a, self.b = center, width / 2 * frame[0], height / 2 * frame[1]
        self.breaks = np.array([0.0, angle])

    def point(self, u: Any, piece: Any) -> Sequence[Any]:
        s, s2 = ops.sin(u), ops.sin(2.0 * u)
        return [self.center[i] + self.a[i] * s + self.b[i] * s2 for i in range(3)]


@primitive
def figure_eight(
    center: Center,
    width: Width,
    height: Height,
    *,
    normal: Normal = (0.0, 0.0, 1.0),
    axis: Axis = None,
    turns: Turns = 1.0,
) -> Path:
    """A figure eight that starts at its crossing; ``width`` along ``axis``, ``height`` across [m]."""
    frame = plane_axes(normal, axis)
    angle = 2.0 * np.pi * positive(turns, "turns")
    w, h = positive(width, "width"), positive(height, "height")
    return Path([Lemniscate(vector3(center, "center"), frame, w, h, angle)])
