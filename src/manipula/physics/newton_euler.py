r"""Inverse dynamics by the recursive Newton–Euler method, in frames centred on the joints.

With a body's mass m, first moment h and inertia J about the frame's origin, angular velocity ω, angular acceleration α
and acceleration a of the origin (gravity subtracted), Newton's and Euler's laws read

.. math:: f = m\,a + U h, \qquad n = J\alpha + \omega\times J\omega + h \times a, \qquad U = \hat\alpha + \hat\omega\hat\omega

Forward: ω, α, a from base to tip. Backward: f, n from tip to base; the torque of a joint is the z component of n (revolute)
or f (prismatic) [Luh, Walker & Paul 1980; the use of U and of moments about the joint: Khalil & Dombre 2002, §9.5].
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from manipula.algebra.inertia import Moments
from manipula.algebra.linear import array, cross, dot, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.physics.joint_transform import JointTransform, joint_transforms
from manipula.physics.lift import add_lifts
from manipula.physics.mechanism import Mechanism, MovingBase, mechanism_of
from manipula.physics.reduction import coupled
from manipula.robot.robot import Robot


class Motion(NamedTuple):
    """Motion of one joint frame, in its own axes: ω, α, acceleration of the origin less gravity, and U."""

    omega: np.ndarray
    alpha: np.ndarray
    a: np.ndarray
    U: np.ndarray


def spin_matrix(w: Vector, alpha: Vector) -> np.ndarray:
    r""":math:`U = \hat\alpha + \hat\omega\hat\omega`: the acceleration of a point at r on the body is a + U r."""
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return array(
        [
            [-(yy + zz), xy - alpha[2], xz + alpha[1]],
            [xy + alpha[2], -(xx + zz), yz - alpha[0]],
            [xz - alpha[1], yz + alpha[0], -(xx + yy)],
        ]
    )


def motions(mechanism: Mechanism, at: list[JointTransform], qd: Vector, qdd: Vector) -> list[Motion]:
    """Forward recursion: the motion of every joint frame."""
    found: list[Motion] = []
    for i, (b, turn) in enumerate(zip(mechanism.bodies, at)):
        if b.parent < 0:
            w, alpha, a = _root(mechanism, turn)
        else:
            up = found[b.parent]
            w, alpha = turn.down(up.omega), turn.down(up.alpha)
            a = turn.down(up.a + up.U @ turn.p)
        if b.revolute:
            alpha = array([alpha[0] + w[1] * qd[i], alpha[1] - w[0] * qd[i], alpha[2] + qdd[i]])
            w = array([w[0], w[1], w[2] + qd[i]])
        else:
            a = array([a[0] + 2.0 * w[1] * qd[i], a[1] - 2.0 * w[0] * qd[i], a[2] + qdd[i]])
        found.append(Motion(w, alpha, a, spin_matrix(w, alpha)))
    return found


def _root(mechanism: Mechanism, turn: JointTransform) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ω, α and the acceleration less gravity with which the recursion begins: rest, or the motion of the base."""
    if mechanism.base is None:
        return np.zeros(3), np.zeros(3), turn.down(-mechanism.gravity)
    _, w, a, alpha = mechanism.base
    return turn.down(w), turn.down(alpha), turn.down(array(a + spin_matrix(w, alpha) @ turn.p))


def body_wrench(m: Moments, s: Motion) -> tuple[np.ndarray, np.ndarray]:
    r"""Force and moment about the origin that move a body so.

    :math:`J\alpha + \omega\times J\omega` is written with the entries of U, which are already there: with
    :math:`u_{kl}` those entries, :math:`n_x = J_{xx}\alpha_x + (J_{zz}-J_{yy})\omega_y\omega_z - J_{xy}u_{20} + J_{xz}u_{10} +
    J_{yz}(\omega_y^2-\omega_z^2)`, and so on round.
    """
    w, alpha, a, U = s
    J, h = m.second, m.first
    f = U @ h + array([m.mass * x for x in a])
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    n = array(
        [
            J[0, 0] * alpha[0] + (J[2, 2] - J[1, 1]) * yz - J[0, 1] * U[2, 0] + J[0, 2] * U[1, 0] + J[1, 2] * (yy - zz),
            J[1, 1] * alpha[1] + (J[0, 0] - J[2, 2]) * xz + J[0, 1] * U[2, 1] - J[1, 2] * U[0, 1] + J[0, 2] * (zz - xx),
            J[2, 2] * alpha[2] + (J[1, 1] - J[0, 0]) * xy - J[0, 2] * U[1, 2] + J[1, 2] * U[0, 2] + J[0, 1] * (xx - yy),
        ]
    )
    return f, n + cross(h, a)


