"""PD control with an observer of external torques."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target
from manipula.control.joint_pd import pd_torque
from manipula.parts.field import AnglePerJoint, Flag, PerJoint
from manipula.redundancy.arm import Arm


@dataclass(frozen=True)
class MomentumObserver(Controller):
    r"""PD with gravity compensation, and the external torque seen in the generalised momentum :math:`p = M\dot q` [De Luca & Mattone 2003]:

    .. math:: r = K_o\left(p - z\right),\quad \dot z = \tau + C^T\dot q - g - \tau_f + r,\quad z(0) = p(0)
        \quad\Rightarrow\quad \dot r = K_o(\tau_{ext} - r)

    No acceleration is measured. The signal ``observed_torque`` is r, an estimate of what contacts, payloads and disturbances do to the joints; with
    ``compensate`` it is subtracted from the torque, :math:`\tau = K_p e + K_v\dot e + g(q) - r`, so that a constant push leaves no error. τ is the
    torque asked for: what an actuator cuts off looks like an external torque.
    """

    kp: Annotated[Any, PerJoint("N·m/rad or N/m", "proportional gain K_p", least=0.0)]
    kv: Annotated[Any, PerJoint("N·m·s/rad or N·s/m", "derivative gain K_v", least=0.0)]
    observer_gain: Annotated[Any, PerJoint("1/s", "bandwidth K_o of the observer", above=0.0)]
    compensate: Annotated[bool, Flag("subtract what is observed from the torque")] = False
    goal: Annotated[Any, AnglePerJoint("rad or m", "fixed target; none follows the reference")] = None
    name: ClassVar[str] = "momentum_observer"
    space: ClassVar[Space] = "joint"

    def states(self, n: int) -> int:
        return n

    def state_at(self, arm: Arm, q: Vector, qd: Vector, target: Target | None) -> Vector:
        return array(arm.mass_matrix(q) @ qd)

    def residual(self, arm: Arm, q: Vector, qd: Vector, state: Vector) -> np.ndarray:
        """The observed external torques r, (n,) [N·m or N], from a measured state and the controller's own."""
        return array(per_joint(self.observer_gain, arm.n) * (arm.mass_matrix(q) @ qd - state))

    def signals(self, arm: Arm, q: Vector, qd: Vector, target: Target, state: Vector) -> dict[str, Any]:
        """``observed_torque``: r."""
        return {"observed_torque": self.residual(arm, q, qd, state)}

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        tau = pd_torque(self, arm.n, q, qd, target) + arm.gravity(q)
        return array(tau - self.residual(arm, q, qd, state) if self.compensate else tau)

    def state_rate(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        tau = self.torque(arm, t, q, qd, target, state)
        known = arm.coriolis_matrix(q, qd).T @ qd - arm.gravity(q) - arm.friction(qd)
        return array(tau + known + self.residual(arm, q, qd, state))
