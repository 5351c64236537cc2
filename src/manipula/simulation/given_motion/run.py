"""Runs whose motion is given: kinematic and inverse-dynamics runs. Torques follow from the motion, not the other way round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.errors import DescriptionError, SolveError
from manipula.model import Model
from manipula.motion.piecewise import hermite
from manipula.redundancy.arm import Arm
from manipula.robot.drives.rigid import Rigid
from manipula.simulation.assembly import assembled, not_started
from manipula.simulation.given_motion.along_reference import along_joints, along_task
from manipula.simulation.given_motion.corners import jumps
from manipula.simulation.given_motion.joint_motion import JointMotion, stacked
from manipula.simulation.given_motion.kinematic import check_kinematic, run_kinematic
from manipula.simulation.given_motion.torques import MotionTable, observed, remembered
from manipula.simulation.given_motion.verdict import Facts, judged
from manipula.simulation.given_motion.watching import peaks, too_long, watched
from manipula.simulation.initial_posture import moved_note
from manipula.simulation.loops.loop import CompiledLoop, ReferenceTable
from manipula.simulation.loops.setup import run_numbers
from manipula.simulation.plant_of_scenario import initial_state, plant_of
from manipula.simulation.progress import phase
from manipula.simulation.recorded import numeric_robot
from manipula.simulation.result import Result, RunVerdict
from manipula.simulation.scenario import Scenario
from manipula.simulation.stepping.instants import in_order, table_marks

NEAR = (
    1e-3  # m per metre of reach: a tip further from its path, without a gain that pulls it there, follows another path
)
NEXT = 1e-6  # of a step: a polynomial between two times that are closer says nothing
SAME = 1e-9  # rad or m, per s: a state that is the reference's own but for rounding


@dataclass(frozen=True)
class GivenRun:
    """A run whose motion is given: the motion at the samples, and how to have it (of one member) at other times."""

    asked: Scenario
    scenario: Scenario  # the same with the free parameters of the robot filled in, where the motion depends on them
    motion: JointMotion
    dense: Callable[[Scenario, int, np.ndarray], JointMotion]
    exact: ReferenceTable | None = None  # the motion itself, where the reference is one of joints
    notes: tuple[str, ...] = ()


def kinematic(s: Scenario) -> Result:
    """Resolved rates along a task reference, and the torques behind them."""
    phase("compiling")
    check_kinematic(s)
    asked, s = s, _with_numbers(s)
    q0, _ = initial_state(s)
    moved = _moved(s, q0)
    _check_gap(s, q0)
    motion = run_kinematic(s, q0)
    _check_rates(s, motion)
    return _result(
        GivenRun(asked, s, motion, lambda s, k, t: run_kinematic(s, q0[k : k + 1], t).member(0), notes=moved)
    )


def inverse_dynamics(s: Scenario) -> Result:
    """Torques along a reference of joints, or along the joints found for a task reference."""
    reference: Any = s.reference
    t = s.times
    if reference.space == "joint":
        motion = stacked([along_joints(s, t)] * s.batch)
        _check_start(s, motion)
        table = ReferenceTable.of(reference, s.robot.n)
        return _result(GivenRun(s, s, motion, lambda s, k, t: along_joints(s, t), table))
    asked, s = s, _with_numbers(s)

    def member(s: Scenario, k: int, t: np.ndarray) -> JointMotion:
        return along_task(s if s.q0 is None else s.replace(q0=np.atleast_2d(s.q0)[k]), t)

    count = 1 if s.q0 is None else len(np.atleast_2d(s.q0))
    try:
        return _along_task(asked, s, member, count)
    except SolveError:
        return _not_followed(asked, s, [_why(member, s, k % count) for k in range(s.batch)])


def _along_task(
    asked: Scenario, s: Scenario, member: Callable[[Scenario, int, np.ndarray], JointMotion], count: int
) -> Result:
    motion = stacked([member(s, k, s.times) for k in range(count)] * (s.batch // count))
    moved = _moved(s, motion.q[:, 0]) if s.q0 is not None else ()
    _check_rates(s, motion)
    return _result(GivenRun(asked, s, motion, lambda s, k, t: member(s, k % count, t), notes=moved))


def _why(member: Callable[[Scenario, int, np.ndarray], JointMotion], s: Scenario, k: int) -> str:
    """Why a run cannot follow its reference, at the samples or between them; empty where it can."""
    try:
        for asked in (s, _all_steps(s)):
            member(asked, k, asked.times)
    except SolveError as error:
        return str(error)
    return ""


def _not_followed(asked: Scenario, s: Scenario, reasons: list[str]) -> Result:
    """A reference that a run cannot follow is a failure of the motion, not of the request."""
    other = "Nothing is computed, because another run of the batch cannot follow the reference."
    unknown = np.full((len(reasons), s.robot.n), np.nan)
    q0 = unknown if s.q0 is None or s.start == "project" else np.broadcast_to(np.asarray(s.q0, float), unknown.shape)
    return not_started(asked, q0, unknown, [RunVerdict("failed", why or other) for why in reasons])


def _with_numbers(s: Scenario) -> Scenario:
    """The scenario with the free parameters of its robot filled in: where the tip stands depends on them."""
    if not s.robot.parameters or not s.parameters:
        return s
    if any(np.ndim(v) for v in s.parameters.values()):
        raise DescriptionError(
            "Along a task reference the free parameters of a robot are single numbers: where its tip stands depends on them.",
            field="parameters",
        )
    return s.replace(robot=s.robot.with_parameters(**s.parameters), parameters=None)


def _check_start(s: Scenario, motion: JointMotion) -> None:
    """A given initial state that is not the reference's own is refused."""
    for name, given, own in (("q0", s.q0, motion.q[:, 0]), ("qd0", s.qd0, motion.qd[:, 0])):
        if given is None:
            continue
        off = np.abs(np.asarray(given, float) - own)
        if off.max() > SAME * (1.0 + np.abs(own).max()):
            joint = int(np.unravel_index(int(np.argmax(off)), off.shape)[-1])
            raise DescriptionError(
                f"The motion of this run is its reference; joint '{s.robot.joint_names[joint]}' starts {off.max():.3g} away from "
                f"{name}. Leave {name} out, or begin the reference there.",
                field=name,
            )


