"""What a secondary criterion is: a cost of the posture, made smaller by motion that the task does not see."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.arguments import function_of
from manipula.algebra.derivatives import gradient
from manipula.algebra.fields import freeze
from manipula.algebra.linear import array, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.errors import DescriptionError, ShapeError, printable
from manipula.parts.checks import check_part
from manipula.redundancy.arm import Arm
from manipula.robot.robot import Robot

HUGE = 1e15  # squared four times it is still a number


class Criterion(ABC):
    """A cost w(q) to be kept small by motion that the task does not see."""

    part: ClassVar[str] = "criterion"
    name: ClassVar[str]
    gain: Any

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)

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
    """What one criterion asks for; one of somebody's with another signature or shape is named."""
    method, given = ("direction", (arm, q)) if qd is None else ("acceleration", (arm, q, qd))
    call = getattr(criterion, method, None)
    label = f"{method} of criterion '{_name(criterion)}'"
    if call is None:
        raise DescriptionError(
            f"'{_name(criterion)}' is no secondary criterion: it has no method {method}; see Criterion.",
            field="criteria",
        )
    try:
        found = call(*given)
    except TypeError:
        function_of(call, label, *("arm", "q", "qd")[: len(given)])
        function_of(
            getattr(criterion, "cost", lambda arm, q: 0.0), f"cost of criterion '{_name(criterion)}'", "arm", "q"
        )
        raise
    if np.shape(found) != (arm.n,):
        raise ShapeError(f"The {label} has shape {np.shape(found)}, expected ({arm.n},).")
    return array(found)


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
