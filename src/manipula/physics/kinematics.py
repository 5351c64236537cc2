r"""Where everything is and how it moves: poses, geometric Jacobian and its time derivative.

The Jacobian maps joint rates to the twist of a frame, linear part first, at the frame's origin and in the axes of
the base (``expressed_in="base"``, Pinocchio's LOCAL_WORLD_ALIGNED) or of the frame itself (``"body"``).
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np

from manipula.algebra.linear import array, cross, zeros
from manipula.algebra.ops import Vector
from manipula.errors import unknown_name
from manipula.physics.joint_transform import joint_transforms
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.physics.reduction import coupled
from manipula.robot.link import TIP, Frame
from manipula.robot.robot import Robot

ExpressedIn = Literal["base", "body"]


class Placement(NamedTuple):
    """Joint frames in the outer frame: rotations R_WE (n of 3×3) and origins p_WE (n of 3)."""

    R: list[np.ndarray]
    p: list[np.ndarray]


@coupled(1)
def place(mechanism: Mechanism, q: Vector) -> Placement:
    r"""Rotation and origin of every joint frame: :math:`R_i = R_p R_{pi}(q_i),\; p_i = p_p + R_p\,p_{pi}(q_i)`."""
    R: list[np.ndarray] = []
    p: list[np.ndarray] = []
    for b, turn in zip(mechanism.bodies, joint_transforms(mechanism, q)):
        local = turn.matrix()
        if b.parent < 0:
            R.append(local)
            p.append(turn.p)
        else:
            R.append(R[b.parent] @ local)
            p.append(p[b.parent] + R[b.parent] @ turn.p)
    return Placement(R, p)


def find_frame(mechanism: Mechanism, name: str) -> Frame:
    """The frame of this name."""
    if name not in mechanism.frames:
        raise unknown_name(f"frame in robot '{mechanism.name}'", name, [known for known in mechanism.frames if known])
    return mechanism.frames[name]


def _frame_pose(where: Placement, f: Frame) -> tuple[np.ndarray, np.ndarray]:
    if f.link < 0:
        return f.pose.R, f.pose.p
    R = where.R[f.link]
    return R @ f.pose.R, where.p[f.link] + R @ f.pose.p


def pose(robot: Robot | Mechanism, q: Vector, frame: str = TIP) -> np.ndarray:
    """Pose X_WF of a frame, 4×4."""
    mechanism = mechanism_of(robot)
    R, p = _frame_pose(place(mechanism, q), find_frame(mechanism, frame))
    T = zeros(4, 4)
    T[:3, :3], T[:3, 3], T[3, 3] = R, p, 1.0
    return array(T)


def position(robot: Robot | Mechanism, q: Vector, frame: str = TIP) -> np.ndarray:
    """Origin of a frame in the outer frame, (3,) [m]."""
    mechanism = mechanism_of(robot)
    return _frame_pose(place(mechanism, q), find_frame(mechanism, frame))[1]


@coupled(1)
def centre_of_mass(robot: Robot | Mechanism, q: Vector) -> np.ndarray:
    r"""Centre of mass of all moving links in the outer frame, (3,) [m]: :math:`\tfrac1m\sum_i(m_ip_i + R_ih_i)`."""
    mechanism = mechanism_of(robot)
    where = place(mechanism, q)
    mass, moment = mechanism.bodies[0].moments.mass, zeros(3)
    for i, b in enumerate(mechanism.bodies):
        mass = mass + b.moments.mass if i else mass
        moment = moment + where.R[i] @ b.moments.first + b.moments.mass * where.p[i]
    return array([m / mass for m in moment])


def poses(robot: Robot | Mechanism, q: Vector, names: tuple[str, ...]) -> np.ndarray:
    """Poses of several frames, (k, 4, 4), with the shared part computed once."""
    mechanism = mechanism_of(robot)
    where = place(mechanism, q)
    out = zeros(len(names), 4, 4)
    for k, name in enumerate(names):
        R, p = _frame_pose(where, find_frame(mechanism, name))
        out[k, :3, :3], out[k, :3, 3], out[k, 3, 3] = R, p, 1.0
    return array(out)


def check_axes(expressed_in: str = "base") -> None:
    """Refuse axes that are neither "base" nor "body"."""
    if not isinstance(expressed_in, str) or expressed_in not in get_args(ExpressedIn):
        raise unknown_name("choice of axes", expressed_in, get_args(ExpressedIn), field="expressed_in")


@coupled(1, (1,))
def jacobian(robot: Robot | Mechanism, q: Vector, frame: str = TIP, expressed_in: ExpressedIn = "base") -> np.ndarray:
    r"""Geometric Jacobian, 6×n, linear part first.

    .. math:: J_i = \begin{bmatrix} z_i \times (p - p_i) \\ z_i \end{bmatrix}\ \text{(revolute)},\qquad
              J_i = \begin{bmatrix} z_i \\ 0 \end{bmatrix}\ \text{(prismatic)}
    """
    check_axes(expressed_in)
    mechanism = mechanism_of(robot)
    where = place(mechanism, q)
    f = find_frame(mechanism, frame)
    R, p = _frame_pose(where, f)
    J = zeros(6, mechanism.n)
    for i in _moving(mechanism, f):
        z = where.R[i][:, 2]
        if mechanism.bodies[i].revolute:
            J[:3, i], J[3:, i] = cross(z, p - where.p[i]), z
        else:
            J[:3, i] = z
    return array(J if expressed_in == "base" else _in_body(R, J))


@coupled(2, (1,))
def jacobian_rate(
    robot: Robot | Mechanism, q: Vector, qd: Vector, frame: str = TIP, expressed_in: ExpressedIn = "base"
) -> np.ndarray:
    r"""Time derivative of the Jacobian, 6×n, so that the frame's acceleration is :math:`J\ddot q + \dot J\dot q`.

    .. math:: \dot z_i = \omega_i \times z_i,\qquad \dot J_i = [\,\dot z_i \times r_i + z_i \times (v - v_i);\ \dot z_i\,]
    """
    check_axes(expressed_in)
    mechanism = mechanism_of(robot)
    where = place(mechanism, q)
    f = find_frame(mechanism, frame)
    R, p = _frame_pose(where, f)
    velocity, omega = origin_velocities(mechanism, where, qd)
    if f.link >= 0:
        w = omega[f.link]
        v = velocity[f.link] + cross(w, p - where.p[f.link])
    else:
        w = v = np.zeros(3)
    J, Jd = zeros(6, mechanism.n), zeros(6, mechanism.n)
    for i in _moving(mechanism, f):
        z = where.R[i][:, 2]
        parent = mechanism.bodies[i].parent
        zd = cross(omega[parent], z) if parent >= 0 else np.zeros(3)
        if mechanism.bodies[i].revolute:
            r = p - where.p[i]
            J[:3, i], J[3:, i] = cross(z, r), z
            Jd[:3, i], Jd[3:, i] = cross(zd, r) + cross(z, v - velocity[i]), zd
        else:
            J[:3, i], Jd[:3, i] = z, zd
    if expressed_in == "base":
        return array(Jd)
    for i in range(mechanism.n):
        Jd[:3, i] = Jd[:3, i] - cross(w, J[:3, i])
        Jd[3:, i] = Jd[3:, i] - cross(w, J[3:, i])
    return array(_in_body(R, Jd))


def origin_velocities(mechanism: Mechanism, where: Placement, qd: Vector) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Velocity of every joint frame's origin and angular velocity of every link, in the outer frame."""
    v: list[np.ndarray] = []
    w: list[np.ndarray] = []
    for i, b in enumerate(mechanism.bodies):
        z = where.R[i][:, 2]
        if b.parent < 0:
            v_here, w_here = np.zeros(3), np.zeros(3)
        else:
            v_here, w_here = v[b.parent] + cross(w[b.parent], where.p[i] - where.p[b.parent]), w[b.parent]
        v.append(v_here if b.revolute else v_here + z * qd[i])
        w.append(w_here + z * qd[i] if b.revolute else w_here)
    return v, w


def _moving(mechanism: Mechanism, f: Frame) -> list[int]:
    return [] if f.link < 0 else [f.link, *mechanism.ancestors(f.link)]


def _in_body(R: np.ndarray, J: np.ndarray) -> np.ndarray:
    out = zeros(*J.shape)
    out[:3], out[3:] = R.T @ J[:3], R.T @ J[3:]
    return out
