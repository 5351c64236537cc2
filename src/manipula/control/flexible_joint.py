r"""Control of joints with elastic transmissions, from measurements on the motor side.

With the spring K between the rotor B and the links, :math:`M\ddot q + n(q, \dot q) = K(\theta - q)` and :math:`B\ddot\theta + K(\theta - q) = \tau`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra.derivatives import derivatives
from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array, ldl, ldl_solve
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, FrictionCompensation, Space, Target
from manipula.errors import DescriptionError
from manipula.parts.field import AnglePerJoint, Flag, PerJoint
from manipula.redundancy.arm import Arm
from manipula.robot.drives.flexible import Flexible


@dataclass(frozen=True)
class MotorPD(Controller):
    r""":math:`\tau = K_p(\theta_d - \theta) + K_v(\dot q_d - \dot\theta) + g(q_d),\ \theta_d = q_d + K^{-1}g(q_d)` [Tomei 1991].

    Feedback from the motors alone, which stays stable where feedback from the links behind the springs does not. A posture
    is reached without error, globally when K_p exceeds what gravity needs. A drive without a spring counts as rigid: θ = q.
    """

    kp: Annotated[Any, PerJoint("N·m/rad or N/m", "proportional gain K_p on motor positions", least=0.0)]
    kv: Annotated[Any, PerJoint("N·m·s/rad or N·s/m", "derivative gain K_v on motor speeds", least=0.0)]
    goal: Annotated[Any, AnglePerJoint("rad or m", "fixed posture q_d of the links; none follows the reference")] = None
    gravity: Annotated[bool, Flag("compensate the weight at q_d, and the deflection it makes")] = True
    name: ClassVar[str] = "motor_pd"
    space: ClassVar[Space] = "joint"
    measures: ClassVar[tuple[str, ...]] = ("motors",)

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        n = arm.n
        position = target.position if self.goal is None else per_joint(self.goal, n)
        velocity = target.velocity if self.goal is None else np.zeros(n)
        weight = arm.links.gravity(position) if self.gravity else np.zeros(n)
        wanted = position + arm.compliance() * weight
        gains = per_joint(self.kp, n), per_joint(self.kv, n)
        return array(gains[0] * (wanted - arm.motors.position) + gains[1] * (velocity - arm.motors.velocity) + weight)


@dataclass(frozen=True)
class FlexibleComputedTorque(Controller):
    r"""Feedback linearisation of an arm with elastic joints [Spong 1987], from q, q̇, θ, θ̇:

    .. math:: \tau = B\ddot\theta + K(\theta - q),\qquad K\ddot\theta = \frac{d^2}{dt^2}\left(M\ddot q + n\right) + K\ddot q \quad\text{with } q^{(4)} = v

    .. math:: v = q_d^{(4)} + 4\omega\dddot e + 6\omega^2\ddot e + 4\omega^3\dot e + \omega^4 e

    so every joint error obeys :math:`(d/dt + \omega)^4 e = 0`. Accelerations and jerks of the links follow from the springs and the
    model: :math:`\ddot q = M^{-1}(K(\theta - q) - n)`, and once more differentiated. The time derivatives of M and n are exact (Taylor numbers).
    Springs without damping are needed at every joint (with damping the torque acts on a lower derivative), and a reference
    whose jerk is continuous is followed without error.
    """

    bandwidth: Annotated[Any, PerJoint("rad/s", "ω of the error law, four poles at −ω", above=0.0)]
    friction: FrictionCompensation = True
    name: ClassVar[str] = "flexible_computed_torque"
    space: ClassVar[Space] = "joint"
    measures: ClassVar[tuple[str, ...]] = ("motors",)

    def prepare(self, arm: Arm) -> Controller:
        for joint, drive in zip(arm.robot.joints, arm.drives):
            if not isinstance(drive, Flexible) or drive.motor is not None:
                found = "none" if drive is None else f"'{drive.name}'"
                raise DescriptionError(
                    f"The controller '{self.name}' needs a flexible drive with a motor of its own at every joint; joint '{joint.name}' has {found}.",
                    field="controller",
                )
            if drive.damping != 0.0:
                raise DescriptionError(
                    f"The controller '{self.name}' is made for springs without damping; that of joint '{joint.name}' has {drive.damping:g}. "
                    "Give the controller a model of its own without it (model=…), or take 'motor_pd'.",
                    field="controller",
                )
        return self

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        links, motors, n = arm.links, arm.motors, arm.n
        stiffness, w = array(1.0 / arm.compliance()), per_joint(self.bandwidth, n)

        def load(s: Any, qdd: Vector, jerk: Vector, snap: Vector) -> np.ndarray:
            """M q̈ + n at the time s from now, when the links move with these derivatives."""
            later = array(q + s * (qd + s * (qdd / 2.0 + s * (jerk / 6.0 + s * (snap / 24.0)))))
            rate = array(qd + s * (qdd + s * (jerk / 2.0 + s * (snap / 6.0))))
            tau = links.inverse_dynamics(later, rate, array(qdd + s * (jerk + s * (snap / 2.0))))
            return array(tau + links.friction(rate)) if self.friction else tau

        still = np.zeros(n)
        factors = ldl(links.mass_matrix(q))
        pull = array(stiffness * (motors.position - q))
        qdd = ldl_solve(*factors, array(pull - load(0.0, still, still, still)))
        pull_rate = stiffness * (motors.velocity - qd)
        jerk = ldl_solve(*factors, array(pull_rate - derivatives(lambda s: load(s, qdd, still, still), 0.0, 1)[1]))
        error = [target.derivative(k) - now for k, now in enumerate((q, qd, qdd, jerk))]
        v = target.derivative(4) + w * (4.0 * error[3] + w * (6.0 * error[2] + w * (4.0 * error[1] + w * error[0])))
        bend = derivatives(lambda s: load(s, qdd, jerk, array(v)), 0.0, 2)[2]
        return array(arm.rotors * (bend / stiffness + qdd) + pull)
