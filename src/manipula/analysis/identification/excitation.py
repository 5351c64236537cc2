r"""Trajectories that make parameters visible: periodic, inside the limits, with a well conditioned regressor.

.. math:: q_i(t) = q_{0,i} + \sum_{l=1}^{L} \frac{a_{il}}{\omega l}\sin(\omega l t) - \frac{b_{il}}{\omega l}\cos(\omega l t),
          \qquad \omega = 2\pi/T

[Swevers et al., Optimal robot excitation and identification, IEEE TRA 1997]. Coefficients are kept in the subspace where the arm
starts and ends at rest with zero acceleration, :math:`\sum_l a_{il} = 0,\ \sum_l l\,b_{il} = 0`, and each joint is scaled and shifted
into its limits, so every candidate of the search is feasible; what is minimised is the condition number of the base regressor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import optimize

from manipula.algebra.arguments import finite_array, positive, whole_number
from manipula.algebra.value import Value
from manipula.analysis.identification.base_parameters import BaseParameters, base_parameters
from manipula.analysis.identification.blas_threads import one_thread_if_small
from manipula.analysis.identification.regressor_columns import stacked
from manipula.errors import DescriptionError, ManipulaError, ShapeError
from manipula.model import Model, model_of
from manipula.robot.robot import Robot

DENSE = 40  # points a shortest wave on which limits are enforced
MARGIN = 0.995  # of every limit: a wave of degree L exceeds its 40·L samples by at most 1/cos(π/40) = 1.0031 [Ehlich & Zeller 1964]
STEP = 1e-6  # of the finite differences inside the gradient
FLAT = 1e-14  # squares of singular values below this part of the largest are rounding
SMOOTH = 0.05  # [rad/s, m/s] Coulomb columns of the search grow over this velocity, so that the criterion has slopes
DEFAULT_VELOCITY = 1.5  # [rad/s, m/s] where the robot states no limit
DEFAULT_ACCELERATION = 6.0  # [rad/s², m/s²]


@dataclass(frozen=True, eq=False, repr=False)
class MotionBounds(Value):
    """Limits of every joint, (n,) each: centre and half width of the positions, largest rate and acceleration."""

    centre: np.ndarray
    half: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Excitation(Value):
    """A finite Fourier series; the methods take times of any shape and give (..., n).

    Attributes:
        duration: T [s], one period.
        offset: q_0, (n,).
        sine, cosine: a and b, (n, L) [rad/s, m/s].
        condition: condition number of the base regressor, sampled over one period.
        first_condition: the same for the best random start.
        base: the parameters that are made visible.
    """

    duration: float
    offset: np.ndarray
    sine: np.ndarray
    cosine: np.ndarray
    condition: float
    first_condition: float
    base: BaseParameters

    def position(self, t: Any) -> np.ndarray:
        return _series(self._phase(t), self.duration, self.sine, self.cosine, 0) + self.offset

    def velocity(self, t: Any) -> np.ndarray:
        return _series(self._phase(t), self.duration, self.sine, self.cosine, 1)

    def acceleration(self, t: Any) -> np.ndarray:
        return _series(self._phase(t), self.duration, self.sine, self.cosine, 2)

    def jerk(self, t: Any) -> np.ndarray:
        return _series(self._phase(t), self.duration, self.sine, self.cosine, 3)

    def sampled(self, samples: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """t, q, qd, qdd at equal steps over one period (its end left out)."""
        samples = whole_number(samples, "samples", 1, 10_000_000)
        t = np.arange(samples) * (self.duration / samples)
        return t, self.position(t), self.velocity(t), self.acceleration(t)

    def _phase(self, t: Any) -> np.ndarray:
        return np.asarray(t, float)

    def text(self) -> str:
        """What was found, in a few lines."""
        q = self.position(np.linspace(0, self.duration, 400))
        rows = [f"  {name}: {lo:+.3f} … {hi:+.3f}" for name, lo, hi in
                zip(self.base.columns.model.robot.joint_names, q.min(0), q.max(0))]  # fmt: skip
        head = (f"{self.sine.shape[1]} harmonics, {self.duration:g} s, condition number {self.condition:.1f} "
                f"(best random start {self.first_condition:.1f}), {self.base.count} base parameters.")  # fmt: skip
        return "\n".join([head, *rows])


def excitation(
    robot: Robot | Model,
    duration: float = 10.0,
    harmonics: int = 5,
    *,
    extras: Sequence[str] | str = (),
    velocity: Any = None,
    acceleration: Any = None,
    starts: int = 64,
    iterations: int = 40,
    seed: int = 0,
) -> Excitation:
    """A trajectory whose base regressor is well conditioned, inside the robot's limits.

    Args:
        duration: period T [s]. harmonics: L, at least 3.
        extras: columns beside the inertial ones ("viscous", "coulomb", "armature", "offset").
        velocity, acceleration: limits that replace the robot's, a number or one per joint; where neither states any,
            1.5 rad/s (m/s) and 6 rad/s² (m/s²).
        starts: random candidates; the best one is improved by ``iterations`` steps of L-BFGS.
    """
    model, duration = model_of(robot), positive(duration, "duration")
    starts, iterations = whole_number(starts, "starts", 1, 100_000), whole_number(iterations, "iterations", 0, 100_000)
    seed = whole_number(seed, "seed", 0, 2**63 - 1)
    if whole_number(harmonics, "harmonics", 0, 100) < 3:
        raise DescriptionError(
            f"At least 3 harmonics are needed to start at rest, found {harmonics}.", field="harmonics"
        )
    base = base_parameters(model, extras)
    search = _ConditionSearch(base, float(duration), harmonics, bounds_of(model, velocity, acceleration))
    rng = np.random.default_rng(seed)
    candidates = rng.normal(size=(starts, search.n * search.width))
    with one_thread_if_small(0):  # many small matrices
        scores = search.scores(candidates)
        x = candidates[int(np.argmin(scores))]
        found = optimize.minimize(
            search.score_and_gradient, x, jac=True, method="L-BFGS-B", options={"maxiter": iterations}
        )
    best = found.x if found.fun < np.min(scores) else x
    offset, a, b = (part[0] for part in search.coefficients(best[None]))
    return Excitation(
        float(duration), offset, a, b, float(np.exp(search.scores(best[None])[0])), float(np.exp(np.min(scores))), base
    )


def bounds_of(model: Model, velocity: Any = None, acceleration: Any = None) -> MotionBounds:
    """Limits of the robot, with replacements."""
    wide = np.array([np.pi if j.is_revolute else 0.5 for j in model.robot.joints])
    lower, upper = model.robot.position_limits.T
    lower = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * wide, -wide))
    upper = np.where(np.isfinite(upper), upper, lower + 2 * wide)
    return MotionBounds(
        (lower + upper) / 2,
        (upper - lower) / 2,
        _limit(model, velocity, "velocity", DEFAULT_VELOCITY),
        _limit(model, acceleration, "acceleration", DEFAULT_ACCELERATION),
    )


def _limit(model: Model, given: Any, name: str, default: float) -> np.ndarray:
    own = np.array(
        [default if getattr(j.limits, name) is None else getattr(j.limits, name) for j in model.robot.joints], float
    )
    if given is None:
        return own
    try:
        limits = np.broadcast_to(finite_array(given, name), (model.n,))
    except ManipulaError:
        raise
    except ValueError:
        raise ShapeError(f"{name}: one number or {model.n} are needed, got shape {np.shape(given)}.") from None
    if not np.all(limits > 0):
        raise DescriptionError(f"{name} limits must be positive, found {limits.min():g}.", field=name)
    return limits.copy()


def _series(t: np.ndarray, duration: float, a: np.ndarray, b: np.ndarray, order: int) -> np.ndarray:
    """The order-th time derivative of the sum (without q_0) for times (...) and coefficients (..., n, L) → (..., n)."""
    l = np.arange(1, a.shape[-1] + 1)
    w = 2 * np.pi / duration * l
    angle = t[..., None] * w + order * np.pi / 2  # every derivative turns the wave by a quarter
    return np.sin(angle) * w ** (order - 1) @ a.T - np.cos(angle) * w ** (order - 1) @ b.T


class _ConditionSearch:
    """Condition number of many candidates at once; a candidate is q_0, a, b of all joints in arbitrary size."""

    def __init__(self, base: BaseParameters, duration: float, harmonics: int, bounds: MotionBounds) -> None:
        self.base = replace(base, columns=replace(base.columns, smooth=SMOOTH))
        self.L, self.bounds = harmonics, bounds
        self.n = base.columns.n
        self.width = 2 * harmonics + 1  # numbers per joint
        self.l = np.arange(1, harmonics + 1)
        w = 2 * np.pi / duration * self.l

        def waves(points: int) -> list[np.ndarray]:
            angle = np.outer(np.arange(points) * duration / points, w)
            s, c = np.sin(angle), np.cos(angle)
            return [np.hstack([s / w, -c / w]), np.hstack([c, s]), np.hstack([-s * w, c * w])]

        self.dense = waves(DENSE * harmonics)
        self.coarse = waves(max(12 * harmonics, 2 * base.columns.size // self.n))

    def coefficients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Offsets (k, n) and waves (k, n, L) inside the limits."""
        x = x.reshape(-1, self.n, self.width)
        shift, a, b = x[..., 0], x[..., 1 : 1 + self.L], x[..., 1 + self.L :]
        a = a - a.mean(-1, keepdims=True)
        b = b - self.l * (b @ self.l)[..., None] / (self.l @ self.l)
        ab = np.concatenate([a, b], -1)
        q, qd, qdd = (ab @ wave.T for wave in self.dense)  # (k, n, times)
        high, low = q.max(-1), q.min(-1)
        tiny = 1e-12
        scale = MARGIN * np.minimum.reduce([
            self.bounds.velocity / (np.abs(qd).max(-1) + tiny),
            self.bounds.acceleration / (np.abs(qdd).max(-1) + tiny),
            2 * self.bounds.half / (high - low + tiny),
        ])  # fmt: skip
        room = self.bounds.half - scale * (high - low) / 2
        offset = self.bounds.centre - scale * (high + low) / 2 + room * np.tanh(shift)
        return offset, a * scale[..., None], b * scale[..., None]

    def motion(self, x: np.ndarray) -> np.ndarray:
        """q, qd, qdd of every candidate, (3, k, times, n)."""
        offset, a, b = self.coefficients(x)
        ab = np.concatenate([a, b], -1)
        states = np.stack([(ab @ wave.T).transpose(0, 2, 1) for wave in self.coarse])
        states[0] += offset[:, None]
        return states

    def scores(self, x: np.ndarray) -> np.ndarray:
        """log of the condition number of every candidate, (k,)."""
        W = self.base.regressor(*self.motion(x))
        return np.array([_log_condition(np.linalg.eigvalsh(A.T @ A)) for A in map(stacked, W)])

    def score_and_gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        r"""log κ = log σ₁ − log σ_b and its slope.

        A singular value moves with the matrix as :math:`d\sigma = u^T\,dW\,v`; W of one sample depends on the state there, so
        differences over the 3n numbers of a state are enough, and those of the states over x are the same for all joints.
        """
        here = self.motion(x[None])[:, 0]  # (3, times, n)
        W = self.base.regressor(*here)
        A = stacked(W)
        values, vectors = np.linalg.eigh(A.T @ A)  # squares of the singular values: κ² stays far below 1/ε
        v = vectors[:, [-1, 0]] / np.array([values[-1], -max(values[0], FLAT * values[-1])])
        u = (A @ vectors[:, [-1, 0]]).reshape(*here.shape[1:], 2)  # u/σ · v/σ: adding the two gives the slope of log κ
        moved = (
            here[:, None, None]
            + STEP * np.eye(3 * self.n).reshape(3 * self.n, 3, 1, self.n).transpose(1, 0, 2, 3)[:, None]
        )
        changed = self.base.regressor(*moved[:, 0]) - W  # (3n, times, n, b)
        slopes = np.einsum("dtjc,tjc->dt", changed @ v, u).reshape(3, self.n, -1) / STEP
        trial = x.reshape(self.n, self.width)[None] + STEP * np.eye(self.width)[:, None, :]
        rates = (self.motion(trial) - here[:, None]) / STEP  # (3, width, times, n)
        gradient = np.einsum("ojt,owtj->jw", slopes, rates)
        return _log_condition(values), gradient.ravel()


def _log_condition(squares: np.ndarray) -> float:
    """log κ from increasing squares of singular values."""
    return float(0.5 * np.log(squares[-1] / max(squares[0], FLAT * squares[-1])))
