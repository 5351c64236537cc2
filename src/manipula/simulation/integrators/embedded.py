"""Explicit Runge–Kutta pairs of Dormand and Prince, 5(4) and 8(5,3).

Coefficients are those of [Hairer, Nørsett & Wanner 1993, §II.5] in ``tableaus.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.ops import Scalar, Vector
from manipula.simulation.integrators import tableaus
from manipula.simulation.integrators.base import AdaptiveStep, RightHandSide, weighted_norm
from manipula.simulation.integrators.tableaus import Weights

TOGETHER = 6, 1  # stages in one turn of a loop, if their number allows it: fewer take less to compile and longer to run


def sums_of_stages(
    A: Sequence[Weights], C: Sequence[float], sums: Sequence[Weights], f: RightHandSide, t: Scalar, x: Vector, h: Scalar
) -> list[Vector]:
    r"""Σ_i w_i k_i for every w of ``sums``, with k_i = f(t + c_i h, x + h Σ_j a_ij k_j).

    The stages are a loop, some at a time: a part of the machine code of as many evaluations in a row. Whatever sum still waits for slopes,
    those of later stages first, takes its share of a slope as soon as it is known.
    """
    together = next(k for k in TOGETHER if len(C) % k == 0)
    turns, size = len(C) // together, len(x)
    every = [*A, *sums]

    def share(turn: int, i: int, j: int) -> float:
        """Of slope i of a turn in what waits at place j: points of its own stages and of later ones, then sums."""
        place = turn * together + j
        if j >= len(C):
            place = j
        elif place >= len(C):
            return 0.0
        return every[place].get(turn * together + i, 0.0)

    shares = np.array([[[share(k, i, j) for j in range(len(every))] for i in range(together)] for k in range(turns)])
    acts = np.abs(shares).max(axis=0) > 0.0
    nodes = np.reshape(C, (turns, together))

    def turn(k: Scalar, *waiting: Vector) -> tuple[Vector, ...]:
        totals = list(waiting)
        weights, at = native.lookup(shares, k), native.lookup(nodes, k)
        for i in range(together):
            slope = f(t + at[i] * h, x + h * totals[i])
            for j in np.flatnonzero(acts[i]):
                totals[j] = totals[j] + weights[i, j] * slope
        return (*totals[together : len(C)], *[np.zeros(size)] * together, *totals[len(C) :])

    start = (np.zeros(size),) * len(every)
    return list(native.repeat(turn, start, turns).state[len(C) :])


class DormandPrince5(AdaptiveStep):
    """Order 5 with an estimate of order 4, seven stages."""

    name: ClassVar[str] = "dopri5"
    order: ClassVar[int] = 5
    error_order: ClassVar[int] = 4

    def attempt(
        self, f: RightHandSide, t: Scalar, x: Vector, h: Scalar, scale: Callable[[Vector], Vector]
    ) -> tuple[Vector, Scalar]:
        A = (*tableaus.DOPRI5_STAGES, tableaus.DOPRI5_SOLUTION)
        C = (*tableaus.DOPRI5_NODES, 1.0)  # the last slope is at the end
        solution, error = sums_of_stages(A, C, (tableaus.DOPRI5_SOLUTION, tableaus.DOPRI5_ERROR), f, t, x, h)
        new = x + h * solution
        return new, weighted_norm(h * error, scale(new))


class DormandPrince8(AdaptiveStep):
    r"""Order 8 with two estimates, :math:`e = e_5^2/\sqrt{e_5^2 + 0.01\,e_3^2}`, twelve stages."""

    name: ClassVar[str] = "dop853"
    order: ClassVar[int] = 8
    error_order: ClassVar[int] = 7

    def attempt(
        self, f: RightHandSide, t: Scalar, x: Vector, h: Scalar, scale: Callable[[Vector], Vector]
    ) -> tuple[Vector, Scalar]:
        sums = (tableaus.DOP853_SOLUTION, tableaus.DOP853_ERROR_5, tableaus.DOP853_ERROR_3)
        solution, *errors = sums_of_stages(tableaus.DOP853_STAGES, tableaus.DOP853_NODES, sums, f, t, x, h)
        new = x + h * solution
        weight = scale(new)
        e5, e3 = (weighted_norm(h * e, weight) for e in errors)
        return new, e5 * e5 / ops.sqrt(e5 * e5 + 0.01 * e3 * e3 + 1e-300)
