r"""Errors and Jacobians of targets, over any scalar.

A target is a position (3 rows), a pose (6 rows), a chosen subset of rows, or several frames at once. The orientation error is the
rotation vector of :math:`R_d R^T` in base axes, so that the geometric Jacobian is its derivative near the target.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.algebra.ops import Vector
from manipula.errors import ShapeError, unknown_name
from manipula.physics.chain import Chain
from manipula.physics.kinematics import find_frame, jacobian, pose

ROWS = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class Task:
    """Which rows of which frames must meet their targets: one (frame, rows) pair a target."""

    parts: tuple[tuple[str, tuple[int, ...]], ...]

    @classmethod
    def of(cls, kind: str, frame: str = "tip", rows: tuple[str, ...] | None = None) -> Task:
        """ "pose" or "position" of one frame, or chosen ``rows`` among x y z rx ry rz."""
        if rows is not None:
            for r in rows:
                if r not in ROWS:
                    raise unknown_name("row of a pose", r, ROWS)
            return cls(((frame, tuple(ROWS.index(r) for r in rows)),))
        if kind not in ("pose", "position"):
            raise unknown_name("kind of target", kind, ("pose", "position"))
        return cls(((frame, tuple(range(6)) if kind == "pose" else (0, 1, 2)),))

    @property
    def size(self) -> int:
        return sum(len(rows) for _, rows in self.parts)

    def error_and_jacobian(self, chain: Chain, q: Vector, targets: Vector) -> tuple[np.ndarray, np.ndarray]:
        """e (size,) and J (size, n) with J = −∂e/∂q near the target; ``targets`` are poses (parts, 4, 4)."""
        errors, rows = [], []
        for k, (frame, chosen) in enumerate(self.parts):
            find_frame(chain, frame)
            X = pose(chain, q, frame)
            J = jacobian(chain, q, frame)
            e = [targets[k][i][3] - X[i, 3] for i in range(3)]
            if any(r >= 3 for r in chosen):
                e += list(rotation_error(targets[k], X))
            errors += [e[r] for r in chosen]
            rows += [J[r] for r in chosen]
        return array(errors), array(np.stack(rows))

    def check_targets(self, targets: np.ndarray) -> np.ndarray:
        """Targets as (..., parts, 4, 4) of finite numbers."""
        if targets.shape[-3:] != (len(self.parts), 4, 4):
            raise ShapeError(f"Targets have shape {targets.shape}, expected (..., {len(self.parts)}, 4, 4).")
        return targets


def rotation_error(target: Vector, X: Vector) -> np.ndarray:
    r"""Rotation vector of :math:`E = R_dR^T`: :math:`\theta\,u` with :math:`2\sin\theta\,u = \mathrm{vee}(E - E^T)`.

    Near θ = π the vector part fades; there any direction of descent does, because the Newton step is cut anyway.
    """
    R, D = X[:3, :3], np.array([[target[i][j] for j in range(3)] for i in range(3)], dtype=object)
    E = array(D @ R.T)
    v = array([E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]])
    twice_sine = ops.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + 1e-40)
    twice_cosine = E[0, 0] + E[1, 1] + E[2, 2] - 1.0
    angle = ops.atan2(twice_sine, twice_cosine)
    scale = ops.where(twice_sine < 1e-9, 0.5, angle / ops.maximum(twice_sine, 1e-12))
    return array(scale * v)


def size_of_error(e: Vector) -> object:
    """Largest absolute entry."""
    largest = ops.abs(e[0])
    for value in e[1:]:
        largest = ops.maximum(largest, ops.abs(value))
    return largest
