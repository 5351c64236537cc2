"""Can the answer be trusted? Step-halving, energy audit, conditioning of the mass matrix, limits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from manipula.physics.composite import mass_matrix
from manipula.robot.robot import Robot

LARGEST_JUDGED = 40  # joints
JUDGED_SAMPLES = 25  # of a run
MOST_JUDGED = 50_000  # postures of a batch
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
    if robot.parameters or robot.n > LARGEST_JUDGED or not len(q):
        return 1.0
    chosen = q[np.linspace(0, len(q) - 1, min(len(q), JUDGED_SAMPLES)).astype(int)]
    rows = chosen[np.isfinite(chosen).all(axis=1)]
    with np.errstate(all="ignore"):
        M = [np.asarray(mass_matrix(robot, row), float) for row in rows]
    return float(reciprocals(np.array(M)).min()) if M else 1.0


def conditions(run: Any, samples: Any) -> np.ndarray:
    """The same for every run, (N,): in machine code where there are many postures or free parameters."""
    x, t = samples.x, samples.t
    n = run.plant.layout.n
    if n > LARGEST_JUDGED:
        return np.ones(len(x))
    if len(x) == 1 and not run.scenario.robot.parameters:
        return np.array([condition(run.scenario.robot, x[0, :, :n])])
    count = min(x.shape[1], max(3, min(JUDGED_SAMPLES, MOST_JUDGED // len(x))))
    at = np.linspace(0, x.shape[1] - 1, count).astype(int)
    M = np.asarray(run.loop.mass_matrix(x[:, at], run.p[:, None], *run.inputs, t[at]))
    good = np.isfinite(M).all(axis=(-2, -1))
    found = np.ones(good.shape)
    found[good] = reciprocals(M[good])
    return found.min(axis=1)


def reciprocals(M: np.ndarray) -> np.ndarray:
    """Reciprocal condition numbers of symmetric matrices (..., n, n) scaled to unit diagonal; 0 where one is not positive."""
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    legal = np.asarray((diagonal > 0.0).all(axis=-1))
    scale = np.sqrt(np.where(legal[..., None], diagonal, 1.0))
    eigenvalues = np.linalg.eigvalsh(M / (scale[..., :, None] * scale[..., None, :]))
    return np.where(legal, eigenvalues[..., 0] / eigenvalues[..., -1], 0.0)


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
