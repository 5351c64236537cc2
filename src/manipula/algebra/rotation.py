"""Rotations as 3×3 matrices, for any scalar.

Conventions: right-handed, active, ``v_A = R_AB v_B``. Quaternions are ``wxyz``, unit, Hamilton.
Roll–pitch–yaw is URDF's: fixed axes x, then y, then z, so ``R = Rz(yaw) Ry(pitch) Rx(roll)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, skew
from manipula.algebra.ops import Scalar, Vector

ROTATION_ERROR = 1e-6  # of R·Rᵀ − 1, where people write rotations: seven digits pass
COMPUTED_ROTATION_ERROR = 1e-9  # the same for a rotation that was computed
_EXACT = 4e-16  # sin and cos of multiples of π/2 miss 0 and ±1 by at most this


def sin_cos(angle: Scalar) -> tuple[Scalar, Scalar]:
    """``sin, cos`` of an angle; plain numbers within rounding of a multiple of π/2 give exact 0 and ±1."""
    s, c = ops.sin(angle), ops.cos(angle)
    if isinstance(s, float) and isinstance(c, float):
        if abs(s) < _EXACT:
            return 0.0, math.copysign(1.0, c)
        if abs(c) < _EXACT:
            return math.copysign(1.0, s), 0.0
    return s, c


def about_x(angle: Scalar) -> np.ndarray:
    """The rotation matrix about x [rad]."""
    s, c = sin_cos(angle)
    return array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def about_y(angle: Scalar) -> np.ndarray:
    """The rotation matrix about y [rad]."""
    s, c = sin_cos(angle)
    return array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def about_z(angle: Scalar) -> np.ndarray:
    """The rotation matrix about z [rad]."""
    s, c = sin_cos(angle)
    return array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def about_axis(axis: Vector, angle: Scalar) -> np.ndarray:
    r"""Rodrigues' formula :math:`R = 1 + \sin\theta\,\hat u + (1-\cos\theta)\,\hat u^2` for a unit axis."""
    for k, principal in enumerate((about_x, about_y, about_z)):
        if all(isinstance(v, (int, float)) for v in axis) and axis[(k + 1) % 3] == 0 and axis[(k + 2) % 3] == 0:
            return principal(angle) if axis[k] > 0 else principal(-angle)
    s, c = sin_cos(angle)
    u = skew(axis)
    return np.eye(3) + s * u + (1.0 - c) * (u @ u)


def from_rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> np.ndarray:
    """``Rz(yaw) Ry(pitch) Rx(roll)`` (URDF)."""
    return about_z(yaw) @ about_y(pitch) @ about_x(roll)


def to_rpy(R: np.ndarray) -> tuple[float, float, float]:
    """Roll, pitch, yaw of a numeric rotation; at pitch ±π/2 exactly yaw is set to 0.

    Roll is taken from ``Rz(−yaw) R``, not from R itself, so that near pitch ±π/2 its error cancels that of yaw and
    ``from_rpy`` gives R back to rounding.
    """
    cos_pitch = math.hypot(R[0, 0], R[1, 0])
    yaw = math.atan2(R[1, 0], R[0, 0]) if cos_pitch > 1e-15 else 0.0
    s, c = math.sin(yaw), math.cos(yaw)
    pitch = math.atan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    return math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1]), pitch, yaw


def from_quaternion_wxyz(q: Sequence[Scalar]) -> np.ndarray:
    """Rotation of a quaternion ``wxyz``; normalised here."""
    w, x, y, z = q
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return array(
        [
            [1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
            [s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)],
            [s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)],
        ]
    )


def rotation_error(R: np.ndarray) -> float:
    """How far a 3×3 matrix of floats is from a rotation: the largest entry of R·Rᵀ − 1; infinite for a reflection or NaN."""
    if not np.all(np.isfinite(R)) or np.abs(R).max() > 2.0 or np.linalg.det(R) < 0.0:
        return math.inf
    return float(np.abs(R @ R.T - np.eye(3)).max())


def is_about_x(R: np.ndarray) -> bool:
    """Is a matrix of floats a rotation about x? All entries are looked at: the diagonal does not see a tilt below 1e-8."""
    return bool(
        R.dtype != object and R[0, 0] == 1.0 and R[0, 1] == R[0, 2] == R[1, 0] == R[2, 0] == 0.0
        and abs(R[1, 1] - R[2, 2]) <= 1e-15 and abs(R[1, 2] + R[2, 1]) <= 1e-15
    )  # fmt: skip


