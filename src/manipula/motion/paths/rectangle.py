"""Rectangles and squares."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from manipula.algebra.arguments import positive
from manipula.errors import DescriptionError
from manipula.motion.paths.base import Path
from manipula.motion.paths.checks import unit3, vector3
from manipula.motion.paths.fields import Blend, BlendShape, First, Height, Second, Width, point
from manipula.motion.paths.polyline import through
from manipula.motion.paths.primitive import primitive
from manipula.parts.field import Number


@primitive
def rectangle(
    width: Width,
    height: Height,
    *,
    corner: Annotated[Any, point("where it starts; or give center")] = None,
    center: Annotated[Any, point("its centre; or give corner")] = None,
    first: First = (1.0, 0.0, 0.0),
    second: Second = (0.0, 1.0, 0.0),
    blend: Blend = 0.0,
    shape: BlendShape = "quintic",
) -> Path:
    """A rectangle that starts and ends at one corner.

    Corners: c, c + w·first, c + w·first + h·second, c + h·second, c.

    Args:
        width: length of the first side [m].
        height: length of the second side [m].
        corner: where it starts [m]; or give ``center`` instead.
        center: the middle [m]; the start is then center − (w·first + h·second)/2.
        first: direction of the first side.
        second: direction of the second side, perpendicular to the first.
        blend: rounding of the corners, as in ``polyline``.
    """
    w, h = positive(width, "width"), positive(height, "height")
    e1, e2 = unit3(first, "first"), unit3(second, "second")
    if abs(float(e1 @ e2)) > 1e-9:
        raise DescriptionError("'first' and 'second' must be perpendicular.", field="second")
    if (corner is None) == (center is None):
        raise DescriptionError("Give either 'corner' or 'center', one of them.", field="corner")
    if corner is not None:
        c = vector3(corner, "corner")
    else:
        c = vector3(center, "center") - (w * e1 + h * e2) / 2
    points = np.array([c, c + w * e1, c + w * e1 + h * e2, c + h * e2])
    return Path(through(points, True, blend, shape, "rectangle"))


@primitive
def square(
    side: Annotated[float, Number("m", "length of a side", above=0.0)],
    *,
    corner: Annotated[Any, point("where it starts; or give center")] = None,
    center: Annotated[Any, point("its centre; or give corner")] = None,
    first: First = (1.0, 0.0, 0.0),
    second: Second = (0.0, 1.0, 0.0),
    blend: Blend = 0.0,
    shape: BlendShape = "quintic",
) -> Path:
    """A square that starts and ends at one corner; arguments as in :func:`rectangle`."""
    length = positive(side, "side")
    return rectangle(length, length, corner=corner, center=center, first=first, second=second, blend=blend, shape=shape)
