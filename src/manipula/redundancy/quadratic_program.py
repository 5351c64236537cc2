r"""A small convex quadratic program over any scalar, by a primal-dual interior-point method.

.. math:: \min_x\ \tfrac12x^THx + f^Tx \qquad l_i \le c_i^Tx \le u_i

With slacks :math:`s > 0` and multipliers :math:`\lambda > 0` of every finite bound a step solves

.. math:: \Bigl(H + C^T\bigl(\tfrac{\lambda_u}{s_u} + \tfrac{\lambda_l}{s_l}\bigr)C\Bigr)\,\Delta x = -r

twice with one factorisation: once towards :math:`s\lambda = 0`, which says how far that leads, once towards the centre that follows from it, with the
error of the first in second order [Mehrotra 1992; Nocedal & Wright 2006, §16.6]. Some ten to twenty steps lead to rounding, however many bounds
hold, and the start need not keep them.

Numbers are expected in units in which x, bounds and H are of the size 1, or at most some thousands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array, dot, ldl, ldl_solve, zeros
from manipula.algebra.ops import Scalar, Vector

MOST_STEPS = 80
BOLD = 15.5  # steps with second-order terms, which seldom run in circles; those after it only go towards the centre
RIGHT = 1e-11  # of 1 + sizes: residuals that count as zero
LEAST = 1e-16  # mean sλ, in units of the objective, towards which the last steps are made; ten times that is zero
START = 1e-3  # added to H, in its own unit, for a place to begin
POLISHED = 1.5  # one step more behind the first that is right: x is right to H⁻¹ times what is left of the gradient
YIELD = 1e-9  # what a step lets a bound give way beyond its own, so that no number of the factorisation grows beyond all others
KEPT = 0.005  # share of a slack or a multiplier that a step leaves


class Minimum(NamedTuple):
    """The answer.

    Attributes:
        x: (m,). upper, lower: multipliers of the bounds, (r,) each, zero where there is none.
        optimal: 1.0 where all conditions of a minimum hold to rounding, else 0.0 (bounds that exclude each other, say).
        steps: how many were taken.
    """

    x: np.ndarray
    upper: np.ndarray
    lower: np.ndarray
    optimal: Scalar
    steps: Scalar


class _Sides(NamedTuple):
    """Every bound as :math:`a\\,c^Tx \\le b` with a = ±1: row of C, a, b, what it gives way."""

    row: int
    sign: float
    bound: Scalar
    give: Scalar


def minimise(
    H: np.ndarray, f: Vector, C: np.ndarray, low: Vector, high: Vector, give: Sequence[Scalar] | None = None
) -> Minimum:
    """The minimum.

    Args:
        H: (m, m) positive semidefinite, positive definite together with the rows of C. f: (m,).
        C: (r, m). low, high: (r,); a plain infinite number is no bound. give: (r,), 0.0 for hard bounds.
    """
    m, r = len(f), len(C)
    rows = [{j: C[i, j] for j in range(m) if not _is_zero(C[i, j])} for i in range(r)]
    gives: Sequence[Scalar] = [0.0] * r if give is None else give
    sides = [_Sides(i, 1.0, high[i], gives[i]) for i in range(r) if not _is_infinite(high[i])]
    sides += [_Sides(i, -1.0, -low[i], gives[i]) for i in range(r) if not _is_infinite(low[i])]
    if not sides:
        x = ldl_solve(*ldl(array(H)), array([-v for v in f]))
        return Minimum(array(x), np.zeros(r), np.zeros(r), 1.0, 0.0)
    k = len(sides)
    # of the gradient, where |x| is about 1
    unit = ops.maximum(_largest([H[i, i] for i in range(m)]), _largest(f)) + 1e-300
    H, f = array(H / unit), array(f / unit)

    def along(x: Vector) -> list[Scalar]:
        """Cx."""
        return [_total([c * x[j] for j, c in row.items()]) for row in rows]

    def gathered(weights: Sequence[Scalar]) -> np.ndarray:
        """Σ a c w over the sides."""
        out = zeros(m)
        for side, w in zip(sides, weights):
            for j, c in rows[side.row].items():
                out[j] = out[j] + side.sign * c * w
        return out

    def residuals(x: Vector, s: Vector, y: Vector) -> tuple[np.ndarray, np.ndarray]:
        """Of the gradient, and of the slacks."""
        values = along(x)
        gap = [side.sign * values[side.row] + s[i] - side.bound - side.give * y[i] for i, side in enumerate(sides)]
        return array(array(H @ x) + f + gathered(y)), array(gap)

    def step(x: Vector, s: Vector, y: Vector, done: Scalar, taken: Scalar) -> tuple:
        slope, gap = residuals(x, s, y)
        soft = [s[i] + (side.give + YIELD) * y[i] for i, side in enumerate(sides)]
        N = array([[H[i, j] for j in range(m)] for i in range(m)]).astype(object)
        for i, side in enumerate(sides):
            weight, row = y[i] / soft[i], list(rows[side.row].items())
            for a, c in row:
                for b, d in row:
                    if b <= a:
                        N[a, b] = N[a, b] + c * d * weight
        for a in range(m):
            for b in range(a):
                N[b, a] = N[a, b]
        factors = ldl(N)

        def towards(aim: Sequence[Scalar]) -> tuple[np.ndarray, list[Scalar], list[Scalar]]:
            """Δx, Δs, Δλ with sΔλ + λΔs = −aim."""
            push = gathered([(y[i] * gap[i] - aim[i]) / soft[i] for i in range(k)])
            dx = ldl_solve(*factors, array([-slope[j] - push[j] for j in range(m)]))
            values = along(dx)
            moved = [side.sign * values[side.row] + gap[i] for i, side in enumerate(sides)]
            dy = [(y[i] * moved[i] - aim[i]) / soft[i] for i in range(k)]
            ds = [(side.give + YIELD) * dy[i] - moved[i] for i, side in enumerate(sides)]
            return dx, ds, dy

        mean = dot(s, y) / k
        _, ds, dy = towards([s[i] * y[i] for i in range(k)])
        far = _length(s, ds, y, dy, 1.0)
        left = _total([(s[i] + far * ds[i]) * (y[i] + far * dy[i]) for i in range(k)]) / k
        ratio = left / mean
        bold = ops.where(taken < BOLD, 1.0, 0.0)
        centre = ops.maximum(ops.maximum(ratio * ratio * ratio, 0.2 * (1.0 - bold)) * mean, LEAST)
        dx, ds, dy = towards([s[i] * y[i] + bold * ds[i] * dy[i] - centre for i in range(k)])
        far = _length(s, ds, y, dy, 0.8 + bold * (0.2 - KEPT))
        x, s, y = array(x + far * dx), array(s + far * array(ds)), array(y + far * array(dy))
        return x, s, y, ops.where(done > 0.5, done + 1.0, settled(x, s, y)), taken + 1.0

    def settled(x: Vector, s: Vector, y: Vector) -> Scalar:
        """1.0 where x keeps every condition of a minimum to rounding."""
        slope, gap = residuals(x, s, y)
        size = 1.0 + _largest(y)
        worst = _largest(slope) / size
        for i, side in enumerate(sides):
            worst = ops.maximum(worst, ops.abs(gap[i]) / (1.0 + ops.abs(side.bound)))
        return ops.where(worst < RIGHT, ops.where(dot(s, y) < 10.0 * k * LEAST, 1.0, 0.0), 0.0)

    x = ldl_solve(*ldl(array(H + START * np.eye(m))), array([-v for v in f]))
    values = along(x)
    room = [side.bound - side.sign * values[side.row] for side in sides]
    first = 1.0 + 0.1 * _largest(room)
    s = array([ops.maximum(v, first) for v in room])
    y = array([first / v for v in s])
    found = native.until(step, (array(x), s, y, 0.0, 0.0), lambda x, s, y, done, taken: done > POLISHED, MOST_STEPS)
    x, s, y, done, taken = found.state
    upper, lower = zeros(r), zeros(r)
    for i, side in enumerate(sides):
        (upper if side.sign > 0 else lower)[side.row] = y[i] * unit
    return Minimum(array(x), array(upper), array(lower), ops.where(done > 0.5, 1.0, 0.0), taken)


def _is_zero(v: Scalar) -> bool:
    return isinstance(v, (float, int)) and v == 0.0


def _is_infinite(v: Scalar) -> bool:
    return isinstance(v, (float, int)) and bool(np.isinf(v))


def _total(values: Sequence[Scalar]) -> Scalar:
    out: Scalar = 0.0
    for v in values:
        out = out + v
    return out


def _largest(values: Sequence[Scalar] | np.ndarray) -> Scalar:
    out: Scalar = 0.0
    for v in values:
        out = ops.maximum(out, ops.abs(v))
    return out


def _length(s: Vector, ds: Sequence[Scalar], y: Vector, dy: Sequence[Scalar], kept: Scalar) -> Scalar:
    """The longest step up to 1 that leaves every slack and every multiplier positive."""
    far: Scalar = 1.0
    for values, changes in ((s, ds), (y, dy)):
        for v, d in zip(values, changes):
            down = d < 0.0
            far = ops.minimum(far, ops.where(down, -kept * v / ops.where(down, d, -1.0), 1.0))
    return far