def to_quaternion_wxyz(R: np.ndarray) -> np.ndarray:
    """Unit quaternion ``wxyz`` with ``w ≥ 0`` of a numeric rotation (largest component first, no cancellation)."""
    m = np.asarray(R, float)
    squares = np.array([1 + m[0, 0] + m[1, 1] + m[2, 2], 1 + m[0, 0] - m[1, 1] - m[2, 2],
                        1 - m[0, 0] + m[1, 1] - m[2, 2], 1 - m[0, 0] - m[1, 1] + m[2, 2]])  # fmt: skip
    k = int(np.argmax(squares))
    q = np.empty(4)
    q[k] = math.sqrt(max(squares[k], 0.0)) / 2
    f = 1.0 / (4.0 * q[k])
    pairs = {
        0: (None, m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]),
        1: (m[2, 1] - m[1, 2], None, m[1, 0] + m[0, 1], m[0, 2] + m[2, 0]),
        2: (m[0, 2] - m[2, 0], m[1, 0] + m[0, 1], None, m[2, 1] + m[1, 2]),
        3: (m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[2, 1] + m[1, 2], None),
    }[k]
    for i, pair in enumerate(pairs):
        if pair is not None:
            q[i] = pair * f
    return q if q[0] >= 0 else -q


def quaternions_wxyz(R: np.ndarray) -> np.ndarray:
    """Unit quaternions (N, 4) of many numeric rotations (N, 3, 3), of either sign."""
    m = np.asarray(R, float)
    x, y, z = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    xy, xz, yz = m[:, 0, 1] + m[:, 1, 0], m[:, 0, 2] + m[:, 2, 0], m[:, 1, 2] + m[:, 2, 1]
    a, b, c = m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]
    K = np.array(
        [[1 + a + b + c, x, y, z], [x, 1 + a - b - c, xy, xz], [y, xy, 1 - a + b - c, yz], [z, xz, yz, 1 - a - b + c]]
    )
    best = np.argmax(np.einsum("kkn->kn", K), axis=0)  # 4 q_k q for every k; the largest divides best
    q = K[best, :, np.arange(len(m))]
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def log(R: np.ndarray) -> np.ndarray:
    """Rotation vector (axis times angle, angle in [0, π]) of a numeric rotation, accurate at 0 and at π."""
    q = to_quaternion_wxyz(R)
    length = float(np.linalg.norm(q[1:]))
    if length < 1e-12:
        return 2.0 * q[1:]
    return q[1:] * (2.0 * math.atan2(length, q[0]) / length)


def rotation_vectors(R: np.ndarray) -> np.ndarray:
    """:func:`log` of many numeric rotations (..., 3, 3), shape (..., 3)."""
    q = quaternions_wxyz(R.reshape(-1, 3, 3))
    q[q[:, 0] < 0.0] *= -1.0
    length = np.linalg.norm(q[:, 1:], axis=1)
    factor = np.where(length < 1e-12, 2.0, 2.0 * np.arctan2(length, q[:, 0]) / np.maximum(length, 1e-300))
    return (q[:, 1:] * factor[:, None]).reshape(*R.shape[:-2], 3)


def vee(W: np.ndarray) -> np.ndarray:
    """The vector w of the skew part of W, ½(W − Wᵀ) = [w]×; shape (…, 3, 3) to (…, 3)."""
    return 0.5 * np.stack(
        [W[..., 2, 1] - W[..., 1, 2], W[..., 0, 2] - W[..., 2, 0], W[..., 1, 0] - W[..., 0, 1]], axis=-1
    )


def align_z(axis: Vector) -> np.ndarray:
    """A rotation whose third column is the unit ``axis``; principal axes give permutations without rounding."""
    table = {
        (0.0, 0.0, 1.0): np.eye(3),
        (0.0, 0.0, -1.0): np.diag([1.0, -1.0, -1.0]),
        (1.0, 0.0, 0.0): array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]),
        (-1.0, 0.0, 0.0): array([[0.0, 0, -1], [-1, 0, 0], [0, 1, 0]]),
        (0.0, 1.0, 0.0): array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]),
        (0.0, -1.0, 0.0): array([[0.0, -1, 0], [0, 0, -1], [1, 0, 0]]),
    }
    key: Any = tuple(v + 0.0 if isinstance(v, float) else v for v in axis)
    if key in table:
        return table[key].astype(float)
    z = np.asarray(axis, float)
    helper = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
