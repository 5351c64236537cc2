"""Dry friction, smoothed through zero, with viscous friction and a constant offset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.parts.field import Number
from manipula.robot.friction.base import Damping, FrictionLaw, Offset, Width


@dataclass(frozen=True)
class Coulomb(FrictionLaw):
    r""":math:`\tau_f = F_c \tanh(\dot q / v_0) + b\,\dot q + f_0`.

    There is no stiction: below ``width`` the joint creeps. Choose ``width`` a hundredth of the speeds that matter; a smaller
    one makes the equations stiff (fixed steps must stay below about ``M·width/F_c``).
    """

    level: Annotated[Any, Number("N·m or N", "dry friction F_c", least=0.0)]
    width: Width = 1e-3
    damping: Damping = 0.0
    offset: Offset = 0.0
    name: ClassVar[str] = "coulomb"

    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (), load: Scalar = 0.0) -> Scalar:
        return self.level * ops.tanh(qd / self.width) + self.damping * qd + self.offset
