"""A position loop whose reference gives way to the force that is measured at the tip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array, solve_spd
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target
from manipula.parts.field import Number, PerJoint
from manipula.redundancy.arm import Arm

AXES = 3


@dataclass(frozen=True)
class Admittance(Controller):
    r"""The tip follows :math:`x_c = x_d + \xi`, and the offset moves like a mass on a spring under the measured force F [Hogan 1985]:

    .. math:: m\ddot\xi + d\dot\xi + k\xi = F,\qquad
        \tau = M J^+\left[\ddot x_c + K_v\dot e + K_p e - \dot J\dot q\right] + C\dot q + g - J^TF,\quad e = x_c - x

    The position loop is stiff, as on machines that take positions only, and does not feel the force itself, which is compensated; so the tip yields as
    the virtual mass, damper and spring say, whatever the arm weighs. Position of the tip; joints that it leaves free are damped.
    """

    mass: Annotated[Any, Number("kg", "virtual mass m", above=0.0)]
    damping: Annotated[Any, Number("N·s/m", "virtual damping d", least=0.0)]
    stiffness: Annotated[Any, Number("N/m", "virtual stiffness k; 0 lets the tip be led away", least=0.0)]
    kp: Annotated[Any, PerJoint("1/s²", "gain K_p of the position loop", each="coordinate", least=0.0)] = 400.0
    kv: Annotated[Any, PerJoint("1/s", "gain K_v of the position loop", each="coordinate", least=0.0)] = 40.0
    null_damping: Annotated[Any, Number("1/s", "damping of joints that the tip leaves free", least=0.0)] = 5.0
    name: ClassVar[str] = "admittance"
    space: ClassVar[Space] = "task"
    measures: ClassVar[tuple[str, ...]] = ("wrench",)

    def states(self, n: int) -> int:
        return 2 * AXES  # ξ and its rate

    def signals(self, arm: Arm, q: Vector, qd: Vector, target: Target, state: Vector) -> dict[str, Any]:
        """``admittance_offset``: ξ."""
        return {"admittance_offset": array(state[:AXES])}

    def _yielding(self, arm: Arm, state: Vector) -> np.ndarray:
        """The acceleration of the offset, (3,)."""
        force = arm.wrench[:AXES]
        return array((force - self.damping * state[AXES:] - self.stiffness * state[:AXES]) / self.mass)

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        rows = list(arm.task)
        k, J = len(rows), arm.task_jacobian(q)
        offset, rate, yielding = state[:AXES], state[AXES:], self._yielding(arm, state)
        e = array(target.position + offset)[rows] - arm.position(q)[rows]
        ed = array(target.velocity + rate)[rows] - J @ qd
        wanted = array(target.acceleration + yielding)[rows] + per_joint(self.kv, k) * ed + per_joint(self.kp, k) * e
        rest = array([wanted - arm.task_jacobian_rate(q, qd) @ qd, J @ qd]).T
        solved = solve_spd(array(J @ J.T), rest)
        qdd = J.T @ solved[:, 0] - self.null_damping * (qd - J.T @ solved[:, 1])
        return array(arm.inverse_dynamics(q, qd, array(qdd)) - arm.jacobian(q).T @ arm.wrench)

    def state_rate(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        return array([*state[AXES:], *self._yielding(arm, state)])
