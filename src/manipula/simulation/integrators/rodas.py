"""A Rosenbrock method for stiff drives and friction: implicit, but linear, so nothing has to be iterated."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from manipula import native
from manipula.algebra.linear import zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.simulation.integrators.base import AdaptiveStep, RightHandSide, weighted_norm

GAMMA = 0.25
ALPHA = (0.0, 0.386, 0.21, 0.63, 1.0, 1.0)
DELTA = (0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0)
A = (
    (),
    (1.544,),
    (0.9466785280815826, 0.2557011698983284),
    (3.314825187068521, 2.896124015972201, 0.9986419139977817),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
)
C = (
    (),
    (-5.6688,),
    (-2.430093356833875, -0.2063599157091915),
    (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
    (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
    (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
)


class Rodas(AdaptiveStep):
    r"""RODAS: six stages, order 4 with an estimate of order 3, L-stable and stiffly accurate [Hairer & Wanner 1996, §IV.7, §VI.4].

    .. math::
        \left(\tfrac1{\gamma h} - J\right)u_i = f\!\left(t+\alpha_i h,
        \,x+\sum_j a_{ij}u_j\right) + \sum_j \tfrac{c_{ij}}h u_j + \delta_i h f_t

    The Jacobian J and f_t are exact (differentiated in the compiled code); one factorisation per step, without pivoting: the
    matrix tends to a multiple of the identity as h shrinks.
    """

    name: ClassVar[str] = "rodas"
    order: ClassVar[int] = 4
    error_order: ClassVar[int] = 3

    def attempt(
        self, f: RightHandSide, t: Scalar, x: Vector, h: Scalar, scale: Callable[[Vector], Vector]
    ) -> tuple[Vector, Scalar]:
        first = f(t, x)
        size = len(x)
        slopes = native.derivative(first, np.concatenate([x, np.array([t], dtype=object)]))
        J, f_t = slopes[:, :size], slopes[:, size]
        inverse_h = 1.0 / h
        solve = _factored(J, inverse_h * (1.0 / GAMMA))
        u: list[Vector] = []
        point = x
        for i in range(6):
            if i == 0:
                value = first
            elif i < 5:
                point = x
                for a, uj in zip(A[i], u):
                    point = point + a * uj
                value = f(t + ALPHA[i] * h, point)
            else:
                point = point + u[4]
                value = f(t + h, point)
            right = value
            for c, uj in zip(C[i], u):
                right = right + (c * inverse_h) * uj
            if DELTA[i] != 0.0:
                right = right + (DELTA[i] * h) * f_t
            u.append(solve(right))
        new = point + u[5]
        return new, weighted_norm(u[5], scale(new))


def _factored(J: np.ndarray, diagonal: Scalar) -> Callable[[Vector], np.ndarray]:
    """Solver of (d·1 − J) u = b. Structural zeros of J cost nothing: traced zeros fold away."""
    n = len(J)
    W = zeros(n, n)
    for i in range(n):
        for j in range(n):
            W[i, j] = (diagonal - J[i, j]) if i == j else -J[i, j]
    inverse = zeros(n)
    for k in range(n):
        inverse[k] = 1.0 / W[k, k]
        for i in range(k + 1, n):
            if _zero(W[i, k]):
                continue
            factor = W[i, k] * inverse[k]
            W[i, k] = factor
            for j in range(k + 1, n):
                if not _zero(W[k, j]):
                    W[i, j] = W[i, j] - factor * W[k, j]

    def solve(b: Vector) -> np.ndarray:
        y = zeros(n)
        for i in range(n):
            total = b[i]
            for j in range(i):
                if not _zero(W[i, j]):
                    total = total - W[i, j] * y[j]
            y[i] = total
        for i in range(n - 1, -1, -1):
            total = y[i]
            for j in range(i + 1, n):
                if not _zero(W[i, j]):
                    total = total - W[i, j] * y[j]
            y[i] = total * inverse[i]
        return y

    return solve


def _zero(x: Scalar) -> bool:
    if isinstance(x, (int, float)):
        return x == 0
    return getattr(x, "code", "") == "const" and x.data == 0.0
