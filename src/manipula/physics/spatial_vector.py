r"""Bodies and joints seen from one frame: the form in which composites are plain sums.

Spatial vectors are pairs (angular, linear) at the origin O of one frame, in its axes. A motion (ω, v) has the velocity v
of the body-fixed point at O; a force (n, f) has its moment n about O. Joint axis i is :math:`S_i = (z, p\times z)` when it turns
and :math:`(0, z)` when it slides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from manipula.algebra.inertia import Moments
from manipula.algebra.linear import array, cross, dot
from manipula.algebra.ops import Scalar, Vector
from manipula.physics.joint_transform import joint_transforms, shifted
from manipula.physics.kinematics import Placement
from manipula.physics.lift import Lift
from manipula.physics.mechanism import Mechanism


class SpatialVector(NamedTuple):
    """A spatial vector: angular and linear part (motion), or moment and force."""

    w: np.ndarray
    v: np.ndarray

    def __add__(self, other: SpatialVector) -> SpatialVector:  # pyright: ignore[reportIncompatibleMethodOverride]
        return SpatialVector(self.w + other.w, self.v + other.v)

    def scaled(self, k: Scalar) -> SpatialVector:
        return SpatialVector(self.w * k, self.v * k)

    def on_motion(self, m: SpatialVector) -> SpatialVector:
        r"""Motion × motion: :math:`(\omega\times m_\omega,\ \omega\times m_v + v\times m_\omega)`."""
        return SpatialVector(cross(self.w, m.w), cross(self.w, m.v) + cross(self.v, m.w))

    def on_force(self, f: SpatialVector) -> SpatialVector:
        r"""Motion ×* force: :math:`(\omega\times n + v\times f,\ \omega\times f)`."""
        return SpatialVector(cross(self.w, f.w) + cross(self.v, f.v), cross(self.w, f.v))

    def dot(self, f: SpatialVector) -> Scalar:
        """Power of a force on a motion."""
        return dot(self.w, f.w) + dot(self.v, f.v)


ZERO = SpatialVector(np.zeros(3), np.zeros(3))


def axes(mechanism: Mechanism, where: Placement) -> list[SpatialVector]:
    """Joint axes S_i."""
    found = []
    for i, b in enumerate(mechanism.bodies):
        z = where.R[i][:, 2]
        found.append(SpatialVector(z, cross(where.p[i], z)) if b.revolute else SpatialVector(np.zeros(3), z))
    return found


def bodies(mechanism: Mechanism, where: Placement) -> list[Moments]:
    """Moments of every body about O."""
    found = []
    for i, b in enumerate(mechanism.bodies):
        R = where.R[i]
        J = b.moments.second
        turned = R @ J @ R.T if J.dtype == object or J.any() else J
        found.append(shifted(Moments(b.moments.mass, R @ b.moments.first, turned), where.p[i]))
    return found


def velocities(mechanism: Mechanism, S: list[SpatialVector], qd: Vector) -> list[SpatialVector]:
    """Spatial velocity of every link."""
    v: list[SpatialVector] = []
    for i, b in enumerate(mechanism.bodies):
        step = S[i].scaled(qd[i])
        v.append(v[b.parent] + step if b.parent >= 0 else step)
    return v


def momentum(m: Moments, v: SpatialVector) -> SpatialVector:
    r"""Inertia times motion: :math:`(J\omega + h\times v,\ m v + \omega\times h)`."""
    return SpatialVector(m.second @ v.w + cross(m.first, v.v), array([m.mass * x for x in v.v]) + cross(v.w, m.first))


class Gyroscopic(NamedTuple):
    r"""The matrix :math:`B = \tfrac12[(v\times^*)I - I(v\times) + (Iv)\bar\times^*]` of a body or composite.

    Written out for a rigid body it is :math:`B = -\begin{bmatrix} K & 0 \\ \hat P & 0 \end{bmatrix}` with the linear momentum P and
    :math:`K = \hat\omega\Sigma + \hat h\hat v`, :math:`\Sigma = \tfrac12\mathrm{tr}(J)1 - J`: twelve numbers, and they add.
    """

    K: np.ndarray
    P: np.ndarray

    def __add__(self, other: Gyroscopic) -> Gyroscopic:  # pyright: ignore[reportIncompatibleMethodOverride]
        return Gyroscopic(self.K + other.K, self.P + other.P)

    def times(self, m: SpatialVector) -> SpatialVector:
        """B m, a force."""
        return SpatialVector(-(self.K @ m.w), -cross(self.P, m.w))

    def transposed_times(self, m: SpatialVector) -> SpatialVector:
        """Bᵀ m, a force (its linear part is zero)."""
        return SpatialVector(cross(self.P, m.v) - self.K.T @ m.w, np.zeros(3))


def gyroscopic(m: Moments, v: SpatialVector) -> Gyroscopic:
    """B of one body."""
    J, h = m.second, m.first
    half = 0.5 * (J[0, 0] + J[1, 1] + J[2, 2])
    sigma = array(
        [
            [half - J[0, 0], -J[0, 1], -J[0, 2]],
            [-J[1, 0], half - J[1, 1], -J[1, 2]],
            [-J[2, 0], -J[2, 1], half - J[2, 2]],
        ]
    )
    spin = np.stack([cross(v.w, sigma[:, k]) for k in range(3)], axis=1)
    vh = dot(v.v, h)
    product = np.outer(v.v, h) - vh * np.eye(3)  # ĥ v̂
    return Gyroscopic(spin + product, momentum(m, v).v)


class Scene(NamedTuple):
    """Axes, bodies and gravity at one q, seen from a frame that rests there for the moment."""

    S: list[SpatialVector]
    inertia: list[Moments]
    gravity: np.ndarray


def scene(mechanism: Mechanism, q: Vector, centre: int | None = None) -> Scene:
    """Axes, bodies and gravity in the frame of link ``centre``, by default the one in the middle of the arm.

    Joint torques and their derivatives do not depend on the frame in which spatial vectors are written down, so the choice
    is free: from the middle, fewer rotations lie between the observer and the links, and fewer products are needed.
    """
    centre = mechanism.n // 2 if centre is None else centre
    at = joint_transforms(mechanism, q)
    R: list[np.ndarray | None] = [None] * mechanism.n
    p: list[np.ndarray | None] = [None] * mechanism.n
    R[centre], p[centre] = np.eye(3), np.zeros(3)
    i, up_R, up_p = centre, np.eye(3), np.zeros(3)
    while True:  # from the centre towards the base: inverse poses
        up_R, up_p = up_R @ at[i].matrix().T, up_p - up_R @ at[i].down(at[i].p)
        i = mechanism.bodies[i].parent
        if i < 0:
            break
        R[i], p[i] = up_R, up_p
    for i, b in enumerate(mechanism.bodies):  # everything else from its parent
        if R[i] is None:
            R_up, p_up = (R[b.parent], p[b.parent]) if b.parent >= 0 else (up_R, up_p)
            assert R_up is not None
            assert p_up is not None
            R[i], p[i] = R_up @ at[i].matrix(), p_up + R_up @ at[i].p
    where = Placement([r for r in R if r is not None], [x for x in p if x is not None])
    return Scene(axes(mechanism, where), bodies(mechanism, where), up_R @ mechanism.gravity)


def scene_of_lifts(mechanism: Mechanism, q: Vector) -> Scene:
    """The same with what is carried of every body's weight in place of the bodies; it has mass and first moment alone."""
    nothing = np.zeros((3, 3))
    lifted = [b.lift or Lift(0.0, np.zeros(3)) for b in mechanism.bodies]
    bodies = tuple(replace(b, moments=Moments(x.mass, x.first, nothing)) for b, x in zip(mechanism.bodies, lifted))
    return scene(replace(mechanism, bodies=bodies), q)


__all__ = [
    "ZERO",
    "Gyroscopic",
    "SpatialVector",
    "axes",
    "bodies",
    "gyroscopic",
    "momentum",
    "scene",
    "scene_of_lifts",
    "velocities",
]
