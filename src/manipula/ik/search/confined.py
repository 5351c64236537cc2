r"""Directions in which no joint can move a frame: a target that differs there is out of reach, whatever the posture.

The columns of the Jacobian at random postures span the velocities that exist. If the linear parts leave a direction n out, then
:math:`n\cdot p` is constant (an arm in a plane, a slide). If the angular parts are all along one axis a, then the frame turns about a
alone and :math:`R\,R_0^T a = a` (a SCARA, a planar arm); if there are none, :math:`R = R_0`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from manipula.ik.task import Task
from manipula.physics.kinematics import jacobian, pose
from manipula.physics.mechanism import mechanism_of
from manipula.robot.robot import Robot

POSTURES = 8
STILL = 1e-9  # singular values below this, against the largest (or against 1), are rounding


@dataclass(frozen=True, eq=False)
class Confined:
    """What never changes about one frame.

    Attributes:
        part: number of the target. directions: (k, 3) unit vectors along which the origin keeps its coordinate. origin: (3,).
        axis: (3,) the only axis of rotation, or None when there are others; turns: whether it turns at all. R: (3, 3) one orientation.
    """

    part: int
    directions: np.ndarray
    origin: np.ndarray
    axis: np.ndarray | None
    turns: bool
    R: np.ndarray

    def misses(self, targets: np.ndarray, rows: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Least possible errors of targets (N, parts, 4, 4): of position [m] and of orientation [rad], (N,) each."""
        X = targets[:, self.part]
        place = np.linalg.norm((X[:, :3, 3] - self.origin) @ self.directions.T, axis=-1)
        angle = np.zeros(len(X))
        if {3, 4, 5} <= set(rows) and self.axis is not None:
            E = X[:, :3, :3] @ self.R.T
            if self.turns:
                moved = E @ self.axis
                x, y, z = self.axis
                across = moved @ np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])  # axis × moved
                angle = np.arctan2(np.linalg.norm(across, axis=-1), moved @ self.axis)
            else:
                v = np.stack([E[:, 2, 1] - E[:, 1, 2], E[:, 0, 2] - E[:, 2, 0], E[:, 1, 0] - E[:, 0, 1]], axis=-1)
                angle = np.arctan2(np.linalg.norm(v, axis=-1), np.trace(E, axis1=1, axis2=2) - 1.0)
        return place if {0, 1, 2} <= set(rows) else np.zeros(len(X)), angle


def _missing(columns: np.ndarray) -> np.ndarray:
    """Unit vectors (k, 3) that are perpendicular to all columns (3, m)."""
    U, s, _ = np.linalg.svd(columns)
    rank = int(np.sum(s > STILL * max(1.0, s[0])))
    return U[:, rank:].T


@lru_cache(maxsize=256)
def confined(robot: Robot, task: Task) -> tuple[Confined, ...]:
    """For every target of a task whose frame is not free to move in all directions: what it keeps."""
    mechanism = mechanism_of(robot)
    postures = np.random.default_rng(0).uniform(-1.0, 1.0, (POSTURES, mechanism.n))
    found = []
    for k, (frame, _) in enumerate(task.parts):
        J = np.hstack([np.asarray(jacobian(mechanism, q, frame), float) for q in postures])
        X = np.asarray(pose(mechanism, postures[0], frame), float)
        still, fixed = _missing(J[:3]), _missing(J[3:])
        axis = None
        if len(fixed) == 2:
            axis = np.cross(fixed[0], fixed[1])
        elif len(fixed) == 3:
            axis = np.array([0.0, 0.0, 1.0])
        if len(still) or axis is not None:
            found.append(Confined(k, still, X[:3, 3], axis, len(fixed) == 2, X[:3, :3]))
    return tuple(found)
