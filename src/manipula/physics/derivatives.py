r"""Exact derivatives of inverse and forward dynamics by recursion.

With :math:`\dot\Psi_j = v_p\times S_j` and
:math:`\ddot\Psi_j = a_p\times S_j + v_p\times\dot\Psi_j` (p the parent of j; at the base v = 0 and
a = −gravity), composites I, B and f of inertia, gyroscopic matrix and force, and i an ancestor of j or j itself
[Singh, Russo & Wensing 2022, table I; for joints of one degree of freedom]:

.. math::
   \partial\tau_j/\partial q_i &= S_j^T(2B_j\dot\Psi_i + I_j\ddot\Psi_i) &
   \partial\tau_i/\partial q_j &= S_i^T(2B_j\dot\Psi_j + I_j\ddot\Psi_j + S_j\times^* f_j) \quad (i \ne j) \\
   \partial\tau_j/\partial \dot q_i &= 2S_j^T(B_jS_i + I_j\dot\Psi_i) &
   \partial\tau_i/\partial \dot q_j &= 2S_i^T(B_jS_j + I_j\dot\Psi_j)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from manipula.algebra.linear import array, ldl, ldl_solve, zeros
from manipula.algebra.ops import Vector
from manipula.physics.forward import forward_dynamics
from manipula.physics.lift import is_lifted
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.physics.reduction import coupled
from manipula.physics.spatial_vector import ZERO, SpatialVector, gyroscopic, momentum, scene, scene_of_lifts, velocities
from manipula.robot.robot import Robot


class Derivatives(NamedTuple):
    """Partial derivatives, n×n each, row = torque or acceleration, column = variable."""

    dq: np.ndarray
    dqd: np.ndarray
    last: np.ndarray  # d/dqdd (the mass matrix) or d/dtau (its inverse)


@coupled(3, (0, 1))
def inverse_dynamics_derivatives(robot: Robot | Mechanism, q: Vector, qd: Vector, qdd: Vector) -> Derivatives:
    """∂τ/∂q, ∂τ/∂qd, ∂τ/∂qdd = M of the inverse dynamics."""
    mechanism = mechanism_of(robot)
    n = mechanism.n
    S, inertia, gravity = scene(mechanism, q)
    v = velocities(mechanism, S, qd)
    ground = SpatialVector(np.zeros(3), -gravity)
    psi: list[SpatialVector] = []
    psi2: list[SpatialVector] = []
    a: list[SpatialVector] = []
    force: list[SpatialVector] = []
    for i, b in enumerate(mechanism.bodies):
        v_up, a_up = (v[b.parent], a[b.parent]) if b.parent >= 0 else (ZERO, ground)
        psi.append(v_up.on_motion(S[i]))
        psi2.append(a_up.on_motion(S[i]) + v_up.on_motion(psi[i]))
        a.append(a_up + S[i].scaled(qdd[i]) + psi[i].scaled(qd[i]))
        force.append(momentum(inertia[i], a[i]) + v[i].on_force(momentum(inertia[i], v[i])))
    B = [gyroscopic(inertia[i], v[i]) for i in range(n)]
    dq, dqd, M = zeros(n, n), zeros(n, n), zeros(n, n)
    for j in range(n - 1, -1, -1):
        I = inertia[j]
        S_I = momentum(I, S[j])  # I is symmetric: Sᵀ I m = (I S)·m
        S_B = B[j].transposed_times(S[j])
        push_v = B[j].times(S[j]) + momentum(I, psi[j])
        push_q = B[j].times(psi[j]).scaled(2.0) + momentum(I, psi2[j]) + S[j].on_force(force[j])
        for i in [j, *mechanism.ancestors(j)]:
            dq[j, i] = 2.0 * psi[i].dot(S_B) + psi2[i].dot(S_I)
            dqd[j, i] = 2.0 * (S[i].dot(S_B) + psi[i].dot(S_I))
            M[j, i] = M[i, j] = S[i].dot(S_I)
            if i != j:
                dq[i, j] = S[i].dot(push_q)
                dqd[i, j] = 2.0 * S[i].dot(push_v)
        parent = mechanism.bodies[j].parent
        if parent >= 0:
            inertia[parent] = inertia[parent] + I
            B[parent] = B[parent] + B[j]
            force[parent] = force[parent] + force[j]
    for i, b in enumerate(mechanism.bodies):
        M[i, i] = M[i, i] + b.armature
    if is_lifted(mechanism):
        _add_lifts(mechanism, q, dq)
    return Derivatives(array(dq), array(dqd), array(M))


def _add_lifts(mechanism: Mechanism, q: Vector, dq: np.ndarray) -> None:
    r"""Add to ∂τ/∂q what the weights that are carried add: the same equations of bodies without inertia, at rest, under the gravity that is taken away.

    With :math:`a = g` everywhere and :math:`\ddot\Psi_j = g\times S_j`.
    """
    S, lift, gravity = scene_of_lifts(mechanism, q)
    field = SpatialVector(np.zeros(3), gravity)
    pull = [field.on_motion(s) for s in S]
    force = [momentum(x, field) for x in lift]
    for j in range(mechanism.n - 1, -1, -1):
        S_I = momentum(lift[j], S[j])
        push = momentum(lift[j], pull[j]) + S[j].on_force(force[j])
        for i in [j, *mechanism.ancestors(j)]:
            dq[j, i] = dq[j, i] + pull[i].dot(S_I)
            if i != j:
                dq[i, j] = dq[i, j] + S[i].dot(push)
        parent = mechanism.bodies[j].parent
        if parent >= 0:
            lift[parent], force[parent] = lift[parent] + lift[j], force[parent] + force[j]


def forward_dynamics_derivatives(robot: Robot | Mechanism, q: Vector, qd: Vector, tau: Vector) -> Derivatives:
    r"""∂q̈/∂q, ∂q̈/∂qd, ∂q̈/∂τ of the forward dynamics.

    .. math:: \partial\ddot q/\partial q = -M^{-1}\,\partial\tau/\partial q\,|_{\ddot q},
              \quad \partial\ddot q/\partial\dot q = -M^{-1}\,\partial\tau/\partial\dot q,
              \quad \partial\ddot q/\partial\tau = M^{-1}
    """
    mechanism = mechanism_of(robot)
    return constrained_derivatives(mechanism, q, qd, forward_dynamics(mechanism, q, qd, tau))


def constrained_derivatives(mechanism: Mechanism, q: Vector, qd: Vector, qdd: Vector) -> Derivatives:
    """The same when the acceleration is already known."""
    inverse = inverse_dynamics_derivatives(mechanism, q, qd, qdd)
    pattern = mechanism.pattern()
    L, D = ldl(inverse.last, pattern)
    n = mechanism.n
    M_inv = np.stack([ldl_solve(L, D, np.eye(n)[k], pattern) for k in range(n)], axis=1)
    for i in range(n):
        for j in range(i):
            M_inv[j, i] = M_inv[i, j]
    return Derivatives(array(-(M_inv @ inverse.dq)), array(-(M_inv @ inverse.dqd)), array(M_inv))
