r"""Drive gains from currents: :math:`\tau_j = k_j\,i_j`.

Currents alone fix gains and inertias only up to a common factor. A known load breaks the tie [Gautier & Briot 2014].
For runs a without and b with a load of known mass (or known altogether)

.. math:: \begin{bmatrix} \operatorname{diag} i_a & -W_a & 0 & 0\\ \operatorname{diag} i_b & -W_b & -Y_u & -y_m \end{bmatrix}
          \begin{bmatrix} k\\ \beta\\ \pi_u\\ 1 \end{bmatrix} \approx 0

with what is known of the load, :math:`y_m`, and what is not, :math:`Y_u\pi_u`. Noise is in the currents, which stand beside unknowns, so
that least squares would make the gains too small; total least squares treats the noisy columns as noisy and the others as exact
[Van Huffel & Vandewalle 1991, mixed LS–TLS]: the exact columns are projected out, and the gains are the right singular vector of the smallest singular
value of the rest. Rows of a joint are weighted by the noise of its
own equation, gain times noise of the current; the latter is what a fit of each current alone leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manipula.algebra.arguments import number, positive
from manipula.algebra.value import Value
from manipula.analysis.identification.base_parameters import base_of
from manipula.analysis.identification.blas_threads import one_thread_if_small
from manipula.analysis.identification.estimate import known_of
from manipula.analysis.identification.filtering import Signals, filtered, parallel
from manipula.analysis.identification.intervals import normal_interval
from manipula.analysis.identification.log import Log
from manipula.analysis.identification.payload import load_columns, vector_of
from manipula.analysis.identification.regressor_columns import Extras, columns, stacked
from manipula.errors import DescriptionError, SolveError
from manipula.model import Model, model_of
from manipula.robot.link import Payload
from manipula.robot.robot import Robot

REPEATS = 4
UNSEEN = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class DriveGains(Value):
    """Result of :func:`identify_drive_gains`.

    Attributes:
        gains: (n,) k [N·m/A, N/A]; standard_deviation: (n,) of them.
        rms: (n,) residual k·i − τ over both runs [N·m, N].
        confidence: level of :attr:`interval`. notes: what was done to the data.
    """

    gains: np.ndarray
    standard_deviation: np.ndarray
    rms: np.ndarray
    confidence: float
    notes: tuple[str, ...]

    @property
    def interval(self) -> np.ndarray:
        """(n, 2) confidence interval of each gain."""
        return normal_interval(self.gains, self.standard_deviation, self.confidence)

    def torques(self, log: Log) -> Log:
        """The log with torques k·i in place of its currents."""
        if log.current is None:
            raise DescriptionError("The log has no columns of 'current'.", field="current")
        return replace(log, tau=log.current * self.gains, notes=(*log.notes, "Torques are gains times currents."))

    def text(self) -> str:
        """One line a joint."""
        rows = zip(self.gains, self.standard_deviation, self.rms)
        return "\n".join(
            f"  joint {j + 1}: {k:.5g} ± {s:.2g} N·m/A, rms {r:.3g} N·m" for j, (k, s, r) in enumerate(rows)
        )


def identify_drive_gains(
    robot: Robot | Model,
    unloaded: Log,
    loaded: Log,
    payload: Payload | float,
    *,
    extras: Extras = ("viscous", "coulomb", "offset"),
    smooth: Any = 0.0,
    v_stribeck: Any = None,
    cutoff: float | None = None,
    velocity: str = "auto",
    confidence: float = 0.95,
) -> DriveGains:
    """How much torque a drive gives per ampere, from a run without and a run with a known load.

    Args:
        robot: gives the geometry; rotor inertia belongs to the unknowns when "armature" is among ``extras``, else it must be zero or right.
        unloaded, loaded: logs with currents.
        payload: what the robot carries in the second run: a Payload that is known altogether, or its mass [kg] alone.
        extras, smooth, v_stribeck: friction columns, as in :func:`identify`; cutoff, velocity: as in :func:`identify_log`.
    """
    model = model_of(robot)
    confidence = number(confidence, "confidence")
    if not 0.0 < confidence < 1.0:
        raise DescriptionError(f"The confidence lies between 0 and 1, found {confidence!r}.", field="confidence")
    for name, log in (("unloaded", unloaded), ("loaded", loaded)):
        if not isinstance(log, Log):
            raise DescriptionError(f"'{name}' must be a Log, see read_log; found {type(log).__name__}.", field=name)
    base = base_of(columns(model, extras, smooth, v_stribeck))
    known = known_of(base.columns)
    first = filtered(unloaded, "current", None if cutoff is None else positive(cutoff, "cutoff"), velocity)
    runs = first, filtered(loaded, "current", first.cutoff, velocity)
    currents = np.concatenate([parallel(s.effort, s) for s in runs])
    exact, right = _load(model, runs, payload)
    W = np.concatenate([parallel(base.regressor(s.q, s.qd, s.qdd), s) for s in runs])
    own = np.concatenate([parallel(known.torque(s.qd, s.qdd), s) for s in runs])
    with one_thread_if_small(W.size):
        gains, deviation, residual = _total_least_squares(currents, np.concatenate([W, exact], axis=-1), right + own)
    notes = tuple(dict.fromkeys([*unloaded.notes, *first.notes, *loaded.notes, *runs[1].notes]))
    return DriveGains(gains, deviation, np.sqrt(np.mean(residual**2, axis=0)), confidence, notes)


def _load(model: Model, runs: tuple[Signals, Signals], payload: Payload | float) -> tuple[np.ndarray, np.ndarray]:
    """Columns of what is unknown of the load, and the torque of what is known; zero in the run without it."""
    without, Y = (parallel(load_columns(model, s), s) for s in runs)
    if isinstance(payload, Payload):
        unknown, torque = Y[..., :0], Y @ vector_of(payload.moments())
    else:
        unknown, torque = Y[..., 1:], Y[..., 0] * positive(payload, "payload")
    none = np.zeros((*without.shape[:2], unknown.shape[-1]))
    return np.concatenate([none, unknown]), np.concatenate([np.zeros(without.shape[:2]), torque])


def _total_least_squares(
    currents: np.ndarray, W: np.ndarray, right: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gains k with k·i = W x + right, their deviations and the residual, (samples, n); noise in the currents alone."""
    samples, n = currents.shape
    if samples * n <= W.shape[-1] + n:
        raise DescriptionError(f"{samples} samples are too few for {W.shape[-1]} parameters and {n} gains.")
    diagonal = np.zeros((samples, n, n))
    diagonal[:, range(n), range(n)] = currents
    size = np.sqrt(np.mean(currents**2, axis=0))
    if not np.all(size > 0.0):
        raise DescriptionError(f"No current in joint {int(np.argmin(size)) + 1}.", field="current")
    gains, sigma = _joint_by_joint(currents, W, right)
    residual = np.zeros_like(currents)
    for _ in range(REPEATS):
        weight = 1.0 / (np.abs(gains) * sigma)  # of the equations of each joint
        A = stacked(np.concatenate([W, right[..., None]], axis=-1) * weight[:, None])
        B = stacked(diagonal * (weight * gains)[:, None])  # every entry with noise of one unit
        scale = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
        U, S, Vt = np.linalg.svd(A / scale, full_matrices=False)
        seen = UNSEEN * S[0] < S
        rest = B - U[:, seen] @ (U[:, seen].T @ B)
        vector = np.linalg.eigh(rest.T @ rest)[1][:, 0]
        coefficients = (Vt[seen].T / S[seen]) @ (U[:, seen].T @ (B @ vector)) / scale
        if abs(coefficients[-1]) < 1e-12 * float(np.max(np.abs(coefficients))):
            raise SolveError("The load does not show in the currents; use a heavier one, or a motion that moves it.")
        gains = gains * vector / coefficients[-1]
        residual = currents * gains - W @ (coefficients[:-1] / coefficients[-1]) - right
    covariance = _spread(currents, W, gains, np.abs(gains) * sigma)
    return gains, np.sqrt(np.diag(covariance)), residual


