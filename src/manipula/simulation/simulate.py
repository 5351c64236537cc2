"""``simulate(scenario) -> Result``: the one verb of this room."""

from __future__ import annotations

import numpy as np

from manipula.errors import DescriptionError, unknown_name
from manipula.motion.trajectory import Trajectory
from manipula.simulation.assembly import assembled
from manipula.simulation.checks.requests import check_requests, integrates
from manipula.simulation.given_motion.run import inverse_dynamics, kinematic
from manipula.simulation.initial_posture import moved_note
from manipula.simulation.integrators import ADAPTIVE, FIXED
from manipula.simulation.loops.adaptive import run_adaptive
from manipula.simulation.loops.fixed import Samples, run_fixed
from manipula.simulation.loops.setup import Run, prepare_run
from manipula.simulation.plant.disturbances import PayloadChange
from manipula.simulation.plant.numbers import paths_of
from manipula.simulation.plant_of_scenario import initial_state
from manipula.simulation.progress import phase
from manipula.simulation.result import Result, RunVerdict
from manipula.simulation.retry_with_rodas import stiffer
from manipula.simulation.scenario import Scenario
from manipula.simulation.verdicts import judge
from manipula.simulation.verdicts.criteria import with_criteria_notes
from manipula.simulation.verdicts.friction import friction_verdict

# after which an open choice of integrator is made again
STIFF_SIGNS = ("inaccurate", "diverged", "not_finite", "step_too_small")
ROUNDING = 1e-9  # s, on either side of an instant


def simulate(scenario: Scenario, *, threads: int | None = None) -> Result:
    """Run a scenario.

    Returns:
        A Result whose status is "finished" only when the answer can be trusted to ``scenario.tolerance``.

    Raises:
        DescriptionError, ShapeError: when the parts do not fit together. A numerical failure is a status, not an exception.
    """
    if not isinstance(scenario, Scenario):
        raise DescriptionError(f"simulate() takes a Scenario, found {type(scenario).__name__}.")
    return with_criteria_notes(_simulated(scenario, threads), scenario)


def _simulated(scenario: Scenario, threads: int | None) -> Result:
    known = ("auto", *FIXED, *ADAPTIVE)
    if scenario.integrator not in known:
        raise unknown_name("integrator", scenario.integrator, known, field="integrator")
    kind = scenario.resolved_kind()
    check_requests(scenario)
    if isinstance(scenario.reference, Trajectory):
        scenario.reference.renew()
    if kind == "inverse_dynamics":  # with an open integrator: most of these runs have nothing to integrate
        return inverse_dynamics(scenario)
    open_choice = scenario.integrator == "auto"
    if open_choice and integrates(scenario):
        smooth = kind in ("free", "playback") and not scenario.actuator.delay
        scenario = scenario.replace(integrator="dop853" if smooth else "rk4")
    if kind == "kinematic":
        return kinematic(scenario)
    q0, qd0 = initial_state(scenario)
    rcond = judge.condition(scenario.robot, q0)
    if rcond < judge.SINGULAR:
        return _not_started(
            scenario, q0, qd0, f"The mass matrix is singular at the start (1/κ = {rcond:.1e}): a link has no inertia."
        )
    run = prepare_run(scenario)
    if scenario.integrator in ADAPTIVE:
        if run.loop.noisy or run.loop.delay:
            raise DescriptionError(
                "Noise and delay act from step to step; choose a fixed-step integrator.", field="integrator"
            )
        samples = run_adaptive(run, scenario.integrator, threads)
    else:
        samples = run_fixed(run, threads)
    result = _result(run, samples, threads)
    steady = not (run.loop.noisy or run.loop.delay or samples.notes)
    if open_choice and steady and scenario.verify and set(result.statuses) & set(STIFF_SIGNS):
        return stiffer(scenario, result, lambda other: _simulated(other, threads))
    return result


def _not_started(s: Scenario, q0: np.ndarray, qd0: np.ndarray, reason: str) -> Result:
    """A result whose only sample is the initial state."""
    t = s.times
    arrays = {name: np.full((len(x), len(t), s.robot.n), np.nan) for name, x in (("q", q0), ("qd", qd0))}
    arrays["q"][:, 0], arrays["qd"][:, 0] = q0, qd0
    nothing = np.full(len(q0), np.nan)
    return assembled(s, t, arrays, [RunVerdict("singular", reason)] * len(q0), nothing, (), nothing)


