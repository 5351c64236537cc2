r"""What a drive is: the path from the commanded torque to the torque that reaches the link.

A rigid drive passes the command on; rotor inertia and gear ratio are fields of the joint and sit in M. Other drives limit the
command, have motor states of their own, or prescribe the motor's motion and let a spring carry it to the link.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from manipula.algebra.ops import Scalar
from manipula.parts.checks import check_part


class Drive(ABC):
    """One drive for one joint: a frozen dataclass of parameters, written over ``ops`` so that it is compiled when traced."""

    part: ClassVar[str] = "drive"
    smooth: ClassVar[bool] = False  # is the torque analytic in command and state, without corners?
    name: ClassVar[str]
    states: ClassVar[int] = 0  # motor states integrated with the arm
    separates_rotor: ClassVar[bool] = False  # True when the rotor moves on its own and must not be counted in M

    def __post_init__(self) -> None:
        check_part(self)

    @abstractmethod
    def torque(
        self, command: Scalar, t: Scalar, q: Scalar, qd: Scalar, state: tuple[Scalar, ...], rotor: Scalar
    ) -> Scalar:
        """Torque on the link [N·m or N], joint side.

        Args:
            command: torque asked for by the controller, joint side.
            t, q, qd: time, joint position and rate.
            state: the drive's own states.
            rotor: armature of the joint, gear² · rotor inertia [kg·m²].
        """

    def state_rate(
        self, command: Scalar, t: Scalar, q: Scalar, qd: Scalar, state: tuple[Scalar, ...], rotor: Scalar
    ) -> tuple[Scalar, ...]:
        """Time derivative of the drive's states."""
        return ()

    def initial_state(self, q: Scalar, qd: Scalar) -> tuple[Scalar, ...]:
        """States in which the drive carries no torque at q, qd, unless its fields say otherwise."""
        return ()

    def balanced_state(self, q: Scalar, qd: Scalar, load: Scalar) -> tuple[Scalar, ...]:
        """States at the start where gravity asks for the torque ``load``; only a drive that may start loaded looks at it."""
        return self.initial_state(q, qd)

    def motor_motion(self, t: Scalar, q: Scalar, qd: Scalar, state: tuple[Scalar, ...]) -> tuple[Scalar, Scalar]:
        """Position and speed of the motor, behind the gear (joint side): what an encoder on the motor measures."""
        return q, qd

    def stored_energy(self, q: Scalar, qd: Scalar, state: tuple[Scalar, ...], rotor: Scalar, t: Scalar = 0.0) -> Scalar:
        """Energy held by the drive itself (spring and rotor) [J]."""
        return 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a file: the registry name under ``drive`` and the parameters."""
        from dataclasses import fields

        return {"drive": self.name} | {f.name: getattr(self, f.name) for f in fields(self)}  # pyright: ignore[reportArgumentType]