def _joint_by_joint(currents: np.ndarray, W: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gains and the noise of the currents from each joint alone, i = (W x + right)/k: coarse, but noise is where least squares expects it."""
    gains, sigma = np.ones(currents.shape[1]), np.ones(currents.shape[1])
    for j, current in enumerate(currents.T):
        A = np.column_stack([W[:, j], right[:, j]])
        scale = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
        found, _, rank, _ = np.linalg.lstsq(A / scale, current, rcond=UNSEEN)
        rest = current - A @ (found / scale)
        sigma[j] = max(np.sqrt(np.sum(rest**2) / max(len(current) - rank, 1)), 1e-9 * np.sqrt(np.mean(current**2)))
        gains[j] = 1.0 / found[-1] * scale[-1] if scale[-1] > 1e-300 and found[-1] > 0.0 else np.nan
    usual = np.nanmedian(gains) if np.isfinite(gains).any() else 1.0
    return np.where(np.isfinite(gains), gains, usual), sigma


def _spread(currents: np.ndarray, W: np.ndarray, gains: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """(n, n) covariance of the gains: (JᵀJ)⁻¹ of the equations in units of their noise, without what noise adds to JᵀJ."""
    samples, n = currents.shape
    A = stacked(W / noise[:, None])
    scale = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    U, S, _ = np.linalg.svd(A / scale, full_matrices=False)
    U = U[:, UNSEEN * S[0] < S]
    diagonal = np.zeros((samples, n, n))
    diagonal[:, range(n), range(n)] = currents / noise
    J = stacked(diagonal)
    J = J - U @ (U.T @ J)
    added = samples / gains**2  # noise of variance (noise/k)² in every current, over noise²
    return np.linalg.inv(J.T @ J - np.diag(np.minimum(added, 0.9 * np.diag(J.T @ J))))
