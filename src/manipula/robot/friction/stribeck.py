"""Friction that falls from a static to a kinetic level as motion begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.parts.field import Number
from manipula.robot.friction.base import Damping, FrictionLaw, Offset


@dataclass(frozen=True)
class Stribeck(FrictionLaw):
    r""":math:`\tau_f = \left(F_k + (F_s - F_k)\,e^{-(\dot q/v_s)^2}\right)\tanh(\dot q/v_0) + b\,\dot q + f_0`."""

    static: Annotated[Any, Number("N·m or N", "static friction F_s", least=0.0, example=2.0)]
    kinetic: Annotated[Any, Number("N·m or N", "kinetic friction F_k", least=0.0, example=1.0)]
    v_stribeck: Annotated[Any, Number("rad/s or m/s", "v_s, where the static level has faded", above=0.0, example=0.1)]
    width: Annotated[
        Any, Number("rad/s or m/s", "v_0 of the smoothed sign; keep it well below v_stribeck", above=0.0)
    ] = 1e-3
    damping: Damping = 0.0
    offset: Offset = 0.0
    name: ClassVar[str] = "stribeck"

    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (), load: Scalar = 0.0) -> Scalar:
        ratio = qd / self.v_stribeck
        level = self.kinetic + (self.static - self.kinetic) * ops.exp(-(ratio * ratio))
        return level * ops.tanh(qd / self.width) + self.damping * qd + self.offset