def _check_gap(s: Scenario, q0: np.ndarray) -> None:
    """Without a gain nothing takes the tip to a path it does not start on."""
    reference: Any = s.reference
    if s.gain:
        return
    rows = [i for i in Arm(s.robot).task if i < reference.dimension]
    tip = np.asarray(Model(s.robot).position(q0))
    gap = float(np.linalg.norm(tip[:, rows] - np.asarray(reference.position(0.0), float)[rows], axis=1).max())
    if gap > NEAR * max(1.0, float(np.abs(tip).max())):
        raise DescriptionError(
            f"The tip starts {gap:.3g} m away from the start of the reference, and without a gain it would stay so far from its path: "
            "give start = 'project', a gain, or another q0.",
            field="q0",
        )


def _check_rates(s: Scenario, motion: JointMotion) -> None:
    if s.qd0 is not None:
        _check_start(s.replace(q0=None), motion)


def _moved(s: Scenario, q: np.ndarray) -> tuple[str, ...]:
    """How far a start was projected, told."""
    return moved_note(s.robot, np.atleast_2d(q - np.asarray(s.q0, float))) if s.start == "project" else ()


def _result(run: GivenRun) -> Result:
    """A result from a known joint motion: torques by inverse dynamics, with friction and what it remembers."""
    s, motion = run.scenario, run.motion
    plant, dimension, _ = plant_of(s)
    loop = CompiledLoop(plant, dimension, "rodas")
    lay, t, count = plant.layout, motion.t, len(motion.q)
    p = run_numbers(s, loop, plant, count)
    x = np.zeros((count, len(t), lay.size))
    x[..., : lay.n], x[..., lay.n : 2 * lay.n] = motion.q, motion.qd
    bristles = slice(2 * lay.n, 2 * lay.n + sum(lay.friction))
    errors = np.broadcast_to(np.asarray(motion.error, float), count).copy()
    memory = np.full(count, np.nan)
    if sum(lay.friction):
        phase("integrating")
        for k in range(count):
            found = remembered(loop, p[k], _table(run, k), _table(run, k, 2) if s.verify else None, t, s.tolerance)
            x[k, :, bristles], memory[k] = found
    phase("evaluating")
    arrays: dict[str, np.ndarray] = {"q": motion.q.copy(), "qd": motion.qd.copy(), "qdd": motion.qdd.copy()}
    arrays |= observed(loop, x, p, t, motion.qdd)
    pose = arrays.pop("pose")
    if s.robot.tip is not None:
        arrays["tip"], arrays["pose"] = pose[..., :3, 3].copy(), pose
    reference: Any = s.reference
    if reference.space == "task":
        target = np.zeros(arrays["tip"].shape)
        target[..., : reference.dimension] = reference.position(t)
        arrays["target"], arrays["error"] = target, target - arrays["tip"]
    if sum(lay.friction):
        arrays["bristles"] = x[..., bristles].copy()
    arrays["energy"] = arrays["kinetic"] + arrays["potential"]
    limits = [loop.traced(row, np.array([0.0, 1.0]), np.zeros((1, dimension, 6))).actuator.limit for row in p]
    dense = (
        [run.dense(_all_steps(s), k, _all_steps(s).times) for k in range(count)] if s.stop_at_limits else [None] * count
    )
    found_jumps = jumps(reference, float(s.duration or 0.0))
    robots = [numeric_robot(s.robot, s.parameters, k) for k in range(count)]
    between = [watched(s, robots[k], loop, p[k], _table(run, k), found_jumps) for k in range(count)]
    facts = Facts(s, motion, arrays, errors, memory, between, found_jumps)
    verdicts = [judged(facts, k, limits[k], dense[k]) for k in range(count)]
    errors = np.fmax(errors, memory)
    rows = [row for k, seen in enumerate(between) if seen is not None for row in peaks(run.asked, robots[k], seen, k)]
    notes = (*run.notes, *facts.notes(), *_drive_notes(s, plant.drives))
    more: dict[str, Any] = {"integrated": motion.integrated, **({"peaks": tuple(rows)} if rows else {})}
    if too_long(s, lay.size):
        more["watched"] = ()
    return assembled(run.asked, t, arrays, verdicts, errors, notes, None, more)


