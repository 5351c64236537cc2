r"""How the tool is turned along a path: rotation matrices :math:`R(s)` whose derivatives come from Taylor numbers.

Quaternions are unit, Hamilton, in the order w x y z. Spherical interpolation and squad: Shoemake, *Animating rotation
with quaternion curves*, SIGGRAPH 1985.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from manipula.algebra import ops
from manipula.algebra.arguments import finite_array, rows_of
from manipula.algebra.jet import Jet
from manipula.algebra.rotation import ROTATION_ERROR, from_quaternion_wxyz, rotation_error, to_quaternion_wxyz
from manipula.errors import DescriptionError, ShapeError
from manipula.motion.paths.base import Path, Side
from manipula.motion.paths.checks import unit3

Quaternion = list[Any]
SMALL_ANGLE_SQUARED = 1e-6  # below: series; the first term left out is 1e-6⁴/9! of the value


class Orientation(ABC):
    """A rotation for every arc length."""

    @abstractmethod
    def rotations(self, path: Path, s: np.ndarray, order: int, side: Side) -> np.ndarray:
        """``[R, dR/ds, …]`` at arc lengths s (N,): shape (order + 1, N, 3, 3)."""

    def breaks(self, path: Path) -> np.ndarray:
        """Arc lengths inside the path where a derivative of R may jump, beside the path's own breaks."""
        return np.zeros(0)


def multiply(p: Quaternion, q: Quaternion) -> Quaternion:
    """Hamilton product."""
    a, b, c, d = p
    w, x, y, z = q
    return [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]


def conjugate(q: Quaternion) -> Quaternion:
    """The conjugate quaternion: the inverse rotation of a unit quaternion."""
    return [q[0], -q[1], -q[2], -q[3]]


def exponential(v: list[Any]) -> Quaternion:
    """exp of a pure quaternion: (cos θ, v sin θ/θ), θ = |v|; the series is used near 0, where √ has no derivative."""
    square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    near = square < SMALL_ANGLE_SQUARED
    theta = ops.sqrt(ops.where(near, 1.0 + 0.0 * square, square))
    sinc = ops.where(near, 1 - square / 6 * (1 - square / 20 * (1 - square / 42)), ops.sin(theta) / theta)
    cosine = ops.where(near, 1 - square / 2 * (1 - square / 12 * (1 - square / 30)), ops.cos(theta))
    return [cosine, v[0] * sinc, v[1] * sinc, v[2] * sinc]


def logarithm(q: Quaternion) -> list[Any]:
    """log of a unit quaternion with w ≥ 0: v θ/sin θ; the series in |v|² is used near the identity."""
    square = q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    near = square < SMALL_ANGLE_SQUARED
    sine = ops.sqrt(ops.where(near, 1.0 + 0.0 * square, square))
    series = 1 + square / 6 * (1 + square * 9 / 20 * (1 + square * 25 / 42))
    factor = ops.where(near, series, ops.atan2(sine, q[0]) / sine)
    return [q[1] * factor, q[2] * factor, q[3] * factor]


def slerp(p: Quaternion, q: Quaternion, h: Any) -> Quaternion:
    """p (p* q)^h."""
    return multiply(p, exponential([h * x for x in logarithm(multiply(conjugate(p), q))]))


def _stack(R: Any, order: int, count: int) -> np.ndarray:
    """Derivatives of a 3×3 of Taylor numbers: shape (order + 1, N, 3, 3)."""
    out = np.zeros((order + 1, count, 3, 3))
    for i in range(3):
        for j in range(3):
            entry = R[i][j]
            for k in range(order + 1):
                out[k, :, i, j] = entry.derivative(k)
    return out


def _unit_quaternion(value: Any, name: str) -> np.ndarray:
    """A unit quaternion from four numbers wxyz or a rotation matrix."""
    array = finite_array(value, name)
    if array.shape == (3, 3):
        if rotation_error(array) > ROTATION_ERROR:
            raise DescriptionError(
                f"'{name}' is not a rotation matrix: R·Rᵀ must be 1 and the determinant 1.", field=name
            )
        array = np.asarray(to_quaternion_wxyz(array), float)
    if array.shape != (4,):
        raise ShapeError(f"'{name}' must be a quaternion wxyz (4,) or a rotation matrix (3, 3); found {array.shape}.")
    norm = float(np.linalg.norm(array))
    if norm < 1e-9:
        raise DescriptionError(f"'{name}' is the zero quaternion; it has no direction.", field=name)
    return array / norm


class ConstantOrientation(Orientation):
    """The same rotation everywhere."""

    def __init__(self, rotation: Any) -> None:
        self.quaternion = _unit_quaternion(rotation, "rotation")

    def rotations(self, path: Path, s: np.ndarray, order: int, side: Side) -> np.ndarray:
        out = np.zeros((order + 1, len(s), 3, 3))
        out[0] = from_quaternion_wxyz(list(self.quaternion))
        return out


