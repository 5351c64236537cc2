r"""From a log to a robot: filter, choose columns, estimate, validate.

Both sides of :math:`\tau = W\beta` go through one zero-phase filter and are decimated (``filtering``), the widths of dry friction are
searched (``friction_search``), and ``estimate`` does the rest. Which friction terms a robot has is decided by cross-validation: blocks
of the training data are predicted from the other blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.arguments import choice, number, positive, whole_number
from manipula.analysis.identification.base_parameters import BaseParameters, base_of
from manipula.analysis.identification.blas_threads import one_thread_if_small
from manipula.analysis.identification.estimate import Asked, estimated, known_of
from manipula.analysis.identification.filtering import Signals, filtered, inner, parallel
from manipula.analysis.identification.folded import least_squares
from manipula.analysis.identification.friction_search import DRY, searched
from manipula.analysis.identification.identified import Known
from manipula.analysis.identification.log import Log
from manipula.analysis.identification.log_identified import Comparison, LogIdentification
from manipula.analysis.identification.physical import PRIOR
from manipula.analysis.identification.regressor_columns import EXTRAS, Columns, Extras, columns, stacked
from manipula.analysis.identification.shared_noise import SharedNoise
from manipula.errors import BudgetError, DescriptionError
from manipula.model import Model, model_of
from manipula.robot.robot import Robot

FIRST = ("viscous", "coulomb")  # what "auto" begins with
CANDIDATES = ("offset", "armature", "stribeck")  # what it may add, each if cross-validation gains by it
WORTH = 0.97  # of the cross-validated sum of squares: less of a gain is none
BLOCKS = 5
GUARD = 2  # decimated samples on either side of a block that belong to neither side: the filter mixes them
MAX_NUMBERS = 250_000_000  # of a regressor


class FilteredEquations(NamedTuple):
    """Filtered equations: times (samples,), W (samples, n, b), torque and what of it W explains, (samples, n)."""

    t: np.ndarray
    W: np.ndarray
    tau: np.ndarray
    target: np.ndarray


def identify_log(
    robot: Robot | Model,
    log: Log,
    *,
    validate: Log | float | None = None,
    extras: Extras = "auto",
    cutoff: float | None = None,
    decimate: int | None = None,
    velocity: str = "auto",
    smooth: Any = None,
    v_stribeck: Any = None,
    weights: Any = "joint",
    physical: bool = True,
    prior: Robot | None = None,
    prior_weight: float = PRIOR,
    masses: Any = None,
    centres: Any = None,
    total_mass: Any = None,
    confidence: float = 0.95,
) -> LogIdentification:
    """Parameters of a robot from a log of its motion, and their errors on other data.

    Args:
        robot: geometry, and the prior; its rotor inertia and friction are taken as known unless identified.
        log: from :func:`~manipula.analysis.identification.read_log.read_log`, with torques.
        validate: another log, or the share of this one, at its end, that is kept for validation; nothing is chosen by it.
        extras: columns beside the links' (see :func:`identify`); "auto" takes viscous and Coulomb friction and adds offset, rotor inertia
            and Stribeck's peak as far as cross-validation inside the training data gains by them.
        cutoff: of the filter [Hz]; ten times the bandwidth of the motion when omitted.
        decimate: one in this many of the filtered samples is used, counted at the rate of the log; when omitted, as many as are independent.
        velocity: "measured", "derived" from the positions, or "auto": measured where the log has it.
        smooth, v_stribeck: widths of dry friction [rad/s, m/s], a number or one per joint; searched when omitted.
        weights, physical, prior, prior_weight, masses, centres, total_mass, confidence: as in :func:`identify`.
    """
    model = model_of(robot)
    asked = Asked(
        weights, physical, prior, prior_weight, (masses, centres, total_mass), confidence, partly=True
    ).checked()
    choice(velocity, "velocity", ("auto", "measured", "derived"))
    cutoff = None if cutoff is None else positive(cutoff, "cutoff")
    decimate = None if decimate is None else whole_number(decimate, "decimate", 1, 100_000)
    training, other = _divided(_of(model, log, "log"), validate, model)
    signals = filtered(training, "tau", cutoff, velocity)
    step = _step(signals, training, decimate)
    given = {"smooth": smooth is not None, "v_stribeck": v_stribeck is not None}
    widths = 0.0 if smooth is None else smooth, 1.0 if v_stribeck is None else v_stribeck
    with one_thread_if_small(len(signals.t) * model.n * 14 * model.n):
        notes = [*training.notes, *signals.notes]
        tried: tuple[tuple[tuple[str, ...], float], ...] = ()
        equations_with = _FrictionChoice(model, signals, widths, given).fitted
        if isinstance(extras, str) and extras == "auto":
            extras, tried = _chosen(equations_with, notes)
        base, equations, known = equations_with(extras)
        crossed = cross_validated(equations.W, equations.target)
        if step != signals.decimation:
            equations = equations_of(base, known, signals, step)
        noise = SharedNoise.of([signals], step)
        found = estimated(base, known, equations.W, equations.tau, equations.target, asked, noise)
        notes += [] if found.parameters is None else found.given_masses
        compared = None
        if other is not None:
            seen = filtered(other, "tau", signals.cutoff, velocity)
            notes += [f"Validation: {note}" for note in (*other.notes, *seen.notes) if note not in notes]
            compared = _compared(found, equations_of(base, known, seen, _step(seen, other, decimate)))
    return LogIdentification(
        found=found, training=_compared(found, equations), validation=compared, cross_rms=crossed, cutoff=signals.cutoff,
        rate=training.rate, used_rate=signals.rate / step, source=training.source, tried=tried, notes=tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _of(model: Model, log: Any, name: str) -> Log:
    if not isinstance(log, Log):
        raise DescriptionError(f"'{name}' must be a Log, see read_log; found {type(log).__name__}.", field=name)
    if log.joints != model.robot.joint_names:
        raise DescriptionError(
            f"The log is of joints {', '.join(log.joints)}; the robot has {', '.join(model.robot.joint_names)}.",
            field=name,
        )
    return log


def _divided(log: Log, validate: Any, model: Model) -> tuple[Log, Log | None]:
    if validate is None or isinstance(validate, Log):
        return log, None if validate is None else _of(model, validate, "validate")
    if not 0.0 < number(validate, "validate") < 1.0:
        raise DescriptionError(
            f"'validate' is a Log or the share of this one that is kept, between 0 and 1; found {validate!r}.",
            field="validate",
        )
    return log.split(1.0 - float(validate))


def _step(signals: Signals, log: Log, decimate: int | None) -> int:
    """Decimation at the rate of the signals; the one that is asked for counts at the rate of the log."""
    return signals.decimation if decimate is None else max(1, round(decimate * signals.rate / log.rate))


def equations_of(base: BaseParameters, known: Known, signals: Signals, step: int | None = None) -> FilteredEquations:
    """Both sides of the equations through the filter, decimated."""
    check_size(base.columns, signals)
    W = parallel(base.regressor(signals.q, signals.qd, signals.qdd), signals, step)
    own, target = torques_of(known, signals, step)
    return FilteredEquations(times_of(signals, step), W, own + target, target)


def check_size(columns: Columns, signals: Signals) -> None:
    """Refuse what does not fit into memory, before anything is made."""
    if len(signals.t) * columns.n * columns.size > MAX_NUMBERS:
        raise BudgetError(
            f"{len(signals.t)} samples of {columns.size} columns are too many; cut the log (log.part) or lower the cutoff."
        )


def torques_of(known: Known, signals: Signals, step: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """What is known of the torque, and the rest of it."""
    own = parallel(known.torque(signals.qd, signals.qdd), signals, step)
    return own, parallel(signals.effort, signals, step) - own


def times_of(signals: Signals, step: int | None = None) -> np.ndarray:
    """Times of the filtered equations."""
    return np.concatenate([inner(signals.t[p], signals, step) for p in signals.pieces])


class _FrictionChoice:
    """The equations of one log: what does not depend on the choice of friction is filtered once."""

    def __init__(self, model: Model, signals: Signals, widths: tuple[Any, Any], given: dict[str, bool]) -> None:
        self.model, self.signals, self.widths, self.given = model, signals, widths, given
        whole = columns(model, EXTRAS, v_stribeck=1.0)
        check_size(whole, signals)
        self.W = parallel(whole(signals.q, signals.qd, signals.qdd), signals)

    def fitted(self, extras: Extras) -> tuple[BaseParameters, FilteredEquations, Known]:
        """Columns with their widths searched, and their equations."""
        base = base_of(columns(self.model, extras, *self.widths))
        known, signals = known_of(base.columns), self.signals
        own, target = torques_of(known, signals)
        W = self._regressor(base)
        if not all(self.given.values()) and DRY & set(base.columns.extras):
            base = searched(base, signals, W, target, self.given)
            W = self._regressor(base)
        return base, FilteredEquations(times_of(signals), W, own + target, target), known

    def _regressor(self, base: BaseParameters) -> np.ndarray:
        wanted, n, inertial = base.columns, self.model.n, base.columns.inertial
        W = np.empty((*self.W.shape[:2], wanted.size))
        W[..., :inertial] = self.W[..., :inertial]
        for extra in wanted.extras:
            k = inertial + n * EXTRAS.index(extra)
            W[..., wanted.part(extra)] = self.W[..., k : k + n]
            if extra in DRY or wanted.left_out:
                values = parallel(wanted.term(extra, self.signals.qd, self.signals.qdd), self.signals)
                W[:, range(n), range(wanted.part(extra).start, wanted.part(extra).stop)] = values
        return W[..., base.kept]


def _chosen(
    equations_with: Callable[[Extras], tuple[BaseParameters, FilteredEquations, Known]], notes: list[str]
) -> tuple[tuple[str, ...], tuple[tuple[tuple[str, ...], float], ...]]:
    """Friction terms by cross-validation, one added after the other."""

    def rms(extras: tuple[str, ...]) -> np.ndarray:
        _, equations, _ = equations_with(extras)
        return cross_validated(equations.W, equations.target)

    extras: tuple[str, ...] = FIRST
    left: list[str] = list(CANDIDATES)
    size = rms(extras)
    best = 1.0
    tried = [(extras, 1.0)]
    while left:
        scores = {e: float(np.mean((rms((*extras, e)) / size) ** 2)) for e in left}
        tried += [((*extras, e), score) for e, score in scores.items()]
        winner = min(scores, key=lambda e: scores[e])
        if not scores[winner] < WORTH * best:
            break
        extras, best = (*extras, winner), scores[winner]
        left.remove(winner)
    notes.append(f"Columns chosen by cross-validation: {', '.join(extras)}.")
    return extras, tuple(tried)


def cross_validated(W: np.ndarray, target: np.ndarray, blocks: int = BLOCKS) -> np.ndarray:
    """(n,) rms of blocks that are predicted from the others, by weighted least squares."""
    samples, n = target.shape
    edges = np.linspace(0, samples, blocks + 1).astype(int)
    total = np.zeros(n)
    for a, b in zip(edges, edges[1:]):
        kept = np.r_[0 : max(a - GUARD, 0), min(b + GUARD, samples) : samples]
        sigma, beta = np.ones(n), np.zeros(W.shape[-1])
        for _ in range(2):
            A = stacked(W[kept] / sigma[:, None])
            lengths = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
            beta = least_squares(A / lengths, (target[kept] / sigma).ravel(), 1e-9) / lengths
            sigma = np.maximum(np.sqrt(np.mean((target[kept] - W[kept] @ beta) ** 2, axis=0)), 1e-12)
        total += np.sum((target[a:b] - W[a:b] @ beta) ** 2, axis=0)
    return np.sqrt(total / samples)


def _compared(found: Any, equations: FilteredEquations) -> Comparison:
    own = equations.tau - equations.target
    physical = None if found.parameters is None else equations.W @ found.physical_beta + own
    return Comparison(equations.t - equations.t[0], equations.tau, equations.W @ found.beta + own, physical)
