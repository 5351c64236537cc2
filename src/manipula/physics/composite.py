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
from manipula.physics.newton_euler import joint_wrenches, nonlinear_effects, own_wrenches, root_velocities
from manipula.physics.reduction import coupled
from manipula.robot.robot import Robot


@coupled(1, (0, 1))
def mass_matrix(robot: Robot | Mechanism, q: Vector) -> np.ndarray:
    """Joint-space inertia M(q), n×n, symmetric positive definite; rotor inertia on its diagonal."""
    return _by_composites(mechanism_of(robot), q)[0]


@coupled(3)
def base_power(mechanism: Mechanism, q: Vector, qd: Vector, qdd: Vector) -> Scalar:
    r"""Power of the force and moment with which a moving base moves the arm [W], found at the first joints.

    .. math:: P = \sum_r f_r\cdot v_r + n_r\cdot\omega_r, \qquad (f_r, n_r) = (f_r, n_r)|_{\ddot q = 0} + \sum_j F_{jr}\,\ddot q_j

    with the wrench :math:`F_{jr}` that a unit acceleration of joint j asks for at the first joint r on its way. The mass matrix carries these wrenches
    towards the base already, and the recursion at zero accelerations is the one that gave them: the moments are summed up one joint before the
    first, the forces two, where both know them, and only the sums are carried on.
    """
    at, bodies, still = joint_transforms(mechanism, q), mechanism.bodies, np.zeros(mechanism.n)
    carried = _by_composites(mechanism, q)[1]
    own_force, own_moment = own_wrenches(mechanism, q, qd, still)
    force, moment = joint_wrenches(mechanism, q, qd, still)
    velocities = root_velocities(mechanism, q)
    way = [[*mechanism.ancestors(j)[::-1], j] for j in range(mechanism.n)]
    f: dict[int, np.ndarray] = {}
    n: dict[int, np.ndarray] = {}
    for i in range(mechanism.n):  # f of the first three joints of every way, n of the first two
        if len(way[i]) == 3:
            f[i] = force[i]
        elif len(way[i]) < 3:
            f[i] = own_force[i] + carried[i, i][0] * qdd[i]
            n[i] = moment[i] if len(way[i]) == 2 else own_moment[i] + carried[i, i][1] * qdd[i]
    for j in range(mechanism.n):
        if len(way[j]) > 2:
            f[way[j][2]] = array(f[way[j][2]] + carried[j, way[j][2]][0] * qdd[j])
        if len(way[j]) > 1:
            n[way[j][1]] = array(n[way[j][1]] + carried[j, way[j][1]][1] * qdd[j])
    total: Scalar = 0.0
    for i in sorted(f, key=lambda i: -len(way[i])):
        up = bodies[i].parent
        if up >= 0:
            lifted = at[i].up(f[i])
            f[up] = array(f[up] + lifted)
            if i in n:
                n[up] = array(n[up] + at[i].up(n[i]) + cross(at[i].p, lifted))
        else:
            v, w = velocities[i]
            total = total + dot(f[i], v) + dot(n[i], w)
    return total


def _by_composites(mechanism: Mechanism, q: Vector) -> tuple[np.ndarray, dict[tuple[int, int], tuple[np.ndarray, np.ndarray]]]:  # fmt: skip
    """M, and by (j, i) force and moment at E_i that a unit acceleration of joint j asks for, for j itself and every joint i before it."""
    at = joint_transforms(mechanism, q)
    composite = [b.moments for b in mechanism.bodies]
    M, found = zeros(mechanism.n, mechanism.n), {}
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
        found[j, j] = f, n
        while mechanism.bodies[i].parent >= 0:
            f = at[i].up(f)
            n = at[i].up(n) + cross(at[i].p, f)
            i = mechanism.bodies[i].parent
            M[i, j] = M[j, i] = n[2] if mechanism.bodies[i].revolute else f[2]
            found[j, i] = f, n
        if b.parent >= 0:
            composite[b.parent] = composite[b.parent] + at[j].carry(body)
    return array(M), found


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
