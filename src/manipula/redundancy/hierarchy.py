r"""Least squares in a strict order of priority, with or without bounds, over any scalar.

Level k chooses, among everything that leaves :math:`J_ix` of the levels before it as it is,

.. math:: \min_x\ \lVert J_kx - b_k\rVert^2 + \lambda_k^2\lVert x - x_{k-1}\rVert^2 \qquad (l \le x \le u)

and the freedom that is left makes :math:`\lVert x - z\rVert` smallest. Rows are taken one after the other into an orthonormal basis of what is
already decided [Siciliano & Slotine 1991, recursive form]; a row with less than TOLERANCE of itself outside that basis adds nothing to it. Steps of
a level are made of the new basis vectors only, so a level cannot disturb those before it, whatever its damping and rank.

Bounds are met by a primal active-set method [Nocedal & Wright 2006, §16.5]: step to the minimum on the bounds that hold, stop at the first
bound in the way and add it, at the minimum release the bound whose multiplier has the wrong sign most. It is finite; at most
``most_steps(n)`` steps are made, and whether the multipliers ended with the right signs is part of the answer. Every level begins where the one before
it ended, which is within the bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array, dot, ldl, ldl_solve, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.redundancy.quadratic_program import minimise

TOLERANCE = 1e-8  # of a row: what is left of it outside the rows before it
RIGHT = 1e-11  # of |J|(|b| + |J||x|): a multiplier with the wrong sign that is rounding
REGULAR = 1e-10  # of the largest entry of JᵀJ: what directions without a task cost
NEAR = 1e-9  # room that every level but the first has at bounds that hold
SIZE = 100.0  # of the unknowns of a quadratic program
STILL = 1e-14  # of 1 + |x|: a step that is rounding


class Level(NamedTuple):
    """One priority: rows J (k, n), what Jx should be (k,), and λ."""

    J: np.ndarray
    b: np.ndarray
    damping: Scalar = 0.0


class Solution(NamedTuple):
    """The answer.

    Attributes:
        x: (n,). optimal: 1.0 where every level reached its minimum within the bounds, else 0.0.
        margin: of the first level, the smallest share of a row (of a column, of more rows than unknowns) that those before it do not hold already;
            0 where it is singular.
    """

    x: np.ndarray
    optimal: Scalar
    margin: Scalar


def most_steps(n: int) -> int:
    """Steps of the active-set method at a level with n unknowns."""
    return 4 * n + 8


def solve(levels: Sequence[Level], z: Vector, bounds: tuple[Vector, Vector] | None = None) -> Solution:
    """The hierarchy's answer, nearest to ``z`` where it is free.

    Args:
        bounds: l and u, l ≤ u.
    """
    n = len(z)
    x = array(z)
    basis: list[np.ndarray] = []
    margin = _margin(levels[0].J)
    if bounds is None:
        for level in levels:
            p, new = _step(basis, level, x)
            x, basis = array(x + p), [*basis, *new]
        return Solution(x, 1.0, margin)
    low, high = array(bounds[0]), array(bounds[1])
    x = array([ops.minimum(ops.maximum(z[i], low[i]), high[i]) for i in range(n)])
    held, optimal = np.zeros(n), 1.0
    for level in [*levels, Level(np.eye(n), array(z))]:
        x, held, reached = _within(basis, level, x, held, low, high)
        optimal = ops.minimum(optimal, reached)
        if _is_identity(level):
            break  # nothing is left free
        basis = [*basis, *_extended(basis, level.J)[0]]
    return Solution(x, optimal, margin)


def solve_between(
    levels: Sequence[Level], z: Vector, C: np.ndarray, low: Vector, high: Vector, give: Sequence[Scalar]
) -> Solution:
    r"""The same within :math:`l \le Cx \le u`, every level by a quadratic program in what those before it leave free, :math:`x = x_{k-1} + Py`.

    Args:
        C: (r, n); rows, low, high and give as in :func:`~manipula.redundancy.quadratic_program.minimise`. A bound that gives way is broken as
            little as possible where the hard ones do not allow to keep it.
    """
    n = len(z)
    x, optimal, basis, room = array(z), 1.0, [], -np.inf
    for level in [*levels, Level(np.eye(n), array(z))]:
        P = array(np.eye(n) - _sum_of_squares(basis, n))
        J = array(array(level.J) @ P)
        missing = array(level.b - array(level.J) @ x)
        weight = _largest_diagonal(J) * REGULAR + level.damping * level.damping
        H = array(array(J.T @ J) + _sum_of_squares(basis, n) + weight * np.eye(n))
        there = array(array(C) @ x)
        rows = array(array(C) @ P) * SIZE
        found = minimise(
            array(H * (SIZE * SIZE)), array(-SIZE * array(J.T @ missing)), rows,
            _room(low, there, ops.minimum, -room), _room(high, there, ops.maximum, room), give,
        )  # fmt: skip
        room = NEAR
        x, optimal = array(x + SIZE * array(P @ found.x)), ops.minimum(optimal, found.optimal)
        if _is_identity(level):
            break
        basis = [*basis, *_extended(basis, level.J)[0]]
    return Solution(x, optimal, _margin(levels[0].J))


def _sum_of_squares(basis: list[np.ndarray], n: int) -> np.ndarray:
    """Σ v vᵀ."""
    out = zeros(n, n)
    for v in basis:
        out = out + np.outer(v, v)
    return array(out)


def _largest_diagonal(J: np.ndarray) -> Scalar:
    out: Scalar = 0.0
    for column in J.T:
        out = ops.maximum(out, dot(column, column))
    return out


def _room(bounds: Vector, there: Vector, outer: Any, least: float) -> list[Scalar]:
    """What is left up to the bounds: where a level ended, which keeps them but for rounding, the next one has room."""
    left = [v if _is_open(v) else v - w for v, w in zip(bounds, there)]
    return left if np.isinf(least) else [v if _is_open(v) else outer(v, least) for v in left]


def _is_open(v: Scalar) -> bool:
    return isinstance(v, (float, int)) and bool(np.isinf(v))


def _is_identity(level: Level) -> bool:
    """Does a level fix x itself, so that no later one can change anything?"""
    whole = level.J.dtype != object and np.array_equal(level.J, np.eye(level.J.shape[1]))
    return whole and isinstance(level.damping, float) and level.damping == 0.0


def _margin(J: np.ndarray) -> Scalar:
    """Smallest share of a row of J outside the rows before it; of a column outside the columns before it, where there are more rows than columns:
    the minimum of their squares is then unique as long as every column adds something."""
    J = J if len(J) <= np.shape(J)[1] else array(array(J).T)
    L, smallest = _extended([], J)[1], 1.0
    for i, row in enumerate(J):
        smallest = ops.minimum(smallest, L[i, i] / ops.sqrt(ops.maximum(dot(row, row), 1e-300)))
    return smallest


def _extended(basis: list[np.ndarray], J: np.ndarray, passes: int = 2) -> tuple[list[np.ndarray], np.ndarray]:
    """New basis vectors, one per row of J (zero where the row adds nothing), and L with :math:`J_i = \\ldots + \\sum_j L_{ij}v_j`.

    Gram–Schmidt twice (``passes``) is orthogonal to rounding.
    """
    k = len(J)
    new: list[np.ndarray] = []
    L = zeros(k, k)
    for i, row in enumerate(J):
        rest = array(row)
        for _ in range(passes):
            for j, v in enumerate([*basis, *new]):
                d = dot(v, rest)
                rest = array(rest - d * v)
                if j >= len(basis):
                    L[i, j - len(basis)] = L[i, j - len(basis)] + d
        square, whole = dot(rest, rest), dot(row, row)
        counts = square > TOLERANCE * TOLERANCE * whole
        size = ops.sqrt(ops.where(counts, square, 1.0))
        new.append(array([ops.where(counts, r / size, 0.0) for r in rest]))
        L[i, i] = ops.where(counts, size, 0.0)
    return new, L


def _step(basis: list[np.ndarray], level: Level, x: Vector, passes: int = 2) -> tuple[np.ndarray, list[np.ndarray]]:
    """The shortest step to the minimum of a level outside ``basis``, and the new basis vectors."""
    new, L = _extended(basis, level.J, passes)
    k, square = len(level.J), level.damping * level.damping
    missing = array(level.b - level.J @ x)
    N = array(L.T @ L)
    N = array(
        [
            [N[i, j] + (square + ops.where(L[i, i] > 0.0, 0.0, 1.0) if i == j else 0.0) for j in range(k)]
            for i in range(k)
        ]
    )
    factors = ldl(N)
    y = ldl_solve(*factors, array(L.T @ missing))
    left = array(L.T @ array(missing - L @ y) - square * y)  # once more, for what rounding of LᵀL costs
    y = array(y + ldl_solve(*factors, left))
    p = zeros(len(x))
    for v, a in zip(new, y):
        p = p + a * v
    return array(p), new


def _within(
    basis: list[np.ndarray], level: Level, x: Vector, held: Vector, low: Vector, high: Vector
) -> tuple[np.ndarray, np.ndarray, Scalar]:
    """The minimum of a level between bounds: x, which bounds hold it (−1 lower, 1 upper, 0 none), and 1.0 where it is one."""
    n = len(x)
    square = level.damping * level.damping
    start = x
    scale = ops.sqrt(dot(level.J.ravel(), level.J.ravel()))

    def step(x: Vector, held: Vector, done: Scalar) -> tuple[np.ndarray, np.ndarray, Scalar]:
        units = array([[held[i] * held[i] if i == j else 0.0 for j in range(n)] for i in range(n)])
        fixed, R = _extended(basis, units)
        if _is_identity(level):
            p = _outside([*basis, *fixed], array(level.b - x))
        else:
            p = _damped_step([*basis, *fixed], level, x, start)
        p = _outside(basis, p)  # what one pass of Gram–Schmidt leaves
        p = array([p[i] * (1.0 - held[i] * held[i]) for i in range(n)])
        first: Scalar = 1.0
        which: Scalar = -1.0
        for i in range(n):
            least = STILL * (1.0 + ops.abs(x[i]))
            up, down = p[i] > least, p[i] < -least
            room = ops.where(up, high[i] - x[i], ops.where(down, low[i] - x[i], 1.0))
            free = (held[i] * held[i] < 0.5) & (up | down)
            share = ops.where(free, room / ops.where(up | down, p[i], 1.0), 2.0)
            share = ops.maximum(share, 0.0)
            which = ops.where(share < first, float(i), which)
            first = ops.where(share < first, share, first)
        moved = array(x + first * p)
        gradient = array(level.J.T @ array(level.J @ moved - level.b) + square * array(moved - start))
        worst: Scalar = 0.0
        leaves: Scalar = -1.0
        multipliers = _multipliers(fixed, R, gradient)
        size = scale * (ops.sqrt(dot(level.b, level.b)) + scale * ops.sqrt(dot(moved, moved)))
        for i in range(n):
            wrong = held[i] * multipliers[i]
            leaves = ops.where(wrong > worst, float(i), leaves)
            worst = ops.where(wrong > worst, wrong, worst)
        blocked, right = which >= 0.0, worst <= RIGHT * size
        leaves = ops.where(blocked, -1.0, ops.where(right, -1.0, leaves))
        now, hold = [], []
        for i in range(n):
            meets, goes = ops.abs(which - i) < 0.5, ops.abs(leaves - i) < 0.5
            side = ops.where(p[i] > 0.0, 1.0, -1.0)
            hold.append(ops.where(meets, side, ops.where(goes, 0.0, held[i])))
            now.append(ops.where(meets, ops.where(p[i] > 0.0, high[i], low[i]), moved[i]))
        return array(now), array(hold), ops.where(blocked, 0.0, ops.where(right, 1.0, 0.0))

    found = native.until(step, (array(x), array(held), 0.0), lambda x, held, done: done > 0.5, most_steps(n))
    x, held, done = found.state
    x = array([ops.minimum(ops.maximum(x[i], low[i]), high[i]) for i in range(n)])
    return x, array(held), done


def _outside(basis: list[np.ndarray], r: Vector) -> np.ndarray:
    """The part of a vector outside an orthonormal basis."""
    for v in basis:
        r = array(r - dot(v, r) * v)
    return array(r)


def _damped_step(basis: list[np.ndarray], level: Level, x: Vector, start: Vector) -> np.ndarray:
    """As :func:`_step`, with the damping measured from ``start``."""
    if isinstance(level.damping, float) and level.damping == 0.0:
        return _step(basis, level, x, 1)[0]
    n = len(x)
    J = array(np.concatenate([level.J, array(level.damping * np.eye(n))]))
    b = array(np.concatenate([level.b, array(level.damping * array(start))]))
    return _step(basis, Level(J, b), x, 1)[0]


def _multipliers(fixed: list[np.ndarray], R: np.ndarray, gradient: Vector) -> np.ndarray:
    r"""λ with :math:`\sum_i\lambda_ia_i = g` on the span of the bounds that hold; zero for those that add nothing."""
    n = len(fixed)
    out = zeros(n)
    for j in range(n - 1, -1, -1):
        total = dot(fixed[j], gradient)
        for i in range(j + 1, n):
            total = total - R[i, j] * out[i]
        out[j] = ops.where(R[j, j] > 0.0, total / ops.where(R[j, j] > 0.0, R[j, j], 1.0), 0.0)
    return array(out)