def own_wrenches(mechanism: Mechanism, q: Vector, qd: Vector, qdd: Vector) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Force and moment that each body needs for itself, at E_i, in the axes of E_i."""
    at = joint_transforms(mechanism, q)
    moved = motions(mechanism, at, qd, qdd)
    force: list[np.ndarray] = []
    moment: list[np.ndarray] = []
    for b, s in zip(mechanism.bodies, moved):
        f, n = body_wrench(b.moments, s)
        force.append(f)
        moment.append(n)
    add_lifts(mechanism, at, force, moment)
    return force, moment


def joint_wrenches(
    mechanism: Mechanism, q: Vector, qd: Vector, qdd: Vector
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Force and moment that each parent exerts on its child through the joint, at E_i, in the axes of E_i."""
    at = joint_transforms(mechanism, q)
    force, moment = own_wrenches(mechanism, q, qd, qdd)
    for i in range(mechanism.n - 1, -1, -1):
        parent = mechanism.bodies[i].parent
        if parent >= 0:
            f = at[i].up(force[i])
            force[parent] = force[parent] + f
            moment[parent] = moment[parent] + at[i].up(moment[i]) + cross(at[i].p, f)
    return force, moment


def fixed_power(m: Moments, base: MovingBase) -> Scalar:
    """Power of the force and moment that move a body which stands on the moving base [W]; its moments about the outer origin."""
    f, n = body_wrench(m, Motion(base.w, base.alpha, base.a, spin_matrix(base.w, base.alpha)))
    return dot(f, base.v) + dot(n, base.w)


def root_velocities(mechanism: Mechanism, q: Vector) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """For the first joints, by number: velocity of E_i's origin and angular velocity, as they move with the base, in the axes of E_i."""
    assert mechanism.base is not None
    v, w = mechanism.base.v, mechanism.base.w
    return {
        i: (turn.down(array(v + cross(w, turn.p))), turn.down(w))
        for i, (b, turn) in enumerate(zip(mechanism.bodies, joint_transforms(mechanism, q)))
        if b.parent < 0
    }


@coupled(3, (0,))
def inverse_dynamics(robot: Robot | Mechanism, q: Vector, qd: Vector, qdd: Vector) -> np.ndarray:
    r"""Torques that produce ``qdd`` at ``q, qd``, without friction, (n,).

    .. math:: \tau = M(q)\,\ddot q + C(q,\dot q)\,\dot q + g(q)

    Args:
        q, qd, qdd: joint positions, rates and accelerations, (n,) [rad or m, per s, per s²].

    Returns:
        Torques [N·m] or forces [N] on the joint side of the gearbox; rotor inertia is included.
    """
    mechanism = mechanism_of(robot)
    force, moment = joint_wrenches(mechanism, q, qd, qdd)
    tau = zeros(mechanism.n)
    for i, b in enumerate(mechanism.bodies):
        tau[i] = (moment[i][2] if b.revolute else force[i][2]) + b.armature * qdd[i]
    return array(tau)


def gravity(robot: Robot | Mechanism, q: Vector) -> np.ndarray:
    """Holding torques g(q), (n,): what the drives must give so that the arm stays where it is."""
    mechanism = mechanism_of(robot)
    still = np.zeros(mechanism.n)
    return inverse_dynamics(mechanism, q, still, still)


def bias(robot: Robot | Mechanism, q: Vector, qd: Vector) -> np.ndarray:
    """h = C(q, qd)·qd, (n,): centrifugal and Coriolis torques, without gravity, without friction."""
    mechanism = weightless(mechanism_of(robot))
    return inverse_dynamics(mechanism, q, qd, np.zeros(mechanism.n))


def nonlinear_effects(robot: Robot | Mechanism, q: Vector, qd: Vector) -> np.ndarray:
    """h + g, (n,): torques at zero acceleration."""
    mechanism = mechanism_of(robot)
    return inverse_dynamics(mechanism, q, qd, np.zeros(mechanism.n))


def weightless(mechanism: Mechanism) -> Mechanism:
    """The same mechanism without gravity."""
    return replace(mechanism, gravity=np.zeros(3))
