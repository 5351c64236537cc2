r"""All postures of a 6R arm by elimination: the method of Raghavan and Roth with numbers only.

The 14 equations P(θ₃)·(1, c₄, s₄)⊗(1, c₅, s₅) = Q·(1, c₁, s₁)⊗(1, c₂, s₂) are freed of θ₁ and θ₂ by the six combinations of rows that annihilate
the eight columns of Q that hold them. In tangents of half angles, and again multiplied by x₄, they are 12 equations in 12 products,
quadratic in x₃: an eigenvalue problem of size 24 [Manocha & Canny 1994]. Eight of its eigenvalues are ±i and no postures, 16 remain.

Any joint of the loop can play the part of joint 3: shifting the loop by one joint moves axis 1 to :math:`G^{-1}` of itself behind axis 6. Special
geometry can make one shift singular and not another; ``split`` chooses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from manipula.ik.general.closure import closure

# rows 1, cos, sin times (1 + x²); columns 1, x, x²
HALF = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, -1.0], [0.0, 2.0, 0.0]])
HALVES = np.kron(HALF, HALF)
SHIFTS = np.array([0.0, 0.9, 1.9, 2.8, 3.7, 4.8, 5.6])  # trial origins of θ₃
ORIGIN4, ORIGIN5 = 0.83, -1.27  # origins of θ₄ and θ₅: right angles are common, so they must not be at infinity
REAL = 0.35  # imaginary parts of θ up to this are tried: the polish decides


class ClosureLoop(NamedTuple):
    """A 6R arm and a target: directions (6, 3), points (6, 3), motion (4, 4)."""

    h: np.ndarray
    p: np.ndarray
    G: np.ndarray

    def shifted(self, k: int) -> ClosureLoop:
        """The same loop entered k joints later: E2⋯E6 (G⁻¹E1G) = G."""
        back = np.linalg.inv(self.G)
        h = np.vstack([self.h[k:], self.h[:k] @ back[:3, :3].T])
        p = np.vstack([self.p[k:], self.p[:k] @ back[:3, :3].T + back[:3, 3]])
        return ClosureLoop(h, p, self.G)


class EliminationProblem(NamedTuple):
    """Eigenvalues and what is needed to find the other joints; ``quality``: relative size of the smallest pivot met."""

    values: np.ndarray  # (24,) tangents of (θ₃ − φ)/2
    vectors: np.ndarray  # (24, 24)
    shift: float
    left: np.ndarray
    right: np.ndarray
    quality: float


def eliminate(loop: ClosureLoop) -> EliminationProblem:
    """The eigenvalue problem of a loop."""
    left, right = closure(loop.h, loop.p, loop.G)
    left = left @ np.kron(_turned(ORIGIN4), _turned(ORIGIN5)).T  # columns in angles from the new origins
    Q, R = np.linalg.qr(right[:, 1:], mode="complete")
    diagonal = np.abs(np.diagonal(R))
    N = Q[:, 8:].conj().T
    E = N @ left  # (3, 6, 9)
    E[0, :, 0] -= N @ right[:, 0]
    E = E @ HALVES
    M = np.zeros((3, 12, 12), dtype=E.dtype)
    M[:, :6, :9] = E
    M[:, 6:, 3:] = E
    c, s = np.cos(SHIFTS)[:, None, None], np.sin(SHIFTS)[:, None, None]
    ends = M[0] - (c * M[1] + s * M[2])  # coefficient of x²: opposite to the origin of θ₃
    ends_scaled = ends / np.linalg.norm(ends, axis=2, keepdims=True).clip(1e-300)
    best = int(np.argmax(np.linalg.slogdet(ends_scaled)[1]))
    c, s = float(np.cos(SHIFTS[best])), float(np.sin(SHIFTS[best]))
    A, B, C = ends[best], 2.0 * (c * M[2] - s * M[1]), M[0] + c * M[1] + s * M[2]
    quality = float(diagonal.min() / diagonal.max())
    companion = np.zeros((24, 24), dtype=E.dtype)
    companion[:12, 12:] = np.eye(12)
    try:
        companion[12:] = np.linalg.solve(A, np.hstack([-C, -B]))
        values, vectors = np.linalg.eig(companion)
    except np.linalg.LinAlgError:
        return EliminationProblem(np.zeros(0), np.zeros((24, 0)), 0.0, left, right, 0.0)
    pivot = 1.0 / max(1.0, float(np.abs(companion[12:]).max()))
    return EliminationProblem(values, vectors, float(SHIFTS[best]), left, right, min(quality, pivot))


def _turned(origin: float) -> np.ndarray:
    """(1, cos(θ' + o), sin(θ' + o)) = rows; (1, cos θ', sin θ') = columns. Transposed by the caller."""
    c, s = np.cos(origin), np.sin(origin)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])


def candidates(loop: ClosureLoop, found: EliminationProblem) -> np.ndarray:
    """(k, 6) postures for all eigenvalues that may be real."""
    with np.errstate(divide="ignore", invalid="ignore"):  # ±i is no angle, and left out
        theta3 = 2.0 * np.arctan(found.values.astype(complex))
    wanted = np.isfinite(theta3) & (np.abs(theta3.imag) < REAL)
    if not np.any(wanted):
        return np.empty((0, 6))
    theta3 = theta3[wanted].real + found.shift
    v = found.vectors[:12, wanted].reshape(4, 3, -1)
    x4 = np.sum(v[:-1].conj() * v[1:], axis=(0, 1)) / np.sum(np.abs(v[:-1]) ** 2, axis=(0, 1))
    x5 = np.sum(v[:, :-1].conj() * v[:, 1:], axis=(0, 1)) / np.sum(np.abs(v[:, :-1]) ** 2, axis=(0, 1))
    theta4, theta5 = 2.0 * np.arctan(x4).real, 2.0 * np.arctan(x5).real
    one = np.ones_like(theta3)
    m3 = np.stack([one, np.cos(theta3), np.sin(theta3)])
    m4 = np.stack([one, np.cos(theta4), np.sin(theta4)])
    m5 = np.stack([one, np.cos(theta5), np.sin(theta5)])
    m45 = (m4[:, None] * m5[None]).reshape(9, -1)
    sides = np.einsum("kN,keN->eN", m3, found.left @ m45) - found.right[:, :1]
    m12 = np.linalg.lstsq(found.right[:, 1:], sides, rcond=1e-12)[0]  # c2 s2 c1 c1c2 c1s2 s1 s1c2 s1s2
    theta1, theta2 = np.arctan2(m12[5], m12[2]), np.arctan2(m12[1], m12[0])
    q = np.stack([theta1, theta2, theta3, theta4 + ORIGIN4, theta5 + ORIGIN5, np.zeros_like(theta1)], axis=1)
    q[:, 5] = last_angle(loop, q)
    return q


def rotations(h: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """(k, 3, 3) Rodrigues for one axis and many angles."""
    K = np.array([[0.0, -h[2], h[1]], [h[2], 0.0, -h[0]], [-h[1], h[0], 0.0]])
    return np.eye(3) + np.sin(theta)[:, None, None] * K + (1.0 - np.cos(theta))[:, None, None] * (K @ K)


def last_angle(loop: ClosureLoop, q: np.ndarray) -> np.ndarray:
    """θ₆ from what the other five leave to it."""
    R = np.broadcast_to(loop.G[:3, :3], (len(q), 3, 3))
    for i in range(5):
        R = np.swapaxes(rotations(loop.h[i], q[:, i]), 1, 2) @ R
    h = loop.h[5]
    v = np.cross(h, np.eye(3)[int(np.argmin(np.abs(h)))])
    v = v / np.linalg.norm(v)
    w = R @ v
    return np.arctan2(w @ np.cross(h, v), w @ v)


def split_candidates(loop: ClosureLoop, shift: int) -> tuple[np.ndarray, float]:
    """Postures in the loop's own order when it is entered ``shift`` joints later, and the quality of that elimination."""
    turned = loop.shifted(shift)
    found = eliminate(turned)
    q = candidates(turned, found)
    return np.roll(q, shift, axis=1), found.quality
