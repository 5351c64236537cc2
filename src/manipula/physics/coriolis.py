r"""Christoffel matrix C(q, qd): :math:`C\dot q = h` and :math:`\dot M - 2C` is skew-symmetric.

Every body adds :math:`B = \tfrac12\left[(v\times^*)I + (Iv)\bar\times^* - I(v\times)\right]`; composites of B and I, projected on the joint axes,
give C without any derivative of M [Echeandia & Wensing 2021]. All quantities are at the outer frame's origin, in its axes, angular part first.
"""

from __future__ import annotations

import numpy as np

from manipula.algebra.linear import array, cross, skew, zeros
from manipula.algebra.ops import Vector
from manipula.physics.chain import Chain, chain_of
from manipula.physics.kinematics import place
from manipula.robot.robot import Robot


def coriolis_matrix(robot: Robot | Chain, q: Vector, qd: Vector) -> np.ndarray:
    """Christoffel matrix, n×n."""
    chain = chain_of(robot)
    n = chain.n
    where = place(chain, q)
    S: list[np.ndarray] = []
    S_rate: list[np.ndarray] = []
    twist: list[np.ndarray] = []
    inertia: list[np.ndarray] = []
    factor: list[np.ndarray] = []
    for i, b in enumerate(chain.bodies):
        z, p = where.R[i][:, 2], where.p[i]
        zero = np.zeros(3)
        S.append(np.concatenate([z, cross(p, z)] if b.revolute else [zero, z]))
        v = twist[b.parent] if b.parent >= 0 else np.zeros(6)
        S_rate.append(motion_cross(v) @ S[i])
        twist.append(v + S[i] * qd[i])
        I = spatial_inertia(b.moments.seen_from(where.R[i], p))
        inertia.append(I)
        X = motion_cross(twist[i])
        factor.append(0.5 * (-X.T @ I + force_cross(I @ twist[i]) - I @ X))
    C = zeros(n, n)
    for j in range(n - 1, -1, -1):
        I, B = inertia[j], factor[j]
        F1, F2, F3 = I @ S_rate[j] + B @ S[j], I @ S[j], B.T @ S[j]
        C[j, j] = S[j] @ F1
        for i in chain.ancestors(j):
            C[i, j] = S[i] @ F1
            C[j, i] = S_rate[i] @ F2 + S[i] @ F3
        parent = chain.bodies[j].parent
        if parent >= 0:
            inertia[parent] = inertia[parent] + I
            factor[parent] = factor[parent] + B
    return array(C)


def motion_cross(v: Vector) -> np.ndarray:
    r""":math:`v\times` on motion vectors (ω, v), 6×6."""
    X = zeros(6, 6)
    X[:3, :3] = X[3:, 3:] = skew(v[:3])
    X[3:, :3] = skew(v[3:])
    return array(X)


def force_cross(f: Vector) -> np.ndarray:
    r""":math:`f\bar\times^*`, 6×6: applied to a motion m it gives :math:`m\times^* f`."""
    X = zeros(6, 6)
    X[:3, :3] = -skew(f[:3])
    X[:3, 3:] = X[3:, :3] = -skew(f[3:])
    return array(X)


def spatial_inertia(m: object) -> np.ndarray:
    r""":math:`\begin{bmatrix} J & \hat h \\ \hat h^T & m1\end{bmatrix}`, 6×6, angular part first."""
    mass, h, J = m  # pyright: ignore[reportGeneralTypeIssues]
    I = zeros(6, 6)
    H = skew(h)
    I[:3, :3], I[:3, 3:], I[3:, :3], I[3:, 3:] = J, H, H.T, mass * np.eye(3)
    return array(I)
