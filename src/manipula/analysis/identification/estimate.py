r"""Inertial and friction parameters from measured motion.

The torques are linear in the parameters, :math:`\tau = W\pi = W_1\beta` (``base_parameters``). Weighted least squares divides the
equations of joint j by the standard deviation :math:`\sigma_j` of its own residual, found by repetition [Gautier, Identification of
robots dynamics, IFAC 1986; Swevers et al. 2007]:

.. math:: \hat\beta = (W_1^T\Sigma^{-1}W_1)^{-1}W_1^T\Sigma^{-1}\tau, \qquad \operatorname{cov}\hat\beta = (W_1^T\Sigma^{-1}W_1)^{-1}

The physically consistent estimate is the π closest to the data among bodies that can exist (``physical``); what the data leave open
stays at the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from manipula.algebra.arguments import finite_array, flag, number, positive
from manipula.analysis.identification.base_parameters import BaseParameters, base_parameters
from manipula.analysis.identification.blas_threads import one_thread_if_small
from manipula.analysis.identification.bounds import bounds_of
from manipula.analysis.identification.identified import Identification, Known
from manipula.analysis.identification.physical import PRIOR, consistent_parameters
from manipula.analysis.identification.regressor_columns import Columns, measured, stacked
from manipula.errors import DescriptionError, ManipulaError, ShapeError, unknown_name
from manipula.model import Model, model_of
from manipula.physics.regressor import parameters as inertial_parameters
from manipula.robot.friction import Coulomb, Viscous
from manipula.robot.robot import Robot

Weights = Literal["joint", "none"]
WEIGHTS = ("joint", "none")
FRICTION = {"viscous", "coulomb", "offset"}
SIMPLE = (Viscous, Coulomb)
SHARPEST = (
    1e-6  # of a joint's torque: the physical estimate takes no torque for better known, which rounding could not follow
)
REPEATS = 4  # of the weighting; the deviations settle after two


def identify(
    robot: Robot | Model,
    q: Any,
    qd: Any,
    qdd: Any,
    tau: Any,
    *,
    extras: Sequence[str] | str = ("viscous", "coulomb"),
    weights: Weights | Any = "joint",
    physical: bool = True,
    prior: Robot | None = None,
    prior_weight: float = PRIOR,
    masses: Any = None,
    centres: Any = None,
    total_mass: Any = None,
    confidence: float = 0.95,
) -> Identification:
    """Parameters of a robot from measured motion and torque.

    Args:
        robot: gives the geometry; its rotor inertia is taken as known unless "armature" is among ``extras``, and so is its
            friction unless "viscous", "coulomb" or "offset" is, which then replace it.
        q, qd, qdd, tau: (samples, n), joint side, SI.
        extras: what is identified beside the links: "viscous", "coulomb", "offset", "armature".
        weights: "joint" (by the residual of each joint), "none", or standard deviations of tau, (n,) or (samples, n).
        physical: also find parameters of bodies that can exist (positive definite pseudo-inertia, friction ≥ 0).
        prior: the robot that the physical estimate keeps to in directions that the data do not show; ``robot`` itself
            when omitted.
        prior_weight: γ of ``physical``: a link whose size differs by a factor e weighs as much as one sample off by √γ standard
            deviations.
        masses, centres, total_mass: bounds of the physical estimate: {link: (least, most)} [kg], {link: three such pairs} [m, in
            the link's frame] and one pair for all moving links [kg]; masses (n, 2) and centres (n, 3, 2) may be arrays.
        confidence: level of the intervals.
    """
    model = model_of(robot)
    q, qd, qdd, tau = measured(model, q=q, qd=qd, qdd=qdd, tau=tau)
    if not 0.0 < number(confidence, "confidence") < 1.0:
        raise DescriptionError(f"The confidence lies between 0 and 1, found {confidence!r}.", field="confidence")
    prior_weight = positive(prior_weight, "prior_weight")
    if prior is not None and not isinstance(prior, Robot):
        raise DescriptionError(f"The prior is a Robot, found {type(prior).__name__}.", field="prior")
    if not flag(physical, "physical") and any(given is not None for given in (masses, centres, total_mass, prior)):
        raise DescriptionError("Bounds and a prior act on the physical estimate; use physical=True.", field="physical")
    with one_thread_if_small(len(q) * model.n * 14 * model.n):
        return _identified(
            model,
            (q, qd, qdd, tau),
            extras,
            weights,
            physical,
            prior,
            prior_weight,
            (masses, centres, total_mass),
            confidence,
        )


def _identified(
    model: Model, motion: tuple[np.ndarray, ...], extras: Sequence[str] | str, weights: Any, physical: bool,
    prior: Robot | None, prior_weight: float, bounded: tuple[Any, Any, Any], confidence: float,
) -> Identification:  # fmt: skip
    q, qd, qdd, tau = motion
    base = base_parameters(model, extras)
    known = _known(base.columns)
    target = tau - known.torque(qd, qdd)
    W = base.regressor(q, qd, qdd)
    if len(q) * model.n <= base.count:
        raise ShapeError(
            f"{len(q)} samples give {len(q) * model.n} equations for {base.count} base parameters; measure more."
        )
    beta, sigma = _weighted(W, target, weights, base)
    A, b = stacked(W / sigma[..., None]), (target / sigma).ravel()
    lengths = np.linalg.norm(A, axis=0)
    condition = float(np.linalg.cond(A / lengths)) if np.all(lengths > 0.0) else float("inf")
    if not condition < 1e12:
        blind = base.names[int(np.argmin(lengths))]
        raise DescriptionError(
            f"These data do not determine the {base.count} base parameters (condition number {condition:.1e}; '{blind}' is "
            "seen least); use an exciting trajectory, see excitation()."
        )
    covariance = _inverse_gram(A)
    pi = None
    if physical:
        expected = _prior_values(base.columns, model.robot if prior is None else prior)
        bounds = bounds_of(base.columns, expected, *bounded)
        size = np.sqrt(np.mean(target**2, axis=0))
        raised = np.maximum(sigma, np.maximum(SHARPEST * size, 1e-6 * SHARPEST * np.max(size)))
        A, b = stacked(W / raised[..., None]), (target / raised).ravel()
        pi = consistent_parameters(base, A, b, expected, bounds, float(prior_weight))
    return Identification(
        base=base, beta=beta, covariance=covariance, sigma=np.sqrt(np.mean(sigma**2, axis=0)), parameters=pi, known=known,
        residuals=target - W @ beta, torque=tau, condition=condition, confidence=float(confidence),
        physical_residuals=None if pi is None else target - W @ base.values(pi),
    )  # fmt: skip


def _known(columns: Columns) -> Known:
    """What of the robot is not identified and therefore taken as it is."""
    joints = columns.model.robot.joints
    armature = [0.0 if "armature" in columns.extras else float(j.armature) for j in joints]
    if set(columns.extras) & FRICTION:
        return Known(np.array(armature), (None,) * columns.n)
    for joint in joints:
        if joint.friction is not None and (joint.friction.states or joint.friction.needs_load):
            raise DescriptionError(
                f"Friction of joint '{joint.name}' ({joint.friction.name}) depends on more than its velocity and cannot be "
                'taken as known; identify friction (extras=("viscous", "coulomb")) or give a robot without it.',
                field="robot",
            )
    return Known(np.array(armature), tuple(j.friction for j in joints))


def _prior_values(columns: Columns, prior: Robot) -> np.ndarray:
    """(p,) what a robot says of every column; friction laws of other kinds say nothing."""
    if prior.n != columns.n:
        raise DescriptionError(f"The prior has {prior.n} joints, the robot {columns.n}.", field="prior")
    values = np.zeros(columns.size)
    values[: 10 * columns.n] = np.asarray(inertial_parameters(prior), float)
    for extra in columns.extras:
        for k, joint in enumerate(prior.joints):
            law: Any = joint.friction
            field = {"viscous": "damping", "coulomb": "level", "offset": "offset"}.get(extra)
            value = joint.armature if field is None else getattr(law, field, 0.0) if isinstance(law, SIMPLE) else 0.0
            values[columns.part(extra).start + k] = float(value)
    return values


def _weighted(W: np.ndarray, tau: np.ndarray, weights: Any, base: BaseParameters) -> tuple[np.ndarray, np.ndarray]:
    """β and the standard deviations of the torques, (samples, n), with degrees of freedom shared among joints."""
    samples, n = tau.shape
    freedom = max(1.0 - base.count / (samples * n), 1.0 / (samples * n))
    if isinstance(weights, str):
        if weights not in WEIGHTS:
            raise unknown_name("kind of weights", weights, WEIGHTS, field="weights")
        sigma = np.ones(n)
        beta = _solve(W, tau, sigma)
        for _ in range(REPEATS if weights == "joint" else 0):
            spread = np.sqrt(np.mean((tau - W @ beta) ** 2, axis=0) / freedom)
            sigma = np.maximum(spread, 1e-9 * max(float(np.max(spread)), float(np.max(np.abs(tau))), 1e-12))
            beta = _solve(W, tau, sigma)
        if weights == "none":
            sigma = np.full(n, max(float(np.sqrt(np.mean((tau - W @ beta) ** 2) / freedom)), 1e-12))
        return beta, np.broadcast_to(sigma, tau.shape)
    try:
        sigma = np.broadcast_to(finite_array(weights, "weights"), tau.shape)
    except ManipulaError:
        raise
    except ValueError:
        raise ShapeError(f"weights: expected ({n},) or {tau.shape}, got {np.shape(weights)}.") from None
    if not np.all(sigma > 0):
        raise DescriptionError("Standard deviations must be positive.", field="weights")
    return _solve(W, tau, sigma), sigma


def _solve(W: np.ndarray, tau: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Least squares with columns brought to one length first."""
    A = stacked(W / np.broadcast_to(sigma, tau.shape)[..., None])
    lengths = np.linalg.norm(A, axis=0)
    lengths[lengths == 0.0] = 1.0
    return np.linalg.lstsq(A / lengths, (tau / sigma).ravel(), rcond=None)[0] / lengths


def _inverse_gram(A: np.ndarray) -> np.ndarray:
    """(AᵀA)⁻¹ through the triangle of A."""
    R = np.linalg.qr(A, mode="r")
    inverse = np.linalg.inv(R)
    return inverse @ inverse.T
