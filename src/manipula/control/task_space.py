"""Task-space control of redundant arms: resolved accelerations, operational space, impedance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array, solve_spd
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target
from manipula.parts.field import Flag, Number, Parts, PerJoint
from manipula.redundancy.arm import Arm
from manipula.redundancy.null_space import Criterion, combined
from manipula.redundancy.pseudoinverse import null_space_times, pseudoinverse_times

Kp = Annotated[Any, PerJoint("1/s²", "gain K_p on accelerations", each="coordinate")]
Kv = Annotated[Any, PerJoint("1/s", "gain K_v on accelerations; 2√kp is critically damped", each="coordinate")]
NullDamping = Annotated[Any, Number("1/s", "damping k of the null space", least=0.0)]
Criteria = Annotated[tuple[Criterion, ...], Parts("criterion", "secondary criteria, which act in the null space")]
Compensation = Annotated[
    bool,
    Flag(
        "compensate the laws that need neither state nor load: those that act, or the own ones of a model that is given"
    ),
]


def task_target(arm: Arm, target: Target) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Target restricted to the coordinates that the arm can move (x, y for a planar one)."""
    rows = list(arm.task)
    return target.position[rows], target.velocity[rows], target.acceleration[rows]


def wanted_acceleration(gains: Any, arm: Arm, q: Vector, qd: Vector, target: Target, J: np.ndarray) -> np.ndarray:
    r""":math:`\ddot x_d + K_v\dot e + K_p e - \dot J\dot q`: what :math:`J\ddot q` must be, for a controller with fields kp and kv."""
    x_d, v_d, a_d = task_target(arm, target)
    k = len(arm.task)
    e, ed = x_d - arm.position(q)[list(arm.task)], v_d - J @ qd
    return array(a_d + per_joint(gains.kv, k) * ed + per_joint(gains.kp, k) * e - arm.task_jacobian_rate(q, qd) @ qd)


@dataclass(frozen=True)
class TaskSpaceComputedTorque(Controller):
    r"""Resolved acceleration with the pseudoinverse [Žlajpah, (16), corrected: :math:`\dot J\dot q`, not :math:`\ddot J\dot q`].

    .. math:: \tau = M\left[J^+(\ddot x_d + K_v\dot e + K_p e - \dot J\dot q) + (1-J^+J)\,z\right] + C\dot q + g\;(+\;\tau_f)

    Because :math:`JJ^+ = 1` the tip error obeys :math:`\ddot e + K_v\dot e + K_p e = 0` whatever the arm. Without z the joints keep the
    null-space velocity they have; ``null_damping`` k gives :math:`z = -k\dot q` plus the criteria.
    """

    kp: Kp
    kv: Kv
    null_damping: NullDamping = 0.0
    damping: Annotated[Any, Number("m or rad", "λ of the damped pseudoinverse; 0 is exact", least=0.0)] = 0.0
    criteria: Criteria = ()
    friction: Compensation = True
    name: ClassVar[str] = "task_space_computed_torque"
    space: ClassVar[Space] = "task"

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        J = arm.task_jacobian(q)
        wanted = wanted_acceleration(self, arm, q, qd, target, J)
        qdd = pseudoinverse_times(J, wanted, self.damping * self.damping)
        z = secondary(self, arm, q, qd)
        if z is not None:
            qdd = qdd + null_space_times(J, z)
        tau = arm.inverse_dynamics(q, qd, array(qdd))
        return tau + arm.friction(qd) if self.friction else tau


def secondary(controller: Any, arm: Arm, q: Vector, qd: Vector) -> np.ndarray | None:
    """Null-space acceleration of a controller with fields null_damping and criteria, or None when it asks for nothing."""
    damped = not (isinstance(controller.null_damping, float) and controller.null_damping == 0.0)
    if not damped and not controller.criteria:
        return None
    z = combined(controller.criteria, arm, q, qd)
    return array(z - controller.null_damping * qd) if damped else z


@dataclass(frozen=True)
class OperationalSpace(Controller):
    r"""Operational space control with the dynamically consistent inverse [Khatib 1987].

    .. math:: \tau = J^T\Lambda\left(\ddot x_d + K_v\dot e + K_p e - \dot J\dot q\right) + C\dot q + g + N^T(\bar m z - kM\dot q),\qquad
              \Lambda = (JM^{-1}J^T)^{-1},\quad N^T = 1 - J^T\Lambda J M^{-1},\quad \bar m = \tfrac1n\mathrm{tr}\,M

    The criteria's gradient z acts as a torque (times the mean inertia, so that gains mean the same as above): only then does the
    consistent null space lower their cost.
    """

    kp: Kp
    kv: Kv
    null_damping: NullDamping = 0.0
    criteria: Criteria = ()
    friction: Compensation = True
    name: ClassVar[str] = "operational_space"
    space: ClassVar[Space] = "task"

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        J, M = arm.task_jacobian(q), arm.mass_matrix(q)
        MJ = solve_spd(M, J.T)  # M⁻¹Jᵀ, n×k
        wanted = wanted_acceleration(self, arm, q, qd, target, J)
        tau = J.T @ solve_spd(J @ MJ, wanted) + arm.nonlinear_effects(q, qd)
        push = self._null_torque(arm, q, qd, M)
        if push is not None:
            tau = tau + push - J.T @ solve_spd(J @ MJ, MJ.T @ push)
        return tau + arm.friction(qd) if self.friction else tau

    def _null_torque(self, arm: Arm, q: Vector, qd: Vector, M: np.ndarray) -> np.ndarray | None:
        r""":math:`\bar m z - kM\dot q`: a gradient as a torque descends in the metric of M, as an acceleration it need not."""
        damped = not (isinstance(self.null_damping, float) and self.null_damping == 0.0)
        if not damped and not self.criteria:
            return None
        push = np.trace(M) * (1.0 / arm.n) * combined(self.criteria, arm, q, qd)
        return array(push - self.null_damping * (M @ qd)) if damped else array(push)


@dataclass(frozen=True)
class Impedance(Controller):
    r""":math:`\tau = J^T\left[K(x_d - x) + D(\dot x_d - \dot x)\right] + g - k\dot q`: the tip
    behaves like a spring and damper [Hogan 1985].
    """

    stiffness: Annotated[Any, PerJoint("N/m", "stiffness K of the tip", least=0.0, each="coordinate")]
    damping: Annotated[Any, PerJoint("N·s/m", "damping D of the tip", least=0.0, each="coordinate")]
    joint_damping: Annotated[
        Any, PerJoint("N·m·s/rad or N·s/m", "damping k of the joints, keeps the null space quiet", least=0.0)
    ] = 0.0
    name: ClassVar[str] = "impedance"
    space: ClassVar[Space] = "task"

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        x_d, v_d, _ = task_target(arm, target)
        k = len(arm.task)
        J = arm.task_jacobian(q)
        force = per_joint(self.stiffness, k) * (x_d - arm.position(q)[list(arm.task)]) + per_joint(self.damping, k) * (
            v_d - J @ qd
        )
        return J.T @ force + arm.gravity(q) - per_joint(self.joint_damping, arm.n) * qd
