"""Dry and viscous friction that differ with the direction of motion, as in worm gears and counterbalanced joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.robot.friction.base import FrictionLaw


@dataclass(frozen=True)
class Asymmetric(FrictionLaw):
    r""":math:`\tau_f = F_\pm \tanh(\dot q / v_0) + b_\pm\,\dot q` with the constants of the direction of motion.

    Attributes:
        forward, backward: dry levels F₊, F₋ [N·m or N], both positive.
        damping_forward, damping_backward: b₊, b₋ [N·m·s/rad or N·s/m].
        width: v_0 [rad/s or m/s].
    """

    forward: Any
    backward: Any
    damping_forward: Any = 0.0
    damping_backward: Any = 0.0
    width: Any = 1e-3
    name: ClassVar[str] = "asymmetric"

    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (), load: Scalar = 0.0) -> Scalar:
        ahead = qd > 0.0
        level = ops.where(ahead, self.forward, self.backward)
        damping = ops.where(ahead, self.damping_forward, self.damping_backward)
        return level * ops.tanh(qd / self.width) + damping * qd
