r"""Drive gains from currents: :math:`\tau_j = k_j\,i_j`.

Currents alone fix gains and inertias only up to a common factor. A known load breaks the tie [Gautier & Briot 2014]: with runs a
without and b with a load of known mass (or known altogether), its torque split into what is known, :math:`y_m`, and what is not,
:math:`Y_u\pi_u`,

.. math:: i_a = K^{-1} W_a\beta, \qquad i_b = K^{-1}\,(W_b\beta + Y_u\pi_u + y_m), \qquad K = \operatorname{diag} k

The noise is in the currents. Where they stand beside unknown gains, least squares makes the gains too small; here every equation is
left in amperes, divided by the noise of its joint, and the sum of squares is least over :math:`\beta, \pi_u` and :math:`1/k` together: the
estimate of greatest likelihood. It is linear in either when the other is held, and found by Gauss and Newton's method from what each joint says alone.
The noise is what the fit leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manipula.algebra.arguments import positive
from manipula.algebra.value import Value
from manipula.analysis.identification.base_parameters import base_of
from manipula.analysis.identification.blas_threads import one_thread_if_small
from manipula.analysis.identification.estimate import known_of
from manipula.analysis.identification.filtering import Signals, filtered, parallel
from manipula.analysis.identification.intervals import confidence_level, normal_interval
from manipula.analysis.identification.log import Log
from manipula.analysis.identification.payload import load_columns, vector_of
from manipula.analysis.identification.regressor_columns import Extras, columns, stacked
from manipula.analysis.identification.shared_noise import SharedNoise
from manipula.errors import DescriptionError, SolveError
from manipula.model import Model, model_of
from manipula.robot.link import Payload
from manipula.robot.robot import Robot

REPEATS = 3  # of the noise
STEPS, SETTLED = 50, 1e-10  # of Gauss and Newton's method, relative
UNSEEN = 1e-9
NOT_SHOWN = "The load does not show in the currents; use a heavier one, or a motion that moves it."


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
    extras: Extras = ("viscous", "coulomb", "offset", "armature"),
    smooth: Any = 0.0,
    v_stribeck: Any = None,
    cutoff: float | None = None,
    velocity: str = "auto",
    confidence: float = 0.95,
) -> DriveGains:
    """How much torque a drive gives per ampere, from a run without and a run with a known load.

    Args:
        robot: gives the geometry; without "armature" among ``extras`` its rotor inertias are taken as right.
        unloaded, loaded: logs with currents.
        payload: what the robot carries in the second run: a Payload that is known altogether, or its mass [kg] alone.
        extras, smooth, v_stribeck: friction columns, as in :func:`identify`; cutoff, velocity: as in :func:`identify_log`.
    """
    model = model_of(robot)
    confidence = confidence_level(confidence)
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
        gains, deviation, residual = _most_likely(
            currents, np.concatenate([W, exact], axis=-1), right + own, SharedNoise.of(runs)
        )
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


def _most_likely(currents: np.ndarray, W: np.ndarray, right: np.ndarray, noise: SharedNoise) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Gains k with i = (W x + right)/k, their deviations and the residual k i - (W x + right), (samples, n)."""
    samples, n = currents.shape
    unknown = W.shape[-1]
    if samples * n <= unknown + n:
        raise DescriptionError(f"{samples} samples are too few for {unknown} parameters and {n} gains.")
    if not np.all(np.any(currents != 0.0, axis=0)):
        joint = int(np.argmin(np.any(currents != 0.0, axis=0))) + 1
        raise DescriptionError(f"No current in joint {joint}.", field="current")
    gains, sigma = _joint_by_joint(currents, W, right)
    ampere, freedom = 1.0 / gains, 1.0 - (unknown + n) / (samples * n)
    torque, rest, J, spread = right, currents, np.zeros(0), np.zeros(0)
    for _ in range(REPEATS):
        for _step in range(STEPS):
            x = _solved(W * (ampere / sigma)[:, None], (currents - right * ampere) / sigma)[0]
            torque = W @ x + right
            each = np.zeros((samples, n, n))
            each[:, range(n), range(n)] = torque / sigma
            J = np.concatenate([W * (ampere / sigma)[:, None], each], axis=-1)
            change, spread = _solved(J, (currents - torque * ampere) / sigma)
            ampere = ampere + change[unknown:]
            if np.all(np.abs(change[unknown:]) < SETTLED * np.abs(ampere)):
                break
        else:
            raise SolveError(NOT_SHOWN)
        rest = currents - torque * ampere
        sigma = np.sqrt(np.mean(rest**2, axis=0) / freedom)
        sigma = np.maximum(sigma, 1e-9 * np.sqrt(np.mean(currents**2, axis=0)))
    blind = np.isinf(np.diag(spread))
    covariance = noise.covariance(J, np.where(np.isinf(spread), 0.0, spread))
    covariance[blind, blind] = np.inf
    deviation = np.sqrt(np.diag(covariance)[unknown:]) / ampere**2
    if not np.all(deviation < np.abs(1.0 / ampere)):
        raise SolveError(NOT_SHOWN)
    return 1.0 / ampere, deviation, rest / ampere


def _solved(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least squares with (AᵀA)⁻¹, infinite where nothing shows an unknown."""
    A = stacked(A)
    scale = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    U, S, Vt = np.linalg.svd(A / scale, full_matrices=False)
    seen = UNSEEN * S[0] < S
    half = (Vt[seen].T / S[seen]) / scale[:, None]
    spread = half @ half.T
    blind = np.linalg.norm(Vt[~seen], axis=0) > 1e-3
    spread[blind, blind] = np.inf
    return half @ (U.T[seen] @ b.ravel()), spread


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
