"""A pose ``X_AB``: where frame B stands in frame A. Frozen, hashable, of numbers or symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra import rotation
from manipula.algebra.arguments import is_masked
from manipula.algebra.linear import array
from manipula.algebra.symbols import exact_numbers, is_symbolic
from manipula.errors import ShapeError, printable
from manipula.lazy import cached_property

Vec3 = tuple[Any, Any, Any]
Mat3 = tuple[Vec3, Vec3, Vec3]


def plain(x: Any) -> Any:
    """A Python float for any plain or SymPy number; in symbolic expressions every number is exact."""
    if isinstance(x, (int, float, np.floating, np.integer)):
        return float(x) + 0.0  # -0.0 becomes 0.0: equal robots hash equally
    if getattr(x, "is_number", False) and not getattr(x, "free_symbols", True):
        return float(x) + 0.0
    return exact_numbers(x) if is_symbolic(x) else x


def _refuse_masked(values: Any) -> None:
    if is_masked(values):
        raise ShapeError(
            "A masked array has no number at some places; every number is needed (its filled(...) has them)."
        )


def vec3(values: Any) -> Vec3:
    """Three scalars as a tuple."""
    _refuse_masked(values)
    entries = [plain(v) for v in np.asarray(values, dtype=object).ravel().tolist()]
    if len(entries) != 3:
        raise ShapeError(f"A vector needs 3 entries, found {len(entries)}.")
    return (entries[0], entries[1], entries[2])


def mat3(values: Any) -> Mat3:
    """Nine scalars as three rows."""
    _refuse_masked(values)
    m = np.asarray(values, dtype=object)
    if m.shape != (3, 3):
        raise ShapeError(f"A matrix of shape (3, 3) is needed, found {m.shape}.")
    return (vec3(m[0]), vec3(m[1]), vec3(m[2]))


@dataclass(frozen=True)
class Pose:
    """Rotation ``R_AB`` and translation ``p_AB`` [m]. ``X_AC = X_AB @ X_BC``."""

    rotation: Mat3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    translation: Vec3 = (0.0, 0.0, 0.0)

    @classmethod
    def of(cls, R: Any = None, p: Any = None) -> Pose:
        return cls(mat3(np.eye(3) if R is None else R), vec3((0.0, 0.0, 0.0) if p is None else p))

    @classmethod
    def from_matrix(cls, T: Any) -> Pose:
        """From a 4×4 array, or anything with ``.A``, ``.homogeneous`` or ``.as_matrix()``."""
        if isinstance(T, Pose):
            return T
        for name in ("homogeneous", "A"):
            if hasattr(T, name) and not isinstance(T, np.ndarray):
                T = getattr(T, name)
                break
        _refuse_masked(T)
        m = np.asarray(T, dtype=object)
        if m.shape != (4, 4):
            raise ShapeError(f"A pose is a 4×4 matrix, found shape {m.shape}.")
        if any(plain(v) != e for v, e in zip(m[3], (0.0, 0.0, 0.0, 1.0))):
            raise ShapeError(f"The last row of a pose is 0 0 0 1, found {' '.join(printable(v, 20) for v in m[3])}.")
        return cls.of(m[:3, :3], m[:3, 3])

    @cached_property
    def R(self) -> np.ndarray:
        return array(self.rotation)

    @cached_property
    def p(self) -> np.ndarray:
        return array(self.translation)

    def matrix(self) -> np.ndarray:
        """4×4 homogeneous matrix."""
        T = np.zeros((4, 4), dtype=object)
        T[:3, :3], T[:3, 3], T[3] = self.R, self.p, [0.0, 0.0, 0.0, 1.0]
        return array(T)

    def __matmul__(self, other: Pose) -> Pose:
        return Pose.of(self.R @ other.R, self.R @ other.p + self.p)

    def inverse(self) -> Pose:
        return Pose.of(self.R.T, -(self.R.T @ self.p))

    def apply(self, point: Any) -> np.ndarray:
        """Coordinates in A of a point given in B."""
        return self.R @ array(point) + self.p

    @property
    def is_identity(self) -> bool:
        return self == IDENTITY


IDENTITY = Pose()


def translation(x: Any, y: Any, z: Any) -> Pose:
    """The pose of a shift by (x, y, z) [m]."""
    return Pose.of(None, (x, y, z))


def rotation_x(angle: Any) -> Pose:
    """The pose of a rotation about x [rad]."""
    return Pose.of(rotation.about_x(angle))


def rotation_z(angle: Any) -> Pose:
    """The pose of a rotation about z [rad]."""
    return Pose.of(rotation.about_z(angle))
