"""``simulate(scenario) -> Result``: the one verb of this room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manipula.errors import DescriptionError, unknown_name
from manipula.identity import KeptAnswers
from manipula.simulation.assembly import assembled, not_started
from manipula.simulation.checks.base_motion import check_base_motion
from manipula.simulation.checks.early_ends import ending_notes
from manipula.simulation.checks.idle_parts import powerless_notes
from manipula.simulation.checks.immovable import immovable_notes
from manipula.simulation.checks.own_reference import check_own_reference
from manipula.simulation.checks.requests import check_requests, integrates
from manipula.simulation.checks.unchanged import unchanged_notes
from manipula.simulation.checks.varied import vary_notes
from manipula.simulation.initial_posture import moved_note
from manipula.simulation.integrators import ADAPTIVE, FIXED
from manipula.simulation.integrators.own_integrator import check_own_integrator
from manipula.simulation.loops.adaptive import run_adaptive
from manipula.simulation.loops.fixed import RunSamples, run_fixed
from manipula.simulation.loops.interpreted import keeps_a_memory, python_rate
from manipula.simulation.loops.not_finite import culprit
from manipula.simulation.loops.probing import by_state, foreign
from manipula.simulation.loops.setup import Run, prepare_run
from manipula.simulation.loops.watching import looks_end_steps, too_long
from manipula.simulation.plant_of_scenario import initial_state
from manipula.simulation.progress import phase
from manipula.simulation.result import Result, RunVerdict
from manipula.simulation.retry_with_rodas import retry_with_rodas
from manipula.simulation.scenario import Scenario
from manipula.simulation.signals.happened import happened_notes
from manipula.simulation.signals.observed import observed
from manipula.simulation.stated_limits import stated_limits
from manipula.simulation.stepping.instants import formula_marks
from manipula.simulation.stepping.verification import decided_notes
from manipula.simulation.verdicts import judge
from manipula.simulation.verdicts.criteria import with_criteria_notes
from manipula.simulation.verdicts.energy import with_energy_verdicts
from manipula.simulation.verdicts.friction import friction_verdict
from manipula.simulation.verdicts.peaks import Peaks
from manipula.simulation.verdicts.unstopped import with_unstopped_verdicts

if TYPE_CHECKING:
    from manipula.simulation.verdicts.windows import Searched

# after which an open choice of integrator is made again
STIFF_SIGNS = ("inaccurate", "diverged", "not_finite", "step_too_small")


def simulate(scenario: Scenario, *, threads: int | None = None) -> Result:
    """Run a scenario.

    Returns:
        A Result whose status is "finished" only when the answer can be trusted to ``scenario.tolerance``.

    Raises:
        DescriptionError, ShapeError: when the parts do not fit together. A numerical failure is a status, not an exception.
    """
    if not isinstance(scenario, Scenario):
        how = "; a programmed motion is run by its own method: scenario.run()" * (
            type(scenario).__name__ == "ProgramScenario"
        )
        raise DescriptionError(f"simulate() takes a Scenario, found {type(scenario).__name__}{how}.")
    with np.errstate(all="ignore"):  # numbers that are not finite are a status
        return _completed(_simulated(scenario, threads), scenario)


def simulate_runs(
    scenario: Scenario, *, threads: int | None = None, watch: bool = True, noise_seeds: tuple[int, ...] = ()
) -> Result:
    """``simulate`` for somebody who knows what will be asked of the result.

    Args:
        watch: for ``feasible``: limits are compared with every step on the way and not in a second run, where that changes no bit of the result.
        noise_seeds: one for every run of a batch, whose noise is that of the run alone with this seed.
    """
    with np.errstate(all="ignore"):
        return _completed(_simulated(scenario, threads, watch, noise_seeds), scenario)


def _completed(result: Result, s: Scenario) -> Result:
    """The result with what is asked of all kinds of runs."""
    return with_criteria_notes(with_unstopped_verdicts(result, s), s)


def _simulated(
    scenario: Scenario, threads: int | None, watch: bool = False, noise_seeds: tuple[int, ...] = ()
) -> Result:
    ready = _READY.get(scenario)
    if ready is None or ready.methods != _methods():
        ready = _prepared(scenario)
        if isinstance(ready, Result):
            return ready
        if ready.run.x0.size + ready.run.p.size <= KEPT_NUMBERS:
            _READY.put(scenario, ready)
    run = replace(ready.run, noise_seeds=noise_seeds) if noise_seeds else ready.run
    # of user code at once: it may be other code later
    peaks = Peaks(threads) if run.loop.parts is None or (watch and looks_end_steps(run)) else None
    samples = _integrated(run, threads, peaks)
    result = _result(run, samples, threads, peaks)
    steady = not (run.loop.sampled or samples.calls.python)
    open_choice = scenario.integrator == "auto"
    if open_choice and steady and scenario.verify and set(result.statuses) & set(STIFF_SIGNS):
        return retry_with_rodas(run.scenario, result, lambda other: _simulated(other, threads, watch))
    return result


class _Ready(NamedTuple):
    """A run that may begin, and the integrators that were registered when it was prepared."""

    run: Run
    methods: list[Any]


_READY: KeptAnswers[_Ready] = KeptAnswers(32)  # a scenario that is run again was checked before
KEPT_NUMBERS = 2000  # of states and parameters; looking at more takes longer than preparing them


def _methods() -> list[Any]:
    return [*FIXED.values(), *ADAPTIVE.values()]


def _prepared(scenario: Scenario) -> _Ready | Result:
    """Everything before the first step; or the result, where the motion is given or cannot begin."""
    known = ("auto", *FIXED, *ADAPTIVE)
    if scenario.integrator not in known:
        raise unknown_name("integrator", scenario.integrator, known, field="integrator")
    if scenario.integrator != "auto":
        check_own_integrator({**FIXED, **ADAPTIVE}[scenario.integrator], scenario.integrator)
    kind, open_choice = scenario.resolved_kind(), scenario.integrator == "auto"
    check_requests(scenario)
    base = None if scenario.base_motion is None else scenario.base_motion.motion
    for motion, field in ((scenario.reference, "reference"), (base, "base_motion.motion")):
        if motion is not None:
            from manipula.motion.trajectory import Trajectory  # and with it every path and time law

            if isinstance(motion, Trajectory):
                motion.renew()
            check_own_reference(motion, field)
    check_base_motion(scenario)
    if kind == "inverse_dynamics":  # with an open integrator: most of these runs have nothing to integrate
        from manipula.simulation.given_motion.run import inverse_dynamics  # and with it the inverse kinematics

        return inverse_dynamics(scenario)
    if open_choice and integrates(scenario):
        smooth = kind in ("playback", "free") or bool(scenario.contacts)
        scenario = scenario.replace(integrator="dop853" if smooth else "rk4")
    if kind == "kinematic":
        from manipula.simulation.given_motion.run import kinematic

        return kinematic(scenario)
    q0, qd0 = initial_state(scenario)
    rcond = judge.condition(scenario.robot, q0)
    if rcond < judge.SINGULAR:
        why = f"The mass matrix is singular at the start (1/κ = {rcond:.2g}): a link has no inertia."
        return not_started(scenario, q0, qd0, [RunVerdict("singular", why)] * len(q0))
    run = prepare_run(scenario, (q0, qd0))
    if open_choice and scenario.integrator in ADAPTIVE and (run.loop.sampled or keeps_a_memory(run)):
        scenario = scenario.replace(integrator="rk4")
        run = prepare_run(scenario, (q0, qd0))
    if scenario.integrator in ADAPTIVE and run.loop.sampled:
        raise DescriptionError(
            "Noise, delay, encoders and a control period act from step to step; choose a fixed-step integrator.",
            field="integrator",
        )
    return _Ready(run, _methods())


def _integrated(run: Run, threads: int | None, peaks: Peaks | None) -> RunSamples:
    name = run.scenario.integrator
    return run_adaptive(run, name, threads, peaks) if name in ADAPTIVE else run_fixed(run, threads, peaks)


def _peaks_of(run: Run, threads: int | None) -> dict[str, Any]:
    """The run once more, looked at on every step.

    Raises:
        DescriptionError: when a part of it was replaced meanwhile: what is found would not be of the code that ran.
    """
    if prepare_run(run.scenario).loop.parts != run.loop.parts:
        raise DescriptionError(
            "Code of this run was replaced after it, so what happened between its samples cannot be found any more; run it again.",
            field="peaks",
        )
    peaks = Peaks(threads)
    _integrated(replace(run, scenario=run.scenario.replace(verify=False)), threads, peaks)
    return {"peaks": tuple(peaks.rows)}


def _result(run: Run, samples: RunSamples, threads: int | None, peaks: Peaks | None) -> Result:
    phase("evaluating")
    s, lay = run.scenario, run.plant.layout
    rcond = judge.conditions(run, samples)
    verdicts = [friction_verdict(run, samples, k) or _verdict(run, samples, k, rcond[k]) for k in range(len(samples.x))]
    windows = _searched(run, samples, [v.status in ("finished", "limit") for v in verdicts], threads)
    for k, found in enumerate(windows):
        if found.missed:
            verdicts[k] = RunVerdict("inaccurate", found.missed)
    signals = observed(run, samples, threads)
    verdicts = with_energy_verdicts(run, signals, verdicts)
    trusted = [judge.trusted_until(v, float(s.duration or 0.0), t) for v, t in zip(verdicts, samples.trusted)]
    moved = moved_note(s.robot, lay.q(run.x0) - np.asarray(s.q0, float)) if s.start == "project" else ()
    moved = (*moved, *happened_notes(run, samples))
    calls = samples.calls
    notes = (*moved, calls.note) if calls.note else moved
    if s.disturbances or any(run.plant.drives) or s.base_motion is not None:
        moved_by = (*run.plant.disturbances, s.base_motion)
        notes = (*notes, *formula_marks(run.plant.drives, moved_by, float(s.duration or 0.0), s.step).doubts)
    notes = (
        *notes,
        *vary_notes(s.vary, run.plant),
        *ending_notes(s),
        *powerless_notes(s),
        *unchanged_notes(s),
        *immovable_notes(s),
        *dict.fromkeys(w.doubt for w in windows if w.doubt),
        *decided_notes(samples.decided, len(samples.x)),
    )
    limited = bool(stated_limits(s.robot, s.limits, parameters=s.parameters))
    more: dict[str, Any] = {"peaks": tuple(peaks.rows)} if peaks is not None and limited else {}
    later = [(("peaks",), lambda: _peaks_of(run, threads))] if peaks is None and limited else []
    if limited and too_long(run):
        more["watched"] = ()
    if calls.python:
        more["controller_calls"] = "once_a_step" if calls.once_a_step else "python"
    return assembled(s, samples.t, signals, verdicts, samples.error, notes, np.array(trusted), more, *later)


def _searched(run: Run, samples: RunSamples, asked: Sequence[bool], threads: int | None) -> Sequence[Searched]:
    """User code, formulas of the state and conditions of switches searched for what steps pass over."""
    if not any(asked) or not (foreign(run) or by_state(run) or run.plant.layout.switches):
        return ()
    from manipula.simulation.verdicts.windows import searched_runs

    return searched_runs(run, samples, asked, lambda every: _integrated(every, threads, None))


def _last(run: Run, samples: RunSamples, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities and accelerations in the last state of a run that ended early; none under a command that was held."""
    lay, x, t = run.plant.layout, samples.last[k], float(samples.stopped[k])
    if run.loop.sampled or samples.calls.once_a_step:
        qdd = np.zeros(lay.n)
    elif samples.calls.python:
        qdd = lay.qd(python_rate(run, k)[1](t, x))
    else:
        kernel = run.loop.observe
        qdd = np.asarray(dict(zip(kernel.graph.outputs, kernel(x, run.p[k], *run.inputs, t)))["qdd"], float)
    return lay.q(x), lay.qd(x), qdd


