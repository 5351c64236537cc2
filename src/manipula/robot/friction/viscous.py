"""Viscous friction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from manipula.algebra.ops import Scalar
from manipula.robot.friction.base import FrictionLaw


@dataclass(frozen=True)
class Viscous(FrictionLaw):
    r""":math:`\tau_f = b\,\dot q`.

    Attributes:
        damping: b [N·m·s/rad or N·s/m].
    """

    damping: Any
    name: ClassVar[str] = "viscous"

    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (), load: Scalar = 0.0) -> Scalar:
        return self.damping * qd
