r"""The equations of motion are linear in the inertial parameters: :math:`\tau = Y(q,\dot q,\ddot q)\,\pi`.

:math:`\pi` holds ten numbers per link, about the origin and in the axes of the **link's frame**, in Pinocchio's order:
:math:`m,\; m c_x,\; m c_y,\; m c_z,\; J_{xx},\; J_{xy},\; J_{yy},\; J_{xz},\; J_{yz},\; J_{zz}`.
Rotor inertia is not among them: ``tau`` of the regressor lacks ``armature · qdd``, and the weight that something else carries is not taken off it.
"""

from __future__ import annotations

import numpy as np

from manipula.algebra.inertia import Moments
from manipula.algebra.linear import array, cross, skew, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.physics.joint_transform import joint_transforms
from manipula.physics.kinematics import place
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.physics.newton_euler import motions
from manipula.physics.reduction import coupled
from manipula.robot.robot import Robot

PARAMETERS = ("m", "mx", "my", "mz", "Jxx", "Jxy", "Jyy", "Jxz", "Jyz", "Jzz")


def regressor(robot: Robot | Mechanism, q: Vector, qd: Vector, qdd: Vector) -> np.ndarray:
    """Y(q, qd, qdd), n × 10 per body: those of the joints, then those of joints that follow others."""
    Y = _by_body(mechanism_of(robot), q, qd, qdd)
    return Y.reshape(len(Y), -1)


@coupled(3, (0,), bodies=1)
def _by_body(mechanism: Mechanism, q: Vector, qd: Vector, qdd: Vector) -> np.ndarray:
    """The same as (n, bodies, 10), for free joints."""
    where = place(mechanism, q)
    moved = motions(mechanism, joint_transforms(mechanism, q), qd, qdd)
    Y = zeros(mechanism.n, mechanism.n, 10)
    for i, (b, s) in enumerate(zip(mechanism.bodies, moved)):
        R_EL, p_EL = b.X_EL.R, b.X_EL.p
        w, alpha = R_EL.T @ s.omega, R_EL.T @ s.alpha
        a = R_EL.T @ (s.a + s.U @ p_EL)
        U = R_EL.T @ s.U @ R_EL
        R_WL, p_WL = where.R[i] @ R_EL, where.p[i] + where.R[i] @ p_EL
        forces, moments = _unit_wrenches(w, alpha, a, U)
        F, N = R_WL @ forces, R_WL @ moments  # (3, 10), at the link's origin, outer axes
        for j in [i, *mechanism.ancestors(i)]:
            z = where.R[j][:, 2]
            if mechanism.bodies[j].revolute:
                arm = p_WL - where.p[j]
                lever = cross(z, arm)  # z·(r×f) = (z×r)·f
                Y[j, i] = z @ N + lever @ F
            else:
                Y[j, i] = z @ F
    return array(Y)


def _unit_wrenches(w: np.ndarray, alpha: np.ndarray, a: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment (3, 10 each) of a body whose parameters are the ten unit vectors."""
    F, N = zeros(3, 10), zeros(3, 10)
    F[:, 0] = a
    F[:, 1:4] = U
    N[:, 1:4] = skew(a).T  # e_k × a
    for column, (k, l) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)), start=4):
        J = np.zeros((3, 3))
        J[k, l] = J[l, k] = 1.0
        N[:, column] = J @ alpha + cross(w, J @ w)
    return array(F), array(N)


def parameters(robot: Robot | Mechanism) -> np.ndarray:
    """π, 10 per body: the inertial parameters in the order of the regressor's columns, payload included."""
    mechanism = mechanism_of(robot)
    values = []
    order = range(len(mechanism.bodies)) if mechanism.coupling is None else mechanism.coupling.body
    for b in (mechanism.bodies[i] for i in order):
        inverse = b.X_EL.inverse()
        values += parameters_of(b.moments.seen_from(inverse.R, inverse.p))
    return array(values)


def parameters_of(body: Moments) -> list[Scalar]:
    """The ten parameters of one body, from its moments about the origin of a frame."""
    m, h, J = body
    return [m, h[0], h[1], h[2], J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]]


def moments_of(parameters: Vector) -> Moments:
    """The body of ten parameters."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = parameters
    return Moments(m, array([x, y, z]), array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
