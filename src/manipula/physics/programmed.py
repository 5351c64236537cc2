r"""Generalised programmed motion equations (GPME) in independent coordinates [Jarzębowska 2008; corrected].

With the coordinates split into independent and dependent ones, :math:`A_i\ddot q_i + A_d\ddot q_d = b`, and
:math:`D = \begin{bmatrix} 1 \\ -A_d^{-1}A_i\end{bmatrix}`, :math:`c = \begin{bmatrix} 0 \\ A_d^{-1}b\end{bmatrix}`,

.. math:: D^T M D\,\ddot q_i = D^T\left(\tau - C\dot q - g - \tau_f - M c\right),\qquad \ddot q = D\ddot q_i + c

Nielsen's form as printed keeps velocities under a derivative that must hold them fixed; the equation above is Lagrange's with the
virtual motions that the constraints allow, and balances work and energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.linear import array, solve_pivoted, solve_spd, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.physics.constrained import ConstraintRows, Response


class Partition(NamedTuple):
    """D (n, m), c (n,) and the smallest pivot of A_d (zero where the partition is singular)."""

    D: np.ndarray
    c: np.ndarray
    pivot: Scalar


def partition(rows: ConstraintRows, independent: Sequence[int]) -> Partition:
    """Dependent accelerations through the independent ones."""
    n = rows.A.shape[1]
    dependent = [j for j in range(n) if j not in independent]
    A_d, A_i = rows.A[:, dependent], rows.A[:, list(independent)]
    right = np.concatenate([A_i.astype(object), np.asarray(rows.b, dtype=object)[:, None]], axis=1)
    solved, pivot = solve_pivoted(A_d, right)
    D, c = zeros(n, len(independent)), zeros(n)
    for k, j in enumerate(independent):
        D[j, k] = 1.0
    for row, j in enumerate(dependent):
        for k in range(len(independent)):
            D[j, k] = -solved[row, k]
        c[j] = solved[row, len(independent)]
    return Partition(array(D), array(c), pivot)


def gpme_response(M: np.ndarray, part: Partition, force: Vector) -> Response:
    """Response to further forces when ``force`` = τ − C q̇ − g already acts, by the reduced equations."""
    D, c = part.D, part.c
    if D.shape[1] == 0:
        return Response(c, np.zeros((len(c), len(c))))
    reduced = D.T @ M @ D
    free = D @ solve_spd(reduced, D.T @ (force - M @ c)) + c
    return Response(array(free), array(D @ solve_spd(reduced, D.T)))


def choose_independent(A: np.ndarray) -> tuple[int, ...]:
    """Independent coordinates for a numeric A: the dependent ones are the best-conditioned columns (QR with pivoting)."""
    from scipy.linalg import qr

    A = np.asarray(A, float)
    order: Any = qr(A, mode="r", pivoting=True)[-1]
    dependent = {int(j) for j in order[: len(A)]}
    return tuple(j for j in range(A.shape[1]) if j not in dependent)
