"""Computed torque in joint space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, FrictionCompensation, Space, Target
from manipula.parts.field import PerJoint
from manipula.redundancy.arm import Arm


@dataclass(frozen=True)
class ComputedTorque(Controller):
    r""":math:`\tau = M(q)\left[\ddot q_d + K_v\dot e + K_p e\right] + C\dot q + g\;(+\;\tau_f)`.

    Each joint error then obeys :math:`\ddot e + K_v\dot e + K_p e = 0`.
    """

    kp: Annotated[Any, PerJoint("1/s²", "gain K_p on accelerations", least=0.0)]
    kv: Annotated[Any, PerJoint("1/s", "gain K_v on accelerations; 2√kp is critically damped", least=0.0)]
    friction: FrictionCompensation = True
    name: ClassVar[str] = "computed_torque"
    smooth: ClassVar[bool] = True
    space: ClassVar[Space] = "joint"

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        n = arm.n
        e, ed = target.position - q, target.velocity - qd
        a = target.acceleration + per_joint(self.kv, n) * ed + per_joint(self.kp, n) * e
        tau = arm.inverse_dynamics(q, qd, array(a))
        return tau + arm.friction(qd) if self.friction else tau
