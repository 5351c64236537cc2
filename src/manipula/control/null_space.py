r"""Secondary criteria of redundant arms: what the null space is used for.

A criterion gives the joint velocity or acceleration :math:`z = -k\,\nabla w(q)` that improves it; control and inverse
kinematics project it, :math:`(1-J^+J)z`.
Gradients come from Taylor numbers: exact, for any scalar.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.jet import gradient
from manipula.algebra.linear import array, dot, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.control.arm import Arm
from manipula.control.base import freeze, spread


class Criterion(ABC):
    """A cost w(q) to be kept small by motion that the task does not see."""

    name: ClassVar[str]
    gain: Any

    def __post_init__(self) -> None:
        freeze(self)

    @abstractmethod
    def cost(self, arm: Arm, q: Vector) -> Scalar:
        """w(q)."""

    def direction(self, arm: Arm, q: Vector) -> np.ndarray:
        r""":math:`-k\nabla w`, (n,)."""
        return array([-self.gain * g for g in gradient(lambda x: self.cost(arm, x), q)])


@dataclass(frozen=True)
class Posture(Criterion):
    r""":math:`w = \tfrac12\sum_i (q_i - q_{0i})^2`: stay near a favourite posture."""

    goal: Any
    gain: Any = 1.0
    name: ClassVar[str] = "posture"

    def cost(self, arm: Arm, q: Vector) -> Scalar:
        e = q - spread(self.goal, arm.n)
        return 0.5 * dot(e, e)

    def direction(self, arm: Arm, q: Vector) -> np.ndarray:
        return array(-self.gain * (q - spread(self.goal, arm.n)))


@dataclass(frozen=True)
class JointLimits(Criterion):
    r""":math:`w = \tfrac12\sum_i \left(\frac{q_i - \bar q_i}{q_i^{max}-q_i^{min}}\right)^2` over the joints that have limits
    [Liégeois 1977]."""

    gain: Any = 1.0
    name: ClassVar[str] = "joint_limits"

    def cost(self, arm: Arm, q: Vector) -> Scalar:
        total: Scalar = 0.0
        for i, (low, high) in enumerate(np.asarray(arm.robot.position_limits, float)):
            if np.isfinite(low) and np.isfinite(high) and high > low:
                e = (q[i] - 0.5 * (low + high)) * (1.0 / (high - low))
                total = total + 0.5 * e * e
        return total


@dataclass(frozen=True)
class Manipulability(Criterion):
    r""":math:`w = -\sqrt{\det JJ^T}` [Yoshikawa 1985]: away from singular postures."""

    gain: Any = 1.0
    name: ClassVar[str] = "manipulability"

    def cost(self, arm: Arm, q: Vector) -> Scalar:
        J = arm.task_jacobian(q)
        return -ops.sqrt(determinant(J @ J.T))


@dataclass(frozen=True)
class MinimumTorque(Criterion):
    r""":math:`w = \tfrac12\sum_i (g_i(q)/\tau_i)^2`: postures that are cheap to hold; τ is the effort limit where there is one."""

    gain: Any = 1.0
    name: ClassVar[str] = "minimum_torque"

    def cost(self, arm: Arm, q: Vector) -> Scalar:
        g = arm.gravity(q)
        total: Scalar = 0.0
        for i, joint in enumerate(arm.robot.joints):
            scale = 1.0 / float(joint.limits.effort) if joint.limits.effort else 1.0
            total = total + 0.5 * (g[i] * scale) * (g[i] * scale)
        return total


@dataclass(frozen=True)
class ObstacleDistance(Criterion):
    r""":math:`w = \tfrac12\sum \max(0,\, r - |p_k - c|)^2` over joint origins and the tip: keep a sphere clear.

    Attributes:
        centre: c [m]. radius: r [m], where repulsion begins.
    """

    centre: Any
    radius: Any
    gain: Any = 1.0
    name: ClassVar[str] = "obstacle_distance"

    def cost(self, arm: Arm, q: Vector) -> Scalar:
        from manipula.physics.kinematics import place

        where = place(arm.full, q)
        total: Scalar = 0.0
        for p in [*where.p[1:], arm.position(q)]:
            r = p - array(self.centre)
            depth = ops.maximum(0.0, self.radius - ops.sqrt(dot(r, r)))
            total = total + 0.5 * depth * depth
        return total


def determinant(A: np.ndarray) -> Scalar:
    """Determinant of a small symmetric positive definite matrix, any scalar."""
    from manipula.algebra.linear import ldl

    _, D = ldl(A)
    product: Scalar = D[0]
    for d in D[1:]:
        product = product * d
    return product


def combined(criteria: tuple[Criterion, ...], arm: Arm, q: Vector) -> np.ndarray:
    """Sum of the directions of several criteria, (n,)."""
    total = zeros(arm.n)
    for criterion in criteria:
        total = total + criterion.direction(arm, q)
    return array(total)


REGISTRY: dict[str, type[Criterion]] = {
    c.name: c for c in (Posture, JointLimits, Manipulability, MinimumTorque, ObstacleDistance)
}
