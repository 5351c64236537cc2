r"""Which inertial parameters belong to a body that can exist.

A body is physical exactly when its pseudo-inertia :math:`\bar J = \int [r;1][r;1]^T\,dm` is positive definite [Wensing, Kim & Slotine,
Linear matrix inequalities for physically consistent inertial parameter identification, RA-L 2018]. :math:`\bar J` is linear in the
parameters π, which are ordered as the columns of ``physics.regressor``.
"""

from __future__ import annotations

import numpy as np

SLACK = 1e-3  # a body on the border (a rod, a point mass) is moved inside by this part of its size


def pseudo_inertia(pi: np.ndarray) -> np.ndarray:
    r"""4×4 :math:`\bar J` of (…, 10) parameters m, mx, my, mz, Jxx, Jxy, Jyy, Jxz, Jyz, Jzz."""
    pi = np.asarray(pi, float)
    m, xx, xy, yy, xz, yz, zz = (pi[..., k] for k in (0, 4, 5, 6, 7, 8, 9))
    out = np.empty((*pi.shape[:-1], 4, 4))
    half = 0.5 * (xx + yy + zz)
    for i, inertia in enumerate((xx, yy, zz)):
        out[..., i, i] = half - inertia
    for (i, j), product in (((0, 1), xy), ((0, 2), xz), ((1, 2), yz)):
        out[..., i, j] = out[..., j, i] = -product
    for i in range(3):
        out[..., i, 3] = out[..., 3, i] = pi[..., 1 + i]
    out[..., 3, 3] = m
    return out


def inertial_parameters(J: np.ndarray) -> np.ndarray:
    """(…, 10) parameters of a pseudo-inertia: linear in its entries."""
    S = J[..., :3, :3]
    trace = S[..., 0, 0] + S[..., 1, 1] + S[..., 2, 2]
    return np.stack(
        [J[..., 3, 3], J[..., 0, 3], J[..., 1, 3], J[..., 2, 3], trace - S[..., 0, 0], -S[..., 0, 1], trace - S[..., 1, 1],
         -S[..., 0, 2], -S[..., 1, 2], trace - S[..., 2, 2]],
        axis=-1,
    )  # fmt: skip


def is_physical(pi: np.ndarray) -> np.ndarray:
    """Whether (…, 10) parameters belong to a body that can exist (border excluded)."""
    return np.linalg.eigvalsh(pseudo_inertia(pi))[..., 0] > 0.0


def nearest_physical(pi: np.ndarray, size: float = 0.05, least_mass: float = 1e-3) -> np.ndarray:
    r"""A body that can exist near (10,) parameters.

    Negative eigenvalues of the second moments about the centre of mass, :math:`\Sigma_c`, are raised to a small part of the
    largest one (of a ball of radius ``size`` when there is none); the mass is at least ``least_mass``.
    """
    J = pseudo_inertia(pi)
    mass = max(float(J[3, 3]), least_mass)
    centre = J[:3, 3] / mass
    values, axes = np.linalg.eigh(J[:3, :3] - mass * np.outer(centre, centre))
    floor = SLACK * max(float(values[-1]), 0.0) + 1e-4 * mass * size**2
    second = axes @ np.diag(np.maximum(values, floor)) @ axes.T
    J[:3, :3] = second + mass * np.outer(centre, centre)
    J[:3, 3] = J[3, :3] = mass * centre
    J[3, 3] = mass
    return inertial_parameters(J)
