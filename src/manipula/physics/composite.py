r"""Mass matrix by composite bodies, and forward dynamics through it.

The links beyond joint j, frozen into one body, resist a unit acceleration of that joint with a wrench; its component along the axis of
an ancestor i is :math:`M_{ij}`. Composites are carried from tip to base in joint-centred frames, so :math:`M_{ij}` never contains
:math:`q_1 … q_i` [Walker & Orin 1982; Featherstone 2008, §6.2].
"""

from __future__ import annotations

import numpy as np

from manipula.algebra.linear import array, cross, dot, ldl, ldl_solve, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.physics.joint_transform import joint_transforms
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.physics.newton_euler import nonlinear_effects, root_velocities
from manipula.physics.reduction import coupled
from manipula.robot.robot import Robot


@coupled(1, (0, 1))
def mass_matrix(robot: Robot | Mechanism, q: Vector) -> np.ndarray:
    """Joint-space inertia M(q), n×n, symmetric positive definite; rotor inertia on its diagonal."""
    return _by_composites(mechanism_of(robot), q)[0]


@coupled(2)
def base_power(mechanism: Mechanism, q: Vector, qdd: Vector) -> Scalar:
    """The part of :func:`newton_euler.base_power` that is linear in the accelerations [W].

    What the mass matrix carries from every joint to the first one has this power for a unit acceleration.
    """
    total: Scalar = 0.0
    velocities = root_velocities(mechanism, q)
    for (root, f, n), a in zip(_by_composites(mechanism, q)[1], qdd):
        v, w = velocities[root]
        total = total + (dot(f, v) + dot(n, w)) * a
    return total


def _by_composites(mechanism: Mechanism, q: Vector) -> tuple[np.ndarray, list[tuple[int, np.ndarray, np.ndarray]]]:
    """M, and for every joint the first joint on its way from the base with the wrench there that a unit acceleration asks for."""
    at = joint_transforms(mechanism, q)
    composite = [b.moments for b in mechanism.bodies]
    M, first = zeros(mechanism.n, mechanism.n), []
    for j in range(mechanism.n - 1, -1, -1):
        b, body = mechanism.bodies[j], composite[j]
        h, J = body.first, body.second
        if b.revolute:
            f, n = array([-h[1], h[0], 0.0]), J[:, 2]
            M[j, j] = J[2, 2] + b.armature
        else:
            f, n = array([0.0, 0.0, body.mass]), array([h[1], -h[0], 0.0])
            M[j, j] = body.mass + b.armature
        i = j
        while mechanism.bodies[i].parent >= 0:
            f = at[i].up(f)
            n = at[i].up(n) + cross(at[i].p, f)
            i = mechanism.bodies[i].parent
            M[i, j] = M[j, i] = n[2] if mechanism.bodies[i].revolute else f[2]
        first.append((i, f, n))
        if b.parent >= 0:
            composite[b.parent] = composite[b.parent] + at[j].carry(body)
    return array(M), first[::-1]


def forward_dynamics(robot: Robot | Mechanism, q: Vector, qd: Vector, tau: Vector) -> np.ndarray:
    r"""Accelerations :math:`\ddot q = M^{-1}(\tau - C\dot q - g)`, (n,), by LᵀDL with the tree's sparsity."""
    mechanism = mechanism_of(robot)
    pattern = mechanism.pattern()
    L, D = ldl(mass_matrix(mechanism, q), pattern)
    return array(ldl_solve(L, D, tau - nonlinear_effects(mechanism, q, qd), pattern))


def accelerations(robot: Robot | Mechanism, q: Vector, tau: Vector) -> np.ndarray:
    r""":math:`\ddot q = M^{-1}\tau`, (n,), of torques from which everything else was taken already."""
    mechanism = mechanism_of(robot)
    pattern = mechanism.pattern()
    L, D = ldl(mass_matrix(mechanism, q), pattern)
    return array(ldl_solve(L, D, tau, pattern))


def inverse_mass_matrix(robot: Robot | Mechanism, q: Vector) -> np.ndarray:
    """M(q)⁻¹, n×n."""
    mechanism = mechanism_of(robot)
    pattern = mechanism.pattern()
    L, D = ldl(mass_matrix(mechanism, q), pattern)
    columns = [ldl_solve(L, D, np.eye(mechanism.n)[k], pattern) for k in range(mechanism.n)]
    return array(np.stack(columns, axis=1))
