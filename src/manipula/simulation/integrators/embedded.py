"""Explicit Runge–Kutta pairs of Dormand and Prince, 5(4) and 8(5,3).

Coefficients are those of [Hairer, Nørsett & Wanner 1993, §II.5], read from the tables that SciPy publishes on its steppers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from scipy.integrate import DOP853 as _DOP853
from scipy.integrate import RK45 as _RK45

from manipula.algebra import ops
from manipula.algebra.ops import Scalar, Vector
from manipula.simulation.integrators.base import AdaptiveStep, RightHandSide, weighted_norm


def combine(weights: np.ndarray, stages: list[Vector]) -> Vector:
    """Σ w_i k_i over the non-zero weights."""
    total: Vector | None = None
    for w, k in zip(weights, stages):
        if w != 0.0:
            total = float(w) * k if total is None else total + float(w) * k
    assert total is not None
    return total


def stages_of(A: np.ndarray, C: np.ndarray, f: RightHandSide, t: Scalar, x: Vector, h: Scalar) -> list[Vector]:
    """k_i = f(t + c_i h, x + h Σ a_ij k_j)."""
    stages = [f(t, x)]
    for i in range(1, len(C)):
        stages.append(f(t + float(C[i]) * h, x + h * combine(A[i, :i], stages)))
    return stages


class DormandPrince5(AdaptiveStep):
    """Order 5 with an estimate of order 4, seven stages."""

    name: ClassVar[str] = "dopri5"
    order: ClassVar[int] = 5
    error_order: ClassVar[int] = 4

    def attempt(
        self, f: RightHandSide, t: Scalar, x: Vector, h: Scalar, scale: Callable[[Vector], Vector]
    ) -> tuple[Vector, Scalar]:
        stages = stages_of(_RK45.A, _RK45.C, f, t, x, h)
        new = x + h * combine(_RK45.B, stages)
        stages.append(f(t + h, new))
        return new, weighted_norm(h * combine(_RK45.E, stages), scale(new))


class DormandPrince8(AdaptiveStep):
    r"""Order 8 with two estimates, :math:`e = e_5^2/\sqrt{e_5^2 + 0.01\,e_3^2}`, twelve stages."""

    name: ClassVar[str] = "dop853"
    order: ClassVar[int] = 8
    error_order: ClassVar[int] = 7

    def attempt(
        self, f: RightHandSide, t: Scalar, x: Vector, h: Scalar, scale: Callable[[Vector], Vector]
    ) -> tuple[Vector, Scalar]:
        stages = stages_of(_DOP853.A, _DOP853.C, f, t, x, h)
        new = x + h * combine(_DOP853.B, stages)
        stages.append(f(t + h, new))
        weight = scale(new)
        e5, e3 = (weighted_norm(h * combine(E, stages), weight) for E in (_DOP853.E5, _DOP853.E3))
        return new, e5 * e5 / ops.sqrt(e5 * e5 + 0.01 * e3 * e3 + 1e-300)
