"""Tasks of the whole arm: a posture of its joints, its centre of mass, the smallest torques."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra.derivatives import derivatives, jacobian
from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Vector
from manipula.algebra.scattered import Scattered
from manipula.errors import DescriptionError
from manipula.parts.field import AnglePerJoint, VectorField
from manipula.physics.kinematics import centre_of_mass
from manipula.redundancy.arm import Arm
from manipula.redundancy.tasks.base import (
    ArmTask,
    Coordinates,
    Damping,
    Gain,
    Priority,
    TaskRows,
    Weight,
    check_goal,
    coordinates_of,
    point_rows,
)


@dataclass(frozen=True)
class JointPosture(ArmTask):
    """All joints at a posture: e = q_0 − q."""

    goal: Annotated[Any, AnglePerJoint("rad or m", "the posture q_0")]
    priority: Priority = 1
    weight: Weight = 1.0
    gain: Gain = 10.0
    damping: Damping = 0.0
    name: ClassVar[str] = "joint_posture"

    def rows(self, arm: Arm, q: Vector, qd: Vector, target: Any, near: Vector | None = None) -> TaskRows:
        e = array(per_joint(self.goal, arm.n) - q)
        return TaskRows(e, array(-1.0 * array(qd)), np.eye(arm.n), np.zeros(arm.n))


@dataclass(frozen=True)
class CentreOfMass(ArmTask):
    r"""The centre of mass of all moving links at a point: :math:`e = c_d - \tfrac1m\sum_i m_ic_i(q)`, its Jacobian by Taylor numbers."""

    goal: Annotated[Any, VectorField("m", "the point; the position of the reference when omitted")] = None
    coordinates: Coordinates = "auto"
    priority: Priority = 1
    weight: Weight = 1.0
    gain: Gain = 10.0
    damping: Damping = 0.0
    name: ClassVar[str] = "centre_of_mass"
    follows_place: ClassVar[bool] = True

    def decided(self, arm: Arm) -> ArmTask:
        rng = Scattered(0)
        seen = np.hstack([self._jacobian(arm, q) for q in rng.uniform(-1, 1, (3, arm.n))]).astype(float)
        movable = tuple(i for i in range(3) if np.abs(seen[i]).max() > 1e-12)
        if not movable:
            raise DescriptionError(f"No joint of '{arm.robot.name}' moves its centre of mass.", field="task")
        whole = "the centre of mass"
        if self.coordinates == "auto" and self.goal is not None and not arm.robot.parameters:
            check_goal(self.goal, movable, centre_of_mass(arm.full, np.zeros(arm.n)), whole)
        return dataclasses.replace(self, coordinates=coordinates_of(self.coordinates, movable, whole))

    @staticmethod
    def _jacobian(arm: Arm, q: Vector) -> np.ndarray:
        return array(jacobian(lambda x: centre_of_mass(arm.full, x), q))

    def rows(self, arm: Arm, q: Vector, qd: Vector, target: Any, near: Vector | None = None) -> TaskRows:
        if self.coordinates == "auto":
            return self.decided(arm).rows(arm, q, qd, target, near)
        along = derivatives(lambda s: centre_of_mass(arm.full, array([p + r * s for p, r in zip(q, qd)])), 0.0, 2)
        place, J = centre_of_mass(arm.full, q), self._jacobian(arm, q)
        return point_rows(self.coordinates, self.goal, target, place, J, array(along[2]), qd)


@dataclass(frozen=True)
class LeastTorque(ArmTask):
    r"""The smallest torques at this instant: :math:`\min\lVert M\ddot q + C\dot q + g\rVert^2` among the accelerations that serve the tasks before it
    [Hollerbach & Suh 1987].

    It looks at one instant only: over long moves of a redundant arm it builds up null-space speeds whose torques outgrow those it saved,
    and the arm whips. Damping λ trades torque against acceleration.
    """

    priority: Priority = 2
    weight: Weight = 1.0
    damping: Damping = 0.0
    name: ClassVar[str] = "least_torque"
    gain: ClassVar[float] = 0.0  # pyright: ignore[reportIncompatibleVariableOverride]

    def rows(self, arm: Arm, q: Vector, qd: Vector, target: Any, near: Vector | None = None) -> TaskRows:
        nothing = np.zeros(arm.n)
        return TaskRows(nothing, nothing, arm.mass_matrix(q), array(-1.0 * array(arm.nonlinear_effects(q, qd))))

    def velocity(self, arm: Arm, q: Vector, target: Any) -> tuple[np.ndarray, np.ndarray]:
        raise DescriptionError(
            "The task 'least_torque' needs accelerations: it acts under torque control only.", field="tasks"
        )
