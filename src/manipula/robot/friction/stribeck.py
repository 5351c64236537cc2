"""Friction that falls from a static to a kinetic level as motion begins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.parts.field import Number
from manipula.robot.friction.base import NOTHING, SLOWEST, Damping, FrictionLaw, Offset

HIDDEN = 55.0 * math.log(2.0)  # e^-HIDDEN of a number, added to it, changes no bit of it
LEAST = 5e-324  # the smallest number: beside no kinetic level nothing fades before it


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

    def sliding(self, qd: Scalar, state: tuple[Scalar, ...] = (), load: Scalar = 0.0) -> Scalar:
        """The same for loops that are run many times: quotients become products, and where the static level has faded to less than the last bit
        of F_k there is no exponential."""
        ratio = qd * (1.0 / ops.maximum(self.v_stribeck, SLOWEST))  # one division in a whole run
        power, drop = ratio * ratio, self.static - self.kinetic
        faded = HIDDEN + ops.log(ops.maximum(ops.abs(drop), SLOWEST) / ops.maximum(self.kinetic, LEAST))
        level = self.kinetic + drop * ops.exp(ops.where(power < faded, -power, NOTHING))
        return level * ops.tanh(qd * (1.0 / ops.maximum(self.width, SLOWEST))) + self.damping * qd + self.offset
