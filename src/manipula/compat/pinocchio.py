"""Names that users of Pinocchio know, as thin functions over a compiled model.

``pin.rnea(model, data, q, v, a)`` there is ``rnea(model, q, v, a)`` here: there is no ``data``, a result is what a function
returns, and every argument may have leading axes. What else differs: the order of the joints is that of the robot's
source (``robot.joint_names``), a continuous joint has one coordinate, matrices come complete (not only their upper
triangle), regressor columns refer to the link frames, and frames are named instead of numbered. As there, rotor inertia
is included and friction is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.model import ExpressedIn, Model
from manipula.robot.link import TIP

Three = tuple[np.ndarray, np.ndarray, np.ndarray]


def rnea(model: Model, q: Any, v: Any, a: Any) -> np.ndarray:
    """Torques of a motion, (..., n): ``model.inverse_dynamics``."""
    return model.inverse_dynamics(q, v, a)


def crba(model: Model, q: Any) -> np.ndarray:
    """Mass matrix, (..., n, n), both triangles: ``model.mass_matrix``."""
    return model.mass_matrix(q)


def aba(model: Model, q: Any, v: Any, tau: Any) -> np.ndarray:
    """Accelerations, (..., n): ``model.forward_dynamics``."""
    return model.forward_dynamics(q, v, tau)


def nle(model: Model, q: Any, v: Any) -> np.ndarray:
    """Velocity and gravity torques together, (..., n): ``model.nonlinear_effects``."""
    return model.nonlinear_effects(q, v)


nonLinearEffects = nle


def computeGeneralizedGravity(model: Model, q: Any) -> np.ndarray:
    """Holding torques, (..., n): ``model.gravity``."""
    return model.gravity(q)


def computeCoriolisMatrix(model: Model, q: Any, v: Any) -> np.ndarray:
    """Christoffel matrix, (..., n, n): ``model.coriolis_matrix``."""
    return model.coriolis_matrix(q, v)


def computeMinverse(model: Model, q: Any) -> np.ndarray:
    """Inverse of the mass matrix, (..., n, n): ``model.inverse_mass_matrix``."""
    return model.inverse_mass_matrix(q)


def computeKineticEnergy(model: Model, q: Any, v: Any) -> np.ndarray:
    """Kinetic energy, (...), with all rotors: ``model.kinetic_energy``."""
    return model.kinetic_energy(q, v)


def computePotentialEnergy(model: Model, q: Any) -> np.ndarray:
    """Potential energy, (...): ``model.potential_energy``."""
    return model.potential_energy(q)


def computeJointTorqueRegressor(model: Model, q: Any, v: Any, a: Any) -> np.ndarray:
    """Regressor, (..., n, 10 n), parameters in Pinocchio's order but about the link frames: ``model.regressor``."""
    return model.regressor(q, v, a)


def computeRNEADerivatives(model: Model, q: Any, v: Any, a: Any) -> Three:
    """∂τ/∂q, ∂τ/∂v, ∂τ/∂a: ``model.inverse_dynamics_derivatives``."""
    return model.inverse_dynamics_derivatives(q, v, a)


def computeABADerivatives(model: Model, q: Any, v: Any, tau: Any) -> Three:
    """∂q̈/∂q, ∂q̈/∂v, ∂q̈/∂τ: ``model.forward_dynamics_derivatives``."""
    return model.forward_dynamics_derivatives(q, v, tau)


def framePlacement(model: Model, q: Any, frame: str = TIP) -> np.ndarray:
    """``data.oMf[frame]`` as an array (..., 4, 4): ``model.pose``."""
    return model.pose(q, frame)


def computeFrameJacobian(model: Model, q: Any, frame: str = TIP, expressed_in: ExpressedIn = "base") -> np.ndarray:
    """(..., 6, n), LOCAL_WORLD_ALIGNED ("base") or LOCAL ("body"): ``model.jacobian``."""
    return model.jacobian(q, frame, expressed_in)


def getFrameJacobianTimeVariation(
    model: Model, q: Any, v: Any, frame: str = TIP, expressed_in: ExpressedIn = "base"
) -> np.ndarray:
    """Time derivative of the frame's Jacobian, (..., 6, n): ``model.jacobian_rate``."""
    return model.jacobian_rate(q, v, frame, expressed_in)
