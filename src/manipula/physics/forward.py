"""Forward dynamics by whichever algorithm needs fewer operations for the robot at hand."""

from __future__ import annotations

import numpy as np

from manipula.algebra.ops import Vector
from manipula.physics import articulated, composite
from manipula.physics.chain import Chain, chain_of
from manipula.robot.robot import Robot

PARALLEL_FROM = 7  # joints from which articulated bodies win when all axes are parallel (counted: 7R 529 against 534)
SPATIAL_FROM = 15  # the same for arms in space (counted: 14R 7614 against 7229, growing as n against n³)


def uses_articulated(chain: Chain) -> bool:
    """Is the articulated-body recursion cheaper than M and its factors?"""
    if chain.n < PARALLEL_FROM or chain.n >= SPATIAL_FROM:
        return chain.n >= SPATIAL_FROM
    return all(b.R0.dtype != object and np.array_equal(b.R0[:, 2], (0.0, 0.0, 1.0)) for b in chain.bodies[1:])


def forward_dynamics(robot: Robot | Chain, q: Vector, qd: Vector, tau: Vector) -> np.ndarray:
    r"""Accelerations :math:`\ddot q = M^{-1}(\tau - C\dot q - g)`, (n,)."""
    chain = chain_of(robot)
    solve = articulated.forward_dynamics if uses_articulated(chain) else composite.forward_dynamics
    return solve(chain, q, qd, tau)
