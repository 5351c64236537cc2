"""Small linear algebra for any scalar: arrays of dtype ``float`` or ``object``.

NumPy's ``@`` already works on object arrays; this file adds what does not: products with structural zeros
left out of mind, the cross product, and factorisations that never branch on a number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra.ops import Scalar, Vector

Matrix = Any
_PLAIN = (int, float, np.floating, np.integer)


def array(values: Any) -> np.ndarray:
    """A float array when every entry is a plain number, else an object array of the scalars as they are."""
    raw = np.array(values, dtype=object)
    try:
        if all(issubclass(kind, _PLAIN) for kind in set(map(type, raw.ravel().tolist()))):
            return raw.astype(float)
    except (TypeError, ValueError):
        pass
    return raw


def cross(a: Vector, b: Vector) -> np.ndarray:
    r""":math:`a \times b`, shape (3,)."""
    return array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def skew(a: Vector) -> np.ndarray:
    r"""Matrix :math:`\hat a` with :math:`\hat a\, b = a \times b`, shape (3, 3)."""
    return array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def dot(a: Vector, b: Vector) -> Scalar:
    """Sum of products, in index order."""
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:]):
        total = total + x * y
    return total


def zeros(*shape: int) -> np.ndarray:
    """An object array of float zeros: ready to receive any scalar."""
    out = np.empty(shape, dtype=object)
    out.fill(0.0)
    return out


def ldl(M: Matrix, pattern: list[list[int]] | None = None) -> tuple[np.ndarray, np.ndarray]:
    r"""Factors of a symmetric positive definite matrix, :math:`M = L^T D L`, unit **lower** triangular ``L``.

    This order (elimination from the last row upwards) keeps the zeros of a tree's mass matrix: ``L[i, j]`` is
    non-zero only when joint ``j`` is an ancestor of joint ``i`` [Featherstone2008, §6.5].

    Args:
        M: matrix (n, n); only the lower triangle is read.
        pattern: for each row ``i`` the ancestors ``j < i`` in decreasing order; all ``j < i`` when omitted.

    Returns:
        ``L`` (n, n) and the diagonal ``D`` (n,).
    """
    n = len(M)
    pattern = pattern if pattern is not None else [list(range(i - 1, -1, -1)) for i in range(n)]
    work = zeros(n, n)
    for i in range(n):
        for j in [*pattern[i], i]:
            work[i, j] = M[i][j]
    L = zeros(n, n)
    D = zeros(n)
    for k in range(n - 1, -1, -1):
        D[k] = work[k, k]
        L[k, k] = 1.0
        inverse = 1.0 / D[k]
        for i in pattern[k]:
            factor = work[k, i] * inverse
            for j in [i, *pattern[i]]:
                work[i, j] = work[i, j] - factor * work[k, j]
            L[k, i] = factor
    return L, D


def ldl_solve(L: Matrix, D: Vector, b: Vector, pattern: list[list[int]] | None = None) -> np.ndarray:
    r"""Solution of :math:`L^T D L\, x = b` with the factors of :func:`ldl`, shape (n,)."""
    n = len(D)
    pattern = pattern if pattern is not None else [list(range(i - 1, -1, -1)) for i in range(n)]
    x = zeros(n)
    for i in range(n):
        x[i] = b[i]
    for i in range(n - 1, -1, -1):
        for j in pattern[i]:
            x[j] = x[j] - L[i, j] * x[i]
    for i in range(n):
        x[i] = x[i] * (1.0 / D[i])  # the reciprocal was formed by ldl: a tracer shares it
    for i in range(n):
        for j in pattern[i]:
            x[i] = x[i] - L[i, j] * x[j]
    return x


def cholesky(A: Matrix) -> np.ndarray:
    """Lower factor ``G`` with ``A = G Gᵀ`` for any scalar (n, n)."""
    from manipula.algebra import ops

    n = len(A)
    G = zeros(n, n)
    for j in range(n):
        diagonal = A[j][j]
        for k in range(j):
            diagonal = diagonal - G[j, k] * G[j, k]
        G[j, j] = ops.sqrt(diagonal)
        for i in range(j + 1, n):
            entry = A[i][j]
            for k in range(j):
                entry = entry - G[i, k] * G[j, k]
            G[i, j] = entry / G[j, j]
    return G


def solve_spd(A: Matrix, B: Matrix) -> np.ndarray:
    """``A⁻¹ B`` for symmetric positive definite ``A`` and any scalar; ``B`` is (n,) or (n, k)."""
    L, D = ldl(A)
    B = np.asarray(B, dtype=object) if not isinstance(B, np.ndarray) else B
    if B.ndim == 1:
        return ldl_solve(L, D, B)
    return np.stack([ldl_solve(L, D, B[:, k]) for k in range(B.shape[1])], axis=1)


def solve_pivoted(A: Matrix, B: Matrix) -> tuple[np.ndarray, Scalar]:
    """``A⁻¹ B`` and the smallest pivot met, in absolute value: zero when A is singular."""
    from manipula.algebra import ops

    n = len(A)
    right = np.asarray(B, dtype=object)
    columns = right.reshape(n, -1)
    width = columns.shape[1]
    rows = [[A[i][j] for j in range(n)] + list(columns[i]) for i in range(n)]
    smallest: Scalar = float("inf")
    for k in range(n):
        for i in range(k + 1, n):  # bubble the largest pivot up, one comparison at a time: no branch on a number
            larger = ops.abs(rows[i][k]) > ops.abs(rows[k][k])
            for j in range(k, n + width):
                upper, lower = rows[k][j], rows[i][j]
                rows[k][j], rows[i][j] = ops.where(larger, lower, upper), ops.where(larger, upper, lower)
        smallest = ops.minimum(smallest, ops.abs(rows[k][k]))
        inverse = 1.0 / rows[k][k]
        for i in range(k + 1, n):
            factor = rows[i][k] * inverse
            for j in range(k + 1, n + width):
                rows[i][j] = rows[i][j] - factor * rows[k][j]
    x = zeros(n, width)
    for c in range(width):
        for i in range(n - 1, -1, -1):
            total = rows[i][n + c]
            for j in range(i + 1, n):
                total = total - rows[i][j] * x[j, c]
            x[i, c] = total / rows[i][i]
    return x.reshape(right.shape), smallest


def solve_dominant(A: Matrix, b: Vector) -> tuple[np.ndarray, np.ndarray]:
    r"""``A⁻¹ b`` and the pivots, by elimination without exchanging rows.

    For matrices whose diagonal outweighs the rest (H-matrices). The pivots of :math:`1 - L` with :math:`L \ge 0` are all positive
    exactly when every eigenvalue of L is smaller than 1 [Berman & Plemmons 1994, §6.2].
    """
    n = len(A)
    rows = [[*A[i], b[i]] for i in range(n)]
    for k in range(n):
        inverse = _inverse(rows[k][k])
        for i in range(k + 1, n):
            factor = rows[i][k] * inverse
            for j in range(k + 1, n + 1):
                rows[i][j] = rows[i][j] - factor * rows[k][j]
    x = zeros(n)
    for i in range(n - 1, -1, -1):
        total = rows[i][n]
        for j in range(i + 1, n):
            total = total - rows[i][j] * x[j]
        x[i] = total * _inverse(rows[i][i])
    return array(x), array([rows[k][k] for k in range(n)])


def _inverse(pivot: Scalar) -> Scalar:
    """1/p, or something enormous where p is zero: a pivot of zero is the caller's to judge."""
    from manipula.algebra import ops

    return 1.0 / ops.where(ops.abs(pivot) > 1e-300, pivot, 1e-300)
