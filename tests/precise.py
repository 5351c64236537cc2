"""Newton and Euler with fifty digits: a slow reference that shares no line with the package.

Everything is expressed in the outer frame, straight from the fields of a ``Robot``: poses by Rodrigues' formula, velocities
and accelerations from base to tip, Newton's law at every centre of mass, and each joint's torque as the moment (or force) along
its axis of all that the bodies it carries demand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp, mpf

from manipula.robot.robot import Robot

DIGITS = 50


def exact(values: Any) -> np.ndarray:
    """The same numbers with fifty digits (a float is an exact binary fraction)."""
    raw = np.asarray(values, dtype=object)
    out = np.empty(raw.shape, dtype=object)
    for k in np.ndindex(raw.shape):
        out[k] = mpf(float(raw[k])) if not isinstance(raw[k], mpf) else raw[k]
    return out


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dtype=object)


def inverse_dynamics(robot: Robot, q: Any, qd: Any, qdd: Any) -> np.ndarray:
    """Torques, (n,) of ``mpf``."""
    with mp.workdps(DIGITS):
        q, qd, qdd = exact(q), exact(qd), exact(qdd)
        zero = exact(np.zeros(3))
        start = (exact(robot.base.R), exact(robot.base.p), zero, zero, zero, zero)
        link: list[tuple[np.ndarray, ...]] = []
        axes: list[tuple[np.ndarray, np.ndarray]] = []
        demand: list[list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = []  # point, force, moment about that point
        for i, joint in enumerate(robot.joints):
            R, p, w, alpha, v, a = link[joint.parent] if joint.parent >= 0 else start
            r = R @ exact(joint.placement.p)
            R = R @ exact(joint.placement.R)
            z = exact(joint.axis)
            z = z / mp.sqrt(z @ z)
            axis = R @ z
            p_new = p + r
            a_new = a + cross(alpha, r) + cross(w, cross(w, r))
            v_new = v + cross(w, r)
            if joint.is_revolute:
                K = np.array([[0, -z[2], z[1]], [z[2], 0, -z[0]], [-z[1], z[0], 0]], dtype=object)
                R = R @ (exact(np.eye(3)) + mp.sin(q[i]) * K + (1 - mp.cos(q[i])) * (K @ K))
                alpha = alpha + axis * qdd[i] + cross(w, axis) * qd[i]
                w = w + axis * qd[i]
            else:
                d = axis * q[i]
                p_new = p_new + d
                a_new = a_new + cross(alpha, d) + cross(w, cross(w, d)) + 2 * cross(w, axis) * qd[i] + axis * qdd[i]
                v_new = v_new + cross(w, d) + axis * qd[i]
            axes.append((p_new, axis))
            s = R @ exact(robot.links[i].frame.p)
            R = R @ exact(robot.links[i].frame.R)
            p, a = p_new + s, a_new + cross(alpha, s) + cross(w, cross(w, s))
            link.append((R, p, w, alpha, v_new + cross(w, s), a))
            demand.append([_demand(robot, robot.links[i], R, p, w, alpha, a)])
        if robot.payload is not None:
            f = robot.tip_frame
            R, p, w, alpha, _, a = link[f.link]
            s = R @ exact(f.pose.p)
            tip = (R @ exact(f.pose.R), p + s, w, alpha, a + cross(alpha, s) + cross(w, cross(w, s)))
            demand[f.link].append(_demand(robot, robot.payload, *tip))
        tau = np.array([mpf(float(j.armature)) * x for j, x in zip(robot.joints, qdd)], dtype=object)
        for k in range(robot.n):
            i = k
            while i >= 0:
                origin, axis = axes[i]
                for point, force, moment in demand[k]:
                    turning = robot.joints[i].is_revolute
                    tau[i] += axis @ (moment + cross(point - origin, force) if turning else force)
                i = robot.joints[i].parent
        return tau


def _demand(
    robot: Robot, body: Any, R: np.ndarray, p: np.ndarray, w: np.ndarray, alpha: np.ndarray, a: np.ndarray
) -> Any:
    """Centre of mass, force and moment about it that a body needs to move so against gravity."""
    c = R @ exact(body.com)
    I = R @ exact(body.inertia) @ R.T
    force = mpf(float(body.mass)) * (a + cross(alpha, c) + cross(w, cross(w, c)) - exact(robot.gravity))
    return p + c, force, I @ alpha + cross(w, I @ w)


def mass_matrix(robot: Robot, q: Any) -> np.ndarray:
    """M, n×n of ``mpf``, column by column from the torques of unit accelerations."""
    rest = np.zeros(robot.n)
    with mp.workdps(DIGITS):
        still = inverse_dynamics(robot, q, rest, rest)
        return np.stack([inverse_dynamics(robot, q, rest, e) - still for e in np.eye(robot.n)], axis=1)


def forward_dynamics(robot: Robot, q: Any, qd: Any, tau: Any) -> np.ndarray:
    """Accelerations, (n,) of ``mpf``."""
    with mp.workdps(DIGITS):
        b = exact(tau) - inverse_dynamics(robot, q, qd, np.zeros(robot.n))
        solved = mp.lu_solve(mp.matrix(mass_matrix(robot, q).tolist()), mp.matrix(b.tolist()))
        return np.array(list(solved), dtype=object)
