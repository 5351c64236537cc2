r"""The ten inertial parameters of a rigid body and how they move between frames, for any scalar.

A body is ``mass`` m [kg], ``com`` c [m] and ``inertia`` I [kg·m²] about the centre of mass. For recursions the linear
form is better: m, first moment h = m c, and inertia about the frame's origin J = I + m(cᵀc 1 − c cᵀ).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.linear import array, dot, skew
from manipula.algebra.ops import Scalar


class Moments(NamedTuple):
    """Mass, first moment (3,) and inertia about the origin (3, 3): linear in the density, so they add."""

    mass: Scalar
    first: np.ndarray
    second: np.ndarray

    def __add__(self, other: Moments) -> Moments:  # pyright: ignore[reportIncompatibleMethodOverride]
        return Moments(self.mass + other.mass, self.first + other.first, self.second + other.second)

    def seen_from(self, R: np.ndarray, p: np.ndarray) -> Moments:
        r"""The same body in frame A, when these moments are in frame B and ``X_AB = (R, p)``.

        .. math:: h_A = R h_B + m p, \qquad
                  J_A = R J_B R^T - \hat p\,\widehat{Rh_B} - \widehat{Rh_B}\,\hat p - m\,\hat p\,\hat p
        """
        h = R @ self.first
        P, H = skew(p), skew(h)
        J = R @ self.second @ R.T - P @ H - H @ P - self.mass * (P @ P)
        return Moments(self.mass, h + self.mass * p, J)


def moments(mass: Scalar, com: Any, inertia: Any) -> Moments:
    """Moments about the frame's origin of a body given by mass, centre of mass and inertia about it."""
    c = array(com)
    return Moments(mass, mass * c, array(inertia) + mass * steiner(c))


def steiner(c: Any) -> np.ndarray:
    r""":math:`c^Tc\,1 - c c^T`, the inertia of a unit point mass at ``c``."""
    c = array(c)
    return dot(c, c) * np.eye(3) - np.outer(c, c)


def central(m: Moments) -> tuple[Scalar, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about it. A body without mass keeps its inertia and has com 0."""
    if isinstance(m.mass, (int, float)) and m.mass == 0:
        return m.mass, np.zeros(3), m.second
    c = m.first / m.mass
    return m.mass, c, m.second - m.mass * steiner(c)


def inertia_from_six(ixx: Any, iyy: Any, izz: Any, ixy: Any, ixz: Any, iyz: Any) -> np.ndarray:
    """Symmetric 3×3 tensor from its six entries (tensor entries: Ixy is the off-diagonal element itself)."""
    return array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])


def pseudo_inertia(m: Moments) -> np.ndarray:
    r"""4×4 pseudo-inertia :math:`\int [r;1][r;1]^T dm`: positive products, not tensor entries."""
    trace = m.second[0, 0] + m.second[1, 1] + m.second[2, 2]
    P = np.zeros((4, 4), dtype=object)
    P[:3, :3] = (trace / 2) * np.eye(3) - m.second
    P[:3, 3] = m.first
    P[3, :3] = m.first
    P[3, 3] = m.mass
    return array(P)
