"""Explicit Runge–Kutta pairs of Dormand and Prince, 5(4) and 8(5,3).

Coefficients are those of [Hairer, Nørsett & Wanner 1993, §II.5] in ``tableaus.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from manipula.algebra import ops
from manipula.algebra.ops import Scalar, Vector
from manipula.simulation.integrators import tableaus
from manipula.simulation.integrators.base import AdaptiveStep, RightHandSide, weighted_norm
from manipula.simulation.integrators.tableaus import Weights


def combine(weights: Weights, stages: list[Vector]) -> Vector:
    """Σ w_i k_i over the non-zero weights."""
    total: Vector | None = None
    for i, w in weights.items():
        total = w * stages[i] if total is None else total + w * stages[i]
    assert total is not None
    return total


def stages_of(
    A: Sequence[Weights], C: Sequence[float], f: RightHandSide, t: Scalar, x: Vector, h: Scalar
) -> list[Vector]:
    """k_i = f(t + c_i h, x + h Σ a_ij k_j)."""
    stages = [f(t, x)]
    for i in range(1, len(C)):
        stages.append(f(t + C[i] * h, x + h * combine(A[i], stages)))
    return stages


class DormandPrince5(AdaptiveStep):
    """Order 5 with an estimate of order 4, seven stages."""

    name: ClassVar[str] = "dopri5"
    order: ClassVar[int] = 5
    error_order: ClassVar[int] = 4

    def attempt(
        self, f: RightHandSide, t: Scalar, x: Vector, h: Scalar, scale: Callable[[Vector], Vector]
    ) -> tuple[Vector, Scalar]:
        stages = stages_of(tableaus.DOPRI5_STAGES, tableaus.DOPRI5_NODES, f, t, x, h)
        new = x + h * combine(tableaus.DOPRI5_SOLUTION, stages)
        stages.append(f(t + h, new))
        return new, weighted_norm(h * combine(tableaus.DOPRI5_ERROR, stages), scale(new))


class DormandPrince8(AdaptiveStep):
    r"""Order 8 with two estimates, :math:`e = e_5^2/\sqrt{e_5^2 + 0.01\,e_3^2}`, twelve stages."""

    name: ClassVar[str] = "dop853"
    order: ClassVar[int] = 8
    error_order: ClassVar[int] = 7

    def attempt(
        self, f: RightHandSide, t: Scalar, x: Vector, h: Scalar, scale: Callable[[Vector], Vector]
    ) -> tuple[Vector, Scalar]:
        stages = stages_of(tableaus.DOP853_STAGES, tableaus.DOP853_NODES, f, t, x, h)
        new = x + h * combine(tableaus.DOP853_SOLUTION, stages)
        stages.append(f(t + h, new))
        weight = scale(new)
        e5, e3 = (
            weighted_norm(h * combine(E, stages), weight) for E in (tableaus.DOP853_ERROR_5, tableaus.DOP853_ERROR_3)
        )
        return new, e5 * e5 / ops.sqrt(e5 * e5 + 0.01 * e3 * e3 + 1e-300)