def _result(run: Run, samples: Samples, threads: int | None) -> Result:
    phase("evaluating")
    s, lay = run.scenario, run.plant.layout
    x = samples.x
    arrays: dict[str, np.ndarray] = {"q": lay.q(x).copy(), "qd": lay.qd(x).copy()}
    kernel, more = (run.loop.observe, ()) if samples.commands is None else (run.loop.observe_given, (samples.commands,))
    seen = kernel(x, run.p[:, None], *run.inputs, samples.t, *more, threads=threads)
    named = dict(zip(kernel.graph.outputs, seen))
    pose = named.pop("pose")
    kinetic, potential, held = named.pop("kinetic"), named.pop("potential"), named.pop("held")
    target, target_rate = named.pop("target"), named.pop("target_rate")
    arrays |= named
    if s.robot.tip is not None:
        arrays["tip"], arrays["pose"] = pose[..., :3, 3], pose
    if run.plant.controller is not None and s.reference is not None:
        arrays["target"], arrays["target_rate"] = target, target_rate
        actual = arrays["tip"] if s.reference.space == "task" else arrays["q"]
        arrays["error"] = target - actual
    audit = lay.audit(x)
    arrays["kinetic"], arrays["potential"], arrays["held"] = kinetic, potential, held
    arrays["energy"] = kinetic + potential
    arrays["work_drives"], arrays["work_friction"], arrays["work_outside"] = audit
    stored = arrays["energy"] - arrays["energy"][:, :1]
    arrays["audit"] = audit.drives - audit.friction + audit.outside - stored
    if any(isinstance(d, PayloadChange) for d in s.disturbances):
        arrays["work_payload"] = _brought(run, samples.t, arrays)
        arrays["audit"] = arrays["audit"] + arrays["work_payload"]
    if sum(lay.friction):
        arrays["bristles"] = x[..., 2 * lay.n : 2 * lay.n + sum(lay.friction)].copy()
    if sum(lay.drives):
        start = 2 * lay.n + sum(lay.friction)
        arrays["motors"] = x[..., start : start + sum(lay.drives)].copy()
    if lay.controller:
        arrays["controller_states"] = np.asarray(lay.controller_states(x)).copy()
    rcond = judge.conditions(run, samples)
    verdicts = [friction_verdict(run, samples, k) or _verdict(s, samples, k, rcond[k]) for k in range(len(x))]
    for k, stopped in enumerate(samples.stopped):
        if np.isfinite(stopped):
            for values in arrays.values():
                values[k, np.isnan(x[k]).any(axis=1)] = np.nan
    trusted = [judge.trusted_until(v, float(s.duration or 0.0), t) for v, t in zip(verdicts, samples.trusted)]
    moved = moved_note(s.robot, lay.q(run.x0) - np.asarray(s.q0, float)) if s.start == "project" else ()
    return assembled(s, samples.t, arrays, verdicts, samples.error, (*moved, *samples.notes), np.array(trusted))


def _brought(run: Run, t: np.ndarray, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Energy that payload changes bring with them until each sample [J], (N, S): the new mass already moves with the tip."""
    total = np.zeros((len(run.x0), len(t)))
    changes = [i for i, d in enumerate(run.scenario.disturbances) if isinstance(d, PayloadChange)]
    paths = paths_of(run.plant)
    for i in changes:
        when = run.p[:, paths.index(f"disturbances[{i}].time")]
        last = np.clip(np.searchsorted(t, when + ROUNDING, side="right") - 1, 0, len(t) - 1)
        rows, late = np.arange(len(when)), np.clip(when - t[last], 0.0, None)[:, None]
        q, qd, qdd = (arrays[name][rows, last] for name in ("q", "qd", "qdd"))
        x = np.zeros((len(when), run.plant.layout.size))
        x[:, : q.shape[1]] = q + late * qd + 0.5 * late**2 * qdd
        x[:, q.shape[1] : 2 * q.shape[1]] = qd + late * qdd
        before, after = (run.loop.energy(x, run.p, *run.inputs, when + side * ROUNDING) for side in (-1.0, 1.0))
        total += np.where(t >= when[:, None] - 1e-3 * ROUNDING, (after - before)[:, None], 0.0)
    return total


def _verdict(s: Scenario, samples: Samples, k: int, rcond: float) -> RunVerdict:
    stopped, error, why = float(samples.stopped[k]), float(samples.error[k]), samples.why[k]
    trusted = float(samples.trusted[k])
    until = f" It can be trusted until t = {trusted:.6g} s." if np.isfinite(trusted) else ""
    if samples.unseen:
        return RunVerdict(
            "inaccurate",
            f"Steps cannot follow {samples.unseen[0]}: it changes too quickly, too often within {s.duration:g} s.",
        )
    if why and why != "limit":
        return RunVerdict(*judge.early_end(why, stopped, s.integrator in ADAPTIVE, until))
    if rcond < judge.SINGULAR:
        return RunVerdict("singular", f"The mass matrix is singular to working precision (1/κ = {rcond:.1e}).")
    if rcond < np.finfo(float).eps / s.tolerance:
        return RunVerdict(
            "inaccurate",
            f"The mass matrix is so ill conditioned (1/κ = {rcond:.1e}) that rounding exceeds the tolerance.",
        )
    if error > s.tolerance:
        finer = "tolerance" if s.integrator in ADAPTIVE else "step"
        return RunVerdict(
            "inaccurate",
            f"Repeating the run with other, finer steps changed the answer by {error:.1e} (allowed {s.tolerance:.1e}).{until} "
            f"Reduce the {finer}, or the motion itself is too sensitive.",
        )
    if why == "limit":
        joint, when = judge.crossing(s.robot, samples.last[k], stopped)
        return RunVerdict("limit", f"Joint '{s.robot.joint_names[joint]}' passed its limit at t = {when:.6g} s.")
    if not np.isfinite(samples.x[k]).all():
        return RunVerdict("not_finite", "A sample is not a finite number.")
    trust = f"; error about {error:.1e}" if np.isfinite(error) else "; accuracy not verified"
    return RunVerdict("finished", f"{s.duration:g} s simulated{trust}.")
