r"""Forward dynamics by articulated bodies, cost O(n) [Featherstone 1983; 2008, §7.3].

An articulated inertia relates the force at a link's handle to its acceleration while the joints beyond it are free:
:math:`[f; n] = I^A [a; \alpha] + p^A` with :math:`I^A = \begin{bmatrix} A & B \\ B^T & C \end{bmatrix}` (A: force per linear acceleration,
B: force per angular acceleration, C: moment per angular acceleration). A, C are symmetric.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from manipula.algebra.linear import array, cross, skew, zeros
from manipula.algebra.ops import Vector
from manipula.physics import composite
from manipula.physics.joint_transform import JointTransform, joint_transforms
from manipula.physics.lift import add_lifts
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.physics.newton_euler import body_wrench, motions
from manipula.robot.robot import Robot


class Articulated(NamedTuple):
    """Blocks A, B, C of the inertia and the bias force f and moment n."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    f: np.ndarray
    n: np.ndarray

    def __add__(self, other: Articulated) -> Articulated:  # pyright: ignore[reportIncompatibleMethodOverride]
        return Articulated(*(x + y for x, y in zip(self, other)))


def forward_dynamics(robot: Robot | Mechanism, q: Vector, qd: Vector, tau: Vector) -> np.ndarray:
    """Accelerations qdd, (n,), of the arm under ``tau``; the same answer as ``composite.forward_dynamics``.

    The velocity-dependent part is taken out first: with qdd = 0 the recursion of Newton–Euler gives each body's bias
    wrench and acceleration; what remains is linear in qdd and needs no Coriolis terms.
    """
    mechanism = mechanism_of(robot)
    if mechanism.coupling is not None:  # the recursion is one of free joints
        return composite.forward_dynamics(mechanism, q, qd, tau)
    n = mechanism.n
    at = joint_transforms(mechanism, q)
    still = motions(mechanism, at, qd, np.zeros(n))
    wrenches = [body_wrench(b.moments, s) for b, s in zip(mechanism.bodies, still)]
    force, moment = [f for f, _ in wrenches], [torque for _, torque in wrenches]
    add_lifts(mechanism, at, force, moment)
    body: list[Articulated] = []
    for b, f, torque in zip(mechanism.bodies, force, moment):
        m, h, J = b.moments
        body.append(Articulated(m * np.eye(3), -skew(h), J, f, torque))
    column: list[tuple[np.ndarray, np.ndarray]] = [(np.zeros(3), np.zeros(3))] * n
    inverse, free = zeros(n), zeros(n)
    for i in range(n - 1, -1, -1):
        b, art = mechanism.bodies[i], body[i]
        U_f, U_n = (art.B[:, 2], art.C[:, 2]) if b.revolute else (art.A[:, 2], art.B.T[:, 2])
        D = (U_n[2] if b.revolute else U_f[2]) + b.armature
        free[i] = tau[i] - (art.n[2] if b.revolute else art.f[2])
        inverse[i] = 1.0 / D
        column[i] = (U_f, U_n)
        if b.parent >= 0:
            body[b.parent] = body[b.parent] + _carry(_reduced(art, U_f, U_n, inverse[i], free[i]), at[i])
    qdd = zeros(n)
    a: list[np.ndarray] = [np.zeros(3)] * n
    alpha: list[np.ndarray] = [np.zeros(3)] * n
    for i, (b, turn) in enumerate(zip(mechanism.bodies, at)):
        if b.parent >= 0:
            a_here = turn.down(a[b.parent] + cross(alpha[b.parent], turn.p))
            alpha_here = turn.down(alpha[b.parent])
        else:
            a_here, alpha_here = np.zeros(3), np.zeros(3)
        U_f, U_n = column[i]
        push = U_f[0] * a_here[0] + U_f[1] * a_here[1] + U_f[2] * a_here[2]
        push = push + U_n[0] * alpha_here[0] + U_n[1] * alpha_here[1] + U_n[2] * alpha_here[2]
        qdd[i] = (free[i] - push) * inverse[i]
        step = array([0.0, 0.0, qdd[i]])
        a[i], alpha[i] = (a_here, alpha_here + step) if b.revolute else (a_here + step, alpha_here)
    return array(qdd)


def _reduced(art: Articulated, U_f: np.ndarray, U_n: np.ndarray, inverse: object, free: object) -> Articulated:
    """The inertia that the parent feels through a joint that gives way: I − U D⁻¹ Uᵀ, and the bias that goes with it."""
    F, N = U_f * inverse, U_n * inverse
    return Articulated(
        _symmetric(art.A, F, U_f),
        art.B - np.outer(F, U_n),
        _symmetric(art.C, N, U_n),
        art.f + F * free,
        art.n + N * free,
    )


def _symmetric(A: np.ndarray, F: np.ndarray, U: np.ndarray) -> np.ndarray:
    out = zeros(3, 3)
    for i in range(3):
        for j in range(i + 1):
            out[i, j] = out[j, i] = A[i, j] - F[i] * U[j]
    return array(out)


def _carry(art: Articulated, turn: JointTransform) -> Articulated:
    """The same articulated inertia at the parent's origin, in the parent's axes."""
    R = turn.matrix()
    A, B, C = R @ art.A @ R.T, R @ art.B @ R.T, R @ art.C @ R.T
    P = skew(turn.p)
    f = turn.up(art.f)
    n = turn.up(art.n) + cross(turn.p, f)
    BP = B - A @ P
    C2 = C + P @ BP - B.T @ P
    return Articulated(A, BP, C2, f, n)