def _verdict(run: Run, samples: RunSamples, k: int, rcond: float) -> RunVerdict:
    s = run.scenario
    stopped, error, why = float(samples.stopped[k]), float(samples.error[k]), samples.why[k]
    trusted = float(samples.trusted[k])
    until = f" It can be trusted until t = {trusted:.6g} s." if np.isfinite(trusted) else ""
    if samples.unseen:
        return RunVerdict(
            "inaccurate",
            f"Steps cannot follow {samples.unseen[0]}: it changes too quickly, too often within {s.duration:g} s.",
        )
    if why and why != "limit":
        status, told = culprit(run, k, samples.t, samples.x[k], trusted, stopped)
        if status:
            return RunVerdict(status, told)
        status, reason = judge.early_end(why, stopped, s.integrator in ADAPTIVE, until)
        return RunVerdict(status, reason + told)
    if rcond < judge.SINGULAR:
        return RunVerdict("singular", f"The mass matrix is singular to working precision (1/κ = {rcond:.1e}).")
    if rcond < np.finfo(float).eps / s.tolerance:
        return RunVerdict(
            "inaccurate",
            f"The mass matrix is so ill conditioned (1/κ = {rcond:.1e}) that rounding exceeds the tolerance.",
        )
    finer = "tolerance" if s.integrator in ADAPTIVE else "step"
    if np.isinf(error):
        return RunVerdict(
            "inaccurate",
            f"Repeated with other, finer steps the run ended earlier{', perhaps at a joint limit that longer steps pass over' * s.stop_at_limits}.{until} "
            f"Reduce the {finer}, or the motion itself is too sensitive.",
        )
    if error > s.tolerance:
        return RunVerdict(
            "inaccurate",
            f"Repeating the run with other, finer steps changed the answer by {error:.1e} (allowed {s.tolerance:.1e}).{until} "
            f"Reduce the {finer}, or the motion itself is too sensitive.",
        )
    if k in samples.unsure:
        return RunVerdict("inaccurate", samples.unsure[k].reason)
    if why == "limit":
        joint, when = judge.crossing(s.robot, s.limits, _last(run, samples, k), stopped, s.parameters)
        return RunVerdict("limit", f"Joint '{s.robot.joint_names[joint]}' passed its limit at t = {when:.6g} s.")
    if not np.isfinite(samples.x[k]).all():
        return RunVerdict("not_finite", "A sample is not a finite number.")
    trust = f"; error about {error:.1e}" if np.isfinite(error) else "; accuracy not verified"
    return RunVerdict("finished", f"{s.duration:g} s simulated{trust}.")
