"""Passivity-based adaptive control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target
from manipula.errors import DescriptionError
from manipula.parts.field import Number, PerJoint, Wholes
from manipula.physics import regressor as regression
from manipula.redundancy.arm import Arm
from manipula.robot.robot import Robot


@dataclass(frozen=True)
class SlotineLi(Controller):
    r"""Adaptive control of Slotine and Li [1987].

    .. math:: \dot q_r = \dot q_d + \Lambda e,\quad s = \dot q_r - \dot q,\quad
              \tau = \hat M\ddot q_r + \hat C\dot q_r + \hat g + K s,\quad \dot{\hat\pi} = \Gamma\,Y_r^T s

    The Christoffel matrix is bilinear in velocity, so :math:`C(q,\dot q)\dot q_r` is a polarised bias,
    :math:`\tfrac12[h(\dot q+\dot q_r) - h(\dot q) - h(\dot q_r)]`, and :math:`Y_r` a combination of ordinary regressors.
    """

    slope: Annotated[Any, PerJoint("1/s", "slope Λ of the sliding surface", least=0.0)]
    kv: Annotated[Any, PerJoint("N·m·s/rad or N·s/m", "gain K", least=0.0)]
    rate: Annotated[Any, PerJoint("1", "adaptation gain Γ", least=0.0, each="parameter")]
    links: Annotated[
        tuple[Any, ...],
        Wholes("numbers from 1 of the links whose ten parameters are adapted; empty for the last link alone", least=1),
    ] = ()
    wrong_by: Annotated[
        Any,
        Number(
            "1",
            "the estimate starts at the true parameters times 1 + wrong_by (for studies); 0 starts from the controller's model",
        ),
    ] = 0.0
    name: ClassVar[str] = "slotine_li"
    structure: ClassVar[frozenset[str]] = frozenset({"links"})
    space: ClassVar[Space] = "joint"

    def adapted(self, n: int) -> list[int]:
        """Columns of the regressor that are adapted."""
        links = [int(k) - 1 for k in self.links] or [n - 1]
        return [10 * k + c for k in links for c in range(10)]

    def __post_init__(self) -> None:
        super().__post_init__()
        twice = [k for i, k in enumerate(self.links) if k in self.links[:i]]
        if twice:
            raise DescriptionError(
                f"'links' of controller 'slotine_li' names link {twice[0]:g} twice; its parameters are adapted once.",
                field="links",
            )

    def count(self, each: str, robot: Robot) -> int | None:
        return len(self.adapted(robot.n)) if each == "parameter" else super().count(each, robot)

    def prepare(self, arm: Arm) -> SlotineLi:
        for k in self.links:
            if k > len(arm.robot.bodies):
                raise DescriptionError(
                    f"'links' of controller 'slotine_li' names link {k:g}; '{arm.robot.name}' has the links 1 to {len(arm.robot.bodies)}.",
                    field="controller.links",
                )
        return self

    def states(self, n: int) -> int:
        return len(self.adapted(n))

    def initial_state(self, arm: Arm) -> Vector:
        return (
            np.zeros(self.states(arm.n))
            + array(regression.parameters(arm.full))[self.adapted(len(arm.full.bodies))] * self.wrong_by
        )

    def _sliding(self, arm: Arm, q: Vector, qd: Vector, target: Target) -> tuple[Vector, Vector, Vector]:
        slope = per_joint(self.slope, arm.n)
        e, ed = target.position - q, target.velocity - qd
        rate, acceleration = target.velocity + slope * e, target.acceleration + slope * ed
        return rate, acceleration, rate - qd

    def _regressor(self, arm: Arm, q: Vector, qd: Vector, rate: Vector, acceleration: Vector) -> np.ndarray:
        still = np.zeros(arm.n)
        Y = arm.regressor(q, still, acceleration)
        both = arm.regressor(q, array(qd + rate), still, gravity=False)
        one, two = arm.regressor(q, qd, still, gravity=False), arm.regressor(q, rate, still, gravity=False)
        return Y + 0.5 * (both - one - two)

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        rate, acceleration, s = self._sliding(arm, q, qd, target)
        nominal = arm.mass_matrix(q) @ acceleration + arm.coriolis_matrix(q, qd) @ rate + arm.gravity(q)
        Y = self._regressor(arm, q, qd, rate, acceleration)[:, self.adapted(len(arm.full.bodies))]
        return array(nominal + Y @ state + per_joint(self.kv, arm.n) * s)

    def state_rate(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        rate, acceleration, s = self._sliding(arm, q, qd, target)
        Y = self._regressor(arm, q, qd, rate, acceleration)[:, self.adapted(len(arm.full.bodies))]
        return array(per_joint(self.rate, len(state)) * (Y.T @ s))
