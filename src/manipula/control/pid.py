"""PID with integral that does not wind up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target
from manipula.control.joint_pd import pd_torque
from manipula.parts.field import AnglePerJoint, Flag, Number, PerJoint
from manipula.redundancy.arm import Arm


@dataclass(frozen=True)
class PID(Controller):
    r""":math:`\tau = \mathrm{sat}(u),\; u = K_p e + K_v\dot e + z,\; \dot z = K_i e + (\mathrm{sat}(u) - u)/T_t`.

    The last term bleeds the integral while the output is cut (back-calculation) [Åström & Hägglund 1995, §3.5].
    """

    kp: Annotated[Any, PerJoint("N·m/rad or N/m", "proportional gain K_p", least=0.0)]
    ki: Annotated[Any, PerJoint("N·m/(rad·s) or N/(m·s)", "integral gain K_i", least=0.0)]
    kv: Annotated[Any, PerJoint("N·m·s/rad or N·s/m", "derivative gain K_v", least=0.0)]
    limit: Annotated[Any, PerJoint("N·m or N", "largest torque; none for no cut", least=0.0)] = None
    tracking_time: Annotated[
        Any, Number("s", "T_t, in which the integral is bled while the output is cut", above=0.0)
    ] = 0.1
    goal: Annotated[Any, AnglePerJoint("rad or m", "fixed target; none follows the reference")] = None
    gravity: Annotated[bool, Flag("add g(q)")] = False
    name: ClassVar[str] = "pid"
    space: ClassVar[Space] = "joint"

    def states(self, n: int) -> int:
        return n

    def signals(self, arm: Arm, q: Vector, qd: Vector, target: Target, state: Vector) -> dict[str, Any]:
        """``integral``: z."""
        return {"integral": array(state)}

    def _demand(self, arm: Arm, q: Vector, qd: Vector, target: Target, state: Vector) -> np.ndarray:
        u = pd_torque(self, arm.n, q, qd, target) + state
        return u + arm.gravity(q) if self.gravity else u

    def _cut(self, u: Vector) -> np.ndarray:
        if self.limit is None:
            return array(u)
        limit = per_joint(self.limit, len(u))
        return array([ops.minimum(limit[i], ops.maximum(-limit[i], u[i])) for i in range(len(u))])

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        return self._cut(self._demand(arm, q, qd, target, state))

    def state_rate(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        n = arm.n
        wanted = per_joint(self.goal, n) if self.goal is not None else target.position
        rate = zeros(n) + per_joint(self.ki, n) * (wanted - q)
        if self.limit is not None:
            u = self._demand(arm, q, qd, target, state)
            rate = rate + (self._cut(u) - u) / self.tracking_time
        return array(rate)
