"""Passivity-based adaptive control: of links, and of a load at the tip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from manipula.algebra.fields import per_joint
from manipula.algebra.inertia import moments
from manipula.algebra.linear import array, skew, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target
from manipula.errors import DescriptionError
from manipula.parts.field import Choice, Number, PerJoint, VectorField, Wholes
from manipula.physics import regressor as regression
from manipula.redundancy.arm import Arm
from manipula.robot.robot import Robot

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory


def sliding(
    controller: SlotineLi | AdaptivePayload, arm: Arm, q: Vector, qd: Vector, target: Target
) -> tuple[Vector, Vector, Vector]:
    """q̇_r, q̈_r and s of a controller with a field ``slope``."""
    slope = per_joint(controller.slope, arm.n)
    e, ed = target.position - q, target.velocity - qd
    rate, acceleration = target.velocity + slope * e, target.acceleration + slope * ed
    return rate, acceleration, rate - qd


def passive_regressor(arm: Arm, q: Vector, qd: Vector, rate: Vector, acceleration: Vector) -> np.ndarray:
    r""":math:`Y_r` with :math:`Y_r\pi = M\ddot q_r + C(q,\dot q)\dot q_r + g`."""
    still = np.zeros(arm.n)
    Y = arm.regressor(q, still, acceleration)
    both = arm.regressor(q, array(qd + rate), still, gravity=False)
    one, two = arm.regressor(q, qd, still, gravity=False), arm.regressor(q, rate, still, gravity=False)
    return Y + 0.5 * (both - one - two)


def load_regressor(arm: Arm, q: Vector, qd: Vector, rate: Vector, acceleration: Vector) -> np.ndarray:
    r"""The same of a body at the tip by its ten parameters in the tip's frame, n × 10.

    The body's wrench is quadratic in velocities, so it is polarised as C is: with the twists :math:`\omega, \omega_r` and
    :math:`a_r = J\ddot q_r + \tfrac12(\dot J(\dot q)\dot q_r + \dot J(\dot q_r)\dot q) - g`,

    .. math:: F = ma_r + \alpha_r\times h + \tfrac12[\omega\times(\omega_r\times h) + \omega_r\times(\omega\times h)],\quad
              N = h\times a_r + \Theta\alpha_r + \tfrac12[\omega\times\Theta\omega_r + \omega_r\times\Theta\omega]
    """
    J, R = arm.jacobian(q), arm.pose(q)[:3, :3]
    turned = array(R.T @ J[:3]), array(R.T @ J[3:])  # in axes of the tip
    moving = J @ acceleration + 0.5 * (arm.jacobian_rate(q, qd) @ rate + arm.jacobian_rate(q, rate) @ qd)
    a, alpha = array(R.T @ (moving[:3] - arm.full.gravity)), array(R.T @ moving[3:])
    w, u = skew(array(turned[1] @ qd)), skew(array(turned[1] @ rate))
    F, N = zeros(3, 10), zeros(3, 10)
    F[:, 0], F[:, 1:4], N[:, 1:4] = a, skew(alpha) + 0.5 * (w @ u + u @ w), -skew(a)
    for column, unit in enumerate(np.eye(10)[4:], start=4):
        inertia = regression.moments_of(unit).second
        N[:, column] = inertia @ alpha + 0.5 * (
            w @ (inertia @ array(turned[1] @ rate)) + u @ (inertia @ array(turned[1] @ qd))
        )
    return array(turned[0].T @ F + turned[1].T @ N)


def nominal_torque(arm: Arm, q: Vector, qd: Vector, rate: Vector, acceleration: Vector) -> np.ndarray:
    """The same torques of the controller's model."""
    return array(arm.mass_matrix(q) @ acceleration + arm.coriolis_matrix(q, qd) @ rate + arm.gravity(q))


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

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        rate, acceleration, s = sliding(self, arm, q, qd, target)
        nominal = nominal_torque(arm, q, qd, rate, acceleration)
        Y = passive_regressor(arm, q, qd, rate, acceleration)[:, self.adapted(len(arm.full.bodies))]
        return array(nominal + Y @ state + per_joint(self.kv, arm.n) * s)

    def state_rate(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        rate, acceleration, s = sliding(self, arm, q, qd, target)
        Y = passive_regressor(arm, q, qd, rate, acceleration)[:, self.adapted(len(arm.full.bodies))]
        return array(per_joint(self.rate, len(state)) * (Y.T @ s))


@dataclass(frozen=True)
class AdaptivePayload(Controller):
    r"""The law of Slotine and Li [1987] for a load at the tip: it tracks and finds what the tip carries beyond the controller's model.

    .. math:: \tau = M\ddot q_r + C\dot q_r + g + Y_L\hat\pi + Ks,\qquad \dot{\hat\pi} = \Gamma\,Y_L^Ts

    :math:`Y_L` are the columns of a body in the tip's frame. With
    :math:`V = \tfrac12s^TMs + \tfrac12\tilde\pi^T\Gamma^{-1}\tilde\pi` of the loaded arm :math:`\dot V = -s^TKs`, so the error goes to zero whatever the
    load; the estimate goes to the true one where the motion shows it (a mass whose place is known needs no more than that its weight is felt).
    ``payload_mass`` of the result is :math:`\hat m` [kg], ``payload_moment`` :math:`\hat m\hat c` in the tip's frame [kg·m].
    """

    slope: Annotated[Any, PerJoint("1/s", "slope Λ of the sliding surface", least=0.0)]
    kv: Annotated[Any, PerJoint("N·m·s/rad or N·s/m", "gain K", least=0.0)]
    rate: Annotated[Any, Number("kg/(J·s)", "adaptation gain Γ of the mass", above=0.0)]
    estimates: Annotated[
        str,
        Choice("a point mass at ``com``, mass and first moments, or all ten parameters", "mass", "moments", "inertia"),
    ] = "mass"
    com: Annotated[
        Any,
        VectorField("m", "where a point mass is, in the tip's frame; none is the tip itself, and none beside moments"),
    ] = None
    moment_rate: Annotated[Any, Number("kg·m²/(J·s)", "Γ of the first moments; rate/100 when omitted", above=0.0)] = (
        None
    )
    inertia_rate: Annotated[Any, Number("kg·m⁴/(J·s)", "Γ of the inertia; rate/1000 when omitted", above=0.0)] = None
    name: ClassVar[str] = "adaptive_payload"
    space: ClassVar[Space] = "joint"

    def __post_init__(self) -> None:
        super().__post_init__()
        idle = {"mass": ("moment_rate", "inertia_rate"), "moments": ("com", "inertia_rate"), "inertia": ("com",)}
        for field in idle[self.estimates]:
            if getattr(self, field) is not None:
                raise DescriptionError(
                    f"'{field}' does not act where '{self.estimates}' is estimated; leave it out.", field=field
                )

    def facing(self, arm: Arm, reference: Trajectory) -> Controller:
        if arm.robot.tip_frame.link < 0:
            raise DescriptionError("The tip of this robot does not move, so it carries nothing.", field="controller")
        return self

    def states(self, n: int) -> int:
        return {"mass": 1, "moments": 4, "inertia": 10}[self.estimates]

    def _gains(self) -> np.ndarray:
        moment = 0.01 * self.rate if self.moment_rate is None else self.moment_rate
        inertia = 0.001 * self.rate if self.inertia_rate is None else self.inertia_rate
        return array([self.rate, *[moment] * 3, *[inertia] * 6][: self.states(0)])

    def _columns(self, arm: Arm, q: Vector, qd: Vector, rate: Vector, acceleration: Vector) -> np.ndarray:
        """Y_L, n × states."""
        Y = load_regressor(arm, q, qd, rate, acceleration)
        if self.estimates != "mass":
            return Y[:, : self.states(0)]
        if self.com is None:
            return Y[:, :1]
        return array(Y @ array(regression.parameters_of(moments(1.0, array(self.com), np.zeros((3, 3))))))[:, None]

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        rate, acceleration, s = sliding(self, arm, q, qd, target)
        load = self._columns(arm, q, qd, rate, acceleration) @ state
        return array(nominal_torque(arm, q, qd, rate, acceleration) + load + per_joint(self.kv, arm.n) * s)

    def state_rate(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        rate, acceleration, s = sliding(self, arm, q, qd, target)
        return array(self._gains() * (self._columns(arm, q, qd, rate, acceleration).T @ s))

    def signals(self, arm: Arm, q: Vector, qd: Vector, target: Target, state: Vector) -> dict[str, Any]:
        """``payload_mass``, and ``payload_moment`` where first moments are estimated."""
        found: dict[str, Any] = {"payload_mass": state[0]}
        return found if self.estimates == "mass" else found | {"payload_moment": array(state[1:4])}
