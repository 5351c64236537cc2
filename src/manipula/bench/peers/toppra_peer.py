"""toppra: the fastest motion along a spline through postures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .timing import missing


def reason() -> str:
    """Why it cannot be timed here; empty if it can."""
    return missing("toppra")


def available() -> bool:
    """Is toppra installed?"""
    return not reason()


def fastest_motion(
    postures: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray, torque: np.ndarray,
    inverse_dynamics: Callable[..., np.ndarray], points: int,
) -> float:  # fmt: skip
    """Duration [s] of its motion through ``postures`` (k, n), limits ± (n,) each, on ``points`` intervals even in the chord.

    It calls the inverse dynamics a state at a time; it is given ours, the fastest there is.
    """
    from toppra import SplineInterpolator, constraint
    from toppra.algorithm import TOPPRA

    both = constraint.DiscretizationType.Interpolation
    two_sided = lambda limit: np.column_stack([-limit, limit])  # noqa: E731
    chord = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(postures, axis=0), axis=1))])
    limits = [
        constraint.JointVelocityConstraint(two_sided(velocity)),
        constraint.JointAccelerationConstraint(two_sided(acceleration), discretization_scheme=both),
        constraint.JointTorqueConstraint(
            inverse_dynamics, two_sided(torque), np.zeros(len(torque)), discretization_scheme=both
        ),
    ]
    path = SplineInterpolator(chord, postures, bc_type="natural")
    grid = np.linspace(0.0, chord[-1], points + 1)
    motion = TOPPRA(limits, path, gridpoints=grid, parametrizer="ParametrizeConstAccel").compute_trajectory(0.0, 0.0)
    if motion is None:
        raise RuntimeError("toppra found no motion.")
    return float(motion.path_interval[1])
