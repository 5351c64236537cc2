"""What a secondary criterion is: a cost of the posture, made smaller by motion that the task does not see."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.derivatives import gradient
from manipula.algebra.linear import array, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.algebra.scattered import Scattered
from manipula.errors import DescriptionError, ManipulaError, ShapeError, printable
from manipula.identity import is_own
from manipula.parts.checks import DeclaredPart
from manipula.parts.field import Number
from manipula.redundancy.arm import Arm
from manipula.robot.robot import Robot

POSTURES, ROUNDS = 4, 16  # how often a user's criterion is asked before it is believed to remember nothing
HUGE = 1e15  # squared four times it is still a number
Gain = Annotated[Any, Number("1/s or 1/s²", "k; as a velocity, under torque control as an acceleration", least=0.0)]


class Criterion(DeclaredPart, ABC):
    """A cost w(q) to be kept small by motion that the task does not see."""

    part: ClassVar[str] = "criterion"
    name: ClassVar[str]
    gain: Any

    @abstractmethod
    def cost(self, arm: Arm, q: Vector) -> Scalar:
        """w(q)."""

    def direction(self, arm: Arm, q: Vector) -> np.ndarray:
        r""":math:`-k\nabla w`, (n,): a joint velocity, projected into the null space of the task."""
        return array([-self.gain * g for g in gradient(lambda x: _scalar(self, self.cost(arm, x)), q)])

    def acceleration(self, arm: Arm, q: Vector, qd: Vector) -> np.ndarray:
        """The same under torque control, as a joint acceleration, (n,)."""
        return self.direction(arm, q)

    def idle(self, robot: Robot) -> str:
        """Why the criterion has nothing to do on this robot; empty when it has."""
        return ""

    def broken(self, robot: Robot, t: np.ndarray, q: np.ndarray) -> list[str]:
        """Sentences about where a motion q (S, n) at times t (S,) is not what the criterion promises; it may promise nothing."""
        return []


def combined(criteria: tuple[Criterion, ...], arm: Arm, q: Vector, qd: Vector | None = None) -> np.ndarray:
    """Sum of several criteria, (n,): of their directions, or of their accelerations when the speeds are given."""
    total = zeros(arm.n)
    for criterion in criteria:
        total = total + _improvement(criterion, arm, q, qd)
    return array(total)


def _improvement(criterion: Criterion, arm: Arm, q: Vector, qd: Vector | None) -> np.ndarray:
    """What one criterion asks for; a user's with another signature or shape is named."""
    found = criterion.direction(arm, q) if qd is None else criterion.acceleration(arm, q, qd)
    what = f"The {'direction' if qd is None else 'acceleration'} of criterion '{_name(criterion)}'"
    if np.shape(found) != (arm.n,):
        raise ShapeError(f"{what} has shape {np.shape(found)}, expected ({arm.n},).")
    found = array(found)
    if found.dtype == object and any(v is None or isinstance(v, (str, bytes)) for v in found):
        raise DescriptionError(
            f"{what} holds something that is no number: {printable(repr(found), 60)}.", field="criteria"
        )
    return found


def checked_criteria(criteria: Iterable[Any]) -> tuple[Criterion, ...]:
    """Secondary criteria, each of a class that extends :class:`Criterion`."""
    for criterion in criteria:
        if not isinstance(criterion, Criterion):
            raise DescriptionError(
                f"A secondary criterion extends redundancy.criterion.Criterion; found {printable(repr(criterion), 60)}.",
                field="criteria",
            )
        gain = getattr(criterion, "gain", None)
        if gain is None or isinstance(gain, (bool, str)):
            raise DescriptionError(
                f"The gain of criterion '{_name(criterion)}' must be a number; found {printable(repr(gain), 60)}.",
                field="criteria",
            )
    return tuple(criteria)


def check_criteria_act(criteria: tuple[Criterion, ...], robot: Robot, remembers: bool = False) -> None:
    """Refuse criteria with nothing to do on this robot and, unless they may remember, those that do: a compiled motion asks in any order.

    A user's criterion is asked at a few postures, again and again, forwards and (a copy of it) backwards; a function of the posture
    gives the same answers.
    """
    for criterion in criteria:
        why = criterion.idle(robot)
        if why:
            raise DescriptionError(f"The criterion '{_name(criterion)}' has nothing to do: {why}.", field="criteria")
        if not remembers and not is_own(criterion):
            _check_forgets(criterion, robot)


def _check_forgets(criterion: Criterion, robot: Robot) -> None:
    known = robot.with_parameters(**dict.fromkeys(robot.parameters, 1.0)) if robot.parameters else robot
    arm, postures = Arm(known), Scattered(0).uniform(-1.0, 1.0, (POSTURES, robot.n))
    try:
        asked = (copy.deepcopy(criterion), copy.deepcopy(criterion))
    except Exception:  # whatever the user's object raises when it is copied
        asked = (criterion, criterion)
    forwards, backwards = (
        [[_plain(c, arm, postures[k]) for k in order] for _ in range(ROUNDS)]
        for c, order in zip(asked, (range(POSTURES), range(POSTURES)[::-1]))
    )
    for answers in [*forwards, *(row[::-1] for row in backwards)]:
        for a, b in zip(forwards[0], answers):
            if not np.array_equal(a, b, equal_nan=True):
                raise DescriptionError(
                    f"The criterion '{_name(criterion)}' remembers something between its calls (or draws random numbers): asked twice at the "
                    f"same posture it gave {_listed(a)} and {_listed(b)}. Here criteria are asked in any order and "
                    "may keep no memory. Write it as a function of the posture alone, or give it to a controller that takes criteria "
                    "(control.OperationalSpace): that one is asked once a step, in order.",
                    field="criteria",
                )


def _listed(numbers: np.ndarray) -> str:
    return printable(", ".join(f"{x:.6g}" for x in numbers), 80)


def _plain(criterion: Criterion, arm: Arm, q: np.ndarray) -> np.ndarray:
    """Its direction, and the cost that this comes from, on plain numbers; NaN where there is none, which is reported when the motion is made."""
    try:
        cost = [criterion.cost(arm, q)] if type(criterion).direction is Criterion.direction else []
        return np.array([*cost, *_improvement(criterion, arm, q, None)], float)
    except (ManipulaError, ArithmeticError, TypeError, ValueError):
        return np.full(arm.n, np.nan)


def _scalar(criterion: Criterion, value: Any) -> Any:
    if np.ndim(value) != 0 or value is None or isinstance(value, (str, bytes)):
        raise ShapeError(
            f"The cost of criterion '{_name(criterion)}' must be one number; found {printable(repr(value), 60)}."
        )
    return value


def _name(criterion: Any) -> str:
    return printable(getattr(criterion, "name", type(criterion).__name__), 60)


def softly_bounded(x: Scalar, most: Scalar) -> Scalar:
    r""":math:`x/(1+(x/x_{max})^8)^{1/8}`: x itself while it is small, never beyond ±most."""
    r = ops.minimum(ops.maximum(x / most, -HUGE), HUGE)
    square = r * r
    fourth = square * square
    return r * most / ops.sqrt(ops.sqrt(ops.sqrt(1.0 + fourth * fourth)))
