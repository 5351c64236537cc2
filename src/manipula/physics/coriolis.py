r"""Christoffel matrix C(q, qd): :math:`C\dot q = h` and :math:`\dot M - 2C` is skew-symmetric.

Composites of the bodies' inertia I and gyroscopic matrix B (see ``world.Gyroscopic``), projected on the joint axes, give C
without any derivative of M [Echeandia & Wensing 2021, algorithm 1]:

.. math:: C_{ij} = S_i^T(I^C_j\dot S_j + B^C_j S_j),\qquad C_{ji} = \dot S_i^T I^C_j S_j + S_i^T B^{C\,T}_j S_j
          \qquad (i\ \text{an ancestor of}\ j)
"""

from __future__ import annotations

import numpy as np

from manipula.algebra.linear import array, zeros
from manipula.algebra.ops import Vector
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.physics.reduction import coupled
from manipula.physics.spatial_vector import ZERO, gyroscopic, momentum, scene, velocities
from manipula.robot.robot import Robot


@coupled(2, (0, 1))
def coriolis_matrix(robot: Robot | Mechanism, q: Vector, qd: Vector) -> np.ndarray:
    """Christoffel matrix, n×n."""
    mechanism = mechanism_of(robot)
    n = mechanism.n
    S, inertia, _ = scene(mechanism, q)
    v = velocities(mechanism, S, qd)
    rate = [(v[b.parent] if b.parent >= 0 else ZERO).on_motion(S[i]) for i, b in enumerate(mechanism.bodies)]
    B = [gyroscopic(inertia[i], v[i]) for i in range(n)]
    C = zeros(n, n)
    for j in range(n - 1, -1, -1):
        push = momentum(inertia[j], rate[j]) + B[j].times(S[j])
        own = momentum(inertia[j], S[j])
        back = B[j].transposed_times(S[j])
        C[j, j] = S[j].dot(push)
        for i in mechanism.ancestors(j):
            C[i, j] = S[i].dot(push)
            C[j, i] = rate[i].dot(own) + S[i].dot(back)
        parent = mechanism.bodies[j].parent
        if parent >= 0:
            inertia[parent] = inertia[parent] + inertia[j]
            B[parent] = B[parent] + B[j]
    return array(C)
