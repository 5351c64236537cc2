"""What a path may be given: points, directions and planes, with errors that name the argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra.arguments import finite_array
from manipula.errors import BudgetError, DescriptionError, ShapeError

MAX_POINTS = 100_000
COINCIDENT = 1e-12  # relative to the size of the figure: closer points have no direction between them


def vector3(value: Any, name: str) -> np.ndarray:
    """A point or direction in space; two numbers mean z = 0."""
    array = finite_array(value, name)
    if array.shape == (2,):
        return np.append(array, 0.0)
    if array.shape != (3,):
        raise ShapeError(f"'{name}' must have shape (2,) or (3,); found {array.shape}.")
    return array


def unit3(value: Any, name: str) -> np.ndarray:
    """A vector of three numbers scaled to length 1."""
    vector = vector3(value, name)
    norm = float(np.linalg.norm(vector))
    if norm == 0:
        raise DescriptionError(f"'{name}' is the zero vector; it must have a direction.", field=name)
    return vector / norm


def point_rows(values: Any, name: str, *, dimension: int | None = None, at_least: int = 2) -> np.ndarray:
    """Rows of points, shape (k, dimension); with ``dimension=None`` two columns become three with z = 0."""
    array = finite_array(values, name)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ShapeError(f"'{name}' must have shape (number of points, coordinates); found {array.shape}.")
    if dimension is None:
        if array.shape[1] == 2:
            array = np.column_stack([array, np.zeros(len(array))])
        if array.shape[1] != 3:
            raise ShapeError(f"'{name}' must have 2 or 3 columns; found {array.shape[1]}.")
    if len(array) < at_least:
        raise DescriptionError(f"'{name}' has {len(array)} points; at least {at_least} are needed.", field=name)
    if len(array) > MAX_POINTS:
        raise BudgetError(f"'{name}' has {len(array)} points; at most {MAX_POINTS} are allowed.", field=name)
    return array


def distinct_neighbours(points: np.ndarray, name: str) -> np.ndarray:
    """Distances between consecutive points; two equal neighbours are an error that names them."""
    steps = points[1:] - points[:-1]
    gaps = np.sqrt((steps * steps).sum(axis=1))
    size = float((points.max(axis=0) - points.min(axis=0)).max()) if len(points) else 0.0
    small = gaps <= COINCIDENT * size
    if size == 0 or small.any():
        i = int(small.argmax()) if len(small) else 0
        raise DescriptionError(
            f"Points {i} and {i + 1} of '{name}' coincide at {np.array2string(points[i], precision=6)}; "
            "consecutive points must differ.",
            field=name,
        )
    return gaps


def plane_axes(normal: Any, axis: Any = None) -> np.ndarray:
    """Rows e1, e2, n of a right-handed frame; e1 is ``axis`` made perpendicular to ``normal``.

    Without ``axis``, e1 is the base axis x (or y, when x is nearly the normal) made perpendicular.
    """
    n = unit3(normal, "normal")
    if axis is None:
        guess = np.array([1.0, 0.0, 0.0]) if abs(n[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    else:
        guess = unit3(axis, "axis")
    e1 = guess - n * (guess @ n)
    norm = float(np.linalg.norm(e1))
    if norm < 1e-9:
        raise DescriptionError("'axis' is parallel to 'normal'; it must point into the plane.", field="axis")
    e1 /= norm
    return np.array([e1, np.cross(n, e1), n])
