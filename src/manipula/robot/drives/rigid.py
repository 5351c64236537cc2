"""A motor bolted to its joint through an ideal gear, with optional limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.errors import DescriptionError
from manipula.parts.field import Number
from manipula.robot.drives.base import Drive


@dataclass(frozen=True)
class Rigid(Drive):
    r"""The command reaches the link, cut to :math:`\pm\tau_{max}` and to the speed–torque line of the motor."""

    torque_limit: Annotated[
        Any, Number("N·m or N", "largest torque τ_max, joint side; none for no limit", least=0.0)
    ] = None
    speed_limit: Annotated[
        Any,
        Number(
            "rad/s or m/s", "speed at which no torque is left in the direction of motion; none for no limit", above=0.0
        ),
    ] = None
    name: ClassVar[str] = "rigid"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.speed_limit is not None and self.torque_limit is None:
            raise DescriptionError("The speed–torque line needs a torque_limit as well.", field="speed_limit")

    def torque(
        self, command: Scalar, t: Scalar, q: Scalar, qd: Scalar, state: tuple[Scalar, ...], rotor: Scalar
    ) -> Scalar:
        if self.torque_limit is None:
            return command
        high = low = self.torque_limit
        if self.speed_limit is not None:
            high = self.torque_limit * ops.minimum(1.0, ops.maximum(0.0, 1.0 - qd / self.speed_limit))
            low = self.torque_limit * ops.minimum(1.0, ops.maximum(0.0, 1.0 + qd / self.speed_limit))
        return ops.minimum(high, ops.maximum(-low, command))
