"""Where frames of the arm are and how they move in the world, as wrenches and contacts see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, cross, dot
from manipula.algebra.ops import Scalar, Vector
from manipula.physics import kinematics
from manipula.physics.kinematics import find_frame
from manipula.physics.mechanism import Mechanism
from manipula.simulation.plant.base_motion import BaseState


class FrameMotion(NamedTuple):
    """A frame in axes of the world: rotation, origin, velocity of the origin, angular velocity, and J in axes of the base, (6, n)."""

    R: np.ndarray
    p: np.ndarray
    v: np.ndarray
    w: np.ndarray
    J: np.ndarray


class Surroundings:
    """The arm at one state, in a world in which its base may move."""

    def __init__(self, mechanism: Mechanism, q: Vector, qd: Vector, base: BaseState | None = None) -> None:
        self.mechanism, self.q, self.qd, self.base = mechanism, q, qd, base

    def frame(self, name: str) -> FrameMotion:
        """The frame of this name."""
        J = kinematics.jacobian(self.mechanism, self.q, name)
        X, twist = kinematics.pose(self.mechanism, self.q, name), array(J @ self.qd)
        R, p, v, w = X[:3, :3], X[:3, 3], twist[:3], twist[3:]
        if self.base is None:
            return FrameMotion(R, p, v, w, J)
        b = self.base
        arm = array(b.R @ p)
        return FrameMotion(
            array(b.R @ R), array(b.p + arm), array(b.v + cross(b.w, arm) + b.R @ v), array(b.w + b.R @ w), J
        )

    def torques(self, at: FrameMotion, wrench: Vector) -> np.ndarray:
        """Jᵀ w of a wrench at the frame's origin in axes of the world, (n,)."""
        if self.base is not None:
            wrench = array([*(self.base.R.T @ wrench[:3]), *(self.base.R.T @ wrench[3:])])
        return array(at.J.T @ wrench)

    def work_of(self, at: FrameMotion, wrench: Vector) -> tuple[np.ndarray, Scalar]:
        """Torques of a wrench on the joints, and the power that it gives to the arm [W]."""
        torques = self.torques(at, wrench)
        return torques, dot(wrench[:3], at.v) + dot(wrench[3:], at.w)

    def travel(self, name: str, away: Scalar, way: Sequence[Scalar]) -> Scalar | None:
        r"""How far a point at the distance ``away`` from a frame's origin moves at most while the joints go these ways, (n,).

        A joint that turns moves it by its way times the lengths between them, one that slides by its way. None: the base moves.
        """
        if self.base is not None:
            return None
        mechanism, frame, q = self.mechanism, find_frame(self.mechanism, name), self.q
        if mechanism.coupling is not None:
            q = mechanism.coupling.expand(q)
            way = [ops.abs(v) for v in mechanism.coupling.expand(array(way))]
        total: Scalar = 0.0
        length = away + _length(frame.pose.p)
        for i in () if frame.link < 0 else (frame.link, *mechanism.ancestors(frame.link)):
            body = mechanism.bodies[i]
            total = total + (way[i] * length if body.revolute else way[i])
            length = length + _length(body.p0) + (0.0 if body.revolute else ops.abs(q[i]) + way[i])
        return total


def _length(v: Vector) -> Scalar:
    return ops.sqrt(dot(v, v))
