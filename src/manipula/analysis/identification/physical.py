r"""The parameters closest to the data among bodies that can exist: one convex problem with one answer.

With the pseudo-inertias :math:`\bar J_i(\pi) \succ 0` of the links and those of the prior, :math:`\bar J_i^0`, minimise

.. math:: \tfrac12\|A K\pi - b\|^2 + \gamma\sum_i d(\bar J_i\,\|\,\bar J_i^0) + \tfrac{\gamma}{2}\sum_j\left(\frac{y_j - y_j^0}{s_j}\right)^2,
          \qquad d(J\|J^0) = \operatorname{tr}(J J_0^{-1}) - \log\det(J J_0^{-1}) - 4

over π = (ten numbers per link, y), y being friction and rotor inertia, subject to y ≥ 0 and to bounds on masses and centres of mass, which
are linear in π. The divergence d is convex, zero at the prior alone, the same in any unit and any frame, and infinite on the border
of bodies that can exist [Lee, Wensing & Park 2020].
γ = 1 weighs the prior like ten samples per link, against hundreds that were measured: it decides only what the data leave open,
and that stays at the prior.

Solved by Newton's method while γ falls from the size of the data to its value and the weight of the logarithmic barrier of the linear
bounds falls to nothing [Boyd & Vandenberghe, Convex optimization, 2004, ch. 11], slower where Newton's method does not follow. Links are
written in the coordinates :math:`\bar J = U X U^T` in which the prior is X = 1, and all coordinates are turned by the singular vectors
of the data, so that directions which the data determine to nine digits and directions which they do not show at all stay apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manipula.analysis.identification.base_parameters import BaseParameters
from manipula.analysis.identification.folded import triangle
from manipula.analysis.identification.pseudo_inertia import inertial_parameters, nearest_physical, pseudo_inertia
from manipula.errors import SolveError

# γ: a link whose size differs by a factor e weighs as much as one sample that is off by a standard deviation
PRIOR = 1.0
INSIDE = 1e-6  # every X keeps this distance from the border, so that rounding does not take a body across it
FALL, SLOWEST = 0.1, 0.8  # of both weights from one stage to the next
CENTRED = 1e-3  # half the squared Newton decrement that a stage may leave to the next, relative to its weights
LAST_BARRIER = 1e-8  # weight of the bounds' barrier at the end: what is lost is below this, per bound, in units of χ²/2
CONVERGED = 1e-11  # half the squared Newton decrement, relative to the stage's weight
ROUNDING = 1e-13  # of the sum of squares; a fall below it is judged by the decrement, which keeps falling until rounding stops it
NEAREST = 0.9  # part of the room to the border and to a bound that one step may use up
# part of χ² that counts where the data contradict the bounds, instead of the one unit that counts elsewhere
AGAINST = 1e-4
MOST_STAGES = 200
UNSEEN = 1e-6  # what may be left to gain at the end, in units of χ²/2: nothing that data could show
MOST_STEPS = 80  # of Newton in a stage; a few are the rule
# s of a friction term whose prior is zero: the part of the measured torque that it would explain alone
FREE_SCALE = 0.1

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
    n, p = base.columns.bodies, base.columns.size
    R = triangle(A, b)[: base.count]
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
    """½‖T x − c‖² + w Σ d(X_i) + w/2 ‖y − y⁰‖² − μ Σ log(G x − h), in coordinates z with x = V (ξ⁰ + D z) and T = U S Vᵀ.

    Where the data show a direction, z is the misfit S ξ − c itself, so that no digits of it are lost however sharp the data are.
    """

    def __init__(self, n: int, T: np.ndarray, c: np.ndarray, prior: np.ndarray, G: np.ndarray, h: np.ndarray) -> None:
        U, S, Vt = np.linalg.svd(T)
        p, seen, c = len(Vt), len(S), U.T @ c
        sharp = S > 1.0
        self.origin, self.D = np.zeros(p), np.ones(p)
        self.origin[:seen][sharp], self.D[:seen][sharp] = c[sharp] / S[sharp], 1.0 / S[sharp]
        self.S, self.c = np.where(sharp, 1.0, S), np.where(sharp, 0.0, c)  # misfit = S z − c
        self.n, self.V, self.prior, self.G, self.h = n, Vt.T, prior, G, h
        same = G @ G.T  # a lower and an upper bound of one quantity act along one direction, on either side
        first = (np.abs(same) > 1.0 - 1e-12).argmax(axis=1) if len(G) else np.zeros(0, int)
        self.first, self.along = np.unique(first, return_inverse=True)
        self.side = np.sign(same[range(len(G)), first])

    def solve(self, x: np.ndarray, weight: float) -> np.ndarray:
        """The minimum from a point x strictly inside."""
        z = (self.V.T @ x - self.origin) / self.D
        w = barrier = least = max(weight, float(np.sum(self._misfit(z) ** 2)))
        fall, left = 1.0, np.inf
        for _ in range(MOST_STAGES):  # one that fails is tried again with weights nearer to those of the stage before
            least = LAST_BARRIER * max(1.0, AGAINST * float(np.sum(self._misfit(z) ** 2)))
            stage = max(weight, fall * w), max(least, fall * barrier)
            try:
                found, left = self._newton(z, *stage)
            except np.linalg.LinAlgError:
                found, left = z, np.inf
            if left > max(UNSEEN, CENTRED * min(stage)) and fall <= SLOWEST:
                fall = float(np.sqrt(fall))
                continue
            z, (w, barrier), fall = found, stage, FALL
            if stage == (weight, least):
                break
        allowed = UNSEEN * max(1.0, weight, AGAINST * float(np.sum(self._misfit(z) ** 2)))
        if (w, barrier) != (weight, least) or left > allowed:
            raise SolveError(
                "The physically consistent estimate did not converge; widen the bounds, or choose a prior_weight nearer to 1."
            )
        return self._x(z)

    def _x(self, z: np.ndarray) -> np.ndarray:
        return self.V @ (self.origin + self.D * z)

    def _misfit(self, z: np.ndarray) -> np.ndarray:
        return self.S * z[: len(self.S)] - self.c

    def value(self, z: np.ndarray, w: float, barrier: float) -> float:
        """The function itself; infinite outside."""
        x = self._x(z)
        room = self.G @ x - self.h
        try:
            factors = np.linalg.cholesky(self._bodies(x))
        except np.linalg.LinAlgError:
            return float("inf")
        if room.min(initial=1.0) <= 0.0:
            return float("inf")
        misfit = self._misfit(z)
        traces = float(np.sum(x[: 10 * self.n].reshape(-1, 10) @ np.trace(_BASIS, axis1=1, axis2=2)))
        logs = 2.0 * float(np.sum(np.log(np.diagonal(factors, axis1=1, axis2=2))))
        y = x[10 * self.n :] - self.prior
        return float(
            0.5 * misfit @ misfit + w * (traces / (1.0 - INSIDE) - logs + 0.5 * y @ y) - barrier * np.sum(np.log(room))
        )

    def _bodies(self, x: np.ndarray) -> np.ndarray:
        """(n, 4, 4): X of every link, less the distance that is kept from the border."""
        return np.einsum("ik,kab->iab", x[: 10 * self.n].reshape(-1, 10), _BASIS) - INSIDE * np.eye(4)

    def _slopes(self, z: np.ndarray, w: float, barrier: float) -> tuple[np.ndarray, ...]:
        """Gradient g and Hessian H in z of everything but the barrier, and its own, −Uᵀc and UᵀL²U: U, c and L of every direction that is bounded."""
        x, n, p = self._x(z), self.n, len(z)
        g, H = np.zeros(p), np.zeros((p, p))
        inverse = np.linalg.inv(self._bodies(x))
        for i in range(n):
            block = slice(10 * i, 10 * i + 10)
            moved = inverse[i] @ _BASIS
            g[block] = np.trace(_BASIS, axis1=1, axis2=2) / (1.0 - INSIDE) - np.trace(moved, axis1=1, axis2=2)
            H[block, block] = np.einsum("aij,bji->ab", moved, moved)
        g[10 * n :] = x[10 * n :] - self.prior
        H[range(10 * n, p), range(10 * n, p)] = 1.0
        turn = self.V * self.D
        g, H = turn.T @ (w * g), w * (turn.T @ H @ turn)
        seen = range(len(self.S))
        g[: len(self.S)] += self.S * self._misfit(z)
        H[seen, seen] += self.S**2
        room, count = self.G @ x - self.h, len(self.first)
        push = barrier * np.bincount(self.along, self.side / room, count)
        length = np.sqrt(barrier * np.bincount(self.along, room**-2.0, count))
        return g, H, self.G[self.first] @ turn, push, length

    def _reach(self, z: np.ndarray, step: np.ndarray) -> float:
        """How much of a step may be taken, at most all of it, so that no body and no bound loses more than a part of its room."""
        x, move = self._x(z), self.V @ (self.D * step)
        factors = np.linalg.inv(np.linalg.cholesky(self._bodies(x)))
        towards = np.einsum("ik,kab->iab", move[: 10 * self.n].reshape(-1, 10), _BASIS)
        lost = -np.linalg.eigvalsh(factors @ towards @ factors.transpose(0, 2, 1)).min()
        lost = max(float(lost), float(np.max(-(self.G @ move) / (self.G @ x - self.h), initial=0.0)))
        return min(1.0, NEAREST / lost) if lost > 0.0 else 1.0

    def _newton(self, z: np.ndarray, w: float, barrier: float) -> tuple[np.ndarray, float]:
        """The minimum for one pair of weights, and half the squared decrement that was left there."""
        small = CONVERGED * min(w, barrier) if len(self.h) else CONVERGED * w
        now, before = self.value(z, w, barrier), np.inf
        for _ in range(MOST_STEPS):
            step, fall = _newton_step(*self._slopes(z, w, barrier))
            invisible = fall <= ROUNDING * (1.0 + abs(now))
            if fall <= small or (invisible and fall > 0.25 * before):
                return z, fall
            length = self._reach(z, step)
            new = self.value(z + length * step, w, barrier)
            while not (np.isfinite(new) if invisible else new <= now - 0.1 * length * fall):
                length *= 0.5
                if length < 1e-12:
                    return z, fall
                new = self.value(z + length * step, w, barrier)
            z, now, before = z + length * step, new, fall
        return z, before


def _newton_step(g: np.ndarray, H: np.ndarray, U: np.ndarray, c: np.ndarray, L: np.ndarray) -> tuple[np.ndarray, float]:
    r"""The step s of Newton's method, (H + UᵀL²U) s = Uᵀc − g, and half its squared decrement.

    Between bounds that lie 1e-9 apart L is 1e9: in the sum nothing would be left of H, and next to c nothing of g. With
    :math:`\mu = L^2 U s - c` neither is added up,

    .. math:: \begin{pmatrix} H & U^T \\ U & -L^{-2} \end{pmatrix}\begin{pmatrix} s \\ \mu \end{pmatrix} = \begin{pmatrix} -g \\ L^{-2}c \end{pmatrix},
        \qquad s^T(H + U^TL^2U)\,s = s^THs + |L^{-1}(\mu + c)|^2.

    Directions lost in rounding are left alone.
    """
    d = 1.0 / np.sqrt(np.diagonal(H))  # with unit diagonal rounding does not mix large and small directions
    H, U = d[:, None] * H * d, U * d
    size = np.linalg.norm(U, axis=1)
    scale = np.minimum(1.0 / size, L)  # of μ: no entry is larger than 1
    U = scale[:, None] * U
    values, axes = np.linalg.eigh(np.block([[H, U.T], [U, -np.diag((scale / L) ** 2)]]))
    keep = np.abs(values) > 1e-15 * np.abs(values).max()
    right = np.concatenate([-d * g, scale * c / L**2])
    found = axes[:, keep] @ ((axes[:, keep].T @ right) / values[keep])
    s, mu = found[: len(g)], found[len(g) :] * scale
    return d * s, 0.5 * float(s @ H @ s + np.sum(((mu + c) / L) ** 2))
