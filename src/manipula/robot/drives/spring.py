"""A spring beside the motor, between the joint and what carries it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra.ops import Scalar
from manipula.parts.field import Number
from manipula.robot.drives.base import Drive


@dataclass(frozen=True)
class Spring(Drive):
    r"""The command reaches the link, and a spring pulls the joint to its rest position: :math:`\tau = u - k\,(q - q_0)`."""

    stiffness: Annotated[Any, Number("N·m/rad or N/m", "stiffness k", least=0.0)]
    rest: Annotated[Any, Number("rad or m", "position q_0 in which the spring is slack")] = 0.0
    name: ClassVar[str] = "spring"
    smooth: ClassVar[bool] = True

    def torque(
        self, command: Scalar, t: Scalar, q: Scalar, qd: Scalar, state: tuple[Scalar, ...], rotor: Scalar
    ) -> Scalar:
        return command - self.stiffness * (q - self.rest)

    def stored_energy(self, q: Scalar, qd: Scalar, state: tuple[Scalar, ...], rotor: Scalar, t: Scalar = 0.0) -> Scalar:
        return 0.5 * self.stiffness * (q - self.rest) ** 2
