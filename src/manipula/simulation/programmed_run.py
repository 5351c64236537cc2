"""Runs of programmed motions: a start on the program, integration with changing independent coordinates, a verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from manipula.algebra.value import handed_over
from manipula.physics.programmed import choose_independent
from manipula.simulation import judge
from manipula.simulation.assembly import versions
from manipula.simulation.integrators import FIXED
from manipula.simulation.limits import stated_limits
from manipula.simulation.program import Program
from manipula.simulation.program_kernels import LARGEST, kernel, rows_at, values_of
from manipula.simulation.program_start import consistent_start
from manipula.simulation.program_verdict import ended, judged
from manipula.simulation.progress import phase
from manipula.simulation.provenance import acting, program_settings, robot_text
from manipula.simulation.result import Result

SMALL_PIVOT = 1e-2  # of A_d with rows of length 1, below which the coordinates are split anew
SINGULAR_PIVOT = 1e-7  # below which no motion is computed
LEAVING = 1e-6  # rad or m from the program, in joints
MAX_SPLITS = 10_000


class Integrated(NamedTuple):
    """Samples (S, size); time of an early end or None; the last sound state and its time; how often coordinates were split anew."""

    t: np.ndarray
    x: np.ndarray
    ending: float | None
    last: np.ndarray
    before: float
    splits: int


def run_program(program: Program, independent: tuple[int, ...] | None, q: np.ndarray, qd: np.ndarray | None, duration: float, h: float,
                start: str, sample: float | None, integrator: str, tolerance: float, verify: bool) -> Result:  # fmt: skip
    """Check the start, integrate (splitting the coordinates anew where needed), and judge."""
    x, moved = consistent_start(program, q, qd, start)
    steps = max(1, round(duration / h))
    every = 1 if sample is None else max(1, round(sample / h))
    h = duration / steps
    done = integrate(program, independent, x, h, steps, every, integrator)
    estimate = float("nan")
    if verify and done.ending is None:
        phase("verifying")
        fine = integrate(program, independent, x, h / 2, 2 * steps, 2 * every, integrator)
        estimate, n = float("inf"), program.robot.n
        if fine.ending is None:
            halving = 2.0 ** FIXED[integrator].order
            t = np.arange(len(done.x)) * (every * h)
            found, _ = judge.compare(done.x[:, : 2 * n], fine.x[:, : 2 * n], t, tolerance, halving / (halving - 1.0))
            estimate = float(found)
    return _result(program, independent, done, estimate, tolerance, h, integrator, moved)


def integrate(program: Program, independent: tuple[int, ...] | None, x: np.ndarray, h: float, steps: int, every: int,
              integrator: str) -> Integrated:  # fmt: skip
    """Step through the motion; where the independent coordinates become singular others take their place."""
    lay = program.layout
    t = np.arange(steps // every + 1) * every * h
    out = np.full((len(t), lay.size), np.nan)
    out[0] = x
    free = program.formulation == "gpme" and independent is None and len(program.constraints) < program.robot.n
    done, splits = 0, 0
    while done < steps:
        now, pivot = split(program, independent, x, done * h)
        if pivot < SINGULAR_PIVOT:
            return Integrated(t, out, done * h, x, done * h, splits)
        threshold = min(SMALL_PIVOT, 0.1 * pivot) if free else SINGULAR_PIVOT
        phase("compiling")
        run = kernel("loop", now, integrator)
        phase("integrating")
        p = np.array(values_of(now))
        ahead = -done % every  # steps to the next sample: after a new split samples stay on the common grid
        count, stride = (min(ahead, steps - done), 1) if ahead else (steps - done, every)
        block, last, stopped = run(x, p, done * h, h, threshold, count, stride)
        block, ok = np.asarray(block), int(stopped) < 0
        made = count if ok else int(stopped)
        if not ahead:
            whole = made // every + 1
            out[done // every : done // every + whole] = block[:whole]
        sound = np.isfinite(last).all() and np.abs(last[: 2 * lay.n]).max() <= LARGEST
        again = free and sound and splits < MAX_SPLITS and (made > 0 or not splits)
        if not ok and not (again and split(program, None, last, (done + made) * h)[1] >= SINGULAR_PIVOT):
            from_ = max(made - 1, 0) // stride * stride  # the last sample before the end, and every step after it
            x = block[from_ // stride]
            states, _, _ = run(x, p, (done + from_) * h, h, threshold, max(made - from_, 1), 1)
            last, steps_on = _sound(program, np.asarray(states), (done + from_) * h, h)
            return _cut(Integrated(t, out, (done + made) * h, last, (done + from_ + steps_on) * h, splits))
        done, x = done + made, np.asarray(last)
        if done % every == 0:
            out[done // every] = x
        splits += not ok
    return Integrated(t, out, None, x, steps * h, splits)


def _sound(program: Program, states: np.ndarray, t: float, h: float) -> tuple[np.ndarray, int]:
    """The last of consecutive states that still obeys the program, and its number."""
    lay = program.layout
    found = 0
    for k, x in enumerate(states):
        if not np.isfinite(x).all():
            break
        rows = rows_at(program, lay.q(x), lay.qd(x), t + k * h)
        off = np.abs(rows.value) / np.linalg.norm(rows.A, axis=1)
        if not off.max() < LEAVING:
            break
        found = k
    return states[found], found


def _cut(run: Integrated) -> Integrated:
    """Samples from the early end on are not a motion."""
    run.x[run.t >= run.ending] = np.nan
    return run


def split(program: Program, independent: tuple[int, ...] | None, x: np.ndarray, t: float) -> tuple[Program, float]:
    """The program with its independent coordinates chosen for the state x, and how sound the choice is."""
    rows = rows_at(program, program.layout.q(x), program.layout.qd(x), t)
    if program.formulation == "gpme":
        unit = rows.A / np.linalg.norm(rows.A, axis=1)[:, None]
        program = replace(program, independent=choose_independent(unit) if independent is None else independent)
    else:
        program = replace(program, independent=())
    with np.errstate(all="ignore"):
        pivot = float(program.health(rows))
    return program, pivot if np.isfinite(pivot) else 0.0


def _result(program: Program, independent: tuple[int, ...] | None, done: Integrated, estimate: float, tolerance: float,
            h: float, integrator: str, moved: tuple[str, ...]) -> Result:  # fmt: skip
    lay, x, t = program.layout, done.x, done.t
    # multipliers need no partition: the observer is the same for every split
    now = replace(program, formulation="multipliers", independent=())
    phase("evaluating")
    look = kernel("observer", now, integrator)
    seen = dict(zip(look.graph.outputs, look(x, np.array(values_of(now)), t)))
    arrays = {"q": lay.q(x).copy(), "qd": lay.qd(x).copy(), **seen}
    arrays["tip"] = seen["pose"][..., :3, 3]
    arrays["energy"] = seen["kinetic"] + seen["potential"]
    audit = lay.audit(x)
    arrays["work_drives"], arrays["work_friction"], arrays["work_program"] = audit
    arrays["audit"] = audit.drives - audit.friction + audit.outside - (arrays["energy"] - arrays["energy"][0])
    if sum(lay.drives):
        start = 2 * lay.n + sum(lay.friction)
        arrays["motors"] = x[:, start : start + sum(lay.drives)].copy()
    if sum(lay.friction):
        arrays["bristles"] = x[:, 2 * lay.n : 2 * lay.n + sum(lay.friction)].copy()
    missing = ~np.isfinite(x).all(axis=1)
    for value in arrays.values():
        value[missing] = np.nan
    if done.ending is None:
        status, reason = judged(program, t, arrays["residual"], estimate, tolerance)
    else:
        status, reason = ended(program, independent, x[0], done.last, done.before, done.ending)
    meta = {
        "robot": program.robot.name, "robot_digest": program.robot.digest, "joint_names": program.robot.joint_names,
        "joint_kinds": tuple(j.kind for j in program.robot.joints), "kind": "programmed", "formulation": program.formulation,
        "constraints": tuple(c.name for c in program.constraints),
        "equations": tuple(c.equation for c in program.constraints), "splits": done.splits, "stabilisation": program.stabilisation,
        "step": h, "duration": float(t[-1]), "integrator": integrator, "versions": versions(), "name": "programmed motion",
        "robot_toml": robot_text(program.robot), "settings": program_settings(program),
        "limits": stated_limits(program.robot), "acting": acting(program.robot, program.friction, program.drives),
    }  # fmt: skip
    notes = (*moved, *((f"The independent coordinates were chosen anew {done.splits} times.",) if done.splits else ()))
    arrays = {name: handed_over(value) for name, value in arrays.items()}
    return Result(t, arrays, status, reason, (status,), (reason,), estimate, meta, notes, program)
