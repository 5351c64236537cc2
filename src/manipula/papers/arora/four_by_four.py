r"""The 4×4 matrices of the paper: Denavit–Hartenberg, Q_j, U_ij and the traces (3.35)–(3.37), with the slips of the print as options [Arora].

.. math::
   U_{ij} = T_{j-1}^0 Q_j T_i^{j-1},\qquad M_{ij} = \sum_{p\ge\max(i,j)}\mathrm{tr}(U_{pj} I_p U_{pi}^T),\qquad
   h_{ijk} = \sum_{p\ge\max(i,j,k)}\mathrm{tr}\Big(\frac{\partial U_{pj}}{\partial q_k} I_p U_{pi}^T\Big),\qquad
   G_i = -\sum_{p\ge i} m_p\,g^T U_{pi}\,\bar r_p
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

Q = np.zeros((4, 4))
Q[0, 1], Q[1, 0] = -1.0, 1.0  # of a revolute joint
Q_SLIDE = np.zeros((4, 4))
Q_SLIDE[2, 3] = 1.0  # of a prismatic one


def transform(theta: float, d: float, a: float, alpha: float, *, as_printed: bool = False) -> np.ndarray:
    """T_i^{i−1} of (3.8); as printed entries (2,3) and (2,4) are wrong."""
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    turned, far = (sa * c, a * c) if as_printed else (-sa * c, a * s)
    return np.array([[c, -s * ca, sa * s, a * c], [s, c * ca, turned, far], [0, sa, ca, d], [0, 0, 0, 1.0]])


def derivative_by_angle(theta: float, a: float, alpha: float) -> np.ndarray:
    """∂T/∂θ of (3.9), which is printed without a slip."""
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[-s, -c * ca, sa * c, -a * s], [c, -s * ca, sa * s, a * c], [0, 0, 0, 0], [0, 0, 0, 0.0]])


def rod(mass: float, a: float) -> np.ndarray:
    """(3.20) of a uniform slender rod that ends in its frame: ∫x² = m a²/3, ∫x = −m a/2."""
    return body(mass, -mass * a / 2, mass * a * a / 3)


def body(mass: float, first: float, second: float) -> np.ndarray:
    """(3.20) of a body along x with these moments."""
    inertia = np.zeros((4, 4))
    inertia[0, 0], inertia[0, 3], inertia[3, 0], inertia[3, 3] = second, first, first, mass
    return inertia


@dataclass(frozen=True)
class FiveLinks:
    """Lengths a (n,), masses m (n,), 4×4 inertias (n, 4, 4), gravity (3,)."""

    a: np.ndarray
    m: np.ndarray
    inertias: np.ndarray
    gravity: tuple[float, float, float] = (0.0, -9.81, 0.0)

    @property
    def n(self) -> int:
        return len(self.a)

    def product(self, q: np.ndarray, first: int, last: int) -> np.ndarray:
        """T_last^first, frames counted from 0."""
        return reduce(np.matmul, (transform(q[k], 0.0, self.a[k], 0.0) for k in range(first, last)), np.eye(4))

    def U(self, q: np.ndarray, i: int, j: int) -> np.ndarray:
        """(3.38), links from 1."""
        if j > i:
            return np.zeros((4, 4))
        return self.product(q, 0, j - 1) @ Q @ self.product(q, j - 1, i)

    def dU(self, q: np.ndarray, i: int, j: int, k: int) -> np.ndarray:
        """∂U_ij/∂q_k, (3.39)."""
        if i < j or i < k:
            return np.zeros((4, 4))
        low, high = min(j, k), max(j, k)
        return self.product(q, 0, low - 1) @ Q @ self.product(q, low - 1, high - 1) @ Q @ self.product(q, high - 1, i)

    def M(self, q: np.ndarray, *, as_printed: bool = False) -> np.ndarray:
        """(3.35), (n, n); as printed it takes the inertia of link i in place of that of link p."""
        n = self.n
        U = [[self.U(q, p, j) for j in range(1, n + 1)] for p in range(1, n + 1)]
        out = np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                for p in range(max(i, j), n):
                    out[i, j] += np.trace(U[p][j] @ self.inertias[i if as_printed else p] @ U[p][i].T)
        return out

    def h(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Σ h_ijk q̇_j q̇_k with (3.36), (n,)."""
        n = self.n
        out = np.zeros(n)
        for p in range(1, n + 1):
            bent = sum(self.dU(q, p, j, k) * qd[j - 1] * qd[k - 1] for j in range(1, p + 1) for k in range(1, p + 1))
            for i in range(1, p + 1):
                out[i - 1] += np.trace(bent @ self.inertias[p - 1] @ self.U(q, p, i).T)
        return out

    def G(self, q: np.ndarray) -> np.ndarray:
        """(3.37) with gravity as a row, (n,)."""
        g, n = np.array([*self.gravity, 0.0]), self.n
        return np.array([-sum(g @ self.U(q, p, i) @ self.inertias[p - 1][:, 3] for p in range(i, n + 1)) for i in range(1, n + 1)])  # fmt: skip
