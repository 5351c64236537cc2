"""Task-space control of redundant arms: resolved accelerations, operational space, impedance.

Where the reference says how the tool is turned, position and orientation are controlled together (``pose_task.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array, solve_spd
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import FrictionCompensation, Target
from manipula.control.pose_task import (
    Kp,
    KpRotation,
    Kv,
    KvRotation,
    NullDamping,
    Orientation,
    PoseController,
    RotationGain,
    task_target,
)
from manipula.parts.field import Number, Parts, PerJoint
from manipula.redundancy.arm import Arm
from manipula.redundancy.null_space import Criterion, combined
from manipula.redundancy.pseudoinverse import null_space_times, plus_diagonal, pseudoinverse_times, slightly_damped

Criteria = Annotated[tuple[Criterion, ...], Parts("criterion", "secondary criteria, which act in the null space")]

Damping = Annotated[Any, Number("m or rad", "λ of the damped inverse, for singular postures; 0 is exact", least=0.0)]


def _is_zero(value: Any) -> bool:
    """Is a field the plain number 0, so that what it multiplies can be left out?"""
    return isinstance(value, float) and value == 0.0


@dataclass(frozen=True)
class TaskSpaceComputedTorque(PoseController):
    r"""Resolved acceleration with the pseudoinverse [Žlajpah, (16), corrected: :math:`\dot J\dot q`, not :math:`\ddot J\dot q`].

    .. math:: \tau = M\left[J^+(\ddot x_d + K_v\dot e + K_p e - \dot J\dot q) + (1-J^+J)\,z\right] + C\dot q + g\;(+\;\tau_f)

    Because :math:`JJ^+ = 1` the tip error obeys :math:`\ddot e + K_v\dot e + K_p e = 0` whatever the arm. Without z the joints keep the
    null-space velocity they have; ``null_damping`` k gives :math:`z = -k\dot q` plus the criteria. An orientation obeys the same law in
    the coordinates of its error (:mod:`manipula.redundancy.orientation`).
    """

    kp: Kp
    kv: Kv
    null_damping: NullDamping = 0.0
    damping: Damping = 0.0
    criteria: Criteria = ()
    friction: FrictionCompensation = True
    orientation: Orientation = "auto"
    kp_rotation: KpRotation = None
    kv_rotation: KvRotation = None
    name: ClassVar[str] = "task_space_computed_torque"
    inverts: ClassVar[bool] = True
    rotation_gains: ClassVar[tuple[str, ...]] = ("kp", "kv")

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        J, wanted = self.resolved(arm, q, qd, target, state)
        qdd = pseudoinverse_times(J, wanted, self.damping * self.damping)
        z = secondary(self, arm, q, qd)
        if z is not None:
            qdd = qdd + null_space_times(J, z, singular=not _is_zero(self.damping))
        tau = arm.inverse_dynamics(q, qd, array(qdd))
        return tau + arm.friction(qd) if self.friction else tau


def secondary(controller: TaskSpaceComputedTorque, arm: Arm, q: Vector, qd: Vector) -> np.ndarray | None:
    """Null-space acceleration of a controller with fields null_damping and criteria, or None when it asks for nothing."""
    damped = not _is_zero(controller.null_damping)
    if not damped and not controller.criteria:
        return None
    z = combined(controller.criteria, controller.turned_arm(arm), q, qd)
    return array(z - controller.null_damping * qd) if damped else z


@dataclass(frozen=True)
class OperationalSpace(PoseController):
    r"""Operational space control with the dynamically consistent inverse [Khatib 1987].

    .. math:: \tau = J^T\Lambda\left(\ddot x_d + K_v\dot e + K_p e - \dot J\dot q\right) + C\dot q + g + N^T(\bar m z - kM\dot q),\qquad
              \Lambda = (JM^{-1}J^T)^{-1},\quad N^T = 1 - J^T\Lambda J M^{-1},\quad \bar m = \tfrac1n\mathrm{tr}\,M

    The criteria's gradient z acts as a torque (times the mean inertia, so that gains mean the same as above): only then does the
    consistent null space lower their cost. ``damping`` λ makes :math:`\Lambda = (JM^{-1}J^T + \lambda^2/\bar m)^{-1}`, which exists in singular
    postures; N stays exact.
    """

    kp: Kp
    kv: Kv
    null_damping: NullDamping = 0.0
    criteria: Criteria = ()
    friction: FrictionCompensation = True
    orientation: Orientation = "auto"
    kp_rotation: KpRotation = None
    kv_rotation: KvRotation = None
    damping: Damping = 0.0
    name: ClassVar[str] = "operational_space"
    inverts: ClassVar[bool] = True
    rotation_gains: ClassVar[tuple[str, ...]] = ("kp", "kv")

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        (J, wanted), M = self.resolved(arm, q, qd, target, state), arm.mass_matrix(q)
        MJ = solve_spd(M, J.T)  # M⁻¹Jᵀ, n×k
        inner, exact = J @ MJ, _is_zero(self.damping)
        soft = inner if exact else plus_diagonal(inner, self.damping * self.damping * arm.n / np.trace(M))
        tau = J.T @ solve_spd(soft, wanted) + arm.nonlinear_effects(q, qd)
        push = self._null_torque(arm, q, qd, M)
        if push is not None:
            tau = tau + push - J.T @ solve_spd(inner if exact else slightly_damped(inner), MJ.T @ push)
        return tau + arm.friction(qd) if self.friction else tau

    def _null_torque(self, arm: Arm, q: Vector, qd: Vector, M: np.ndarray) -> np.ndarray | None:
        r""":math:`\bar m z - kM\dot q`: a gradient as a torque descends in the metric of M, as an acceleration it need not."""
        damped = not _is_zero(self.null_damping)
        if not damped and not self.criteria:
            return None
        push = np.trace(M) * (1.0 / arm.n) * combined(self.criteria, self.turned_arm(arm), q, qd)
        return array(push - self.null_damping * (M @ qd)) if damped else array(push)


@dataclass(frozen=True)
class Impedance(PoseController):
    r""":math:`\tau = J^T\left[K(x_d - x) + D(\dot x_d - \dot x)\right] + g - k\dot q`: the tip
    behaves like a spring and damper [Hogan 1985].

    An orientation is held by a spring and damper too, with the moment :math:`W^T(K_oe + D_o\dot e)` of the error e (rows W of
    :mod:`manipula.redundancy.orientation`): it is the one whose energy is :math:`\tfrac12e^TK_oe`, so the arm stays passive at any angle.
    """

    stiffness: Annotated[Any, PerJoint("N/m", "stiffness K of the tip", least=0.0, each="coordinate")]
    damping: Annotated[Any, PerJoint("N·s/m", "damping D of the tip", least=0.0, each="coordinate")]
    joint_damping: Annotated[
        Any, PerJoint("N·m·s/rad or N·s/m", "damping k of the joints, keeps the null space quiet", least=0.0)
    ] = 0.0
    orientation: Orientation = "auto"
    stiffness_rotation: Annotated[Any, RotationGain("N·m/rad", "stiffness K_o of the tool's orientation")] = None
    damping_rotation: Annotated[Any, RotationGain("N·m·s/rad", "damping D_o of the tool's orientation")] = None
    name: ClassVar[str] = "impedance"
    rotation_gains: ClassVar[tuple[str, ...]] = ("stiffness", "damping")
    shares_gains: ClassVar[bool] = False

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        if target.turn is not None and self.is_turned:
            e = self.errors(arm, q, qd, target, state)
            force = self.all_gains("stiffness", arm) * e.e + self.all_gains("damping", arm) * e.rate
            return e.J.T @ array(force) + arm.gravity(q) - per_joint(self.joint_damping, arm.n) * qd
        x_d, v_d, _ = task_target(arm, target)
        k = len(arm.task)
        J = arm.task_jacobian(q)
        force = per_joint(self.stiffness, k) * (x_d - arm.position(q)[list(arm.task)]) + per_joint(self.damping, k) * (
            v_d - J @ qd
        )
        return J.T @ force + arm.gravity(q) - per_joint(self.joint_damping, arm.n) * qd
