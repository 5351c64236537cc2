"""Forward dynamics by whichever algorithm needs fewer operations for the robot at hand."""

from __future__ import annotations

import numpy as np

from manipula.algebra.ops import Vector
from manipula.physics import articulated, composite
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.robot.robot import Robot

PARALLEL_FROM = 7  # joints from which articulated bodies win when all axes are parallel (counted: 7R 529 against 534)
SPATIAL_FROM = 15  # the same for arms in space (counted: 14R 7614 against 7229, growing as n against n³)


def uses_articulated(mechanism: Mechanism) -> bool:
    """Is the articulated-body recursion cheaper than M and its factors?"""
    if mechanism.n < PARALLEL_FROM or mechanism.n >= SPATIAL_FROM:
        return mechanism.n >= SPATIAL_FROM
    return all(b.R0.dtype != object and np.array_equal(b.R0[:, 2], (0.0, 0.0, 1.0)) for b in mechanism.bodies[1:])


def forward_dynamics(robot: Robot | Mechanism, q: Vector, qd: Vector, tau: Vector) -> np.ndarray:
    r"""Accelerations :math:`\ddot q = M^{-1}(\tau - C\dot q - g)`, (n,)."""
    mechanism = mechanism_of(robot)
    solve = articulated.forward_dynamics if uses_articulated(mechanism) else composite.forward_dynamics
    return solve(mechanism, q, qd, tau)
