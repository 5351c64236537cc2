"""Dry friction proportional to the load of the bearing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.parts.field import Number
from manipula.robot.friction.base import Damping, FrictionLaw, Width, diameter_unfit


@dataclass(frozen=True)
class LoadDependent(FrictionLaw):
    r""":math:`\tau_f = (F_0 + \mu f_n\,d/2)\tanh(\dot q/v_0) + b\dot q`, with the normal force f_n from the joint reactions.

    A prismatic joint has :math:`\mu f_n` without d/2.
    """

    coefficient: Annotated[Any, Number("1", "friction coefficient μ", least=0.0, example=0.1)]
    level: Annotated[Any, Number("N·m or N", "friction F_0 without load", least=0.0)] = 0.0
    diameter: Annotated[
        Any, Number("m", "bearing diameter d, required in a revolute joint; none in a prismatic one", above=0.0)
    ] = None
    width: Width = 1e-3
    damping: Damping = 0.0
    name: ClassVar[str] = "load_dependent"

    @property
    def needs_load(self) -> bool:
        return True

    def unfit(self, revolute: bool) -> str:
        return diameter_unfit(self, revolute)

    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (), load: Scalar = 0.0) -> Scalar:
        arm = 1.0 if self.diameter is None else self.diameter * 0.5
        level = self.level + self.coefficient * load * arm
        return level * ops.tanh(qd / self.width) + self.damping * qd
