r"""Lagrange–Euler by 4×4 matrices: the independent second route to M, h and g [Arora, equations (3.17)–(3.39), corrected].

With :math:`T_p` the pose of link p and :math:`I_p` its 4×4 pseudo-inertia,

.. math::
   U_{pi} = \frac{\partial T_p}{\partial q_i},\qquad
   M_{ij} = \sum_{p\ge\max(i,j)} \mathrm{tr}\left(U_{pj} I_p U_{pi}^T\right),\qquad
   h_{ijk} = \sum_{p\ge\max(i,j,k)} \mathrm{tr}\left(\frac{\partial U_{pj}}{\partial q_k} I_p U_{pi}^T\right),\qquad
   g_i = -\sum_{p\ge i} \bar g^T U_{pi}\,\bar r_p m_p

The derivative of a pose inserts the constant matrix Q of the joint (turning: Q12 = −1, Q21 = 1; sliding: Q34 = 1).
Nothing is shared with the Newton–Euler recursion except the description, which is why it is here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from manipula.algebra import ops
from manipula.algebra.inertia import pseudo_inertia
from manipula.algebra.linear import array, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.physics.reduction import coupled
from manipula.robot.robot import Robot

Q_TURN = np.array([[0.0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
Q_SLIDE = np.array([[0.0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])


class LagrangeEuler(NamedTuple):
    """M (n, n), Christoffel symbols h_ijk (n, n, n), gravity g (n,)."""

    M: np.ndarray
    h_ijk: np.ndarray
    g: np.ndarray

    def bias(self, qd: Vector) -> np.ndarray:
        """h_i = Σ_jk h_ijk qd_j qd_k, (n,)."""
        return np.einsum("ijk,j,k->i", self.h_ijk, qd, qd)


@coupled(1, ((0, 1), (0, 1, 2), (0,)))
def lagrange_euler(robot: Robot | Mechanism, q: Vector) -> LagrangeEuler:
    """M, h_ijk and g at q, from traces of 4×4 products."""
    mechanism = mechanism_of(robot)
    n = mechanism.n
    local = [_pose(mechanism, i, q[i]) for i in range(n)]
    Q = [Q_TURN if b.revolute else Q_SLIDE for b in mechanism.bodies]
    inertia = [pseudo_inertia(b.moments) for b in mechanism.bodies]
    M, h, g = zeros(n, n), zeros(n, n, n), zeros(n)
    g_row = np.concatenate([mechanism.gravity, [0.0]])
    for p in range(n):
        path = [p, *mechanism.ancestors(p)][::-1]
        U = {i: _product(path, local, Q, (i,)) for i in path}
        lift = mechanism.bodies[p].lift
        weight = inertia[p][:, 3] if lift is None else inertia[p][:, 3] - np.array([*lift.first, lift.mass])
        for i in path:
            g[i] = g[i] - g_row @ (U[i] @ weight)
            for j in path:
                M[i, j] = M[i, j] + _trace(U[j], inertia[p], U[i])
            for j in path:
                for k in path:
                    h[i, j, k] = h[i, j, k] + _trace(_product(path, local, Q, (j, k)), inertia[p], U[i])
    for i, b in enumerate(mechanism.bodies):
        M[i, i] = M[i, i] + b.armature
    return LagrangeEuler(array(M), array(h), array(g))


def _pose(mechanism: Mechanism, i: int, q: Scalar) -> np.ndarray:
    b = mechanism.bodies[i]
    T = zeros(4, 4)
    T[:3, :3], T[:3, 3], T[3, 3] = b.R0, b.p0, 1.0
    Z = np.eye(4, dtype=object)
    if b.revolute:
        s, c = ops.sin(q + b.phase), ops.cos(q + b.phase)
        Z[0, 0], Z[0, 1], Z[1, 0], Z[1, 1] = c, -s, s, c
    else:
        Z[2, 3] = q
    return T @ Z


def _product(path: list[int], local: list[np.ndarray], Q: list[np.ndarray], marks: tuple[int, ...]) -> np.ndarray:
    """The pose of the last link with Q inserted behind each marked joint: a first or second derivative."""
    T = np.eye(4)
    for i in path:
        T = T @ local[i]
        for mark in marks:
            if mark == i:
                T = T @ Q[i]
    return T


def _trace(A: np.ndarray, inertia: np.ndarray, B: np.ndarray) -> Scalar:
    return np.sum((A @ inertia) * B)