def _all_steps(s: Scenario, divide: int = 1) -> Scenario:
    return s.replace(sample=None, verify=False, step=s.step / divide)


def _table(run: GivenRun, k: int, divide: int = 1) -> MotionTable:
    """The motion of one member between the samples: the reference itself, or quintic pieces through all steps.

    Pieces end where a derivative of the reference jumps, so that both sides of the jump are kept.
    """
    if run.exact is not None:
        return MotionTable(run.exact.breaks, run.exact.coefficients)
    every = _all_steps(run.scenario, divide)
    m = run.dense(every, k, _with_marks(every.times, _marks(every), every.step))
    start, end = np.stack([m.q, m.qd, m.qdd])[:, :-1], np.stack([m.q, *m.before])[:, 1:]
    pieces = hermite(start, end, np.diff(m.t))
    return MotionTable(m.t, np.ascontiguousarray(np.moveaxis(pieces, 1, 2)))


def _marks(s: Scenario) -> np.ndarray:
    """Where a derivative of the reference jumps."""
    reference: Any = s.reference
    known = np.asarray(reference.breaks, float)
    if getattr(reference, "has_orientation", False):
        return known
    table = ReferenceTable.of(reference, 3)
    return np.concatenate([table_marks(table.breaks, table.coefficients), known])


def _with_marks(times: np.ndarray, marks: np.ndarray, step: float) -> np.ndarray:
    """The times, with marks in the place of those that are next to one; the first and the last stay."""
    near = NEXT * step
    marks = in_order(marks[(marks > times[0] + near) & (marks < times[-1] - near)])
    marks = marks[np.append(True, np.diff(marks) > near)[: len(marks)]]
    if not len(marks):
        return times
    after = np.searchsorted(marks, times)
    apart = np.minimum(
        np.abs(marks[np.minimum(after, len(marks) - 1)] - times), np.abs(marks[np.maximum(after - 1, 0)] - times)
    )
    return np.sort(np.concatenate([times[apart > near], marks]))


def _drive_notes(s: Scenario, drives: tuple[Any, ...]) -> tuple[str, ...]:
    names = [j.name for j, d in zip(s.robot.joints, drives) if d is not None and not isinstance(d, Rigid)]
    if not names:
        return ()
    told = (
        f"The torques are those that reach the links; what the drives of {', '.join(names)} must be commanded for them"
    )
    return (f"{told} is not computed.",)
