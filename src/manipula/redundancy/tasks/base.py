r"""What a task is: an error e of the arm's posture that is to vanish, by a law of its own.

With :math:`\dot e = \dot e_0 - J\dot q` and :math:`\ddot e = b - J\ddot q` a task of gain k asks

.. math:: J\dot q = \dot e_0 + ke\ \text{(kinematic)},\qquad J\ddot q = b + 2k\dot e + k^2e\ \text{(torque control)},

so that its error decays as :math:`e^{-kt}e_0`, under torque control as :math:`(1+kt)e^{-kt}e_0` from rest. Which tasks are served first is their
``priority``; a list of them is solved by :mod:`manipula.redundancy.hierarchy`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from manipula.algebra.linear import array
from manipula.algebra.ops import Vector
from manipula.errors import DescriptionError
from manipula.parts.checks import DeclaredPart
from manipula.parts.field import Choice, Number, Whole
from manipula.redundancy.arm import Arm
from manipula.redundancy.orientation import TurnTarget

FIXED = 1e-9  # of a coordinate of size 1 m that no joint changes: where it stays, but for rounding

Priority = Annotated[Any, Whole("1 is served first; tasks of one number are served together", least=1, most=16)]
Weight = Annotated[Any, Number("1", "weight among tasks of the same priority", above=0.0)]
Gain = Annotated[
    Any, Number("1/s", "k: both poles of the error under torque control, the one pole of a kinematic run", least=0.0)
]
Damping = Annotated[Any, Number("m or rad", "λ of the least squares of its priority; 0 is exact", least=0.0)]
Coordinates = Annotated[
    str,
    Choice(
        "which coordinates count; auto: those that the arm can move", "auto", "x", "y", "z", "xy", "xz", "yz", "xyz"
    ),
]


class TaskTarget(NamedTuple):
    """Where the reference is: position, velocity, acceleration of the tip (3,), and how the tool is turned, where it says so."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    turn: TurnTarget | None = None


class TaskRows(NamedTuple):
    """e (k,), its rate at the given speeds, J (k, n), and b with ë = b − J q̈."""

    e: np.ndarray
    rate: np.ndarray
    J: np.ndarray
    bias: np.ndarray


class ArmTask(DeclaredPart, ABC):
    """A frozen dataclass with one method, ``rows``."""

    part: ClassVar[str] = "task"
    name: ClassVar[str]
    structure: ClassVar[frozenset[str]] = frozenset({"priority", "damping"})
    follows_place: ClassVar[bool] = False  # without a goal of its own: the position of the reference
    follows_turn: ClassVar[bool] = False  # without a goal of its own: its orientation
    priority: Any
    weight: Any
    damping: Any
    gain: Any

    @property
    def follows(self) -> bool:
        """Does it follow the reference, because it has no goal of its own?"""
        return (self.follows_place or self.follows_turn) and getattr(self, "goal", None) is None

    def decided(self, arm: Arm) -> ArmTask:
        """The task with everything that depends on the arm decided; itself, unless it leaves something open."""
        return self

    @property
    def states(self) -> int:
        """How many numbers of its error are remembered, so that an orientation passes a half turn without a jump."""
        return 0

    @abstractmethod
    def rows(self, arm: Arm, q: Vector, qd: Vector, target: Any, near: Vector | None = None) -> TaskRows:
        """Error, its rate, J and b at a state; ``near``: what is remembered of an orientation's error (``orientation.py``)."""

    def acceleration(
        self, arm: Arm, q: Vector, qd: Vector, target: Any, near: Vector | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """J, and what J q̈ is to be."""
        found = self.rows(arm, q, qd, target, near)
        return found.J, array(found.bias + 2.0 * self.gain * found.rate + self.gain * self.gain * found.e)

    def velocity(self, arm: Arm, q: Vector, target: Any) -> tuple[np.ndarray, np.ndarray]:
        """J, and what J q̇ is to be."""
        found = self.rows(arm, q, np.zeros(arm.n), target)
        return found.J, array(found.rate + self.gain * found.e)


def coordinates_of(asked: str, movable: tuple[int, ...], what: str = "the frame") -> str:
    """ "auto" as the coordinates that can be moved.

    Raises:
        DescriptionError: for coordinates that no joint changes.
    """
    if asked == "auto":
        return "".join("xyz"[i] for i in movable)
    fixed = [c for c in asked if "xyz".index(c) not in movable]
    if fixed:
        raise DescriptionError(
            f"No joint moves {what} along {', '.join(fixed)}; coordinates are among "
            f"{', '.join('xyz'[i] for i in movable)}, or 'auto'.",
            field="coordinates",
        )
    return asked


def point_rows(
    coordinates: str, goal: Any, target: Any, place: Vector, J: np.ndarray, drift: Vector, qd: Vector
) -> TaskRows:
    """A point of the arm at a goal, or at the reference: e = x_d − x, and b = ẍ_d − J̇q̇, in the coordinates that count.

    Args:
        place: where the point is, (3,). J, drift: its Jacobian (3, n) and J̇q̇ (3,).
    """
    chosen, still = ["xyz".index(c) for c in coordinates], np.zeros(3)
    x, v, a = target[:3] if goal is None else (array(goal), still, still)
    J = J[chosen]
    return TaskRows(array(x[chosen] - place[chosen]), array(v[chosen] - J @ qd), J, array(a[chosen] - drift[chosen]))


def check_goal(goal: Any, movable: tuple[int, ...], place: Any, what: str) -> None:
    """Does a goal ask for nothing that no joint can change? Its other coordinates are where the arm has them anyway.

    Args:
        place: where the point is in any posture. what: the point, in words.

    Raises:
        DescriptionError: with the coordinate and where it stays.
    """
    if goal is None or not all(isinstance(v, (int, float)) for v in goal):
        return
    for k, (wanted, stays) in enumerate(zip(goal, np.asarray(place, float))):
        if k not in movable and abs(float(wanted) - stays) > FIXED * max(1.0, abs(stays)):
            raise DescriptionError(
                f"No joint moves {what} along {'xyz'[k]}: it stays at {stays:.6g} m there, and the goal says {wanted:g} m. Give {stays:.6g}, "
                "or the coordinates that count.",
                field="goal",
            )
