r"""Least squares of many equations, folded into as many as there are unknowns, some rows at a time.

With :math:`A = QR`, :math:`\|Ax - b\|` and :math:`\|Rx - Q^Tb\|` differ by what no x changes. R of all rows is R of (R of the rows so far, the next
rows): as exact as a factorisation of all of them (Golub & Van Loan, *Matrix Computations*, 5.2), in little memory, and Ctrl-C is heard between two parts.
"""

from __future__ import annotations

import numpy as np

from manipula.analysis.identification.blas_threads import one_thread_if_small

ROWS = 4096  # that are folded at once, at least


def triangle(A: np.ndarray) -> np.ndarray:
    """R of A = QR with min(rows, columns) rows: the same lengths, singular values and right singular vectors as A."""
    rows, columns = A.shape
    part = max(ROWS, 8 * columns)
    if rows <= part:
        return np.asarray(np.linalg.qr(A, mode="r"))
    R = A[:0]
    with one_thread_if_small(part * columns):
        for first in range(0, rows, part):
            R = np.asarray(np.linalg.qr(np.concatenate([R, A[first : first + part]]), mode="r"))
    return R


def least_squares(A: np.ndarray, b: np.ndarray, rcond: float | None) -> np.ndarray:
    """The x of least length of those with the smallest :math:`|Ax - b|`; ``rcond``: see ``numpy.linalg.lstsq``."""
    rcond = np.finfo(float).eps * max(A.shape) if rcond is None else rcond
    R = triangle(np.column_stack([A, b])) if len(A) > ROWS else np.column_stack([A, b])
    return np.linalg.lstsq(R[:, :-1], R[:, -1], rcond=rcond)[0]
