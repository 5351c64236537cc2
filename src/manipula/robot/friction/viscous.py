"""Viscous friction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra.ops import Scalar
from manipula.parts.field import Number
from manipula.robot.friction.base import FrictionLaw


@dataclass(frozen=True)
class Viscous(FrictionLaw):
    r""":math:`\tau_f = b\,\dot q`."""

    damping: Annotated[Any, Number("N·m·s/rad or N·s/m", "viscous friction b", least=0.0)]
    name: ClassVar[str] = "viscous"

    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (), load: Scalar = 0.0) -> Scalar:
        return self.damping * qd
