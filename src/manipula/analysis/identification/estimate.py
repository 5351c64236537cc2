r"""Inertial and friction parameters from measured motion.

The torques are linear in the parameters, :math:`\tau = W\pi = W_1\beta` (``base_parameters``). Weighted least squares divides the
equations of joint j by the standard deviation :math:`\sigma_j` of its own residual, found by repetition [Gautier, Identification of
robots dynamics, IFAC 1986; Swevers et al. 2007]:

.. math:: \hat\beta = (W_1^T\Sigma^{-1}W_1)^{-1}W_1^T\Sigma^{-1}\tau, \qquad \operatorname{cov}\hat\beta = (W_1^T\Sigma^{-1}W_1)^{-1}

The physically consistent estimate is the π closest to the data among bodies that can exist (``physical``); what the data leave open
stays at the prior.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from manipula.algebra.arguments import finite_array, flag, positive
from manipula.analysis.identification.base_parameters import SEED, BaseParameters, base_of
from manipula.analysis.identification.blas_threads import one_thread_if_small
from manipula.analysis.identification.bounds import bounds_of
from manipula.analysis.identification.folded import folded, least_squares, lengths, triangle
from manipula.analysis.identification.identified import Identification, Known
from manipula.analysis.identification.intervals import confidence_level
from manipula.analysis.identification.physical import PRIOR, consistent_parameters
from manipula.analysis.identification.regressor_columns import (
    Columns,
    Extras,
    columns,
    measured,
    random_states,
    stacked,
)
from manipula.analysis.identification.shared_noise import SharedNoise
from manipula.errors import DescriptionError, ManipulaError, ShapeError, unknown_name
from manipula.model import Model, model_of
from manipula.physics.regressor import parameters as inertial_parameters
from manipula.robot.friction import Coulomb, Stribeck, Viscous
from manipula.robot.robot import Robot

Weights = Literal["joint", "none"]
WEIGHTS = ("joint", "none")
FRICTION = {"viscous", "coulomb", "stribeck", "offset"}
# of a joint's torque: the physical estimate takes no torque for better known, which rounding could not follow
SHARPEST = 1e-6
UNMOVED = 1e-4  # of the length that a column has at random states of order one: below, a joint does not move
BLIND = 1e-7  # singular values of columns of one length, relative to the largest: below, the data show nothing
WIDEST, FINEST = 1e9, 1e-60  # of standard deviations: the largest over the smallest, and the smallest
REPEATS = 4  # of the weighting; the deviations settle after two


def identify(
    robot: Robot | Model,
    q: Any,
    qd: Any,
    qdd: Any,
    tau: Any,
    *,
    extras: Extras = ("viscous", "coulomb"),
    smooth: Any = 0.0,
    v_stribeck: Any = None,
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
            friction unless a friction term is, which then replaces it.
        q, qd, qdd, tau: (samples, n), joint side, SI.
        extras: what is identified beside the links: "viscous", "coulomb", "stribeck", "offset", "armature"; for all joints, or as a
            mapping from a joint's name to its own.
        smooth: width v_0 of dry friction, tanh(qd/v_0), a number or one per joint [rad/s, m/s]; 0 is the sign.
        v_stribeck: v_s of "stribeck", a number or one per joint [rad/s, m/s].
        weights: "joint" (by the residual of each joint), "none", or standard deviations of tau, (n,) or (samples, n).
        physical: also find parameters of bodies that can exist (positive definite pseudo-inertia, friction ≥ 0).
        prior: the robot that the physical estimate keeps to in directions that the data do not show; ``robot`` itself
            when omitted.
        prior_weight: γ of ``physical``: a link whose size differs by a factor e weighs as much as one sample off by √γ standard
            deviations.
        masses, centres, total_mass: bounds of the physical estimate: {link: (least, most)} [kg], {link: three such pairs} [m, in
            the link's frame] and one pair for all moving links [kg]; masses (links, 2) and centres (links, 3, 2) may be arrays.
        confidence: level of the intervals.
    """
    model = model_of(robot)
    q, qd, qdd, tau = measured(model, q=q, qd=qd, qdd=qdd, tau=tau)
    asked = Asked(weights, physical, prior, prior_weight, (masses, centres, total_mass), confidence).checked()
    with one_thread_if_small(len(q) * model.n * 14 * model.n):
        base = base_of(columns(model, extras, smooth, v_stribeck))
        known = known_of(base.columns)
        return estimated(base, known, base.regressor(q, qd, qdd), tau, tau - known.torque(qd, qdd), asked)


