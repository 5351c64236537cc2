"""Can the answer be trusted? Step-halving, energy audit, conditioning of the mass matrix, limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from manipula.physics.composite import mass_matrix
from manipula.robot.robot import Robot

SINGULAR = 1e-14  # reciprocal condition number of M below which accelerations mean nothing


class Verdict(NamedTuple):
    """Status and reason of one run."""

    status: str
    reason: str


def compare(coarse: np.ndarray, fine: np.ndarray, order: int) -> float:
    r"""Relative error of the coarse run, :math:`|x_h - x_{h/2}|\,\frac{2^p}{2^p-1}` over the largest state met (at least 1)."""
    if not (np.isfinite(coarse).all() and np.isfinite(fine).all()):
        return float("inf")
    scale = max(1.0, float(np.abs(fine).max(initial=0.0)))
    factor = 2.0**order / (2.0**order - 1.0)
    return float(np.abs(coarse - fine).max(initial=0.0)) * factor / scale


def condition(robot: Robot, q: np.ndarray) -> float:
    """Smallest reciprocal condition number of M over a few samples of q (S, n), scaled to unit diagonal."""
    if robot.parameters or robot.n > 40 or not len(q):
        return 1.0
    chosen = q[np.linspace(0, len(q) - 1, min(len(q), 25)).astype(int)]
    worst = 1.0
    for row in chosen[np.isfinite(chosen).all(axis=1)]:
        with np.errstate(all="ignore"):
            M = np.asarray(mass_matrix(robot, row), float)
        diagonal = np.diag(M)
        if np.any(diagonal <= 0.0):
            return 0.0
        scaled = M / np.sqrt(np.outer(diagonal, diagonal))
        eigenvalues = np.linalg.eigvalsh(scaled)
        worst = min(worst, float(eigenvalues[0] / eigenvalues[-1]))
    return worst


def limits_crossed(robot: Robot, q: np.ndarray) -> tuple[int, int] | None:
    """First sample and joint outside its position limits, or None."""
    low, high = (
        np.asarray(robot.position_limits, float).T
        if not robot.parameters
        else (np.full(robot.n, -np.inf), np.full(robot.n, np.inf))
    )
    outside = (q < low - 1e-9) | (q > high + 1e-9)
    if not outside.any():
        return None
    sample = int(np.argmax(outside.any(axis=1)))
    return sample, int(np.argmax(outside[sample]))
