"""What became of a programmed motion, in one sentence that names the constraint and the time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from manipula.algebra.scattered import Scattered
from manipula.simulation.initial_posture import restored
from manipula.simulation.plant.friction_loads import loaded, paradox
from manipula.simulation.programmed.equations import ProgrammedPlant
from manipula.simulation.programmed.instants import ConstraintJump, jumps_in_words
from manipula.simulation.programmed.kernels import rows_at
from manipula.simulation.result import RunVerdict

RESIDUAL = 1e-6  # of the constraints, above which a run counts as having left them
VANISHED = 1e-2  # of its length at the start: a gradient shorter than this is about to vanish
LOST = 2e-2  # singular value of A (rows of length 1) below which constraints are about to depend on each other
SHORT = 1e-4  # s
# of the time so far: rates grow without bound before a program goes out of reach, and the motion ends earlier
AHEAD = 0.02
HALVINGS = 14
ASIDE = 0.05  # rad or m, to postures around one in which a gradient may have vanished
SHRUNK = 0.2  # of its value at the start, for the same


def judged(plant: ProgrammedPlant, t: np.ndarray, residual: np.ndarray, estimate: float, tolerance: float,
           unseen: tuple[str, ...] = ()) -> RunVerdict:  # fmt: skip
    """The verdict on a motion that ran to its end; ``unseen``: what changes faster than its steps."""
    names = [c.name for c in plant.constraints]
    value = np.abs(residual)
    worst = float(np.nanmax(value))
    if not np.isfinite(value).all():
        return RunVerdict("not_finite", "A sample is not a finite number.")
    if worst > RESIDUAL:
        sample, k = np.unravel_index(int(np.argmax(value)), value.shape)
        help_ = "stabilisation or " if plant.stabilisation == "none" else ""
        return RunVerdict(
            "inaccurate",
            f"The motion leaves '{names[k]}' by {worst:.1e} at t = {t[sample]:.6g} s; use {help_}a smaller step.",
        )
    if unseen:
        return RunVerdict(
            "inaccurate", f"Steps cannot follow {unseen[0]}: it changes within less than a step; reduce the step."
        )
    if estimate == np.inf:
        return RunVerdict(
            "inaccurate", "Repeated with other, finer steps the motion could not be continued to its end."
        )
    if estimate > tolerance:
        return RunVerdict(
            "inaccurate",
            f"Repeating the run with other, finer steps changed the answer by {estimate:.1e} (allowed {tolerance:.1e}).",
        )
    trust = f", error about {estimate:.1e}" if np.isfinite(estimate) else ", accuracy not verified"
    return RunVerdict("finished", f"{t[-1]:g} s on the constraints; largest residual {worst:.1e}{trust}.")


def trusted_until(
    status: str, t: np.ndarray, residual: np.ndarray, agreed: float, unseen: tuple[str, ...], jump: float
) -> float:
    """The last sample that is right: on the constraints, before they jump, and as the repetition has it; NaN without a repetition.

    Args:
        agreed: until when run and repetition agree. unseen: what changes faster than the steps: then agreement proves nothing.
    """
    if np.isnan(agreed) or status == "finished":
        return float("nan") if np.isnan(agreed) else float(t[-1])
    right = (np.abs(residual) <= RESIDUAL).all(axis=1) & (t <= agreed) & (t < jump)
    count = 0 if unseen else int(np.logical_and.accumulate(right).sum())
    return float(t[count - 1]) if count else 0.0


def trust_in_words(trusted: float, end: float) -> str:
    """A sentence on how far the numbers of a motion are right that is not right to its end; empty where nobody knows."""
    return f" It can be trusted until t = {trusted:.6g} s." if 0.0 < trusted < end else ""


def broken(jumps: tuple[ConstraintJump, ...]) -> RunVerdict:
    """The verdict on constraints that jump, which no arm can follow."""
    return RunVerdict(
        "failed",
        f"The constraints jump: {jumps_in_words(jumps)}. No finite force does that; until there the motion is right. Round the corner, or end the "
        "run there.",
    )


def why_ended(
    plant: ProgrammedPlant,
    chosen: tuple[int, ...] | None,
    first: np.ndarray,
    last: np.ndarray,
    before: float,
    at: float,
) -> RunVerdict:
    """Why a motion could not be continued at time ``at``; ``last`` is a sound state shortly before, at time ``before``."""
    names = [c.name for c in plant.constraints]
    lay = plant.layout
    stuck = paradox(plant, last, _ahead(plant, last, before, at), before) if loaded(plant.friction) else ""
    if stuck:
        return RunVerdict("singular", f"The motion cannot be continued at t = {at:.6g} s: {stuck}.")
    start, now = (rows_at(plant, lay.q(x), lay.qd(x), t) for x, t in ((first, 0.0), (last, before)))
    size, size0 = np.linalg.norm(now.A, axis=1), np.linalg.norm(start.A, axis=1)
    near = lay.q(last) + ASIDE * Scattered(0).uniform(-1.0, 1.0, (3, lay.n))
    around = np.linalg.norm(rows_at(plant, near, lay.qd(last), before).A, axis=-1).max(axis=0)
    for k, ratio in enumerate(size / np.fmax(size0, around)):
        if not ratio >= VANISHED:
            return RunVerdict(
                "singular",
                f"The motion cannot be continued at t = {at:.6g} s: the gradient of '{names[k]}' vanishes there "
                "(its curve stops, turns back or crosses itself, or what it names has its largest or smallest value there).",
            )
    U, sigma, _ = np.linalg.svd(now.A / size[:, None])
    sigma0 = np.linalg.svd(start.A / size0[:, None], compute_uv=False)
    if sigma[-1] < LOST or sigma[-1] < SHRUNK * sigma0[-1]:
        weight = np.abs(U[:, -1])
        involved = " and ".join(f"'{names[k]}'" for k in np.argsort(-weight)[:3] if weight[k] > 0.3 * weight.max())
        return RunVerdict(
            "singular",
            f"The motion cannot be continued at t = {at:.6g} s: {involved} ask for a motion the arm cannot make there "
            "(it is stretched out, folded, or they become redundant).",
        )
    if chosen is not None and plant.formulation == "gpme":
        joints = ", ".join(f"'{plant.robot.joint_names[i]}'" for i in chosen)
        return RunVerdict(
            "singular",
            f"The chosen independent joints ({joints}) cannot carry the motion at t = {at:.6g} s; leave independent open.",
        )
    when, lost = _out_of_reach(plant, lay.q(last), before, at)
    if lost:
        later = f"shortly after, at t = {when:.6g} s, " if when > (2.0 + 1e-6) * at - before else ""
        then = "any more" if later else "then"
        return RunVerdict(
            "singular",
            f"The motion cannot be continued at t = {at:.6g} s: {later}no posture near the last one obeys {lost} {then} (out of reach, "
            "or the curve ends).",
        )
    off = np.abs(now.value)
    k = int(np.argmax(off / size))
    left = f" It was leaving '{names[k]}'." if off[k] > RESIDUAL else ""
    return RunVerdict("diverged", f"The motion left all bounds at t = {at:.6g} s; a smaller step may help.{left}")


def _ahead(plant: ProgrammedPlant, x: np.ndarray, t: float, at: float) -> np.ndarray:
    """How the state would change from x until ``at``, to first order."""
    with np.errstate(all="ignore"):
        rate = np.asarray(replace(plant, formulation="multipliers").flow(t, x).rate, float)
    return np.where(np.isfinite(rate), rate, 0.0) * max(at - t, SHORT)


def _out_of_reach(plant: ProgrammedPlant, q: np.ndarray, before: float, at: float) -> tuple[float, str]:
    """When, at ``at`` or shortly after, constraints on positions cannot be obeyed from a posture q that obeyed them, and which; "" if all can."""
    chosen = [k for k, c in enumerate(plant.constraints) if c.level == "position"]
    still = np.zeros(len(q))

    def missed(t: float) -> str:
        def rows(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            found = rows_at(plant, q, still, t)
            return found.A[chosen], found.value[chosen]

        posture, left = restored(plant.robot, rows, q, RESIDUAL)
        if left <= RESIDUAL:
            return ""
        off = np.abs(rows(posture)[1])
        return " and ".join([f"'{plant.constraints[k].name}'" for k, v in zip(chosen, off) if not v <= RESIDUAL][:3])

    known = before
    for t in (
        (at, 2.0 * at - before, *(at + max(AHEAD * at, 10.0 * (at - before)) * np.array([0.1, 0.3, 1.0])))
        if chosen
        else ()
    ):
        names = missed(t)
        if names:
            for _ in range(HALVINGS if t > 2.0 * at - before else 0):
                middle = 0.5 * (known + t)
                found = missed(middle)
                known, t, names = (known, middle, found) if found else (middle, t, names)
            return t, names
        known = t
    return at, ""
