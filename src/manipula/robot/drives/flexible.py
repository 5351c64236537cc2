"""A spring and a damper between motor and link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra.ops import Scalar
from manipula.errors import DescriptionError
from manipula.parts.field import Formula, Number
from manipula.robot.drives.base import Drive


@dataclass(frozen=True)
class Flexible(Drive):
    r"""Elastic transmission; the motor either moves by its own dynamics or as prescribed.

    .. math:: \tau = s(\theta - q) + d(\dot\theta - \dot q),\qquad J\ddot\theta = u - \tau\ \ (\text{or } \theta = \theta(t)\text{ given})

    θ is the motor angle behind the gear (joint side), J the armature of the joint.
    """

    stiffness: Annotated[Any, Number("N·m/rad or N/m", "stiffness s of the transmission", least=0.0)]
    damping: Annotated[Any, Number("N·m·s/rad or N·s/m", "damping d of the transmission", least=0.0)] = 0.0
    motor: Annotated[
        Any,
        Formula(
            "rad or m",
            "prescribed motor angle θ(t), formula or function; none: a motor with inertia J driven by the command u",
        ),
    ] = None
    initial_position: Annotated[
        Any,
        Number(
            "rad or m",
            'motor angle at the start; "balanced": the spring carries the weight of the arm; none: it is slack',
            choices=("balanced",),
        ),
    ] = None
    initial_velocity: Annotated[Any, Number("rad/s or m/s", "motor speed at the start; none: that of the joint")] = None
    name: ClassVar[str] = "flexible"
    smooth: ClassVar[bool] = True
    states: ClassVar[int] = 2
    separates_rotor: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("initial_position", "initial_velocity"):
            if self.motor is not None and getattr(self, name) is not None:
                raise DescriptionError(
                    f"The motor moves as prescribed from the start on and would ignore '{name}'.", field=name
                )

    def motor_angle(self, t: Scalar) -> tuple[Scalar, Scalar]:
        """Prescribed θ(t) and its rate."""
        from manipula.algebra.jet import Jet

        if isinstance(self.motor, str):
            from manipula.algebra.expression import parse

            expression = parse(self.motor, ("t",))
            angle = expression.evaluate({"t": Jet.variable(t, 1)})
        else:
            angle = self.motor(Jet.variable(t, 1))
        return (angle.derivative(0), angle.derivative(1)) if isinstance(angle, Jet) else (angle, 0.0)

    def torque(
        self, command: Scalar, t: Scalar, q: Scalar, qd: Scalar, state: tuple[Scalar, ...], rotor: Scalar
    ) -> Scalar:
        theta, rate = self.motor_motion(t, q, qd, state)
        return self.stiffness * (theta - q) + self.damping * (rate - qd)

    def state_rate(
        self, command: Scalar, t: Scalar, q: Scalar, qd: Scalar, state: tuple[Scalar, ...], rotor: Scalar
    ) -> tuple[Scalar, ...]:
        if self.motor is not None:
            return (0.0, 0.0)
        if isinstance(rotor, float) and rotor <= 0.0:
            raise DescriptionError(
                "A flexible drive needs a rotor inertia greater than zero, or a prescribed motor motion."
            )
        return (state[1], (command - self.torque(command, t, q, qd, state, rotor)) / rotor)

    def initial_state(self, q: Scalar, qd: Scalar) -> tuple[Scalar, ...]:
        return self.balanced_state(q, qd, 0.0)

    def balanced_state(self, q: Scalar, qd: Scalar, load: Scalar) -> tuple[Scalar, ...]:
        angle = self.initial_position
        if isinstance(angle, str):
            angle = q + load / self.stiffness
        return (q if angle is None else angle, qd if self.initial_velocity is None else self.initial_velocity)

    def motor_motion(self, t: Scalar, q: Scalar, qd: Scalar, state: tuple[Scalar, ...]) -> tuple[Scalar, Scalar]:
        return (state[0], state[1]) if self.motor is None else self.motor_angle(t)

    def stored_energy(self, q: Scalar, qd: Scalar, state: tuple[Scalar, ...], rotor: Scalar, t: Scalar = 0.0) -> Scalar:
        if self.motor is None:
            return 0.5 * self.stiffness * (state[0] - q) ** 2 + 0.5 * rotor * state[1] ** 2
        return 0.5 * self.stiffness * (self.motor_angle(t)[0] - q) ** 2
