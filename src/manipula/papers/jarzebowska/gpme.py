r"""The equations of the paper by 4×4 matrices, as printed and corrected [Jarzębowska, Augustynek & Urbaś, (4)–(12)].

.. math::
   m_{ij} = \sum_l \mathrm{tr}(T_i^{(l)} H^{(l)} T_j^{(l)T}),\qquad
   h_i = -\sum_l\sum_{mn} \mathrm{tr}(T_i^{(l)} H^{(l)} T_{mn}^{(l)T})\,\dot q_m\dot q_n,\qquad
   g_i = \sum_l m^{(l)} g\,J_3 T_i^{(l)} r_C^{(l)}
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from manipula.robot.robot import Robot

TURN, SLIDE = np.zeros((4, 4)), np.zeros((4, 4))
TURN[0, 1], TURN[1, 0], SLIDE[2, 3] = -1.0, 1.0, 1.0
GRAVITY = 9.81


class TracedArm:
    """Poses of the links, their derivatives and pseudo-inertias: standard DH rows, each joint in front of its link."""

    def __init__(self, robot: Robot) -> None:
        from manipula.algebra.inertia import pseudo_inertia
        from manipula.physics.mechanism import mechanism_of

        mechanism = mechanism_of(robot)
        self.n = mechanism.n
        self.before = []
        for b in mechanism.bodies:
            T = np.eye(4)
            T[:3, :3], T[:3, 3] = np.array(b.R0, float), np.array(b.p0, float)
            self.before.append((T, b.revolute, float(b.phase)))
        self.H = [np.array(pseudo_inertia(b.moments), float) for b in mechanism.bodies]
        tip = mechanism.frames["tip"].pose
        self.r_E = np.array([*np.array(tip.p, float), 1.0])

    def T(self, q: np.ndarray, link: int, *by: int) -> np.ndarray:
        """T of a link, or its derivative by the named joints (one or two), (4, 4)."""
        if any(j > link for j in by):
            return np.zeros((4, 4))
        factors = []
        for k in range(link + 1):
            T, revolute, phase = self.before[k]
            Z = np.eye(4)
            if revolute:
                c, s = np.cos(q[k] + phase), np.sin(q[k] + phase)
                Z[:2, :2] = [[c, -s], [s, c]]
            else:
                Z[2, 3] = q[k]
            factors += [T, Z, *([TURN if revolute else SLIDE] * by.count(k))]
        return reduce(np.matmul, factors)

    def M(self, q: np.ndarray, *, as_printed: bool = False) -> np.ndarray:
        """Mass matrix; as printed T_i is a second derivative."""
        by = [(i, i) if as_printed else (i,) for i in range(self.n)]
        return np.sum([self._gram(q, link, by) for link in range(self.n)], axis=0)

    def _gram(self, q: np.ndarray, link: int, by: list[tuple[int, ...]]) -> np.ndarray:
        parts = [self.T(q, link, *b) for b in by]
        return np.array([[np.sum((a @ self.H[link]) * b) for b in parts] for a in parts])

    def h(self, q: np.ndarray, qd: np.ndarray, kind: str = "corrected") -> np.ndarray:
        """h_i on the right-hand side: "corrected", "printed" (its first term has the index m), or "index" (the same with i)."""
        out = np.zeros(self.n)
        for link in range(self.n):
            first = [self.T(q, link, i) for i in range(self.n)]
            second = [[self.T(q, link, i, j) for j in range(self.n)] for i in range(self.n)]
            tr = lambda a, b, H=self.H[link]: float(np.sum((a @ H) * b))  # noqa: E731
            pairs = [(m, k) for m in range(self.n) for k in range(self.n)]
            for i in range(self.n):
                if kind == "corrected":
                    out[i] -= sum(tr(first[i], second[m][k]) * qd[m] * qd[k] for m, k in pairs)
                    continue
                lead = sum(tr(first[i if kind == "index" else m], second[m][k]) * qd[m] * qd[k] for m, k in pairs)
                out[i] += lead + 2.0 * sum(tr(first[m], second[i][k]) * qd[m] * qd[k] for m, k in pairs)
        return out

    def g(self, q: np.ndarray, axis: int = 2) -> np.ndarray:
        """g_i = Σ m g J T_i r_C; axis 0 is the printed J_1, axis 2 the vertical."""
        return np.array([sum(GRAVITY * (self.T(q, link, i) @ self.H[link][:, 3])[axis] for link in range(self.n)) for i in range(self.n)])  # fmt: skip

    def tip(self, q: np.ndarray) -> np.ndarray:
        """r_E in the base, (3,)."""
        return (self.T(q, self.n - 1) @ self.r_E)[:3]

    def C(self, q: np.ndarray) -> np.ndarray:
        """Rows of the tip's derivative, (3, n)."""
        return np.stack([(self.T(q, self.n - 1, i) @ self.r_E)[:3] for i in range(self.n)], axis=1)

    def d(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Σ T_ij q̇_i q̇_j r_E, (3,)."""
        last = self.n - 1
        bent = [[(self.T(q, last, i, j) @ self.r_E)[:3] for j in range(self.n)] for i in range(self.n)]
        return np.einsum("i,j,ijk->k", qd, qd, np.array(bent))

    def ellipse(self, q: np.ndarray, qd: np.ndarray, a: float, b: float) -> tuple[np.ndarray, float]:
        """u and v of (10), half of the derivatives of Φ_1."""
        (x, y, _), C, d = self.tip(q), self.C(q), self.d(q, qd)
        u = x / a**2 * C[0] + y / b**2 * C[1]
        return u, ((C[0] @ qd) ** 2 + x * d[0]) / a**2 + ((C[1] @ qd) ** 2 + y * d[1]) / b**2

    def K(self, q: np.ndarray, a: float, b: float, *, as_printed: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """K_d (columns 2, 4) and K_i (columns 1, 3) of (11); as printed their second rows are those of x."""
        u, _ = self.ellipse(q, np.zeros(self.n), a, b)
        rows = np.stack([u, self.C(q)[0 if as_printed else 2]])
        return rows[:, [1, 3]], rows[:, [0, 2]]

    def acceleration(self, q: np.ndarray, qd: np.ndarray, Q: np.ndarray, a: float, b: float) -> np.ndarray:
        """q̈ by (12), corrected: two reduced equations and two constraints."""
        K_d, K_i = self.K(q, a, b)
        D = np.zeros((4, 2))
        D[[0, 2]], D[[1, 3]] = np.eye(2), -np.linalg.solve(K_d, K_i)
        u, v = self.ellipse(q, qd, a, b)
        left = np.vstack([D.T @ self.M(q), u, self.C(q)[2]])
        right = np.concatenate([D.T @ (self.h(q, qd) + Q - self.g(q)), [-v, -self.d(q, qd)[2]]])
        return np.linalg.solve(left, right)
