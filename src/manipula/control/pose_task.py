r"""What controllers of the task space share: errors of position and orientation, and gains for both parts.

With :math:`e = (x_d - x,\ e_o)` and :math:`J = (J_v,\ WJ_\omega)`, :math:`e_o` and W of :mod:`manipula.redundancy.orientation`,

.. math:: \ddot e = b - J\ddot q,\qquad J\ddot q = b + K_v\dot e + K_pe \;\Rightarrow\; \ddot e + K_v\dot e + K_pe = 0

for both parts and whatever the size of the error. The controller remembers the error of the orientation (states :math:`s` with
:math:`\dot s = \dot e_o + k_s(e_o - s)`) only to choose between the two rotation vectors of one rotation: so the error passes a half turn without
a jump. At 315° it takes the short way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np

from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Vector
from manipula.control.base import Controller, Space, Target
from manipula.errors import DescriptionError
from manipula.parts.field import Choice, Field, Number, PerJoint
from manipula.redundancy.arm import Arm
from manipula.redundancy.orientation import SIZES, TurnError, resolved_turn, turn_error
from manipula.robot.robot import Robot

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory

FORGETTING = 10.0  # 1/s, how fast what is remembered follows an error that jumps
Orientation = Annotated[
    str,
    Choice(
        "how much of the reference's orientation is controlled: all that the arm can turn, nothing, all, the direction of one axis of the "
        "tool, or the angle of an arm that turns it about one axis",
        "auto", "free", "full", "x", "y", "z", "angle",
    ),
]  # fmt: skip
Kp = Annotated[Any, PerJoint("1/s²", "gain K_p on accelerations", each="coordinate", least=0.0)]
Kv = Annotated[
    Any, PerJoint("1/s", "gain K_v on accelerations; 2√kp is critically damped", each="coordinate", least=0.0)
]
NullDamping = Annotated[Any, Number("1/s", "damping k of the null space", least=0.0)]
RotationGain: Callable[..., Field] = partial(Field, "one per joint", least=0.0, each="rotation")
KpRotation = Annotated[Any, RotationGain("1/s²", "K_p of the orientation; kp when omitted")]
KvRotation = Annotated[Any, RotationGain("1/s", "K_v of the orientation; kv when omitted")]


class PoseErrors(NamedTuple):
    """Errors of position and orientation, their rates, the Jacobian and b with ë = b − J q̈."""

    e: np.ndarray
    rate: np.ndarray
    J: np.ndarray
    bias: np.ndarray


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


class PoseController(Controller):
    """A controller of the tip's position, and of the tool's orientation where the reference says it."""

    space: ClassVar[Space] = "task"
    follows_orientation: ClassVar[bool] = True
    rotation_gains: ClassVar[tuple[str, ...]]  # fields whose counterpart for the orientation is called <name>_rotation
    inverts: ClassVar[bool] = False  # does it need the inverse of the task's Jacobian?
    shares_gains: ClassVar[bool] = True  # may those be omitted, because the unit is the same?
    orientation: str

    @property
    def is_turned(self) -> bool:
        """Is an orientation controlled? Decided by ``facing``."""
        return self.orientation not in ("auto", "free")

    def facing(self, arm: Arm, reference: Trajectory) -> Controller:
        """The controller with ``orientation`` decided.

        Raises:
            DescriptionError: when the arm cannot, when the reference says nothing about orientation, or when a gain is missing or idle.
        """
        given = [f"{name}_rotation" for name in self.rotation_gains if getattr(self, f"{name}_rotation") is not None]
        if not getattr(reference, "has_orientation", False):
            asked = given or (["orientation"] if self.orientation not in ("auto", "free") else [])
            if asked:
                raise DescriptionError(
                    f"The reference does not say how the tool is turned, so '{asked[0]}' of controller '{self.name}' would never act.",
                    field=f"controller.{asked[0]}",
                )
            return self
        turn = resolved_turn(self.orientation, arm, f"The controller '{self.name}'")
        if turn == "free" and given:
            raise DescriptionError(
                f"The orientation is left free, so '{given[0]}' would never act.", field=f"controller.{given[0]}"
            )
        for name in self.rotation_gains if turn != "free" else ():
            if f"{name}_rotation" not in given and (not self.shares_gains or isinstance(getattr(self, name), tuple)):
                raise DescriptionError(
                    f"The reference says how the tool is turned; the controller '{self.name}' needs '{name}_rotation' for that"
                    f"{', or one number for ' + name if self.shares_gains else ''}. orientation = 'free' leaves it open.",
                    field=f"controller.{name}_rotation",
                )
        return dataclasses.replace(self, orientation=turn)  # pyright: ignore[reportArgumentType]

    def states(self, n: int) -> int:
        return SIZES[self.orientation] if self.is_turned else 0

    def count(self, each: str, robot: Robot) -> int | None:
        if each != "rotation":
            return super().count(each, robot)
        return SIZES[
            {1: "angle"}.get(len(Arm(robot).turn_axes), "full") if self.orientation == "auto" else self.orientation
        ]

    def state_at(self, arm: Arm, q: Vector, qd: Vector, target: Target | None) -> Vector:
        """The error at the start, the short way."""
        if not self.is_turned or target is None or target.turn is None:
            return self.initial_state(arm)
        axis = arm.turn_axes[0] if self.orientation == "angle" else None
        return turn_error(self.orientation, arm.pose(q)[:3, :3], np.zeros(3), target.turn, axis=axis).e

    def state_rate(self, arm: Arm, t: Any, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        if not self.is_turned or target.turn is None:
            return np.zeros(self.states(arm.n))
        found = self._turn(arm, q, qd, target, state)
        return array(found.rate + FORGETTING * (found.e - state))

    def _turn(self, arm: Arm, q: Vector, qd: Vector, target: Target, near: Vector | None) -> TurnError:
        axis = arm.turn_axes[0] if self.orientation == "angle" else None
        omega = array(arm.jacobian(q)[3:] @ qd)
        assert target.turn is not None
        return turn_error(self.orientation, arm.pose(q)[:3, :3], omega, target.turn, near, axis)

    def turned_arm(self, arm: Arm) -> Arm:
        """The arm with the orientation in its task, as secondary criteria see it."""
        return arm.facing(self.orientation) if self.is_turned else arm

    def errors(self, arm: Arm, q: Vector, qd: Vector, target: Target, state: Vector) -> PoseErrors:
        """Position and orientation together."""
        rows, J = list(arm.task), arm.jacobian(q)
        x_d, v_d, a_d = task_target(arm, target)
        turn = self._turn(arm, q, qd, target, state)
        drift = arm.jacobian_rate(q, qd) @ qd
        return PoseErrors(
            array([*(x_d - arm.position(q)[rows]), *turn.e]), array([*(v_d - J[rows] @ qd), *turn.rate]),
            array(np.concatenate([J[rows], turn.rows @ J[3:]])),
            array([*(a_d - drift[rows]), *(turn.bias - turn.rows @ drift[3:])]),
        )  # fmt: skip

    def all_gains(self, name: str, arm: Arm) -> np.ndarray:
        """A gain of every coordinate: those of the position, then those of the orientation."""
        of_turn = getattr(self, f"{name}_rotation")
        given = getattr(self, name)
        size = SIZES[self.orientation]
        return array([*per_joint(given, len(arm.task)), *per_joint(given if of_turn is None else of_turn, size)])

    def resolved(self, arm: Arm, q: Vector, qd: Vector, target: Target, state: Vector) -> tuple[np.ndarray, np.ndarray]:
        """J, and what :math:`J\\ddot q` must be, for a controller with fields kp and kv."""
        if target.turn is None or not self.is_turned:
            J = arm.task_jacobian(q)
            return J, wanted_acceleration(self, arm, q, qd, target, J)
        found = self.errors(arm, q, qd, target, state)
        return found.J, array(found.bias + self.all_gains("kv", arm) * found.rate + self.all_gains("kp", arm) * found.e)
