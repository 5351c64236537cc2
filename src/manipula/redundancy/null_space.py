r"""Secondary criteria of redundant arms: what the null space is used for.

A criterion gives the joint velocity or acceleration :math:`z = -k\,\nabla w(q)` that improves it; control and inverse
kinematics project it, :math:`(1-J^+J)z`.
Gradients come from Taylor numbers: exact, for any scalar.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array, dot, ldl
from manipula.algebra.ops import Scalar, Vector
from manipula.parts.field import AnglePerJoint
from manipula.parts.registry import PartKind
from manipula.redundancy.arm import Arm
from manipula.redundancy.criterion import Criterion, Gain, combined
from manipula.redundancy.joint_limits import JointLimits
from manipula.redundancy.obstacle_distance import ObstacleDistance


@dataclass(frozen=True)
class Posture(Criterion):
    r""":math:`w = \tfrac12\sum_i (q_i - q_{0i})^2`: stay near a favourite posture."""

    goal: Annotated[Any, AnglePerJoint("rad or m", "favourite posture q_0")]
    gain: Gain = 1.0
    name: ClassVar[str] = "posture"

    def cost(self, arm: Arm, q: Vector) -> Scalar:
        e = q - per_joint(self.goal, arm.n)
        return 0.5 * dot(e, e)

    def direction(self, arm: Arm, q: Vector) -> np.ndarray:
        return array(-self.gain * (q - per_joint(self.goal, arm.n)))


@dataclass(frozen=True)
class Manipulability(Criterion):
    r""":math:`w = -\sqrt{\det JJ^T}` [Yoshikawa 1985]: away from singular postures."""

    gain: Gain = 1.0
    name: ClassVar[str] = "manipulability"

    def cost(self, arm: Arm, q: Vector) -> Scalar:
        J = arm.task_jacobian(q)
        return -ops.sqrt(determinant(J @ J.T))


@dataclass(frozen=True)
class MinimumTorque(Criterion):
    r""":math:`w = \tfrac12\sum_i (g_i(q)/\tau_i)^2`: postures that are cheap to hold; τ is the effort limit where there is one."""

    gain: Gain = 1.0
    name: ClassVar[str] = "minimum_torque"

    def cost(self, arm: Arm, q: Vector) -> Scalar:
        g = arm.gravity(q)
        total: Scalar = 0.0
        for i, joint in enumerate(arm.robot.joints):
            scale = 1.0 / float(joint.limits.effort) if joint.limits.effort else 1.0
            total = total + 0.5 * (g[i] * scale) * (g[i] * scale)
        return total


def determinant(A: np.ndarray) -> Scalar:
    """Determinant of a small symmetric positive definite matrix, any scalar."""
    _, D = ldl(A)
    product: Scalar = D[0]
    for d in D[1:]:
        product = product * d
    return product


REGISTRY: dict[str, type[Criterion]] = {
    c.name: c for c in (Posture, JointLimits, Manipulability, MinimumTorque, ObstacleDistance)
}
KIND = PartKind("criterion", "criterion", REGISTRY, "manipula.redundancy.null_space.REGISTRY", public="mp.control")

__all__ = [
    "KIND",
    "REGISTRY",
    "Criterion",
    "JointLimits",
    "Manipulability",
    "MinimumTorque",
    "ObstacleDistance",
    "Posture",
    "combined",
]