class TangentOrientation(Orientation):
    """The tool's x axis along the path, its z axis as near ``up`` as it can be."""

    def __init__(self, up: Any = (0.0, 0.0, 1.0)) -> None:
        self.up = unit3(up, "up")

    def rotations(self, path: Path, s: np.ndarray, order: int, side: Side) -> np.ndarray:
        d = path.derivatives(s, order + 1, side)
        factorials = np.cumprod([1.0, *range(1, order + 1)])
        x = [Jet([d[k + 1, :, i] / factorials[k] for k in range(order + 1)], 1) for i in range(3)]
        along: Any = sum(x[i] * float(self.up[i]) for i in range(3))
        z = [float(self.up[i]) - along * x[i] for i in range(3)]
        square: Any = z[0] * z[0] + z[1] * z[1] + z[2] * z[2]
        if np.any(square.value() < 1e-12):
            at = float(s[np.argmin(square.value())])
            raise DescriptionError(
                f"The path runs along 'up' at s = {at:.6g}, so the tool's turn about it is undetermined; choose another 'up'."
            )
        size = square.sqrt()
        z = [c / size for c in z]
        y = [z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]]
        return _stack([[x[i], y[i], z[i]] for i in range(3)], order, len(s))


class KeyedOrientation(Orientation):
    """Unit quaternions at places along the path, with the shorter way between neighbours.

    Args:
        rotations: quaternions wxyz or rotation matrices, two or more.
        at: fractions of the length where they hold, from 0 to 1; evenly spaced by default.
        smooth: False for SLERP (constant turning rate between keys, jumps at them), True for squad (continuous rate).
    """

    def __init__(self, rotations: Any, at: Any = None, *, smooth: bool = False) -> None:
        keys = [_unit_quaternion(value, f"rotations[{i}]") for i, value in enumerate(rows_of(rotations, "rotations"))]
        if len(keys) < 2:
            raise DescriptionError(f"Turning along a path needs two or more rotations; found {len(keys)}.")
        for i in range(1, len(keys)):
            if keys[i] @ keys[i - 1] < 0:
                keys[i] = -keys[i]  # the same rotation, on the shorter way
        self.keys, self.smooth = np.array(keys), smooth
        self.at = np.linspace(0, 1, len(keys)) if at is None else finite_array(at, "at")
        if self.at.shape != (len(keys),) or self.at[0] != 0 or self.at[-1] != 1 or np.any(np.diff(self.at) <= 0):
            raise DescriptionError(
                f"'at' must hold {len(keys)} increasing fractions from 0 to 1; found {self.at}.", field="at"
            )
        if smooth and at is not None and np.ptp(np.diff(self.at)) > 1e-9:
            raise DescriptionError("Squad needs evenly spaced rotations; leave 'at' out.", field="at")
        self.inner = self._inner_keys()

    def _inner_keys(self) -> np.ndarray:
        """a_i = q_i exp(−(log(q_i* q_{i+1}) + log(q_i* q_{i−1}))/4); the end keys are their own."""
        inner = self.keys.copy()
        for i in range(1, len(self.keys) - 1):
            back = conjugate(list(self.keys[i]))
            after = logarithm(multiply(back, list(self.keys[i + 1])))
            before = logarithm(multiply(back, list(self.keys[i - 1])))
            turn = [-(a + b) / 4 for a, b in zip(after, before)]
            inner[i] = multiply(list(self.keys[i]), exponential(turn))
        return inner

    def breaks(self, path: Path) -> np.ndarray:
        return self.at[1:-1] * path.length

    def rotations(self, path: Path, s: np.ndarray, order: int, side: Side) -> np.ndarray:
        places = self.at * path.length
        on_key = np.abs(s[:, None] - places).argmin(axis=1)
        snapped = np.where(np.abs(s - places[on_key]) < 1e-12 * path.length, places[on_key], s)
        i = np.clip(np.searchsorted(places, snapped, side=side) - 1, 0, len(places) - 2)
        jet = Jet.variable(snapped, order)
        h = (jet - jet.constant(places[i])) / jet.constant((places[1:] - places[:-1])[i])
        p, q = ([jet.constant(self.keys[k, c]) for c in range(4)] for k in (i, i + 1))
        turned = slerp(p, q, h)
        if self.smooth:
            a, b = ([jet.constant(self.inner[k, c]) for c in range(4)] for k in (i, i + 1))
            turned = slerp(turned, slerp(a, b, h), 2 * h * (1 - h))
        return _stack(from_quaternion_wxyz(turned), order, len(s))


def constant(rotation: Any) -> Orientation:
    """The same rotation (quaternion wxyz or matrix) all along."""
    return ConstantOrientation(rotation)


def tangent(up: Any = (0.0, 0.0, 1.0)) -> Orientation:
    """x along the path, z as near ``up`` as it can be."""
    return TangentOrientation(up)


def slerp_keys(rotations: Any, at: Any = None) -> Orientation:
    """SLERP between rotations held at fractions ``at`` of the length."""
    return KeyedOrientation(rotations, at)


def squad(rotations: Any) -> Orientation:
    """Smooth turning (squad) through evenly spaced rotations."""
    return KeyedOrientation(rotations, smooth=True)
