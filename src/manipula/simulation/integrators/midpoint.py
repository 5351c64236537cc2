"""Implicit midpoint rule: time-reversible, keeps quadratic invariants, bounded energy error over long runs."""

from __future__ import annotations

from typing import ClassVar

from manipula import native
from manipula.algebra import ops
from manipula.algebra.ops import Scalar, Vector
from manipula.simulation.integrators.base import FixedStep, RightHandSide

SOLVED = 1e-15
LIMIT = 50


class ImplicitMidpoint(FixedStep):
    r""":math:`x_{k+1} = x_k + h\,f\!\left(t + \tfrac h2, \tfrac12(x_k + x_{k+1})\right)`, by fixed-point iteration to rounding.

    Second order, symmetric [Hairer, Lubich & Wanner 2006, §V.1]. The iteration converges when h times the Jacobian of f is
    below two: choose it for long free motion, not for stiff drives.
    """

    name: ClassVar[str] = "midpoint"
    order: ClassVar[int] = 2

    def step(self, f: RightHandSide, t: Scalar, x: Vector, h: Scalar, n: int) -> Vector:
        middle = t + 0.5 * h

        def again(increment: Vector, change: Scalar) -> tuple[Vector, Scalar]:
            new = h * f(middle, x + 0.5 * increment)
            largest: Scalar = 0.0
            for a, b in zip(new, increment):
                largest = ops.maximum(largest, ops.abs(a - b) - SOLVED * ops.abs(a))
            return new, largest

        (increment, _), _ = native.until(again, (h * f(t, x), 1.0), lambda _, change: change <= SOLVED, LIMIT)
        return x + increment
