"""Dry friction that holds: exactly at rest until the load exceeds what it can bear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.errors import DescriptionError
from manipula.parts.field import Number
from manipula.robot.friction.base import NOTHING, SLOWEST, Damping, FrictionLaw

FADED = 40.0  # (q̇/v_s)² from which the exponential is less than rounding of F_s


@dataclass(frozen=True)
class Stiction(FrictionLaw):
    r"""Set-valued dry friction: a joint at rest stays at rest while :math:`|\tau_{load}| \le F_s`.

    .. math::
        \dot q = 0:&\quad \tau_f = f_0 + \lambda,\quad |\lambda| \le F_s,\quad \lambda\ \text{such that}\ \ddot q = 0 \\
        \dot q \ne 0:&\quad \tau_f = \mathrm{sgn}(\dot q)\left(F_k + (F_s - F_k)\,e^{-(\dot q/v_s)^2}\right) + b\,\dot q + f_0

    Nothing is smoothed. In a run the state of the law is its direction of sliding, -1, 0 (stuck) or 1; steps end where a joint comes to rest
    or breaks away, and stuck joints are constraints whose reaction is the friction that is recorded. Several joints may stick at once. Without
    ``v_stribeck`` the friction falls from F_s to F_k as soon as the joint moves. Where the motion is given (inverse dynamics, programmed
    motion) the friction has the sign of the speed and is f_0 at rest: which of the torques within ±F_s acts there, the motion does not say.
    """

    static: Annotated[Any, Number("N·m or N", "F_s, what it holds at rest", least=0.0)]
    kinetic: Annotated[Any, Number("N·m or N", "F_k, when sliding; none is F_s", least=0.0)] = None
    v_stribeck: Annotated[Any, Number("rad/s or m/s", "v_s, where F_s has faded to F_k; none: at once", above=0.0)] = (
        None
    )
    damping: Damping = 0.0
    offset: Annotated[Any, Number("N·m or N", "constant torque f_0; it does not oppose motion")] = 0.0
    name: ClassVar[str] = "stiction"
    states: ClassVar[int] = 1
    sticks: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        known = [isinstance(v, (int, float)) for v in (self.static, self.kinetic)]
        if all(known) and self.kinetic > self.static:
            raise DescriptionError(
                f"Sliding friction F_k = {self.kinetic:g} exceeds what holds at rest, F_s = {self.static:g}.",
                field="kinetic",
            )
        if self.kinetic is None and self.v_stribeck is not None:
            raise DescriptionError("A Stribeck speed needs a kinetic level to fade to.", field="v_stribeck")

    @property
    def hold(self) -> Scalar:
        return self.static

    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (0.0,), load: Scalar = 0.0) -> Scalar:
        (mode,) = state
        way = ops.where(ops.abs(mode) > 0.5, mode, ops.where(qd > 0.0, 1.0, ops.where(qd < 0.0, -1.0, 0.0)))
        level = self.static if self.kinetic is None else self.kinetic
        if self.v_stribeck is not None:
            ratio = qd / self.v_stribeck
            level = level + (self.static - level) * ops.exp(-(ratio * ratio))
        return way * level + self.damping * qd + self.offset

    def sliding(self, qd: Scalar, state: tuple[Scalar, ...] = (0.0,), load: Scalar = 0.0) -> Scalar:
        (way,) = state
        level = self.static if self.kinetic is None else self.kinetic
        if self.v_stribeck is not None:
            ratio = qd * (1.0 / ops.maximum(self.v_stribeck, SLOWEST))  # one division in a whole run
            power = ratio * ratio
            level = level + (self.static - level) * ops.exp(ops.where(power < FADED, -power, NOTHING))
        return way * level + self.damping * qd + self.offset

    def state_rate(self, qd: Scalar, state: tuple[Scalar, ...], load: Scalar = 0.0) -> tuple[Scalar, ...]:
        return (0.0,)
