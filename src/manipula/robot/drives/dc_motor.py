"""A permanent-magnet DC motor under a limited voltage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.parts.field import Choice, Number
from manipula.robot.drives.base import Drive

COMMANDS = ("torque", "voltage")


@dataclass(frozen=True)
class DCMotor(Drive):
    r"""Armature circuit :math:`L\,\dot i = V - R i - k\,N\dot q`, torque :math:`\tau = N k\,i`, under the voltage
    :math:`V = R\,u/(Nk) + kN\dot q` that holds the commanded torque u against the back-EMF, cut to ``±voltage``.

    An arm without commands is therefore not braked by its motors, unless the voltage is too small for its speed. With
    ``command="voltage"`` the controller's command is V itself [V], as for a bare amplifier: then the back-EMF brakes, also without a
    command, like a damper :math:`(Nk)^2/R`. Gains of the controller are volts per radian then, and limits of the command volts.
    """

    torque_constant: Annotated[Any, Number("N·m/A", "torque constant k, also V·s/rad", above=0.0, example=0.1)]
    resistance: Annotated[Any, Number("Ω", "armature resistance R", least=0.0, example=0.5)]
    inductance: Annotated[Any, Number("H", "armature inductance L", above=0.0, example=0.001)]
    gear_ratio: Annotated[Any, Number("1", "gear ratio N; none takes that of the joint", nonzero=True)] = None
    voltage: Annotated[Any, Number("V", "largest voltage; none for no limit", least=0.0)] = None
    command: Annotated[str, Choice("what the controller's command is: joint torque, or voltage", *COMMANDS)] = "torque"
    initial_current: Annotated[Any, Number("A", "armature current at the start")] = 0.0
    name: ClassVar[str] = "dc_motor"
    states: ClassVar[int] = 1

    @property
    def _constant(self) -> Scalar:
        """N k, torque on the joint per ampere."""
        return self.torque_constant if self.gear_ratio is None else self.gear_ratio * self.torque_constant

    def torque(
        self, command: Scalar, t: Scalar, q: Scalar, qd: Scalar, state: tuple[Scalar, ...], rotor: Scalar
    ) -> Scalar:
        return self._constant * state[0]

    def state_rate(
        self, command: Scalar, t: Scalar, q: Scalar, qd: Scalar, state: tuple[Scalar, ...], rotor: Scalar
    ) -> tuple[Scalar, ...]:
        constant = self._constant
        back = constant * qd
        voltage = command if self.command == "voltage" else self.resistance * command / constant + back
        if self.voltage is not None:
            voltage = ops.minimum(self.voltage, ops.maximum(-self.voltage, voltage))
        return ((voltage - self.resistance * state[0] - back) / self.inductance,)

    def initial_state(self, q: Scalar, qd: Scalar) -> tuple[Scalar, ...]:
        return (self.initial_current,)

    def stored_energy(self, q: Scalar, qd: Scalar, state: tuple[Scalar, ...], rotor: Scalar, t: Scalar = 0.0) -> Scalar:
        return 0.5 * self.inductance * state[0] ** 2
