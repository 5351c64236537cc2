"""What an integrator is.

Fixed-step methods are traced: ``step(f, t, x, h)`` becomes part of a compiled loop. Adaptive methods are
traced too: a compiled loop repeats a step until its error is within the tolerance and lands on every sample.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from manipula.algebra.arguments import Extensible
from manipula.algebra.ops import Scalar, Vector

RightHandSide = Callable[[Scalar, Vector], Vector]


class FixedStep(Extensible, ABC):
    """A one-step method with constant step h. ``order`` is checked by the tests."""

    name: ClassVar[str]
    order: ClassVar[int]

    @abstractmethod
    def step(self, f: RightHandSide, t: Scalar, x: Vector, h: Scalar, n: int) -> Vector:
        """State at t + h from state x at t. The first n entries of x are positions, the next n velocities."""


class AdaptiveStep(Extensible, ABC):
    """A one-step method with an estimate of its own error; the step follows the tolerance. Traced as well."""

    name: ClassVar[str]
    order: ClassVar[int]
    error_order: ClassVar[int]  # the estimate behaves like h to this power plus one

    @abstractmethod
    def attempt(
        self, f: RightHandSide, t: Scalar, x: Vector, h: Scalar, scale: Callable[[Vector], Vector]
    ) -> tuple[Vector, Scalar]:
        """State at t + h and the error in units of the tolerance (below 1: accepted).

        Args:
            scale: gives the tolerance of every entry for a new state.
        """


def weighted_norm(error: Vector, weight: Vector) -> Scalar:
    """Root mean square of ``error / weight``."""
    from manipula.algebra import ops

    total: Scalar = 0.0
    for e, w in zip(error, weight):
        ratio = e / w
        total = total + ratio * ratio
    return ops.sqrt(total * (1.0 / len(error)))
