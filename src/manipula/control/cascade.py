"""A position loop around a speed loop, as industrial drives have them, the outer one slower."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target
from manipula.parts.field import AnglePerJoint, Flag, PerJoint, Whole
from manipula.redundancy.arm import Arm


@dataclass(frozen=True)
class Cascade(Controller):
    r"""A digital cascade: position loop outside, speed loop with integral inside.

    .. math:: v_c = \dot q_d + K_p(q_d - q)\ \text{ every } m \text{ periods, held in between}

    .. math:: \tau_k = K_v(v_c - \dot q) + z_k,\qquad z_{k+1} = z_k + T K_i(v_c - \dot q)

    The run states the control period T of the inner loop, ``control_period``; the outer one has m T.
    """

    kp: Annotated[Any, PerJoint("1/s", "gain K_p of the position loop", least=0.0)]
    kv: Annotated[Any, PerJoint("N·m·s/rad or N·s/m", "proportional gain K_v of the speed loop", least=0.0)]
    ki: Annotated[Any, PerJoint("N·m/rad or N/m", "integral gain K_i of the speed loop", least=0.0)] = 0.0
    every: Annotated[int, Whole("periods m of the speed loop in one of the position loop", least=1)] = 4
    goal: Annotated[Any, AnglePerJoint("rad or m", "fixed target; none follows the reference")] = None
    gravity: Annotated[bool, Flag("add g(q)")] = False
    name: ClassVar[str] = "cascade"
    space: ClassVar[Space] = "joint"
    structure: ClassVar[frozenset[str]] = frozenset({"every"})

    def states(self, n: int) -> int:
        return 1 + 2 * n  # period of the outer loop's cycle, v_c, z

    def signals(self, arm: Arm, q: Vector, qd: Vector, target: Target, state: Vector) -> dict[str, Any]:
        """``speed_command``: v_c as it was last decided; ``integral``: z."""
        return {"speed_command": array(state[1 : 1 + arm.n]), "integral": array(state[1 + arm.n :])}

    def _wanted(self, n: int, q: Vector, target: Target, state: Vector) -> np.ndarray:
        """The speed asked for by the outer loop in this period."""
        if self.goal is not None:
            target = Target(per_joint(self.goal, n), np.zeros(n), np.zeros(n))
        new = target.velocity + per_joint(self.kp, n) * (target.position - q)
        return array([ops.where(state[0] < 0.5, a, b) for a, b in zip(new, state[1 : 1 + n])])

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        n = arm.n
        tau = per_joint(self.kv, n) * (self._wanted(n, q, target, state) - qd) + state[1 + n :]
        return array(tau + arm.gravity(q) if self.gravity else tau)

    def update(
        self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector, period: Scalar
    ) -> Vector:
        n = arm.n
        wanted = self._wanted(n, q, target, state)
        integral = state[1 + n :] + period * per_joint(self.ki, n) * (wanted - qd)
        place = ops.where(state[0] > self.every - 1.5, 0.0, state[0] + 1.0)
        return array([place, *wanted, *integral])