@dataclass(frozen=True)
class Asked:
    """What is asked of an estimate, beside its columns; see :func:`identify`."""

    weights: Any = "joint"
    physical: bool = True
    prior: Robot | None = None
    prior_weight: float = PRIOR
    bounds: tuple[Any, Any, Any] = (None, None, None)
    confidence: float = 0.95
    partly: bool = False  # what the data do not show stays at the prior, instead of an error

    def checked(self) -> Asked:
        """The same with plain numbers, or an error that names the argument."""
        confidence_level(self.confidence)
        weight = positive(self.prior_weight, "prior_weight")
        if self.prior is not None and not isinstance(self.prior, Robot):
            raise DescriptionError(f"The prior is a Robot, found {type(self.prior).__name__}.", field="prior")
        if not flag(self.physical, "physical") and any(given is not None for given in (*self.bounds, self.prior)):
            raise DescriptionError(
                "Bounds and a prior act on the physical estimate; use physical=True.", field="physical"
            )
        return replace(self, prior_weight=weight, confidence=float(self.confidence))


def estimated(
    base: BaseParameters, known: Known, W: np.ndarray, tau: np.ndarray, target: np.ndarray, asked: Asked, noise: SharedNoise | None = None
) -> Identification:  # fmt: skip
    """The estimate of base parameters from their regressor, (samples, n, b), and what of the torque it explains, (samples, n).

    The regressor and both torques may have gone through one filter, which changes neither side of τ = W β; then ``noise`` says what their rows share.
    """
    model = base.columns.model
    if len(W) * model.n <= base.count:
        raise ShapeError(
            f"{len(W)} samples give {len(W) * model.n} equations for {base.count} base parameters; measure more."
        )
    expected = prior_values(base.columns, model.robot if asked.prior is None else asked.prior)
    weighted = partial(
        _solve, prior=base.values(expected) if asked.partly else None, least=_least_lengths(base, len(W))
    )
    beta, sigma = _weighted(W, target, asked.weights, base, weighted)
    A, b = folded(W, target, sigma)
    sizes = lengths(A)
    condition = float(np.linalg.cond(triangle(A) / sizes)) if np.all(sizes > 0.0) else float("inf")
    if not (condition < 1e12 or asked.partly):
        blind = base.names[int(np.argmin(sizes))]
        raise DescriptionError(
            f"These data do not determine the {base.count} base parameters (condition number {condition:.1e}; '{blind}' is "
            "seen least); use an exciting trajectory, see excitation()."
        )
    covariance, blind = _covariance(A, weighted.keywords["least"] / np.sqrt(np.mean(sigma**2)), asked.partly)
    if noise is not None:
        covariance = noise.covariance(W / sigma[..., None], covariance)
    covariance[list(blind), list(blind)] = np.inf
    pi = None
    if asked.physical:
        bounds = bounds_of(base.columns, expected, *asked.bounds)
        size = np.sqrt(np.mean(target**2, axis=0))
        raised = np.maximum(sigma, np.maximum(SHARPEST * size, 1e-6 * SHARPEST * np.max(size)))
        A, b = folded(W, target, raised)
        pi = consistent_parameters(base, A, b, expected, bounds, float(asked.prior_weight))
        for extra, joint in base.columns.left_out:
            pi[base.columns.part(extra).start + joint] = 0.0
    return Identification(
        base=base, beta=beta, covariance=covariance, sigma=np.sqrt(np.mean(sigma**2, axis=0)), parameters=pi, known=known,
        residuals=target - W @ beta, torque=tau, condition=condition, confidence=asked.confidence,
        physical_residuals=None if pi is None else target - W @ base.values(pi), not_excited=blind,
    )  # fmt: skip


def known_of(columns: Columns) -> Known:
    """What of the robot is not identified and therefore taken as it is."""
    joints = columns.model.robot.joints
    armature = np.zeros(columns.n) if "armature" in columns.extras else rotors_of(columns.model.robot)
    if set(columns.extras) & FRICTION:
        return Known(armature, (None,) * columns.n)
    for joint in joints:
        if joint.friction is not None and (joint.friction.states or joint.friction.needs_load):
            raise DescriptionError(
                f"Friction of joint '{joint.name}' ({joint.friction.name}) depends on more than its velocity and cannot be "
                'taken as known; identify friction (extras=("viscous", "coulomb")) or give a robot without it.',
                field="robot",
            )
    return Known(armature, tuple(j.friction for j in joints))


def rotors_of(robot: Robot) -> np.ndarray:
    """(n,) rotor inertia that every joint of q feels, Gᵀ I G: its own, and those of joints that follow it by the squares of their ratios."""
    felt = np.array([float(j.armature) for j in robot.joints])
    for f in robot.followers:
        felt[f.leader] += float(f.ratio) ** 2 * float(f.joint.armature)
    return felt


