"""What a secondary criterion is: a cost of the posture, made smaller by motion that the task does not see."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.derivatives import gradient
from manipula.algebra.fields import freeze
from manipula.algebra.linear import array, zeros
from manipula.algebra.ops import Scalar, Vector
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
        return array([-self.gain * g for g in gradient(lambda x: self.cost(arm, x), q)])

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
        total = total + (criterion.direction(arm, q) if qd is None else criterion.acceleration(arm, q, qd))
    return array(total)


def softly_bounded(x: Scalar, most: Scalar) -> Scalar:
    r""":math:`x/(1+(x/x_{max})^8)^{1/8}`: x itself while it is small, never beyond ±most."""
    r = ops.minimum(ops.maximum(x / most, -HUGE), HUGE)
    square = r * r
    fourth = square * square
    return r * most / ops.sqrt(ops.sqrt(ops.sqrt(1.0 + fourth * fourth)))
