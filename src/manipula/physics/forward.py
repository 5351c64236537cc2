"""Forward dynamics by whichever algorithm needs fewer operations for the robot at hand."""

from __future__ import annotations

import numpy as np

from manipula.algebra.ops import Vector
from manipula.algebra.scattered import Scattered
from manipula.errors import UnphysicalError, printable
from manipula.physics import articulated, composite
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.robot.robot import Robot

PARALLEL_FROM = 7  # joints from which articulated bodies win when all axes are parallel (counted: 7R 529 against 534)
SPATIAL_FROM = 15  # the same for arms in space (counted: 14R 7614 against 7229, growing as n against n³)
NOTHING = 1e-13  # of what a joint moves while the others stand still: less is rounding


def check_inertia(robot: Robot) -> None:
    """Refuse a robot whose M is singular in every position: a joint of it moves nothing that the joints beyond it do not.

    That is :math:`D_j = 0` in :math:`M = L^TDL`, at a position that is nothing special.
    """
    M = np.array(composite.mass_matrix(robot, Scattered(1991).uniform(0.3, 1.2, robot.n)), float)
    own = np.diagonal(M).copy()
    for j in range(robot.n - 1, -1, -1):
        if not abs(M[j, j]) > max(NOTHING * own[j], 1e-3 * NOTHING * own.max()):
            bare = [printable(link.name, 60) for link in robot.bodies if float(link.mass) == 0.0]
            why = (
                f"links without mass: {', '.join(bare[:12])}"
                if float(robot.links[j].mass) == 0.0
                else "all mass lies on its axis"
            )
            raise UnphysicalError(
                f"Joint '{printable(robot.joints[j].name, 60)}' of '{printable(robot.name, 60)}' moves no inertia of its own ({why}), "
                "so that the mass matrix has no inverse; give its links mass and inertia, or the joint a rotor inertia."
            )
        M[:j, :j] -= np.outer(M[j, :j], M[j, :j]) / M[j, j]


def uses_articulated(mechanism: Mechanism) -> bool:
    """Is the articulated-body recursion cheaper than M and its factors? With coupled joints there is none."""
    if mechanism.coupling is not None:
        return False
    if mechanism.n < PARALLEL_FROM or mechanism.n >= SPATIAL_FROM:
        return mechanism.n >= SPATIAL_FROM
    return all(b.R0.dtype != object and np.array_equal(b.R0[:, 2], (0.0, 0.0, 1.0)) for b in mechanism.bodies[1:])


def forward_dynamics(robot: Robot | Mechanism, q: Vector, qd: Vector, tau: Vector) -> np.ndarray:
    r"""Accelerations :math:`\ddot q = M^{-1}(\tau - C\dot q - g)`, (n,)."""
    mechanism = mechanism_of(robot)
    solve = articulated.forward_dynamics if uses_articulated(mechanism) else composite.forward_dynamics
    return solve(mechanism, q, qd, tau)
