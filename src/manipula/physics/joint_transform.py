"""Turning vectors and tensors between a joint's frame and its parent's, with the fewest operations."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from manipula.algebra import ops
from manipula.algebra.inertia import Moments
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.algebra.rotation import is_about_x
from manipula.physics.mechanism import Body, Mechanism

QUARTERS = {0: (0.0, 1.0), 1: (1.0, 0.0), 2: (0.0, -1.0), 3: (-1.0, 0.0)}  # sin, cos of k·π/2


class JointTransform(NamedTuple):
    """Where E_i stands against its parent at one q: rotation ``R0 · Rz`` with ``sin``, ``cos``, and translation p."""

    R0: np.ndarray
    s: Scalar
    c: Scalar
    p: np.ndarray
    turning: bool

    def up(self, v: Vector) -> np.ndarray:
        """Parent coordinates of a vector given in E_i."""
        if self.turning:
            v = array([self.c * v[0] - self.s * v[1], self.s * v[0] + self.c * v[1], v[2]])
        return self.R0 @ v

    def down(self, v: Vector) -> np.ndarray:
        """E_i coordinates of a vector given in the parent."""
        v = self.R0.T @ v
        if self.turning:
            v = array([self.c * v[0] + self.s * v[1], self.c * v[1] - self.s * v[0], v[2]])
        return v

    def matrix(self) -> np.ndarray:
        """R_PE, 3×3."""
        if not self.turning:
            return self.R0
        return self.R0 @ array([[self.c, -self.s, 0.0], [self.s, self.c, 0.0], [0.0, 0.0, 1.0]])

    def carry(self, m: Moments) -> Moments:
        """Moments of a body about the parent's origin, in the parent's axes, when they are given in E_i."""
        J = _turned(m.second, 2, self.s, self.c) if self.turning else m.second
        h = m.first
        if self.turning:
            h = array([self.c * h[0] - self.s * h[1], self.s * h[0] + self.c * h[1], h[2]])
        if is_about_x(self.R0):  # R0 = Rx(α): the same few products, about x
            J = _turned(J, 0, float(self.R0[2, 1]), float(self.R0[1, 1]))
        elif not np.array_equal(self.R0, np.eye(3)):
            J = self.R0 @ J @ self.R0.T
        h = self.R0 @ h
        return shifted(Moments(m.mass, h, J), self.p)


def shifted(m: Moments, p: Vector) -> Moments:
    r"""Moments about a point from which the body's origin stands at ``p``.

    .. math:: h' = h + m p,\quad J' = J + 2(p\cdot e)1 - (p e^T + e p^T),\quad e = h + \tfrac12 m p
    """
    mp = array([m.mass * x for x in p])
    e = m.first + 0.5 * mp
    px, py, pz = p
    xx, yy, zz = px * e[0], py * e[1], pz * e[2]
    J = m.second.astype(object) if isinstance(m.second, np.ndarray) else m.second
    out = np.empty((3, 3), dtype=object)
    out[0, 0] = J[0, 0] + 2.0 * (yy + zz)
    out[1, 1] = J[1, 1] + 2.0 * (xx + zz)
    out[2, 2] = J[2, 2] + 2.0 * (xx + yy)
    out[0, 1] = out[1, 0] = J[0, 1] - (px * e[1] + py * e[0])
    out[0, 2] = out[2, 0] = J[0, 2] - (px * e[2] + pz * e[0])
    out[1, 2] = out[2, 1] = J[1, 2] - (py * e[2] + pz * e[1])
    return Moments(m.mass, m.first + mp, array(out))


def _turned(J: np.ndarray, axis: int, s: Scalar, c: Scalar) -> np.ndarray:
    """``R J Rᵀ`` for a rotation about a principal axis, using w = s (J11 − J22) + 2 c J12."""
    z = axis
    x, y = (z + 1) % 3, (z + 2) % 3
    if isinstance(s, float) and s == 0.0 and c == 1.0:
        return J
    w = s * (J[x, x] - J[y, y]) + c * (2.0 * J[x, y])
    sw = s * w
    out = np.empty((3, 3), dtype=object)
    out[x, x], out[y, y], out[z, z] = J[x, x] - sw, J[y, y] + sw, J[z, z]
    out[x, y] = out[y, x] = c * w - J[x, y]
    out[x, z] = out[z, x] = c * J[x, z] - s * J[y, z]
    out[y, z] = out[z, y] = s * J[x, z] + c * J[y, z]
    return array(out)


def joint_transforms(mechanism: Mechanism, q: Vector) -> list[JointTransform]:
    """The pose of every joint frame against its parent at q."""
    return [_joint_transform(b, q[i]) for i, b in enumerate(mechanism.bodies)]


def _joint_transform(b: Body, q: Scalar) -> JointTransform:
    if not b.revolute:
        return JointTransform(b.R0, 0.0, 1.0, b.p0 + b.R0[:, 2] * q, False)
    quarter = b.phase / (math.pi / 2)
    if abs(quarter - round(quarter)) < 1e-15:
        s, c = ops.sin(q), ops.cos(q)
        s0, c0 = QUARTERS[round(quarter) % 4]
        s, c = (s * c0 if c0 else c * s0), (c * c0 if c0 else -(s * s0))
    else:
        s, c = ops.sin(q + b.phase), ops.cos(q + b.phase)
    return JointTransform(b.R0, s, c, b.p0, True)
