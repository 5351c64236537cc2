"""Torques computed ahead along the reference, with PD around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target
from manipula.parts.field import Flag, PerJoint
from manipula.redundancy.arm import Arm


@dataclass(frozen=True)
class FeedforwardPD(Controller):
    r""":math:`\tau = M(q_d)\ddot q_d + C(q_d, \dot q_d)\dot q_d + g(q_d)\;(+\;\tau_f(\dot q_d)) + K_p(q_d - q) + K_v(\dot q_d - \dot q)`.

    The model is evaluated along the reference only, so its torques can be computed before the motion; near the reference it tracks
    like computed torque, with gains in torque instead of acceleration [An, Atkeson & Hollerbach 1988, §6].
    """

    kp: Annotated[Any, PerJoint("N·m/rad or N/m", "proportional gain K_p", least=0.0)]
    kv: Annotated[Any, PerJoint("N·m·s/rad or N·s/m", "derivative gain K_v", least=0.0)]
    friction: Annotated[
        bool,
        Flag(
            "add friction without state and load, at the speed of the reference: that of the run, or that of the controller's own model"
        ),
    ] = True
    name: ClassVar[str] = "feedforward_pd"
    space: ClassVar[Space] = "joint"
    smooth: ClassVar[bool] = True

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        n = arm.n
        tau = arm.inverse_dynamics(target.position, target.velocity, target.acceleration)
        if self.friction:
            tau = tau + arm.friction(target.velocity)
        errors = target.position - q, target.velocity - qd
        return array(tau + per_joint(self.kp, n) * errors[0] + per_joint(self.kv, n) * errors[1])
