"""Force in some directions of the tip, motion in the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from manipula.algebra.linear import array, dot, solve_spd
from manipula.algebra.ops import Scalar, Vector, sqrt
from manipula.algebra.scattered import Scattered
from manipula.control.base import Controller, FrictionCompensation, Target
from manipula.control.pose_task import Kp, KpRotation, Kv, KvRotation, NullDamping, Orientation, PoseController
from manipula.errors import DescriptionError, printable
from manipula.parts.field import Frame, Number, Rows, VectorField
from manipula.physics import kinematics
from manipula.redundancy.arm import Arm
from manipula.redundancy.orientation import SIZES

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory

DEPENDENT = 1e-9  # of a direction: what is left of it outside those before it
SEEN = 3  # postures in which directions are compared with what the arm can move


@dataclass(frozen=True)
class HybridForcePosition(PoseController):
    r"""Hybrid force/position control [Raibert & Craig 1981] in operational space [Khatib 1987].

    With the orthonormal ``directions`` :math:`n_i`, :math:`P_f = \sum n_in_i^T` and :math:`P_x = 1 - P_f`, the tip is accelerated by

    .. math:: a = P_x\left[\ddot x_d + K_v\dot e + K_pe\right] + P_f\left[K_f(f_d - f) - D\dot x\right] + \sum n_iz_i,\qquad
        \dot z_i = K_i\,n_i^T(f_d - f)

    .. math:: \tau = J^T\Lambda(a - \dot J\dot q) + C\dot q + g - J^TF - kN^TM\dot q\;(+\;\tau_f),\qquad f = -F

    F is the measured force on the tip (contacts and wrenches on its link), which is compensated; so :math:`\ddot x = a` whatever the arm weighs:
    the error along the surface obeys :math:`\ddot e + K_v\dot e + K_pe = 0` under any friction there, and a linear contact of stiffness c is
    pressed by :math:`\ddot\delta + D\dot\delta + K_fc\,\delta = K_ff_d + z`, critically damped for :math:`D = 2\sqrt{K_fc}`. Without a contact the tip
    approaches with the speed :math:`K_f|f_d|/D`. The integral takes away what a wrong model leaves of the force error; begin it in contact, for
    it also grows on the way there. Where the reference says how the tool is turned, that is followed as in ``operational_space``.
    """

    force: Annotated[
        Any,
        VectorField(
            "N", "wanted force f_d of the tip on what it touches, in the axes of ``frame``", example=(0.0, 0.0, -10.0)
        ),
    ]
    directions: Annotated[
        Any,
        Rows(
            "1",
            "in which the force is controlled, in the axes of ``frame``, of any length; the force lies in them",
            example=((0.0, 0.0, 1.0),),
        ),
    ]
    kp: Kp
    kv: Kv
    kf: Annotated[Any, Number("1/kg", "gain K_f on the force error, an inverse virtual mass", above=0.0)]
    force_damping: Annotated[Any, Number("1/s", "damping D in the directions of the force", least=0.0)]
    ki: Annotated[Any, Number("1/(kg·s)", "integral gain K_i on the force error", least=0.0)] = 0.0
    frame: Annotated[
        str | None, Frame("whose axes count, such as the tip's for a tool that is pressed; none: axes of the base")
    ] = None
    null_damping: NullDamping = 5.0
    friction: FrictionCompensation = True
    orientation: Orientation = "auto"
    kp_rotation: KpRotation = None
    kv_rotation: KvRotation = None
    name: ClassVar[str] = "hybrid_force_position"
    inverts: ClassVar[bool] = True
    rotation_gains: ClassVar[tuple[str, ...]] = ("kp", "kv")
    measures: ClassVar[tuple[str, ...]] = ("wrench",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= len(self.directions) <= 3 or any(np.shape(d) != (3,) for d in self.directions):
            raise DescriptionError(
                f"One to three directions of three numbers each are needed, [[0, 0, 1]]; found {printable(repr(self.directions), 60)}.",
                field="directions",
            )
        rows = np.array(self.directions, float)
        sizes = np.linalg.norm(rows, axis=1)
        if not sizes.all() or np.linalg.svd(rows / sizes[:, None], compute_uv=False)[-1] < DEPENDENT:
            raise DescriptionError(
                f"Directions are different and have a length; found {printable(repr(self.directions), 60)}.", field="directions"
            )  # fmt: skip
        wanted = np.array(self.force, float)
        outside = wanted - sum((n * float(n @ wanted) for n in _orthonormal(rows)), np.zeros(3))
        if np.linalg.norm(outside) > DEPENDENT * np.linalg.norm(wanted):
            raise DescriptionError(
                f"The part {np.round(outside, 9).tolist()} of the force lies in no direction in which the force is controlled and would never act.",
                field="force",
            )

    def facing(self, arm: Arm, reference: Trajectory) -> Controller:
        if self.frame is not None:
            kinematics.find_frame(arm.full, self.frame)
        rng, away = Scattered(0), [k for k in range(3) if k not in arm.task]
        for q in rng.uniform(-1.0, 1.0, (SEEN, arm.n)):
            if away and np.abs(np.asarray(self._normals(arm, q), float)[:, away]).max() > DEPENDENT:
                raise DescriptionError(
                    f"The arm cannot move its tip along {', '.join('xyz'[k] for k in away)} of the base, where a direction of the force has a part.",
                    field="controller.directions",
                )
        return super().facing(arm, reference)

    def states(self, n: int) -> int:
        return super().states(n) + len(self.directions)

    def _divided(self, state: Vector) -> tuple[Vector, Vector]:
        """What is remembered of the orientation, and the integrals."""
        turned = SIZES[self.orientation] if self.is_turned else 0
        return state[:turned], state[turned:]

    def state_at(self, arm: Arm, q: Vector, qd: Vector, target: Target | None) -> Vector:
        turn = super().state_at(arm, q, qd, target) if self.is_turned else ()
        return array([*turn, *np.zeros(len(self.directions))])

    def state_rate(self, arm: Arm, t: Any, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        turn = super().state_rate(arm, t, q, qd, target, self._divided(state)[0]) if self.is_turned else ()
        missing = self._missing(arm, q)
        return array([*turn, *(self.ki * dot(n, missing) for n in self._normals(arm, q))])

    def _axes(self, arm: Arm, q: Vector) -> np.ndarray:
        """The axes of ``frame`` in those of the base, 3 × 3."""
        return np.eye(3) if self.frame is None else kinematics.pose(arm.full, q, self.frame)[:3, :3]

    def _normals(self, arm: Arm, q: Vector) -> list[np.ndarray]:
        """The orthonormal directions of the force, in axes of the base."""
        return _orthonormal([array(self._axes(arm, q) @ array(d)) for d in self.directions])

    def _missing(self, arm: Arm, q: Vector) -> np.ndarray:
        """f_d − f in axes of the base, (3,)."""
        return array(self._axes(arm, q) @ array(self.force) + arm.wrench[:3])

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        rows, whole = list(arm.task), arm.jacobian(q)
        near, z = self._divided(state)
        J, free = self.resolved(arm, q, qd, target, near)
        drift = array(arm.jacobian_rate(q, qd) @ qd)[rows]
        missing, speed = self._missing(arm, q)[rows], whole[rows] @ qd
        wanted = free[: len(rows)]
        for n, pushed in zip(self._normals(arm, q), z):
            n = n[rows]
            pressing = self.kf * dot(n, missing) - self.force_damping * dot(n, speed) + pushed - dot(n, drift)
            wanted = array(wanted + (pressing - dot(n, free[: len(rows)])) * n)
        M = arm.mass_matrix(q)
        MJ = solve_spd(M, J.T)  # M⁻¹Jᵀ
        slowed = array(-self.null_damping * (M @ qd))
        pushed = solve_spd(array(J @ MJ), array([[*wanted, *free[len(rows) :]], MJ.T @ slowed]).T)
        tau = J.T @ array(pushed[:, 0] - pushed[:, 1]) + slowed + arm.nonlinear_effects(q, qd) - whole.T @ arm.wrench
        return array(tau + arm.friction(qd) if self.friction else tau)


def _orthonormal(rows: Any) -> list[np.ndarray]:
    """The same directions at right angles to each other and of length 1 (Gram–Schmidt)."""
    out: list[np.ndarray] = []
    for row in rows:
        rest = array(row)
        for n in out:
            rest = array(rest - dot(n, rest) * n)
        out.append(array(rest / sqrt(dot(rest, rest))))
    return out
