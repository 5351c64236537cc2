"""Paths made of paths: joined, moved, scaled, reversed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from manipula.algebra.arguments import finite_array, positive, rows_of
from manipula.algebra.rotation import COMPUTED_ROTATION_ERROR, rotation_error
from manipula.errors import DescriptionError, ShapeError
from manipula.motion.looks import LookPlaces
from manipula.motion.paths.base import Curve, Path, Side
from manipula.motion.paths.checks import vector3
from manipula.motion.paths.fields import Whole, point
from manipula.motion.paths.orientation import Orientation
from manipula.motion.paths.primitive import primitive
from manipula.parts.field import Number, Numbers, Parts, Rows

UNMOVED = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))


class Moved(Curve):
    """p(u) = A c(u) + b."""

    def __init__(self, curve: Curve, A: np.ndarray, b: np.ndarray, factor: float) -> None:
        self.curve, self.A, self.b = curve, A, b
        self.dimension, self.breaks = curve.dimension, curve.breaks
        self.speed = None if curve.speed is None else curve.speed * factor

    def looks(self) -> LookPlaces:
        return self.curve.looks()

    def point(self, u: Any, piece: Any) -> Sequence[Any]:
        c = self.curve.point(u, piece)
        rows = range(self.dimension)
        return [sum((float(self.A[i, j]) * c[j] for j in rows if self.A[i, j]), start=float(self.b[i])) for i in rows]

    def series(self, u: np.ndarray, piece: np.ndarray, order: int) -> np.ndarray:
        out = self.curve.series(u, piece, order) @ self.A.T
        out[0] += self.b
        return out


class ReversedCurve(Curve):
    """p(u) = c(−u)."""

    def __init__(self, curve: Curve) -> None:
        self.curve, self.dimension, self.speed = curve, curve.dimension, curve.speed
        self.breaks = -curve.breaks[::-1]

    def looks(self) -> LookPlaces:
        inner = self.curve.looks()
        return LookPlaces(-inner.places[::-1], inner.hidden)

    def point(self, u: Any, piece: Any) -> Sequence[Any]:
        return self.curve.point(-u, len(self.breaks) - 2 - piece)

    def series(self, u: np.ndarray, piece: np.ndarray, order: int) -> np.ndarray:
        out = self.curve.series(-u, len(self.breaks) - 2 - piece, order)
        return out * ((-1.0) ** np.arange(order + 1))[:, None, None]


class _Turned(Orientation):
    def __init__(self, inner: Orientation, source: Path, R: np.ndarray, factor: float) -> None:
        self.inner, self.source, self.R, self.factor = inner, source, R, factor

    def breaks(self, path: Path) -> np.ndarray:
        return self.inner.breaks(self.source) * self.factor

    def rotations(self, path: Path, s: np.ndarray, order: int, side: Side) -> np.ndarray:
        at = np.clip(s / self.factor, 0.0, self.source.length)
        powers = self.factor ** -np.arange(order + 1.0)
        return self.R @ self.inner.rotations(self.source, at, order, side) * powers[:, None, None, None]


class _Reversed(Orientation):
    def __init__(self, inner: Orientation, source: Path) -> None:
        self.inner, self.source = inner, source

    def breaks(self, path: Path) -> np.ndarray:
        return self.source.length - self.inner.breaks(self.source)[::-1]

    def rotations(self, path: Path, s: np.ndarray, order: int, side: Side) -> np.ndarray:
        other: Side = "left" if side == "right" else "right"
        at = np.clip(self.source.length - s, 0.0, self.source.length)
        return (
            self.inner.rotations(self.source, at, order, other) * ((-1.0) ** np.arange(order + 1))[:, None, None, None]
        )


class _Chained(Orientation):
    def __init__(self, parts: Sequence[Path]) -> None:
        self.parts = parts
        self.ends = np.cumsum([0.0, *(part.length for part in parts)])

    def breaks(self, path: Path) -> np.ndarray:
        inner = [
            start + part.orientation.breaks(part) for start, part in zip(self.ends, self.parts) if part.orientation
        ]
        return np.concatenate([*inner, self.ends[1:-1]])

    def rotations(self, path: Path, s: np.ndarray, order: int, side: Side) -> np.ndarray:
        slack = 1e-12 * self.ends[-1] * (1 if side == "right" else -1)
        index = np.clip(np.searchsorted(self.ends, s + slack, side=side) - 1, 0, len(self.parts) - 1)
        out = np.empty((order + 1, len(s), 3, 3))
        for i in np.unique(index):
            part, chosen = self.parts[i], index == i
            local = np.clip(s[chosen] - self.ends[i], 0.0, part.length)
            assert part.orientation is not None
            out[:, chosen] = part.orientation.rotations(part, local, order, side)
        return out


def _path(value: Any, name: str) -> Path:
    if not isinstance(value, Path):
        raise DescriptionError(
            f"'{name}' must be a path such as paths.line(a, b); found {type(value).__name__}.", field=name
        )
    return value


@primitive
def concatenate(
    paths: Annotated[Sequence[Path], Parts("path", "one after the other; each starts where the one before ends")],
) -> Path:
    """The paths one after the other; each must start where the one before ends (to 1e-9 of the lengths)."""
    parts = [_path(part, f"paths[{i}]") for i, part in enumerate(rows_of(paths, "paths"))]
    if not parts:
        raise DescriptionError(
            "There is no path to concatenate: concatenate() joins one or more, found none.", field="segments"
        )
    if len({part.space for part in parts}) > 1:
        raise DescriptionError(
            f"Task-space and joint-space paths cannot be concatenated; found {', '.join(part.space for part in parts[:12])}."
        )
    for i, (before, after) in enumerate(zip(parts, parts[1:])):
        if before.dimension != after.dimension:
            raise ShapeError(f"Path {i + 1} has {after.dimension} coordinates; path {i} has {before.dimension}.")
        gap = float(np.linalg.norm(after.start - before.end))
        if gap > 1e-9 * (before.length + after.length):
            raise DescriptionError(
                f"Path {i + 1} starts {gap:.6g} m (or rad) away from the end of path {i}; they must meet."
            )
    oriented = [part.orientation is not None for part in parts]
    if any(oriented) and not all(oriented):
        without = ", ".join(str(i) for i, has in enumerate(oriented) if not has)
        raise DescriptionError(f"Either all paths carry an orientation or none; path {without} has none.")
    chained = _Chained(parts) if all(oriented) else None
    return Path([c for part in parts for c in part.curves], space=parts[0].space, orientation=chained)


@primitive
def transform(
    path: Whole,
    pose: Annotated[Any, Rows("1, m", "homogeneous matrix of the rigid motion, four rows of four", example=UNMOVED)],
) -> Path:
    """The path moved rigidly by the homogeneous matrix ``pose`` (4, 4); its orientation turns with it."""
    _path(path, "path")
    X = finite_array(pose, "pose")
    if X.shape != (4, 4) or path.dimension != 3:
        raise ShapeError(f"A rigid motion is a (4, 4) matrix for a path in space; found shape {X.shape}.")
    R = X[:3, :3]
    if rotation_error(R) > COMPUTED_ROTATION_ERROR or np.any(X[3] != [0, 0, 0, 1]):
        raise DescriptionError(
            "'pose' is not a rigid motion: it must hold a rotation and the last row 0 0 0 1.", field="pose"
        )
    turned = _Turned(path.orientation, path, R, 1.0) if path.orientation else None
    return Path([Moved(curve, R, X[:3, 3], 1.0) for curve in path.curves], space=path.space, orientation=turned)


@primitive
def translate(path: Whole, by: Annotated[Any, point("shift")]) -> Path:
    """The path shifted by the vector ``by`` [m]."""
    pose = np.eye(4)
    pose[:3, 3] = vector3(by, "by")
    return transform(path, pose)


@primitive
def scale(
    path: Whole,
    factor: Annotated[float, Number("1", "how much larger", above=0.0)],
    about: Annotated[Any, Numbers("m", "point that stays; none: the origin")] = None,
) -> Path:
    """The path enlarged by ``factor`` about a fixed point (the origin by default)."""
    _path(path, "path")
    k = positive(factor, "factor")
    fixed = np.zeros(path.dimension) if about is None else finite_array(about, "about")
    if fixed.shape == (2,) and path.dimension == 3:
        fixed = np.append(fixed, 0.0)
    if fixed.shape != (path.dimension,):
        raise ShapeError(f"'about' must have {path.dimension} coordinates; found shape {fixed.shape}.")
    A, b = k * np.eye(path.dimension), (1.0 - k) * fixed
    scaled = _Turned(path.orientation, path, np.eye(3), k) if path.orientation else None
    return Path([Moved(curve, A, b, k) for curve in path.curves], space=path.space, orientation=scaled)


@primitive
def reverse(path: Whole) -> Path:
    """The path from its end to its start."""
    _path(path, "path")
    turned = _Reversed(path.orientation, path) if path.orientation else None
    return Path([ReversedCurve(curve) for curve in reversed(path.curves)], space=path.space, orientation=turned)
