r"""What a robot carries, from a run with the load and one without.

The load is one more body on the link of the tip, so that the torque of the loaded run, less that of the empty robot, is linear in its ten
parameters: :math:`\tau - \tau_0 = Y_L(q, \dot q, \ddot q)\,\pi_L`. :math:`Y_L` are the columns of that link, moved to the tip's frame. The
physically consistent estimate is the body that can exist closest to the data (``physical``).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from manipula.algebra.arguments import positive
from manipula.algebra.inertia import Moments, central
from manipula.algebra.pose import mat3, vec3
from manipula.algebra.value import Value
from manipula.analysis.identification.filtering import Signals, filtered, parallel
from manipula.analysis.identification.from_log import equations_of, identify_log
from manipula.analysis.identification.identified import Known
from manipula.analysis.identification.intervals import confidence_level, normal_interval
from manipula.analysis.identification.log import Log
from manipula.analysis.identification.log_identified import LogIdentification
from manipula.analysis.identification.physical import PRIOR, PhysicalBounds, consistent_parameters
from manipula.analysis.identification.pseudo_inertia import inertial_parameters, nearest_physical, pseudo_inertia
from manipula.analysis.identification.regressor_columns import Extras, stacked
from manipula.analysis.identification.shared_noise import SharedNoise
from manipula.errors import DescriptionError, SolveError
from manipula.model import Model, model_of
from manipula.physics.regressor import PARAMETERS
from manipula.robot.link import Payload
from manipula.robot.robot import Robot

UNSEEN = 1e-6  # singular values of the load's columns, relative to the largest


@dataclass(frozen=True, eq=False, repr=False)
class PayloadIdentification(Value):
    """Result of :func:`identify_payload`.

    Attributes:
        payload: a body that can exist, in the tip's frame. robot: the empty robot with it.
        parameters: (10,) least squares estimate m, mx, …, Jzz in the tip's frame; covariance: (10, 10), infinite where not seen.
        rms: (n,) residual of the loaded run with the payload, rms_without: without it [N·m, N].
        not_excited: parameters that the motion does not show.
        confidence: level of :attr:`interval`. notes: what was done to the data.
    """

    payload: Payload
    robot: Robot
    parameters: np.ndarray
    covariance: np.ndarray
    rms: np.ndarray
    rms_without: np.ndarray
    not_excited: tuple[str, ...]
    confidence: float
    notes: tuple[str, ...]

    @property
    def standard_deviation(self) -> np.ndarray:
        """(10,) of ``parameters``."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def interval(self) -> np.ndarray:
        """(10, 2) confidence interval of each parameter (normal)."""
        return normal_interval(self.parameters, self.standard_deviation, self.confidence)

    def text(self) -> str:
        """Mass, centre and residuals in words."""
        c = ", ".join(f"{float(x):.4g}" for x in self.payload.com)
        lines = [f"payload {float(self.payload.mass):.5g} kg, centre of mass [{c}] m in the tip's frame", ""]
        rows = zip(PARAMETERS, self.parameters, self.standard_deviation)
        lines += [f"  {name:<4}{value:>12.5g}{deviation:>12.2g}" for name, value, deviation in rows]
        lines += ["", f"not excited: {', '.join(self.not_excited) or 'none'}"]
        lines += [
            "rms without / with the payload: "
            + ", ".join(f"{a:.3g} / {b:.3g}" for a, b in zip(self.rms_without, self.rms))
        ]
        return "\n".join([*lines, *self.notes])


