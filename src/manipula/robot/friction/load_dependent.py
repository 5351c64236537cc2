"""Dry friction proportional to the load of the bearing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.robot.friction.base import FrictionLaw


@dataclass(frozen=True)
class LoadDependent(FrictionLaw):
    r""":math:`\tau_f = (F_0 + \mu f_n\,d/2)\tanh(\dot q/v_0) + b\dot q`, with the normal force f_n from the joint reactions.

    Attributes:
        coefficient: μ. level: F_0 [N·m or N] without load.
        diameter: d [m] of a revolute joint's bearing; ``None`` for a prismatic joint (then :math:`\mu f_n`).
        width: v_0 [rad/s or m/s]. damping: b [N·m·s/rad or N·s/m].
    """

    coefficient: Any
    level: Any = 0.0
    diameter: Any = None
    width: Any = 1e-3
    damping: Any = 0.0
    name: ClassVar[str] = "load_dependent"

    @property
    def needs_load(self) -> bool:
        return True

    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (), load: Scalar = 0.0) -> Scalar:
        arm = 1.0 if self.diameter is None else self.diameter * 0.5
        level = self.level + self.coefficient * load * arm
        return level * ops.tanh(qd / self.width) + self.damping * qd
