"""Dry friction, smoothed through zero, with viscous friction and a constant offset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.robot.friction.base import FrictionLaw


@dataclass(frozen=True)
class Coulomb(FrictionLaw):
    r""":math:`\tau_f = F_c \tanh(\dot q / v_0) + b\,\dot q + f_0`.

    There is no stiction: below ``width`` the joint creeps. Choose ``width`` a hundredth of the speeds that matter; a smaller
    one makes the equations stiff (fixed steps must stay below about ``M·width/F_c``).

    Attributes:
        level: F_c [N·m or N].
        width: v_0 [rad/s or m/s], the speed at which 76 % of the level is reached.
        damping: b [N·m·s/rad or N·s/m].
        offset: f_0 [N·m or N], a constant torque such as that of a cable, a spring or the zero of a sensor; it is found by
            identification and does not oppose motion.
    """

    level: Any
    width: Any = 1e-3
    damping: Any = 0.0
    offset: Any = 0.0
    name: ClassVar[str] = "coulomb"

    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (), load: Scalar = 0.0) -> Scalar:
        return self.level * ops.tanh(qd / self.width) + self.damping * qd + self.offset