def identify_payload(
    robot: Robot | Model,
    loaded: Log,
    unloaded: Log | None = None,
    *,
    extras: Extras = "auto",
    cutoff: float | None = None,
    velocity: str = "auto",
    prior: Payload | None = None,
    prior_weight: float = PRIOR,
    confidence: float = 0.95,
) -> PayloadIdentification:
    """Mass, centre of mass and inertia of a load at the tip.

    Args:
        robot: the robot without the load; it must be right as it is, or ``unloaded`` makes it so.
        loaded: a log with the load. unloaded: one without it, from which the empty robot is identified first.
        extras: columns of that identification, as in :func:`identify_log`.
        cutoff, velocity: of the filters, as in :func:`identify_log`.
        prior: a guess of the load, for what the motion does not show; the least squares estimate itself, made possible, when omitted.
    """
    model = model_of(robot)
    confidence, prior_weight = confidence_level(confidence), positive(prior_weight, "prior_weight")
    if not isinstance(loaded, Log):
        raise DescriptionError(f"'loaded' must be a Log, see read_log; found {type(loaded).__name__}.", field="loaded")
    model.robot.tip_frame  # noqa: B018 - says what is missing when the robot has no tip
    signals = filtered(loaded, "tau", None if cutoff is None else positive(cutoff, "cutoff"), velocity)
    notes = [*loaded.notes, *signals.notes]
    Y, doubtful = parallel(load_columns(model, signals), signals), None
    if unloaded is None:
        empty = model.robot
        rest = parallel(signals.effort - _torque_of(empty, signals), signals)
    else:
        found = identify_log(model, unloaded, extras=extras, cutoff=signals.cutoff, velocity=velocity)
        empty, estimate = found.robot, found.found
        equations = equations_of(estimate.base, estimate.known, signals)
        rest = equations.target - equations.W @ estimate.beta
        doubtful = equations.W, estimate.covariance
        notes += [f"Empty robot: {note}" for note in found.notes if note not in notes]
        notes += _unknown(equations.W, found)
    pi, covariance, sigma, unseen = _estimated(Y, rest, SharedNoise.of([signals]), doubtful)
    body = _possible(Y / sigma[:, None], rest / sigma, pi, prior, prior_weight)
    mass, com, inertia = central(_moments(body))
    payload = Payload(float(mass), vec3(com), mat3(inertia))
    return PayloadIdentification(
        payload, empty.replace(payload=payload), pi, covariance, np.sqrt(np.mean((rest - Y @ body) ** 2, axis=0)),
        np.sqrt(np.mean(rest**2, axis=0)), tuple(PARAMETERS[k] for k in unseen), confidence, tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def load_columns(model: Model, signals: Signals) -> np.ndarray:
    """(samples, n, 10): the torque of a body at the tip by its parameters in the tip's frame."""
    frame = model.robot.tip_frame
    if frame.link < 0:
        raise DescriptionError("The tip of this robot does not move; choose one that does.", field="tip")
    block = slice(10 * frame.link, 10 * frame.link + 10)
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = np.asarray(frame.pose.R, float), np.asarray(frame.pose.p, float)
    moved = np.stack([inertial_parameters(X @ pseudo_inertia(e) @ X.T) for e in np.eye(10)], axis=1)
    return model.regressor(signals.q, signals.qd, signals.qdd)[..., block] @ moved


def _torque_of(robot: Robot, signals: Signals) -> np.ndarray:
    """Torque of the robot as described, friction included."""
    laws = tuple(j.friction for j in robot.joints)
    for joint, law in zip(robot.joints, laws):
        if law is not None and (law.states or law.needs_load):
            raise DescriptionError(
                f"Friction of joint '{joint.name}' ({law.name}) depends on more than its velocity; give a run without the load.",
                field="unloaded",
            )
    inner = Model(robot).inverse_dynamics(signals.q, signals.qd, signals.qdd)
    return inner + Known(np.zeros(robot.n), laws).torque(signals.qd, signals.qdd)


def _unknown(W: np.ndarray, found: LogIdentification) -> list[str]:
    """What moves in the loaded run and did not in the run without the load, as a note."""
    hidden = [k for k in found.found.not_excited if np.any(W[..., k])]
    if not hidden:
        return []
    names = ", ".join(found.found.base.names[k] for k in hidden)
    return [
        f"The run without the load does not show {names}, which act in the run with it: how far the robot is wrong there is in no interval."
    ]


def _estimated(
    Y: np.ndarray, rest: np.ndarray, noise: SharedNoise, doubtful: tuple[np.ndarray, np.ndarray] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, ...]]:
    r"""Weighted least squares: parameters, covariance, deviations of the torques, parameters that are not seen.

    With :math:`\hat\pi = H(\tau - W\hat\beta)` what is not sure of the empty robot is not sure of the load:
    :math:`\operatorname{cov}\hat\pi = \sigma^2 HRH^T + (HW)\operatorname{cov}\hat\beta\,(HW)^T`.

    Args:
        doubtful: the regressor W of the empty robot in the loaded run and cov β̂; none where the robot is right.
    """
    if rest.size <= 10:
        raise DescriptionError(f"{len(rest)} samples are too few for a payload; measure more.")
    sigma = np.ones(rest.shape[1])
    pi, half, blind, left = np.zeros(10), np.zeros((10, 10)), np.zeros(0, int), np.zeros((0, 0))
    for _ in range(4):
        A, b = stacked(Y / sigma[:, None]), (rest / sigma).ravel()
        scale = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
        left, S, Vt = np.linalg.svd(A / scale, full_matrices=False)
        if not S[0] > 0.0:
            raise SolveError("The motion shows nothing of a payload.")
        seen = UNSEEN * S[0] < S
        half, left = (Vt[seen].T / S[seen]) / scale[:, None], left[:, seen]
        pi = half @ (left.T @ b)
        blind = np.flatnonzero(np.linalg.norm(Vt[~seen], axis=0) > 1e-3)
        freedom = 1.0 - 10.0 / rest.size
        sigma = np.maximum(np.sqrt(np.mean((rest - Y @ pi) ** 2, axis=0) / freedom), 1e-9 * np.max(np.abs(rest)))
    covariance = noise.covariance(Y / sigma[:, None], half @ half.T)
    if doubtful is not None:
        W, spread = doubtful
        known = np.isfinite(np.diag(spread))
        through = half @ (left.T @ stacked(W / sigma[:, None])[:, known])
        covariance = covariance + through @ spread[np.ix_(known, known)] @ through.T
    covariance[blind, blind] = np.inf
    return pi, covariance, sigma, tuple(int(k) for k in blind)


def _possible(Y: np.ndarray, rest: np.ndarray, pi: np.ndarray, prior: Payload | None, weight: float) -> np.ndarray:
    """The body that can exist closest to the data."""
    if prior is not None and not isinstance(prior, Payload):
        raise DescriptionError(f"The prior is a Payload, found {type(prior).__name__}.", field="prior")
    guess = pi if prior is None else vector_of(prior.moments())
    expected = nearest_physical(guess)
    one = cast(Any, SimpleNamespace(columns=SimpleNamespace(bodies=1, size=10), count=10, K=np.eye(10)))
    free = PhysicalBounds(np.zeros((0, 10)), np.zeros(0), expected)
    return consistent_parameters(one, stacked(Y), rest.ravel(), expected, free, weight)


def _moments(pi: np.ndarray) -> Moments:
    m, mx, my, mz, xx, xy, yy, xz, yz, zz = pi.tolist()
    return Moments(m, np.array([mx, my, mz]), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def vector_of(m: Moments) -> np.ndarray:
    """(10,) parameters of a body."""
    J = np.asarray(m.second, float)
    return np.array([m.mass, *np.asarray(m.first, float), J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]], float)
