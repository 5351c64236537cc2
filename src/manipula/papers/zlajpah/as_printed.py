r"""Equations (2)–(15) of the paper, written down as they are printed, so that print and correction can be evaluated [Žlajpah].

.. math::
   H = \sum_i m_i J_L^{(i)T} J_L^{(i)} + J_A^{(i)T} I_i J_A^{(i)},\qquad
   h_i = \sum_{jk}\left(\frac{\partial H_{ij}}{\partial q_k} - \frac12\frac{\partial H_{jk}}{\partial q_i}\right)\dot q_j\dot q_k
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

GRAVITY = 9.81


@dataclass(frozen=True)
class PlanarArm:
    """Lengths, distances of the centres of mass, masses and moments of inertia, (n,) each."""

    L: np.ndarray
    Lc: np.ndarray
    m: np.ndarray
    I: np.ndarray


class Partials(NamedTuple):
    """What follows from the angles: φ_i, and (x_i, y_i) from joint i to the tip."""

    phi: np.ndarray
    x: np.ndarray
    y: np.ndarray


def random_arm(rng: np.random.Generator, n: int) -> PlanarArm:
    """An arm of arbitrary links."""
    L = rng.uniform(0.2, 1.0, n)
    return PlanarArm(L, L * rng.uniform(0.2, 0.8, n), rng.uniform(0.5, 4.0, n), rng.uniform(0.01, 0.3, n))


def partials(arm: PlanarArm, q: np.ndarray) -> Partials:
    """(2) and (3)."""
    phi = np.cumsum(q)
    x, y = (np.cumsum((arm.L * f(phi))[::-1])[::-1] for f in (np.cos, np.sin))
    return Partials(phi, x, y)


def second_derivative(p: Partials, i: int, j: int, k: int, *, corrected: bool) -> np.ndarray:
    """∂²(x_i, y_i)/∂q_j∂q_k by (6), (2,); corrected: r = max(i, j, k) and no zero case. Indices from 0."""
    if not corrected and (j > i or k > i):
        return np.zeros(2)
    r = max(i, j, k) if corrected else max(j, k)
    return -np.array([p.x[r], p.y[r]])


def jacobian_rate(p: Partials, qd: np.ndarray, *, corrected: bool) -> np.ndarray:
    """J̇ = Σ_k ∂J/∂q_k q̇_k with (6), (2, n)."""
    n = len(qd)
    columns = [sum(second_derivative(p, 0, j, k, corrected=corrected) * qd[k] for k in range(n)) for j in range(n)]
    return np.stack(columns, axis=1)


def gravity(arm: PlanarArm, p: Partials, *, corrected: bool) -> np.ndarray:
    """g by (15), (n,); corrected: the sum of the masses begins behind link i."""
    n = len(arm.L)
    c = np.cos(p.phi)
    g = np.zeros(n)
    g[n - 1] = GRAVITY * arm.m[n - 1] * arm.Lc[n - 1] * c[n - 1]
    for i in range(n - 2, -1, -1):
        carried = arm.m[i + int(corrected) :].sum()
        g[i] = g[i + 1] + GRAVITY * (arm.m[i] * arm.Lc[i] + carried * arm.L[i]) * c[i]
    return g


def inertia_and_bias(arm: PlanarArm, p: Partials, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """H by (8)–(11) and h by (12)–(14); both are printed without a slip."""
    n = len(arm.L)
    J = np.zeros((n, 2, n))
    dJ = np.zeros((n, n, 2, n))  # of link i by q_k
    for i in range(n):
        own = arm.Lc[i] * np.array([np.cos(p.phi[i]), np.sin(p.phi[i])])
        for j in range(i + 1):
            J[i, :, j] = [-p.y[j] + p.y[i] - own[1], p.x[j] - p.x[i] + own[0]]
            for k in range(i + 1):
                r = max(j, k)
                dJ[i, k, :, j] = [-p.x[r] + p.x[i] - own[0], -p.y[r] + p.y[i] - own[1]]
    H = np.einsum("p,paj,pak->jk", arm.m, J, J)
    for i in range(n):
        H[: i + 1, : i + 1] += arm.I[i]
    slope = np.einsum("p,pkai,paj->ijk", arm.m, dJ, J)
    slope = slope + slope.transpose(1, 0, 2)  # ∂H_ij/∂q_k
    h = np.einsum("ijk,j,k->i", slope, qd, qd) - 0.5 * np.einsum("jki,j,k->i", slope, qd, qd)
    return H, h


def jacobian_curvature(arm: PlanarArm, p: Partials, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """J̈, (2, n), which (16) names in place of J̇: from the second derivatives by time of (3)."""
    w, a = np.cumsum(qd), np.cumsum(qdd)
    c, s = np.cos(p.phi), np.sin(p.phi)
    x, y = (np.cumsum((arm.L * part)[::-1])[::-1] for part in (-s * a - c * w * w, c * a - s * w * w))
    return np.stack([-y, x])
