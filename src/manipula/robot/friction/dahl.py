"""Presliding friction of Dahl: a spring that yields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.parts.field import Number
from manipula.robot.friction.base import Damping, FrictionLaw


@dataclass(frozen=True)
class Dahl(FrictionLaw):
    r""":math:`\tau_f = \sigma z + b\dot q,\quad \dot z = \dot q - \sigma\,|\dot q|\,z / F_c` [Dahl 1968]."""

    stiffness: Annotated[Any, Number("N·m/rad or N/m", "σ, slope of the torque at the start of motion", least=0.0)]
    level: Annotated[Any, Number("N·m or N", "F_c, reached when sliding", above=0.0)]
    damping: Damping = 0.0
    name: ClassVar[str] = "dahl"
    states: ClassVar[int] = 1

    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (0.0,), load: Scalar = 0.0) -> Scalar:
        return self.stiffness * state[0] + self.damping * qd

    def state_rate(self, qd: Scalar, state: tuple[Scalar, ...], load: Scalar = 0.0) -> tuple[Scalar, ...]:
        (z,) = state
        return (qd - self.stiffness * ops.abs(qd) * z / self.level,)
