"""LuGre: bristles that bend, slip and damp, under the load of the joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.robot.friction.base import FrictionLaw


@dataclass(frozen=True)
class LuGre(FrictionLaw):
    r"""Friction coefficient from a bristle deflection z, torque from the joint's load [Jarzębowska, Augustynek & Urbaś, (6)–(8)].

    .. math::
       \dot z &= \dot q\left(1 - \frac{\sigma_0 z\,\mathrm{sgn}\,\dot q}{\mu_k + (\mu_s-\mu_k)\,e^{-(\dot q/v_s)^2}}\right),\qquad
       \mu = \sigma_0 z + \sigma_1\dot z + \sigma_2\dot q \\
       \tau_f &= \mu\,f_n\,d/2\ \text{(revolute)},\qquad \tau_f = \mu\,f_n\ \text{(prismatic)}

    Attributes:
        sigma0: bristle stiffness [1/rad or 1/m]; sigma1: its damping [s/rad or s/m]; sigma2: viscous part [s/rad or s/m].
        v_stribeck: v_s [rad/s or m/s].
        mu_static, mu_kinetic: friction coefficients μ_s, μ_k.
        diameter: of a revolute joint's bearing, d [m]; ``None`` for a prismatic joint.
        load: constant normal force f_n [N]; ``None`` takes it from the joint reactions of the motion itself.
    """

    sigma0: Any
    sigma1: Any
    sigma2: Any
    v_stribeck: Any
    mu_static: Any
    mu_kinetic: Any
    diameter: Any = None
    load: Any = None
    name: ClassVar[str] = "lugre"
    states: ClassVar[int] = 1

    @property
    def needs_load(self) -> bool:
        return self.load is None

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
