"""Dry and viscous friction that differ with the direction of motion, as in worm gears and counterbalanced joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.parts.field import Number
from manipula.robot.friction.base import FrictionLaw, Width


@dataclass(frozen=True)
class Asymmetric(FrictionLaw):
    r""":math:`\tau_f = F_\pm \tanh(\dot q / v_0) + b_\pm\,\dot q` with the constants of the direction of motion."""

    forward: Annotated[Any, Number("N·m or N", "dry friction F₊ of positive speeds", least=0.0)]
    backward: Annotated[Any, Number("N·m or N", "dry friction F₋ of negative speeds", least=0.0)]
    damping_forward: Annotated[Any, Number("N·m·s/rad or N·s/m", "viscous friction b₊", least=0.0)] = 0.0
    damping_backward: Annotated[Any, Number("N·m·s/rad or N·s/m", "viscous friction b₋", least=0.0)] = 0.0
    width: Width = 1e-3
    name: ClassVar[str] = "asymmetric"

    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (), load: Scalar = 0.0) -> Scalar:
        ahead = qd > 0.0
        level = ops.where(ahead, self.forward, self.backward)
        damping = ops.where(ahead, self.damping_forward, self.damping_backward)
        return level * ops.tanh(qd / self.width) + damping * qd
