r"""Least squares of many equations, folded into as many as there are unknowns, some rows at a time.

With :math:`A = QR`, :math:`\|Ax - b\|` and :math:`\|Rx - Q^Tb\|` differ by what no x changes. R of all rows is R of (R of the rows so far, the next
rows): as exact as a factorisation of all of them (Golub & Van Loan, *Matrix Computations*, 5.2), in little memory, and Ctrl-C is heard between two parts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from manipula.analysis.identification.blas_threads import one_thread_if_small

ROWS = 4096  # that are folded at once, at least


def triangle(A: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
    """R of A = QR with min(rows, columns) rows: the same lengths, singular values and right singular vectors as A; with ``b`` as its last column."""
    rows, columns = A.shape
    part = max(ROWS, 8 * columns)
    some = lambda at: A[at] if b is None else np.column_stack([A[at], b[at]])  # noqa: E731
    if rows <= part:
        return np.asarray(np.linalg.qr(some(slice(None)), mode="r"))
    R = some(slice(0))
    with one_thread_if_small(part * columns):
        for at in parts(rows, part):
            R = np.asarray(np.linalg.qr(np.concatenate([R, some(at)]), mode="r"))
    return R


def parts(rows: int, part: int = ROWS) -> Iterator[slice]:
    """All rows, some at a time."""
    for first in range(0, rows, part):
        yield slice(first, min(first + part, rows))


def folded(W: np.ndarray, tau: np.ndarray, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equations W x = τ of samples, W (samples, n, p), each divided by its σ: A and b; of long logs as many of them as there are unknowns, and one."""
    samples, _, p = W.shape
    sigma = np.broadcast_to(sigma, tau.shape)
    some = lambda at: np.concatenate([W[at], tau[at][..., None]], axis=2) / sigma[at][..., None]  # noqa: E731
    if samples <= ROWS:
        whole = some(slice(None)).reshape(-1, p + 1)
        return whole[:, :-1], whole[:, -1]
    R = np.zeros((0, p + 1))
    for at in parts(samples):
        R = triangle(np.concatenate([R, some(at).reshape(-1, p + 1)]))
    return R[:, :-1], R[:, -1]


def lengths(A: np.ndarray) -> np.ndarray:
    """Of the columns."""
    if len(A) <= ROWS:
        return np.asarray(np.linalg.norm(A, axis=0))
    return np.linalg.norm([np.linalg.norm(A[at], axis=0) for at in parts(len(A))], axis=0)


def least_squares(A: np.ndarray, b: np.ndarray, rcond: float | None) -> np.ndarray:
    """The x of least length of those with the smallest :math:`|Ax - b|`; ``rcond``: see ``numpy.linalg.lstsq``."""
    rcond = np.finfo(float).eps * max(A.shape) if rcond is None else rcond
    R = triangle(A, b) if len(A) > ROWS else np.column_stack([A, b])
    return np.linalg.lstsq(R[:, :-1], R[:, -1], rcond=rcond)[0]
