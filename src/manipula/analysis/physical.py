r"""The parameters closest to the data among bodies that can exist: one convex problem with one answer.

With the pseudo-inertias :math:`\bar J_i(\pi) \succ 0` of the links and those of the prior, :math:`\bar J_i^0`, minimise

.. math:: \tfrac12\|A K\pi - b\|^2 + \gamma\sum_i d(\bar J_i\,\|\,\bar J_i^0) + \tfrac{\gamma}{2}\sum_j\left(\frac{y_j - y_j^0}{s_j}\right)^2,
          \qquad d(J\|J^0) = \operatorname{tr}(J J_0^{-1}) - \log\det(J J_0^{-1}) - 4

over π = (ten numbers per link, y), y being friction and rotor inertia, subject to y ≥ 0 and to bounds on masses and centres of mass, which
are linear in π. The divergence d is convex, zero at the prior alone, the same in any unit and any frame, and infinite on the border
of bodies that can exist [Lee, Wensing & Park 2020].
γ = 1 weighs the prior like ten samples a link, against hundreds that were measured: it decides only what the data leave open,
and that stays at the prior.

Solved by Newton's method while γ falls from the size of the data to its value and the weight of the logarithmic barrier of the linear
bounds falls to nothing [Boyd & Vandenberghe, Convex optimization, 2004, ch. 11]. Links are written in the coordinates
:math:`\bar J = U X U^T` in which the prior is X = 1, and all coordinates are turned by the singular vectors of the data, so that
directions which the data determine to nine digits and directions which they do not show at all stay apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manipula.analysis.base_parameters import BaseParameters
from manipula.analysis.pseudo_inertia import inertial_parameters, nearest_physical, pseudo_inertia
from manipula.errors import SolveError

PRIOR = (
    1.0  # γ: a link whose size differs by a factor e weighs as much as one sample that is off by a standard deviation
)
INSIDE = 1e-6  # every X keeps this distance from the border, so that rounding does not take a body across it
FALL = 0.1  # of both weights from one stage to the next
LAST_BARRIER = (
    1e-10  # weight of the bounds' barrier at the end: what is lost is below this, per bound, in units of χ²/2
)
CONVERGED = 1e-11  # half the squared Newton decrement, relative to the stage's weight
ROUNDING = 1e-13  # of the sum of squares; a fall below it is judged by the decrement, which keeps falling until rounding stops it
MOST_STEPS = 80  # of Newton in a stage; a few are the rule
FREE_SCALE = (
    0.1  # s of a friction term whose prior is zero: the part of the measured torque that it would explain alone
)

# an orthonormal basis of symmetric 4×4 matrices
_BASIS = np.zeros((10, 4, 4))
for _k, (_i, _j) in enumerate((i, j) for i in range(4) for j in range(i, 4)):
    _BASIS[_k, _i, _j] = _BASIS[_k, _j, _i] = 1.0 if _i == _j else np.sqrt(0.5)


@dataclass(frozen=True)
class PhysicalBounds:
    """Linear bounds ``rows @ pi >= least`` and a point strictly inside them.

    Attributes:
        rows: (k, p). least: (k,). inside: (p,), physical, every bound satisfied with room to spare.
    """

    rows: np.ndarray
    least: np.ndarray
    inside: np.ndarray


def consistent_parameters(
    base: BaseParameters, A: np.ndarray, b: np.ndarray, prior: np.ndarray, bounds: PhysicalBounds, weight: float = PRIOR
) -> np.ndarray:
    """Full parameters π (p,), every link's pseudo-inertia positive definite, all bounds kept.

    Args:
        A, b: weighted equations in base parameters, A β ≈ b.
        prior: (p,) what the estimate leans to: inertial parameters, then the extras of ``base.columns``.
        bounds: linear bounds, those of friction and rotor inertia among them.
        weight: γ.
    """
    n, p = base.columns.n, base.columns.size
    R = np.asarray(np.linalg.qr(np.column_stack([A, b]), mode="r"))[: base.count]
    T, c = R[:, :-1] @ base.K, R[:, -1]
    P = np.zeros((p, p))  # pi = P x; x = (X of every link in the basis, extras over their scale)
    for i in range(n):
        block = slice(10 * i, 10 * i + 10)
        U = _upper(pseudo_inertia(nearest_physical(prior[block])))
        P[block, block] = inertial_parameters(U @ _BASIS @ U.T).T
    lengths = np.linalg.norm(T[:, 10 * n :], axis=0)
    own = FREE_SCALE * float(np.linalg.norm(c)) / np.where(lengths > 0.0, lengths, np.inf)
    scale = np.maximum(np.abs(prior[10 * n :]), np.where(own > 0.0, own, 1.0))
    P[range(10 * n, p), range(10 * n, p)] = scale
    rows = bounds.rows @ P
    size = np.linalg.norm(rows, axis=1)
    problem = _Problem(n, T @ P, c, prior[10 * n :] / scale, rows / size[:, None], bounds.least / size)
    return P @ problem.solve(np.linalg.solve(P, bounds.inside), weight)


def _upper(J: np.ndarray) -> np.ndarray:
    """U upper triangular with J = U Uᵀ: the mass stands alone in the last entry."""
    return np.linalg.cholesky(J[::-1, ::-1])[::-1, ::-1]


class _Problem:
    """½‖T x − c‖² + w Σ d(X_i) + w/2 ‖y − y⁰‖² − μ Σ log(G x − h), in coordinates ξ = Vᵀ x of T = U S Vᵀ."""

    def __init__(self, n: int, T: np.ndarray, c: np.ndarray, prior: np.ndarray, G: np.ndarray, h: np.ndarray) -> None:
        U, S, Vt = np.linalg.svd(T)
        self.n, self.V, self.S, self.c = n, Vt.T, S, U.T @ c
        self.prior, self.G, self.h = prior, G, h

    def solve(self, x: np.ndarray, weight: float) -> np.ndarray:
        """The minimum from a point x strictly inside."""
        xi = self.V.T @ x
        w = max(weight, float(np.sum((self.S * xi[: len(self.S)] - self.c) ** 2)))
        barrier = w if len(self.h) else LAST_BARRIER
        while True:
            xi = self._newton(xi, w, barrier)
            if w <= weight and barrier <= LAST_BARRIER:
                return self.V @ xi
            w, barrier = max(weight, FALL * w), max(LAST_BARRIER, FALL * barrier)

    def value(self, xi: np.ndarray, w: float, barrier: float) -> float:
        """The function itself; infinite outside."""
        x = self.V @ xi
        room = self.G @ x - self.h
        try:
            factors = np.linalg.cholesky(self._bodies(x))
        except np.linalg.LinAlgError:
            return float("inf")
        if room.min(initial=1.0) <= 0.0:
            return float("inf")
        misfit = self.S * xi[: len(self.S)] - self.c
        traces = float(np.sum(x[: 10 * self.n].reshape(-1, 10) @ np.trace(_BASIS, axis1=1, axis2=2)))
        logs = 2.0 * float(np.sum(np.log(np.diagonal(factors, axis1=1, axis2=2))))
        y = x[10 * self.n :] - self.prior
        return float(
            0.5 * misfit @ misfit + w * (traces / (1.0 - INSIDE) - logs + 0.5 * y @ y) - barrier * np.sum(np.log(room))
        )

    def _bodies(self, x: np.ndarray) -> np.ndarray:
        """(n, 4, 4): X of every link, less the distance that is kept from the border."""
        return np.einsum("ik,kab->iab", x[: 10 * self.n].reshape(-1, 10), _BASIS) - INSIDE * np.eye(4)

    def _slopes(self, xi: np.ndarray, w: float, barrier: float) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian in ξ."""
        x, n, p = self.V @ xi, self.n, len(xi)
        g, H = np.zeros(p), np.zeros((p, p))
        inverse = np.linalg.inv(self._bodies(x))
        for i in range(n):
            block = slice(10 * i, 10 * i + 10)
            moved = inverse[i] @ _BASIS
            g[block] = np.trace(_BASIS, axis1=1, axis2=2) / (1.0 - INSIDE) - np.trace(moved, axis1=1, axis2=2)
            H[block, block] = np.einsum("aij,bji->ab", moved, moved)
        g[10 * n :] = x[10 * n :] - self.prior
        H[range(10 * n, p), range(10 * n, p)] = 1.0
        room = self.G @ x - self.h
        scaled = self.G / room[:, None]
        g, H = w * g - barrier * scaled.sum(axis=0), w * H + barrier * scaled.T @ scaled
        g, H = self.V.T @ g, self.V.T @ H @ self.V
        seen = range(len(self.S))
        g[: len(self.S)] += self.S * (self.S * xi[: len(self.S)] - self.c)
        H[seen, seen] += self.S**2
        return g, H

    def _newton(self, xi: np.ndarray, w: float, barrier: float) -> np.ndarray:
        """The minimum for one pair of weights."""
        small = CONVERGED * min(w, barrier) if len(self.h) else CONVERGED * w
        now, before = self.value(xi, w, barrier), np.inf
        for _ in range(MOST_STEPS):
            try:
                g, H = self._slopes(xi, w, barrier)
                d = 1.0 / np.sqrt(np.diagonal(H))  # with unit diagonal rounding does not mix large and small directions
                step = -d * np.linalg.solve(d[:, None] * H * d, d * g)
            except np.linalg.LinAlgError:
                break
            fall = -0.5 * float(g @ step)
            invisible = fall <= ROUNDING * (1.0 + abs(now))
            if fall <= small or (invisible and fall > 0.25 * before):
                return xi
            length, new = 1.0, self.value(xi + step, w, barrier)
            while not (np.isfinite(new) if invisible else new <= now - 0.1 * length * fall):
                length *= 0.5
                if length < 1e-12:
                    return xi
                new = self.value(xi + length * step, w, barrier)
            xi, now, before = xi + length * step, new, fall
        raise SolveError(
            "The physically consistent estimate did not converge; widen the bounds or rescale the torques."
        )
