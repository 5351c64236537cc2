"""Viscous friction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from manipula.algebra.ops import Scalar
from manipula.robot.friction.base import Damping, FrictionLaw


@dataclass(frozen=True)
class Viscous(FrictionLaw):
    r""":math:`\tau_f = b\,\dot q`."""

    damping: Damping
    name: ClassVar[str] = "viscous"
    smooth: ClassVar[bool] = True

    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (), load: Scalar = 0.0) -> Scalar:
        return self.damping * qd
