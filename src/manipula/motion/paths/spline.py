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
DENSE = 100  # points up to which the slopes of a spline come from a full matrix
ENDS = ("natural", "clamped", "periodic", "not-a-knot")


def interpolating(points: np.ndarray, ends: str, spacing: str, tangents: Any, name: str) -> PiecewisePolynomial:
    """The spline curve in any dimension."""
    choice(ends, "ends", ENDS)
    choice(spacing, "spacing", POWER)
    if (tangents is not None) != (ends == "clamped"):
        raise DescriptionError(
            f"'tangents' (at both ends) belong to ends='clamped', and are needed there; found ends='{ends}'.",
            field="tangents",
        )
    if ends == "periodic":
        if len(points) < 3:
            raise DescriptionError(f"A periodic spline needs at least 3 points; found {len(points)}.")
        if np.linalg.norm(points[0] - points[-1]) <= 1e-12 * float(np.max(np.ptp(points, axis=0))):
            points = points.copy()
            points[-1] = points[0]
        else:
            points = np.vstack([points, points[:1]])
    widths = distinct_neighbours(points, name) ** POWER[spacing]
    u = np.zeros(len(points))
    widths.cumsum(out=u[1:])
    slopes = None
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
            raise DescriptionError(
                "An end tangent in 'tangents' is the zero vector; the path would have no direction there.",
                field="tangents",
            )
        chord = distinct_neighbours(points, name) / widths  # |dp/du| that fits the end segments
        slopes = directions / norms[:, None] * chord[[0, -1], None]
    if ends in ("natural", "clamped") and len(points) <= DENSE:
        return PiecewisePolynomial(u, _cubic_pieces(u, points, slopes))
    from scipy.interpolate import CubicSpline

    boundary: Any = ends if slopes is None else ((1, slopes[0]), (1, slopes[1]))
    spline = CubicSpline(u, points, bc_type=boundary)
    return PiecewisePolynomial(u, np.ascontiguousarray(spline.c[::-1].transpose(1, 0, 2)))


def _cubic_pieces(u: np.ndarray, points: np.ndarray, ends: np.ndarray | None) -> np.ndarray:
    r"""Coefficients (pieces, 4, d) of the cubic spline with given slopes at both ends, or without curvature there.

    With widths h and chords' slopes m, continuity of the second derivative asks of the slopes s that
    :math:`h_is_{i-1}+2(h_{i-1}+h_i)s_i+h_{i-1}s_{i+1}=3(h_im_{i-1}+h_{i-1}m_i)`, no curvature that :math:`2s_0+s_1=3m_0`.
    """
    h, k = u[1:] - u[:-1], len(u)
    m = (points[1:] - points[:-1]) / h[:, None]
    A, b = np.zeros((k, k)), np.empty_like(points)
    inner = A[1:-1].ravel()  # rows of all points but the two at the ends
    inner[:: k + 1], inner[1 :: k + 1], inner[2 :: k + 1] = h[1:], 2.0 * (h[1:] + h[:-1]), h[:-1]
    b[1:-1] = 3.0 * (h[1:, None] * m[:-1] + h[:-1, None] * m[1:])
    A[0, 0], A[-1, -1] = 2.0, 2.0
    if ends is None:
        A[0, 1], A[-1, -2], b[0], b[-1] = 1.0, 1.0, 3.0 * m[0], 3.0 * m[-1]
    else:
        b[0], b[-1] = 2.0 * ends
    s = np.linalg.solve(A, b)
    width = h[:, None]
    bend = (s[:-1] + s[1:] - 2.0 * m) / width
    out = np.empty((k - 1, 4, points.shape[1]))
    out[:, 0], out[:, 1], out[:, 2], out[:, 3] = points[:-1], s[:-1], (m - s[:-1]) / width - bend, bend / width
    return out


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
