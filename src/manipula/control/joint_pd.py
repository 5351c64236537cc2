"""PD control of joints, bare and with gravity compensation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target
from manipula.parts.field import AnglePerJoint, PerJoint
from manipula.redundancy.arm import Arm


@dataclass(frozen=True)
class PD(Controller):
    r""":math:`\tau = K_p(q_d - q) + K_v(\dot q_d - \dot q)`."""

    kp: Annotated[Any, PerJoint("N·m/rad or N/m", "proportional gain K_p", least=0.0)]
    kv: Annotated[Any, PerJoint("N·m·s/rad or N·s/m", "derivative gain K_v", least=0.0)]
    goal: Annotated[Any, AnglePerJoint("rad or m", "fixed target; none follows the reference")] = None
    name: ClassVar[str] = "pd"
    smooth: ClassVar[bool] = True
    space: ClassVar[Space] = "joint"

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        return pd_torque(self, arm.n, q, qd, target)


@dataclass(frozen=True)
class PDGravity(PD):
    r""":math:`\tau = K_p(q_d - q) + K_v(\dot q_d - \dot q) + g(q)`: asymptotically stable at rest [Takegaki & Arimoto 1981]."""

    name: ClassVar[str] = "pd_gravity"

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        return super().torque(arm, t, q, qd, target, state) + arm.gravity(q)


def pd_torque(gains: Any, n: int, q: Vector, qd: Vector, target: Target) -> np.ndarray:
    """The proportional and derivative part for a controller with fields kp, kv and goal."""
    if gains.goal is not None:
        target = Target(per_joint(gains.goal, n), np.zeros(n), np.zeros(n))
    return array(per_joint(gains.kp, n) * (target.position - q) + per_joint(gains.kv, n) * (target.velocity - qd))
