"""What an integrator is.

Fixed-step methods are traced: ``step(f, t, x, h)`` becomes part of a compiled loop. Adaptive methods drive the compiled
right-hand side from Python and give dense output.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from manipula.algebra.ops import Scalar, Vector

RightHandSide = Callable[[Scalar, Vector], Vector]


class FixedStep(ABC):
    """A one-step method with constant step h. ``order`` is checked by the tests."""

    name: ClassVar[str]
    order: ClassVar[int]

    @abstractmethod
    def step(self, f: RightHandSide, t: Scalar, x: Vector, h: Scalar, n: int) -> Vector:
        """State at t + h from state x at t. The first n entries of x are positions, the next n velocities."""
