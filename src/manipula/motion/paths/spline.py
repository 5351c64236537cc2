r"""Cubic splines through points.

The parameter between neighbours is :math:`\Delta u_i=|P_{i+1}-P_i|^{\alpha}` with α = 1 (chord length), ½ (centripetal;
Lee 1989, tighter at sharp turns) or 0 (uniform). The spline is C² in u, and so is the path in s.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra.arguments import choice, finite_array
from manipula.errors import DescriptionError
from manipula.motion.paths.base import Path
from manipula.motion.paths.checks import distinct_neighbours, point_rows
from manipula.motion.paths.fields import Ends, Points, Spacing, Tangents
from manipula.motion.paths.polynomial import PiecewisePolynomial
from manipula.motion.paths.primitive import primitive

POWER = {"chord": 1.0, "centripetal": 0.5, "uniform": 0.0}
ENDS = ("natural", "clamped", "periodic", "not-a-knot")


def interpolating(points: np.ndarray, ends: str, spacing: str, tangents: Any, name: str) -> PiecewisePolynomial:
    """The spline curve in any dimension."""
    choice(ends, "ends", ENDS)
    choice(spacing, "spacing", POWER)
    if (tangents is not None) != (ends == "clamped"):
        raise DescriptionError("'tangents' (at both ends) belong to ends='clamped', and are needed there.")
    if ends == "periodic":
        if len(points) < 3:
            raise DescriptionError(f"A periodic spline needs at least 3 points; found {len(points)}.")
        if np.linalg.norm(points[0] - points[-1]) <= 1e-12 * float(np.max(np.ptp(points, axis=0))):
            points = points.copy()
            points[-1] = points[0]
        else:
            points = np.vstack([points, points[:1]])
    widths = distinct_neighbours(points, name) ** POWER[spacing]
    u = np.concatenate([[0.0], np.cumsum(widths)])
    boundary: Any = ends
    if ends == "clamped":
        directions = finite_array(tangents, "tangents")
        if points.shape[1] == 3 and directions.shape == (2, 2):
            directions = np.column_stack([directions, np.zeros(2)])
        if directions.shape != (2, points.shape[1]):
            raise DescriptionError(
                f"'tangents' must hold two directions of {points.shape[1]} coordinates; found shape {directions.shape}."
            )
        norms = np.linalg.norm(directions, axis=1)
        if np.any(norms == 0):
            raise DescriptionError("An end tangent is the zero vector; the path would have no direction there.")
        chord = distinct_neighbours(points, name) / widths  # |dp/du| that fits the end segments
        slopes = directions / norms[:, None] * chord[[0, -1], None]
        boundary = ((1, slopes[0]), (1, slopes[1]))
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(u, points, bc_type=boundary)
    return PiecewisePolynomial(u, np.ascontiguousarray(spline.c[::-1].transpose(1, 0, 2)))


@primitive
def spline(points: Points, *, ends: Ends = "natural", spacing: Spacing = "chord", tangents: Tangents = None) -> Path:
    """The cubic spline through ``points``, shape (k, 2) or (k, 3) [m].

    Args:
        ends: ``"natural"`` (no curvature at the ends), ``"clamped"`` (given tangents), ``"periodic"`` (closed, also
            smooth at the seam; the first point is repeated when it is missing) or ``"not-a-knot"``.
        spacing: of the parameter, see above.
        tangents: directions at the two ends, for ``"clamped"``.
    """
    return Path([interpolating(point_rows(points, "points"), ends, spacing, tangents, "points")])
