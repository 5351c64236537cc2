"""Paths in joint space, for any number of joints."""

from __future__ import annotations

from typing import Annotated, Any

from manipula.algebra.arguments import number
from manipula.errors import DescriptionError
from manipula.motion.paths.base import Path
from manipula.motion.paths.checks import point_rows
from manipula.motion.paths.fields import Blend, BlendShape, Closed, Ends, Interpolation, Spacing, Tangents
from manipula.motion.paths.polyline import through
from manipula.motion.paths.primitive import primitive
from manipula.motion.paths.spline import interpolating
from manipula.parts.field import Rows


@primitive
def joint(
    points: Annotated[Any, Rows("rad or m", "joint vectors, one row each", degrees=True)],
    *,
    interpolation: Interpolation = "spline",
    ends: Ends = "natural",
    spacing: Spacing = "chord",
    tangents: Tangents = None,
    closed: Closed = False,
    blend: Blend = 0.0,
    shape: BlendShape = "quintic",
) -> Path:
    """A path through joint vectors ``points``, shape (k, n) [rad or m].

    Arc length is the Euclidean norm in joint space; it has no meaning for mixed units, but laws in time only need it to
    be increasing.

    Args:
        interpolation: ``"spline"`` (C²) or ``"polyline"`` (straight, optionally with blended corners).
        ends, spacing, tangents: of the spline, see :func:`~.spline.spline`.
        closed: back to the first vector (a spline is then periodic).
        blend, shape: of the polyline, see :func:`~.polyline.polyline`.
    """
    rows = point_rows(points, "points", dimension=0)
    if interpolation == "polyline":
        return Path(through(rows, closed, blend, shape, "points"), space="joint")
    if number(blend, "blend") != 0.0:
        raise DescriptionError(
            "'blend' rounds the corners of interpolation='polyline'; a spline has none.", field="blend"
        )
    return Path([interpolating(rows, "periodic" if closed else ends, spacing, tangents, "points")], space="joint")
