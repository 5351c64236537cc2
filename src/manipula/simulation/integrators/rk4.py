"""The classical Runge–Kutta method."""

from __future__ import annotations

from typing import ClassVar

from manipula.algebra.ops import Scalar, Vector
from manipula.simulation.integrators.base import FixedStep, RightHandSide


class RK4(FixedStep):
    r""":math:`x_{k+1} = x_k + \tfrac h6(k_1 + 2k_2 + 2k_3 + k_4)` [Kutta 1901]; fourth order, four evaluations a step."""

    name: ClassVar[str] = "rk4"
    order: ClassVar[int] = 4

    def step(self, f: RightHandSide, t: Scalar, x: Vector, h: Scalar, n: int) -> Vector:
        half = 0.5 * h
        middle = t + half
        k1 = f(t, x)
        k2 = f(middle, x + half * k1)
        k3 = f(middle, x + half * k2)
        k4 = f(t + h, x + h * k3)
        return x + (h * (1.0 / 6.0)) * (k1 + 2.0 * (k2 + k3) + k4)
