"""Straight sides through points, with sharp or rounded corners."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra.arguments import flag, number
from manipula.errors import DescriptionError
from manipula.motion.paths.base import Path
from manipula.motion.paths.checks import COINCIDENT, distinct_neighbours, point_rows
from manipula.motion.paths.corners import blended
from manipula.motion.paths.fields import Blend, BlendShape, Closed, Points
from manipula.motion.paths.polynomial import PiecewisePolynomial
from manipula.motion.paths.primitive import primitive


def straight_pieces(points: np.ndarray, name: str) -> PiecewisePolynomial:
    """One straight piece between each two points; the parameter is the arc length."""
    gaps = distinct_neighbours(points, name)
    directions = np.diff(points, axis=0) / gaps[:, None]
    return PiecewisePolynomial(
        np.concatenate([[0.0], np.cumsum(gaps)]), np.stack([points[:-1], directions], axis=1), speed=1.0
    )


def through(points: np.ndarray, closed: bool, blend: float, shape: str, name: str) -> list[Any]:
    """The curves of a polyline in any dimension."""
    if flag(closed, "closed") and not np.allclose(
        points[0], points[-1], rtol=0, atol=1e-12 * float(np.max(np.ptp(points, axis=0)))
    ):
        points = np.vstack([points, points[:1]])
    cut = number(blend, "blend")
    if cut < 0:
        raise DescriptionError(f"'blend' is {cut}; it must be 0 (sharp corners) or more.", field="blend")
    smallest = COINCIDENT * float(np.max(np.ptp(points, axis=0)))
    if 0 < cut <= smallest:
        raise DescriptionError(
            f"'blend' is {cut:g}; it must be 0 (sharp corners) or above {smallest:g} here.", field="blend"
        )
    if cut == 0:
        return [straight_pieces(points, name)]
    return list(blended(points, distinct_neighbours(points, name), closed, cut, shape, name))


@primitive
def polyline(points: Points, closed: Closed = False, *, blend: Blend = 0.0, shape: BlendShape = "quintic") -> Path:
    """Straight sides through ``points``, shape (k, 2) or (k, 3) [m].

    Args:
        closed: add the side back to the first point.
        blend: distance from each corner where the path leaves the side [m]; 0 keeps the corners sharp.
        shape: of the rounding, see :mod:`.corners`; only ``"quintic"`` keeps the curvature continuous.

    At a sharp corner the tangent jumps: a law that passes it with speed asks for an impulse. ``path.corners()`` lists
    such places.
    """
    return Path(through(point_rows(points, "points"), closed, blend, shape, "points"))
