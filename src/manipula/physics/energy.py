"""Kinetic and potential energy."""

from __future__ import annotations

import numpy as np

from manipula.algebra.linear import array, cross, dot
from manipula.algebra.ops import Scalar, Vector
from manipula.physics.joint_transform import joint_transforms
from manipula.physics.kinematics import place
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.physics.reduction import coupled
from manipula.robot.robot import Robot


@coupled(2)
def kinetic_energy(robot: Robot | Mechanism, q: Vector, qd: Vector) -> Scalar:
    r"""Kinetic energy [J], summed over the bodies in their own frames.

    .. math::
        T = \sum_i \tfrac12 m v^2 + v\cdot(\omega\times h) + \tfrac12\,\omega\cdot J\omega
        + \tfrac12\sum_i I_{rotor,i}\,\dot q_i^2
    """
    mechanism = mechanism_of(robot)
    v: list[np.ndarray] = []
    w: list[np.ndarray] = []
    total: Scalar = 0.0
    for i, (b, turn) in enumerate(zip(mechanism.bodies, joint_transforms(mechanism, q))):
        if b.parent < 0:
            v_here, w_here = np.zeros(3), np.zeros(3)
            if mechanism.base is not None:
                v_here = turn.down(array(mechanism.base.v + cross(mechanism.base.w, turn.p)))
                w_here = turn.down(mechanism.base.w)
        else:
            up = w[b.parent]
            v_here, w_here = turn.down(v[b.parent] + cross(up, turn.p)), turn.down(up)
        if b.revolute:
            w_here = array([w_here[0], w_here[1], w_here[2] + qd[i]])
        else:
            v_here = array([v_here[0], v_here[1], v_here[2] + qd[i]])
        v.append(v_here)
        w.append(w_here)
        m, h, J = b.moments
        total = total + 0.5 * (m * dot(v_here, v_here)) + dot(v_here, cross(w_here, h)) + 0.5 * dot(w_here, J @ w_here)
        total = total + 0.5 * b.armature * (qd[i] * qd[i])
    return total


@coupled(1)
def potential_energy(robot: Robot | Mechanism, q: Vector) -> Scalar:
    r"""Potential energy :math:`V = -\sum_i g\cdot(m_i p_i + R_i h_i)` [J], zero at the outer frame's origin, less the weight that is carried."""
    mechanism = mechanism_of(robot)
    where = place(mechanism, q)
    total: Scalar = 0.0
    for i, b in enumerate(mechanism.bodies):
        mass, first = b.moments.mass, b.moments.first
        if b.lift is not None:  # weight that something else carries
            mass, first = mass - b.lift.mass, first - b.lift.first
        moment = where.R[i] @ first + mass * where.p[i]
        total = total - dot(mechanism.gravity, moment)
    return total
