r"""Pseudoinverses of a Jacobian, damped and weighted, over any scalar.

.. math:: J_W^{\#} = W^{-1}J^T(JW^{-1}J^T + \lambda 1)^{-1}

λ = 0 is exact for a Jacobian of full row rank. W = 1 gives the shortest joint motion, W = M(q) the least kinetic energy (the dynamically
consistent inverse [Khatib 1987]).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra.linear import array, solve_spd
from manipula.algebra.ops import Scalar, Vector
from manipula.errors import ShapeError

SLIGHTLY = 1e-13  # of the trace


def plus_diagonal(A: np.ndarray, damping: Scalar) -> np.ndarray:
    """A + λ1; A itself when λ is the number 0."""
    if isinstance(damping, float) and damping == 0.0:
        return A
    return array([[a + damping if i == j else a for j, a in enumerate(row)] for i, row in enumerate(A)])


def weighted_transpose(J: np.ndarray, weight: Any = None) -> np.ndarray:
    r""":math:`W^{-1}J^T`, (n, rows). ``weight``: None for 1, (n,) for a diagonal W, (n, n) for a full one, such as M(q)."""
    rows, n = J.shape
    if weight is None:
        return J.T
    if np.shape(weight) == (n,):
        return array([[J[r, i] / weight[i] for r in range(rows)] for i in range(n)])
    if np.shape(weight) == (n, n):
        return array(solve_spd(weight, J.T))
    raise ShapeError(f"A weight for {n} joints must have shape ({n},) or ({n}, {n}), found {np.shape(weight)}.")


def weighted_inverse(J: np.ndarray, weight: Any = None, damping: Scalar = 0.0) -> np.ndarray:
    r""":math:`J_W^{\#}`, (n, rows); ``damping`` is λ."""
    spread = weighted_transpose(J, weight)
    return array(solve_spd(plus_diagonal(J @ spread, damping), spread.T).T)


def pseudoinverse_times(J: np.ndarray, v: Vector, damping: Scalar = 0.0, weight: Any = None) -> np.ndarray:
    r""":math:`J_W^{\#}v`, (n,), without the inverse itself; by normal equations when there are more rows than joints (W = 1 then)."""
    rows, n = J.shape
    if rows > n:
        return normal_equations(J, v, damping)
    spread = weighted_transpose(J, weight)
    return array(spread @ solve_spd(plus_diagonal(J @ spread, damping), v))


def normal_equations(J: np.ndarray, v: Vector, damping: Scalar) -> np.ndarray:
    r""":math:`(J^TJ + \lambda 1)^{-1}J^Tv`, (n,): the same number where both exist, for any number of rows."""
    return array(solve_spd(plus_diagonal(J.T @ J, damping), array(J.T @ v)))


def slightly_damped(A: np.ndarray) -> np.ndarray:
    r""":math:`A + 10^{-13}\mathrm{tr}A\,1` of a matrix that is not negative: regular, and the same inverse where it was regular."""
    return plus_diagonal(A, SLIGHTLY * np.trace(A))


def null_space_times(J: np.ndarray, z: Vector, singular: bool = False) -> np.ndarray:
    r""":math:`(1 - J^+J)\,z`: the part of a joint motion that leaves the task alone. ``singular``: J may be."""
    if singular:
        return z - array(J.T @ solve_spd(slightly_damped(array(J @ J.T)), array(J @ z)))
    return z - pseudoinverse_times(J, J @ z)
