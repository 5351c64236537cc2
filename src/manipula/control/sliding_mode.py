"""Sliding-mode control with a boundary layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target
from manipula.parts.field import PerJoint
from manipula.redundancy.arm import Arm


@dataclass(frozen=True)
class SlidingMode(Controller):
    r""":math:`s = \dot e + \Lambda e,\quad \tau = M(\ddot q_d + \Lambda\dot e) + C\dot q + g + K\tanh(s/\phi)` [Slotine & Li 1991, §7.1]."""

    slope: Annotated[Any, PerJoint("1/s", "slope Λ of the sliding surface", least=0.0)]
    gain: Annotated[Any, PerJoint("N·m or N", "K, larger than the model's error", least=0.0)]
    layer: Annotated[
        Any,
        PerJoint("rad/s or m/s", "width φ of the boundary layer; thinner follows better and chatters more", above=0.0),
    ] = 0.05
    name: ClassVar[str] = "sliding_mode"
    space: ClassVar[Space] = "joint"

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        n = arm.n
        slope, gain, layer = per_joint(self.slope, n), per_joint(self.gain, n), per_joint(self.layer, n)
        e, ed = target.position - q, target.velocity - qd
        s = ed + slope * e
        push = array([gain[i] * ops.tanh(s[i] / layer[i]) for i in range(n)])
        return arm.inverse_dynamics(q, qd, array(target.acceleration + slope * ed)) + push
