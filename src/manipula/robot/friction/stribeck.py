"""Friction that falls from a static to a kinetic level as motion begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.robot.friction.base import FrictionLaw


@dataclass(frozen=True)
class Stribeck(FrictionLaw):
    r""":math:`\tau_f = \left(F_k + (F_s - F_k)\,e^{-(\dot q/v_s)^2}\right)\tanh(\dot q/v_0) + b\,\dot q`.

    Attributes:
        static: F_s [N·m or N]. kinetic: F_k [N·m or N].
        v_stribeck: v_s [rad/s or m/s], where the static level has faded.
        width: v_0 [rad/s or m/s] of the smoothed sign; keep it well below ``v_stribeck``.
        damping: b [N·m·s/rad or N·s/m].
    """

    static: Any
    kinetic: Any
    v_stribeck: Any
    width: Any = 1e-3
    damping: Any = 0.0
    name: ClassVar[str] = "stribeck"

    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (), load: Scalar = 0.0) -> Scalar:
        ratio = qd / self.v_stribeck
        level = self.kinetic + (self.static - self.kinetic) * ops.exp(-(ratio * ratio))
        return level * ops.tanh(qd / self.width) + self.damping * qd
