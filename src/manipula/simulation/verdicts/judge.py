"""Can the answer be trusted? Repetition with other steps, conditioning of the mass matrix, limits."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.model import Model
from manipula.robot.once import once_per_mechanism
from manipula.robot.robot import Robot
from manipula.simulation.loops.fixed import RunSamples
from manipula.simulation.result import RunVerdict
from manipula.simulation.stated_limits import position_limits

if TYPE_CHECKING:
    from manipula.simulation.loops.setup import Run

LARGEST_JUDGED = 40  # joints
JUDGED_SAMPLES = 25  # of a run
MOST_JUDGED = 50_000  # postures of a batch
SINGULAR = 1e-14  # reciprocal condition number of M below which accelerations mean nothing


def condition(robot: Robot, q: np.ndarray, enough: float = SINGULAR) -> float:
    """Smallest reciprocal condition number of M over a few samples of q (S, n), scaled to unit diagonal.

    Or what it is at least, where that is more than ``enough``.
    """
    if robot.parameters or robot.n > LARGEST_JUDGED or not len(q):
        return 1.0
    chosen = q[_spread(len(q), JUDGED_SAMPLES)]
    rows = chosen[np.isfinite(chosen).all(axis=1)]
    if not len(rows):
        return 1.0
    mass_matrix = model_of(robot).kernel("mass_matrix").fast
    M = np.array([mass_matrix(row) for row in rows])
    try:
        roots = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:  # one is not positive
        return float(reciprocals(M).min())
    pivots = np.diagonal(roots, axis1=1, axis2=2) ** 2 / np.diagonal(M, axis1=1, axis2=2)
    found = float(least_reciprocal(pivots.prod(axis=1), robot.n).min())
    return found if found > enough else float(reciprocals(M).min())


@functools.lru_cache(maxsize=64)
def _spread(count: int, most: int) -> np.ndarray:
    """Some of ``count`` rows, the first and the last among them."""
    return np.linspace(0, count - 1, min(count, most)).astype(int)


@once_per_mechanism(64)
def model_of(robot: Robot) -> Model:
    """The compiled functions of a robot, kept for its next run."""
    return Model(robot)


def conditions(run: Run, samples: RunSamples) -> np.ndarray:
    """The same for every run, (N,), or what it is at least where that is enough; in machine code for batches and free parameters."""
    x, t = samples.x, samples.t
    n = run.plant.layout.n
    if n > LARGEST_JUDGED:
        return np.ones(len(x))
    enough = max(SINGULAR, np.finfo(float).eps / run.scenario.tolerance)
    if len(x) == 1 and not run.scenario.robot.parameters:
        return np.array([condition(run.scenario.robot, x[0, :, :n], enough)])
    at = _spread(x.shape[1], max(3, min(JUDGED_SAMPLES, MOST_JUDGED // len(x))))
    M, determinant = run.loop.mass_matrix(x[:, at], run.p[:, None], *run.inputs, t[at])
    found = least_reciprocal(determinant, n)
    doubtful = ~(found > enough)
    finite = np.isfinite(M).all(axis=(-2, -1))
    found[~finite] = 1.0
    found[doubtful & finite] = reciprocals(M[doubtful & finite])
    return found.min(axis=1)


def least_reciprocal(determinant: np.ndarray, n: int) -> np.ndarray:
    r"""What 1/κ is at least, from the determinant of a positive matrix with unit diagonal.

    The other eigenvalues have a sum below n, hence a product of at most :math:`(n/(n-1))^{n-1} < e`: so
    :math:`\lambda_{\min} > \det/e`, and :math:`\lambda_{\max} \le n`.
    """
    return np.asarray(determinant) / (np.e * n)


def reciprocals(M: np.ndarray) -> np.ndarray:
    """Reciprocal condition numbers of symmetric matrices (..., n, n) scaled to unit diagonal; 0 where one is not positive."""
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    legal = np.asarray((diagonal > 0.0).all(axis=-1))
    scale = np.sqrt(np.where(legal[..., None], diagonal, 1.0))
    eigenvalues = np.linalg.eigvalsh(M / (scale[..., :, None] * scale[..., None, :]))
    return np.where(legal, eigenvalues[..., 0] / eigenvalues[..., -1], 0.0)


def limits_crossed(robot: Robot, own: Any, q: np.ndarray, parameters: Any = None) -> tuple[int, int] | None:
    """First sample and joint outside its position limits, or None."""
    low, high = position_limits(robot, own, parameters)
    outside = (q < low) | (q > high)
    if not outside.any():
        return None
    sample = int(np.argmax(outside.any(axis=1)))
    return sample, int(np.argmax(outside[sample]))


def crossing(
    robot: Robot, own: Any, state: tuple[np.ndarray, np.ndarray, np.ndarray], t: float, parameters: Any = None
) -> tuple[int, float]:
    r"""The joint that left its range first, of those outside it at t, and when.

    With q, qd, qdd at t (the state) the excess e was zero earlier by d: :math:`e - v d + a d^2/2 = 0`.
    """
    q, qd, qdd = state
    low, high = position_limits(robot, own, parameters)
    outwards = np.where(q > high, 1.0, -1.0)
    over, v, a = np.maximum(q - high, low - q), outwards * qd, outwards * qdd
    with np.errstate(all="ignore"):
        ago = 2.0 * over / (v + np.sqrt(np.maximum(v * v - 2.0 * a * over, 0.0)))
    ago = np.where(over > 0.0, np.where(np.isfinite(ago), np.clip(ago, 0.0, t), 0.0), -1.0)
    joint = int(np.argmax(ago))
    return joint, t - float(ago[joint])


def early_end(why: str, t: float, adaptive: bool, until: str) -> tuple[str, str]:
    """Status and reason of a run that ended at time t."""
    at = f"at t = {t:.6g} s"
    if why == "step_too_small":
        return why, f"The step became too small {at}: the equations are stiff or singular there.{until}"
    if why == "too_many_steps":
        return (
            "step_too_small",
            f"The tolerance asked for too many steps between two samples; the run got no further than {at[3:]}.{until}",
        )
    help_ = "other gains" if adaptive else "a smaller step or other gains"
    if why == "not_finite":
        return why, f"The state is no finite number any more {at}; {help_} may help.{until}"
    return why, f"The state left all bounds {at}; {help_} may help.{until}"


def trusted_until(verdict: RunVerdict, duration: float, agreed: float) -> float:
    """When a run stops being trustworthy: its end when it finished, where it and its repetition part otherwise.

    NaN when there was no repetition, 0 when agreement proves nothing (a singular or hopelessly conditioned mass matrix).
    """
    if np.isnan(agreed):
        return float("nan")
    if verdict.status == "finished":
        return duration
    return 0.0 if verdict.status == "singular" or agreed >= duration else float(agreed)