def prior_values(columns: Columns, prior: Robot) -> np.ndarray:
    """(p,) what a robot says of every column; friction laws of other kinds say nothing."""
    if (prior.n, len(prior.bodies)) != (columns.n, columns.bodies):
        raise DescriptionError(
            f"The prior has {prior.n} joints and {len(prior.bodies)} moving links, the robot {columns.n} and {columns.bodies}.",
            field="prior",
        )
    values = np.zeros(columns.size)
    values[: columns.inertial] = np.asarray(inertial_parameters(prior), float)
    rotors = rotors_of(prior)
    for extra in columns.extras:
        for k, joint in enumerate(prior.joints):
            said = rotors[k] if extra == "armature" else _constants(joint.friction).get(extra, 0.0)
            values[columns.part(extra).start + k] = 0.0 if (extra, k) in columns.left_out else float(said)
    return values


def _constants(law: Any) -> dict[str, Any]:
    """What a friction law says of the columns."""
    if isinstance(law, Stribeck):
        said = {"viscous": law.damping, "coulomb": law.kinetic, "offset": law.offset}
        return said | {"stribeck": max(float(law.static) - float(law.kinetic), 0.0)}
    fields = {"viscous": "damping", "coulomb": "level", "offset": "offset"}
    return {e: getattr(law, f, 0.0) for e, f in fields.items()} if isinstance(law, (Viscous, Coulomb)) else {}


def _weighted(
    W: np.ndarray, tau: np.ndarray, weights: Any, base: BaseParameters, solve: Callable[..., np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """β and the standard deviations of the torques, (samples, n), with degrees of freedom shared among joints."""
    samples, n = tau.shape
    freedom = max(1.0 - base.count / (samples * n), 1.0 / (samples * n))
    if isinstance(weights, str):
        if weights not in WEIGHTS:
            raise unknown_name("kind of weights", weights, WEIGHTS, field="weights")
        sigma = np.ones(n)
        beta = solve(W, tau, sigma)
        for _ in range(REPEATS if weights == "joint" else 0):
            spread = np.sqrt(np.mean((tau - W @ beta) ** 2, axis=0) / freedom)
            sigma = np.maximum(spread, 1e-9 * max(float(np.max(spread)), float(np.max(np.abs(tau))), 1e-12))
            beta = solve(W, tau, sigma)
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
    least, most = float(sigma.min()), float(sigma.max())
    if least < FINEST or most > WIDEST * least:  # digits of the others would be lost
        raise DescriptionError(
            f"Standard deviations are at least {FINEST:g}, and at most {WIDEST:g} times the smallest; found {least:g} to {most:g}.",
            field="weights",
        )
    return solve(W, tau, sigma), sigma


def _solve(
    W: np.ndarray, tau: np.ndarray, sigma: np.ndarray, *, prior: np.ndarray | None, least: np.ndarray
) -> np.ndarray:
    """Least squares with columns brought to one length first; with a prior, what is not seen stays there."""
    A, b = folded(W, tau, sigma)
    sizes = lengths(A)
    if prior is None:
        sizes[sizes == 0.0] = 1.0
        return least_squares(A / sizes, b, np.finfo(float).eps * max(tau.size, A.shape[1])) / sizes
    scale = np.maximum(sizes, least / np.sqrt(np.mean(sigma**2)))
    return prior + least_squares(A / scale, b - A @ prior, BLIND) / scale


def _least_lengths(base: BaseParameters, samples: int) -> np.ndarray:
    """(b,) columns shorter than this count as not moved at all: a part of their length at random states of order one."""
    W = stacked(
        base.columns.generic(*random_states(base.columns.model, 40, np.random.default_rng(SEED)))[..., base.kept]
    )
    return UNMOVED * np.linalg.norm(W, axis=0) * np.sqrt(samples / 40)


def _covariance(rows: np.ndarray, least: np.ndarray, partly: bool) -> tuple[np.ndarray, tuple[int, ...]]:
    """(AᵀA)⁻¹ of the rows A, and which parameters take part in directions that the data do not show."""
    if not partly:
        half = np.linalg.inv(triangle(rows))
        blind = np.zeros(0, int)
    else:
        scale = np.maximum(lengths(rows), least)
        _, S, Vt = np.linalg.svd(triangle(rows) / scale, full_matrices=False)
        seen = BLIND * S[0] < S
        half = (Vt[seen].T / S[seen]) / scale[:, None]
        blind = np.flatnonzero(np.linalg.norm(Vt[~seen], axis=0) > 1e-3)
    return half @ half.T, tuple(int(k) for k in blind)
