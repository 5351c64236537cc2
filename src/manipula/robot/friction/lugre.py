"""LuGre: bristles that bend, slip and damp, under the load of the joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.parts.field import Number
from manipula.robot.friction.base import FrictionLaw, diameter_unfit


@dataclass(frozen=True)
class LuGre(FrictionLaw):
    r"""Friction coefficient from a bristle deflection z, torque from the joint's load [Jarzębowska, Augustynek & Urbaś, (6)–(8)].

    .. math::
       \dot z &= \dot q\left(1 - \frac{\sigma_0 z\,\mathrm{sgn}\,\dot q}{\mu_k + (\mu_s-\mu_k)\,e^{-(\dot q/v_s)^2}}\right),\qquad
       \mu = \sigma_0 z + \sigma_1\dot z + \sigma_2\dot q \\
       \tau_f &= \mu\,f_n\,d/2\ \text{(revolute)},\qquad \tau_f = \mu\,f_n\ \text{(prismatic)}
    """

    sigma0: Annotated[Any, Number("1/rad or 1/m", "bristle stiffness σ₀", least=0.0, example=1000.0)]
    sigma1: Annotated[Any, Number("s/rad or s/m", "bristle damping σ₁", least=0.0, example=1.0)]
    sigma2: Annotated[Any, Number("s/rad or s/m", "viscous part σ₂", least=0.0, example=0.01)]
    v_stribeck: Annotated[Any, Number("rad/s or m/s", "Stribeck speed v_s", above=0.0, example=0.1)]
    mu_static: Annotated[Any, Number("1", "static friction coefficient μ_s", above=0.0, example=0.15)]
    mu_kinetic: Annotated[Any, Number("1", "kinetic friction coefficient μ_k", above=0.0, example=0.1)]
    diameter: Annotated[
        Any,
        Number(
            "m",
            "bearing diameter d, required in a revolute joint unless the load is a torque; none in a prismatic one",
            above=0.0,
        ),
    ] = None
    load: Annotated[
        Any,
        Number(
            "N or N·m",
            "constant normal force f_n, or without a diameter in a revolute joint the torque f_n d/2; none takes the force from the joint "
            "reactions of the motion itself",
            least=0.0,
        ),
    ] = None
    name: ClassVar[str] = "lugre"
    states: ClassVar[int] = 1

    @property
    def needs_load(self) -> bool:
        return self.load is None

    def unfit(self, revolute: bool) -> str:
        torque_given = revolute and self.load is not None and self.diameter is None
        return "" if torque_given else diameter_unfit(self, revolute)

    def torque(self, qd: Scalar, state: tuple[Scalar, ...] = (0.0,), load: Scalar = 0.0) -> Scalar:
        normal = load if self.load is None else self.load
        arm = 1.0 if self.diameter is None else self.diameter * 0.5
        return self.coefficient(qd, state) * normal * arm

    def coefficient(self, qd: Scalar, state: tuple[Scalar, ...]) -> Scalar:
        """μ, the friction force per normal force."""
        (z,) = state
        (rate,) = self.state_rate(qd, state)
        return self.sigma0 * z + self.sigma1 * rate + self.sigma2 * qd

    def state_rate(self, qd: Scalar, state: tuple[Scalar, ...], load: Scalar = 0.0) -> tuple[Scalar, ...]:
        (z,) = state
        ratio = qd / self.v_stribeck
        level = self.mu_kinetic + (self.mu_static - self.mu_kinetic) * ops.exp(-(ratio * ratio))
        return (qd - self.sigma0 * z * ops.abs(qd) / level,)
