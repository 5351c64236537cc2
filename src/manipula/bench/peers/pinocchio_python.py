"""Pinocchio called from Python, one state a call: what a Python user of it gets."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .timing import GOAL, missing, nanoseconds, servo_gains, states

STEP = 1e-3


def reason() -> str:
    """Why it cannot be timed here; empty if it can."""
    return missing("pinocchio")


def available() -> bool:
    """Is Pinocchio installed?"""
    return not reason()


def time_functions(urdf_path: str | Path) -> dict[str, float]:
    """Nanoseconds per call of each function, for the arm in a URDF file."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(urdf_path))
    data = model.createData()
    (q,), (v,), (a,) = states(model.nv)
    frame = model.nframes - 1
    functions = {
        "inverse_dynamics": lambda: pin.rnea(model, data, q, v, a),
        "mass_matrix": lambda: pin.crba(model, data, q),
        "forward_dynamics": lambda: pin.aba(model, data, q, v, a),
        "inverse_dynamics_derivatives": lambda: pin.computeRNEADerivatives(model, data, q, v, a),
        "forward_dynamics_derivatives": lambda: pin.computeABADerivatives(model, data, q, v, a),
        "forward_kinematics": lambda: pin.framesForwardKinematics(model, data, q),
        "jacobian": lambda: pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED),
        "gravity": lambda: pin.computeGeneralizedGravity(model, data, q),
    }
    times = {name: nanoseconds(call) for name, call in functions.items()}
    times["closed_loop_step"] = _closed_loop(pin, model, data)
    return times


def _closed_loop(pin, model, data) -> float:
    """One step of 1 ms, RK4, PD control with gravity compensation, the loop in Python."""
    goal = np.full(model.nv, GOAL)
    kp, kv = servo_gains(np.diag(pin.crba(model, data, goal)).copy())

    def derivative(x: np.ndarray) -> np.ndarray:
        q, v = x[: model.nv], x[model.nv :]
        tau = kp * (goal - q) - kv * v + pin.computeGeneralizedGravity(model, data, q)
        return np.concatenate([v, pin.aba(model, data, q, v, tau)])

    start = np.zeros(2 * model.nv)

    def step() -> np.ndarray:
        k1 = derivative(start)
        k2 = derivative(start + 0.5 * STEP * k1)
        k3 = derivative(start + 0.5 * STEP * k2)
        k4 = derivative(start + STEP * k3)
        return start + STEP / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    return nanoseconds(step)
