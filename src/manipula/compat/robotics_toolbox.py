"""Names that users of the Robotics Toolbox know, as thin functions over a compiled model.

``robot.fkine(q)`` there is ``fkine(model, q)`` here. What differs: poses are 4×4 arrays instead of ``SE3`` objects; ``rne`` and
``accel`` contain no friction; gravity is the acceleration of free fall, (0, 0, -9.81), where the toolbox takes its
negative; every argument may have leading axes, so that a trajectory is an array of shape (steps, n). Twists and wrenches
are linear part first in both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.model import Model
from manipula.robot.link import TIP


def fkine(model: Model, q: Any, end: str = TIP) -> np.ndarray:
    """Pose of a frame, (..., 4, 4): ``model.pose``."""
    return model.pose(q, end)


def jacob0(model: Model, q: Any, end: str = TIP) -> np.ndarray:
    """Geometric Jacobian in the axes of the base, (..., 6, n): ``model.jacobian``."""
    return model.jacobian(q, end)


def jacobe(model: Model, q: Any, end: str = TIP) -> np.ndarray:
    """Geometric Jacobian in the axes of the frame itself, (..., 6, n)."""
    return model.jacobian(q, end, "body")


def jacob0_dot(model: Model, q: Any, qd: Any, end: str = TIP) -> np.ndarray:
    """Time derivative of ``jacob0``, (..., 6, n): ``model.jacobian_rate``."""
    return model.jacobian_rate(q, qd, end)


def rne(model: Model, q: Any, qd: Any, qdd: Any) -> np.ndarray:
    """Torques of a motion, (..., n): ``model.inverse_dynamics``."""
    return model.inverse_dynamics(q, qd, qdd)


def inertia(model: Model, q: Any) -> np.ndarray:
    """Mass matrix, (..., n, n): ``model.mass_matrix``."""
    return model.mass_matrix(q)


def coriolis(model: Model, q: Any, qd: Any) -> np.ndarray:
    """Matrix C with ``C qd`` the velocity torques, (..., n, n): ``model.coriolis_matrix`` (Christoffel; Ṁ − 2C is skew)."""
    return model.coriolis_matrix(q, qd)


def gravload(model: Model, q: Any) -> np.ndarray:
    """Torques that hold the arm still, (..., n): ``model.gravity``."""
    return model.gravity(q)


def itorque(model: Model, q: Any, qdd: Any) -> np.ndarray:
    """Torques of the inertia alone, ``M(q) qdd``, (..., n)."""
    return np.einsum("...ij,...j->...i", model.mass_matrix(q), np.asarray(qdd, float))


def accel(model: Model, q: Any, qd: Any, torque: Any) -> np.ndarray:
    """Accelerations under ``torque``, (..., n): ``model.forward_dynamics``."""
    return model.forward_dynamics(q, qd, torque)


def pay(model: Model, W: Any, q: Any, frame: int = 1) -> np.ndarray:
    """Joint torques ``Jᵀ W`` of a wrench at the tip, (..., n); ``frame`` 1: W in the axes of the tip, 0: of the base."""
    if frame not in (0, 1):
        raise ValueError(f"frame is 0 (axes of the base) or 1 (axes of the tip), found {frame!r}.")
    J = jacobe(model, q) if frame else jacob0(model, q)
    return np.einsum("...ij,...i->...j", J, np.asarray(W, float))
