r"""Motion under constraints by Lagrange multipliers.

.. math:: M\ddot q + C\dot q + g + \tau_f = \tau + A^T\mu,\qquad A\ddot q = b
          \quad\Rightarrow\quad (AM^{-1}A^T)\,\mu = b - AM^{-1}(\tau - C\dot q - g - \tau_f)

``A`` and ``b`` come from constraints at any level, differentiated until they are linear in the accelerations (``constraint_rows``).
Generalised reactions are :math:`A^T\mu`; the textbook sign :math:`-\Phi_q^T\lambda` means λ = −μ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from manipula.algebra.derivatives import directional, jacobian
from manipula.algebra.linear import array, solve_spd
from manipula.algebra.ops import Scalar, Vector


class ConstraintRows(NamedTuple):
    """A (k, n) and b (k,) of A q̈ = b, the residual of every constraint at its own level and of its time derivative."""

    A: np.ndarray
    b: np.ndarray
    value: np.ndarray
    rate: np.ndarray


def holonomic_rows(phi: Callable[[Vector, Scalar], Vector], q: Vector, qd: Vector, t: Scalar) -> ConstraintRows:
    r"""Position level, :math:`\Phi(q,t) = 0`: :math:`\Phi_q\ddot q = -\left.\frac{d^2\Phi}{dt^2}\right|_{\ddot q=0}`."""
    n = len(q)
    point = np.concatenate([np.asarray(q, dtype=object), np.array([t], dtype=object)])
    moving = np.concatenate([np.asarray(qd, dtype=object), np.array([1.0], dtype=object)])
    both = lambda z: phi(z[:n], z[n])  # noqa: E731
    A = jacobian(lambda x: phi(x, t), q)
    return ConstraintRows(
        array(A), -array(directional(both, point, moving, 2)), array(phi(q, t)), array(directional(both, point, moving))
    )


def nonholonomic_rows(
    phi: Callable[[Vector, Vector, Scalar], Vector], q: Vector, qd: Vector, t: Scalar
) -> ConstraintRows:
    r"""Velocity level, :math:`\varphi(q,\dot q,t) = 0`: :math:`\varphi_{\dot q}\ddot q = -(\varphi_q\dot q + \varphi_t)`."""
    n = len(q)
    point = np.concatenate([np.asarray(q, dtype=object), np.array([t], dtype=object)])
    moving = np.concatenate([np.asarray(qd, dtype=object), np.array([1.0], dtype=object)])
    A = jacobian(lambda v: phi(q, v, t), qd)
    drift = directional(lambda z: phi(z[:n], qd, z[n]), point, moving)
    value = array(phi(q, qd, t))
    return ConstraintRows(array(A), -array(drift), value, value)


def acceleration_rows(
    psi: Callable[[Vector, Vector, Vector, Scalar], Vector], q: Vector, qd: Vector, t: Scalar
) -> ConstraintRows:
    r"""Acceleration level, :math:`\psi(q,\dot q,\ddot q,t) = 0`, affine in :math:`\ddot q`."""
    still = np.zeros(len(q))
    A = jacobian(lambda a: psi(q, qd, a, t), still.astype(object) if np.asarray(q).dtype == object else still)
    value = array(psi(q, qd, still, t))
    return ConstraintRows(array(A), -value, np.zeros(len(value)), np.zeros(len(value)))


def stacked(parts: Sequence[ConstraintRows]) -> ConstraintRows:
    """Rows of several constraints as one system."""
    return ConstraintRows(*(array(np.concatenate([np.asarray(p[k], dtype=object) for p in parts])) for k in range(4)))


class Response(NamedTuple):
    r"""Linear answer of a constrained arm to generalised forces: :math:`\ddot q = \text{free} + K f`."""

    free: np.ndarray
    K: np.ndarray


def multiplier_response(M_inv: np.ndarray, rows: ConstraintRows, force: Vector) -> Response:
    """Response to further forces when ``force`` = τ − C q̇ − g already acts, by multipliers."""
    MA = M_inv @ rows.A.T
    S = rows.A @ MA
    start = M_inv @ force
    free = start + MA @ solve_spd(S, rows.b - rows.A @ start)
    K = M_inv - MA @ solve_spd(S, MA.T)
    return Response(array(free), array(K))


def multipliers(M_inv: np.ndarray, rows: ConstraintRows, force: Vector) -> np.ndarray:
    """μ, (k,), when all forces other than the constraint's are ``force``."""
    MA = M_inv @ rows.A.T
    return array(solve_spd(rows.A @ MA, rows.b - rows.A @ (M_inv @ force)))


def least_norm_correction(A: np.ndarray, residual: Vector) -> np.ndarray:
    r""":math:`-A^T(AA^T)^{-1}r`: the smallest step that removes a residual to first order, (n,)."""
    return array(-(A.T @ solve_spd(A @ A.T, residual)))


__all__ = [
    "ConstraintRows", "Response", "acceleration_rows", "holonomic_rows", "least_norm_correction", "multiplier_response", "multipliers",
    "nonholonomic_rows", "stacked",
]  # fmt: skip
