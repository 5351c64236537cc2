"""One step of an iterative method: from error and Jacobian to a joint correction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from manipula.algebra.ops import Vector

FLOOR = 1e-20  # keeps damped systems solvable at the target itself


class Method(ABC):
    """A frozen step rule. Limits, restarts, tolerance and status belong to the driver.

    Attributes:
        longest: largest joint step [rad or m]; longer ones are shortened as a whole.
        patience: steps without progress after which a start is given up.
        lifetime: steps after which any start is given up.
        compiled: is it a rule for steps in machine code? algebraic: does it find all postures without steps?
        uninterrupted: does it look back at its start, so that a descent cannot be paused and resumed?
    """

    name: ClassVar[str]
    longest: ClassVar[float] = 1.0
    patience: ClassVar[float] = 4.0
    lifetime: ClassVar[float] = 40.0
    compiled: ClassVar[bool] = True
    algebraic: ClassVar[bool] = False
    uninterrupted: ClassVar[bool] = False

    @abstractmethod
    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        """Correction of q, (n,), before it is cut to ``longest``."""

    def move(self, situation: Situation, e: Vector, J: np.ndarray) -> np.ndarray:
        """Correction of q where more than the Jacobian is needed; :meth:`step` by default."""
        del situation
        return self.step(e, J)


class AlgebraicMethod(Method):
    """A method without steps: its branches are found in ``search/algebraic.py``."""

    compiled: ClassVar[bool] = False
    algebraic: ClassVar[bool] = True

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        raise NotImplementedError(f"'{self.name}' takes no steps.")


class Situation:
    """Where a step is taken from: mechanism, task, posture and targets; the posture at the start, and the number of steps since."""

    __slots__ = ("age", "mechanism", "q", "start", "targets", "task")

    def __init__(self, mechanism: Any, task: Any, q: Vector, targets: Vector, start: Vector, age: Any) -> None:
        self.mechanism, self.task, self.q, self.targets = mechanism, task, q, targets
        self.start, self.age = start, age
