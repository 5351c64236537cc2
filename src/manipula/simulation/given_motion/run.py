"""Runs whose motion is given: kinematic and inverse-dynamics runs. Torques follow from the motion, not the other way round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manipula.algebra.rotation import rotation_vectors
from manipula.errors import DescriptionError, SolveError
from manipula.model import Model
from manipula.motion.oriented import has_orientation
from manipula.motion.piecewise import hermite
from manipula.redundancy.arm import Arm
from manipula.robot.drives.rigid import Rigid
from manipula.simulation.assembly import assembled
from manipula.simulation.checks.early_ends import ending_notes
from manipula.simulation.checks.idle_parts import powerless_notes
from manipula.simulation.checks.immovable import immovable_notes
from manipula.simulation.checks.requests import integrates
from manipula.simulation.checks.unchanged import unchanged_notes
from manipula.simulation.checks.varied import vary_notes
from manipula.simulation.given_motion.along_reference import along_joints, along_task, first_posture
from manipula.simulation.given_motion.joint_motion import JointMotion, stacked
from manipula.simulation.given_motion.kinematic import check_kinematic, run_kinematic, table_of
from manipula.simulation.given_motion.reach import End, end_of, first_wrong, left_reach, wrong_end
from manipula.simulation.given_motion.torques import MotionTable, observed, remembered
from manipula.simulation.given_motion.verdict import Facts, judged, last_right, told_until, trusted_until
from manipula.simulation.given_motion.watching import looks, peaks, too_long, watched
from manipula.simulation.initial_posture import moved_note
from manipula.simulation.limit_checks import Peak
from manipula.simulation.loops.loop import CompiledLoop, ReferenceTable
from manipula.simulation.loops.setup import carrying_with, run_numbers
from manipula.simulation.numeric_robot import numeric_robot
from manipula.simulation.plant_of_scenario import initial_state, plant_of
from manipula.simulation.progress import phase
from manipula.simulation.result import Result, RunVerdict
from manipula.simulation.scenario import Scenario
from manipula.simulation.stepping.corners import jumps
from manipula.simulation.stepping.instants import in_order, table_marks

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory

# m per metre of reach: a tip further from its path, without a gain that pulls it there, follows another path
NEAR = 1e-3
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
    members: tuple[int, ...] = ()  # their numbers in the batch; empty: all


class Computed(NamedTuple):
    """What is known of the runs: signals (N, S, …), verdicts, errors and times until which they can be trusted, (N,)."""

    arrays: dict[str, np.ndarray]
    verdicts: list[RunVerdict]
    errors: np.ndarray
    trusted: np.ndarray
    notes: tuple[str, ...]
    more: dict[str, Any]


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
    reference: Trajectory = s.reference
    t = s.times
    if reference.space == "joint":
        motion = stacked([along_joints(s, t)] * s.batch)
        _check_start(s, motion)
        table = ReferenceTable.of(reference, s.robot.n)
        return _result(GivenRun(s, s, motion, lambda s, k, t: along_joints(s, t), table))
    asked, s = s, _with_numbers(s)
    count = 1 if s.q0 is None else len(np.atleast_2d(s.q0))
    try:
        motions = [_member(s, k, t) for k in range(count)]
        if all(first_wrong(s, m) is None for m in motions):
            motion = stacked(motions * (s.batch // count))
            return _result(_run_of(asked, s, motion, range(s.batch)))
    except SolveError:
        pass
    return _in_parts(asked, s, [_end(s, k) for k in range(count)])


def _member(s: Scenario, k: int, t: np.ndarray) -> JointMotion:
    """The motion of member k along a task reference."""
    return along_task(_of_member(s, k), t)


def _of_member(s: Scenario, k: int) -> Scenario:
    """The scenario with the start of one member."""
    if s.q0 is None:
        return s
    q0 = np.atleast_2d(s.q0)
    return s.replace(q0=q0[k % len(q0)])


def _run_of(asked: Scenario, s: Scenario, motion: JointMotion, members: Sequence[int]) -> GivenRun:
    """Runs along a task reference that go to the end of their scenario."""
    moved = _moved(s, motion.q[:, 0]) if s.q0 is not None else ()
    _check_rates(s, motion)
    return GivenRun(asked, s, motion, _member, notes=moved, members=tuple(members))


def _end(s: Scenario, k: int) -> End | None:
    """How far a member can follow its reference, at the samples and between them; None: to the end."""
    one, t, every = _of_member(s, k), s.times, _all_steps(s).times
    try:
        q0 = first_posture(one)
    except SolveError as error:
        return End(None, 0.0, RunVerdict("failed", str(error)))
    end = None if integrates(s) else end_of(one, q0, np.unique(np.append(t, every)), t)
    if end is not None:
        return end
    try:
        motions = along_task(_all_steps(one), every), along_task(one, t)
    except SolveError as error:
        return End(0.0, 0.0, RunVerdict("failed", str(error)))
    return wrong_end(one, t, motions[0]) or wrong_end(one, t, motions[1])


def _in_parts(asked: Scenario, s: Scenario, ends: list[End | None]) -> Result:
    """A reference that some runs of a batch, or the only one, cannot follow to its end: every run as far as it gets."""
    t, whole, n = s.times, float(s.duration or 0.0), s.robot.n
    of = [ends[k % len(ends)] or End(whole, whole, RunVerdict("finished", "")) for k in range(s.batch)]
    arrays: dict[str, np.ndarray] = {name: np.full((s.batch, len(t), n), np.nan) for name in ("q", "qd")}
    verdicts, errors, trusted = [end.verdict for end in of], np.full(s.batch, np.nan), np.array([end.t for end in of])
    notes: list[str] = []
    rows: list[Peak] = []
    more: dict[str, Any] = {"integrated": integrates(s)}
    for last in sorted({end.last or 0.0 for end in of} - {0.0}):
        members = [k for k, end in enumerate(of) if end.last == last]
        part = _some(s, members).replace(duration=last)
        try:
            motion = stacked([_member(part, k, part.times) for k in range(len(members))])
            found = _computed(_run_of(_some(asked, members).replace(duration=last), part, motion, members))
        except SolveError as error:  # no motion of a redundant arm within its limits is found even so far
            for k in members:
                of[k], verdicts[k], trusted[k] = of[k]._replace(last=0.0), RunVerdict("failed", str(error)), 0.0
            continue
        for name, value in found.arrays.items():
            into = arrays.setdefault(name, np.full((s.batch, len(t), *value.shape[2:]), np.nan))
            into[members, : value.shape[1]] = value
        notes += found.notes
        rows += found.more.get("peaks", ())
        more |= found.more
        for i, k in enumerate(members):
            errors[k] = found.errors[i]
            if of[k].verdict.status == "finished" or found.verdicts[i].status == "limit":
                verdicts[k], trusted[k] = found.verdicts[i], found.trusted[i]
                continue
            # the part that is kept is right to its end, or cut where it is not
            if found.verdicts[i].status != "finished":
                trusted[k] = np.fmin(trusted[k], found.trusted[i])
                if found.verdicts[i].status in ("inaccurate", "singular"):
                    for value in arrays.values():
                        value[k, t > trusted[k]] = np.nan
            right = f"{verdicts[k].reason} Until t = {trusted[k]:.6g} s the motion is right."
            verdicts[k] = verdicts[k]._replace(reason=right)
    for k, end in enumerate(of):
        if end.last == 0.0:
            arrays["q"][k, 0] = first_posture(_of_member(s, k))
    more |= {"peaks": tuple(rows)} if rows else {}
    return assembled(asked, t, arrays, verdicts, errors, tuple(dict.fromkeys(notes)), trusted, more)


def _some(s: Scenario, members: list[int]) -> Scenario:
    """Some runs of a batch as a batch of their own."""
    take = lambda v: v if v is None or np.ndim(v) < 2 else np.asarray(v)[members]  # noqa: E731
    some = lambda group: group and {n: np.asarray(v)[members] if np.ndim(v) else v for n, v in group.items()}  # noqa: E731
    return s.replace(q0=take(s.q0), qd0=take(s.qd0), vary=some(s.vary), parameters=some(s.parameters))


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
    reference: Trajectory = s.reference
    if s.gain or s.tasks:  # tasks have gains of their own
        return
    rows = [i for i in Arm(s.robot).task if i < reference.dimension]
    tip = np.asarray(Model(s.robot).position(q0))
    gap = float(np.linalg.norm(tip[:, rows] - np.asarray(reference.position(0.0), float)[rows], axis=1).max())
    if has_orientation(reference):
        off = reference.rotation(0.0) @ np.swapaxes(np.asarray(Model(s.robot).pose(q0))[:, :3, :3], -1, -2)
        turned = float(np.linalg.norm(rotation_vectors(off), axis=-1).max())
        if turned > NEAR:
            raise DescriptionError(
                f"The tool starts {turned:.3g} rad away from the orientation of the reference, and without a gain it would stay so: give "
                "start = 'project', a gain, or another q0.",
                field="q0",
            )
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
    found = _computed(run)
    return assembled(
        run.asked, run.motion.t, found.arrays, found.verdicts, found.errors, found.notes, found.trusted, found.more
    )


def _computed(run: GivenRun) -> Computed:
    """All there is to say on a known joint motion: torques by inverse dynamics, with friction and what it remembers."""
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
            tables = [_table(run, k, _all_steps(s, divide).times) for divide in ((1, 2) if s.verify else (1,))]
            found = remembered(loop, p[k], tables[0], tables[1] if s.verify else None, t, s.tolerance)
            x[k, :, bristles], memory[k] = found
    phase("evaluating")
    arrays: dict[str, np.ndarray] = {"q": motion.q.copy(), "qd": motion.qd.copy(), "qdd": motion.qdd.copy()}
    arrays |= observed(loop, x, p, t, motion.qdd)
    pose = arrays.pop("pose")
    if s.robot.tip is not None:
        in_world = arrays["base_pose"] @ pose if "base_pose" in arrays else pose
        arrays["tip"], arrays["pose"] = in_world[..., :3, 3].copy(), in_world
    reference: Trajectory = s.reference
    if reference.space == "task":  # in axes of the base
        target = np.zeros(arrays["tip"].shape)
        target[..., : reference.dimension] = reference.position(t)
        arrays["target"], arrays["error"] = target, target - pose[..., :3, 3]
        if has_orientation(reference):
            arrays["orientation_error"] = rotation_vectors(
                reference.rotation(t) @ np.swapaxes(pose[..., :3, :3], -1, -2)
            )
    if sum(lay.friction):
        arrays["bristles"] = x[..., bristles].copy()
    arrays["energy"] = arrays["kinetic"] + arrays["potential"]
    limits = [loop.traced(row, np.array([0.0, 1.0]), np.zeros((1, dimension, 6))).actuator.limit for row in p]
    often = _all_steps(s).times if too_long(s, lay.size) else looks(s)
    dense = [run.dense(s.replace(verify=False), k, often) if s.stop_at_limits else None for k in range(count)]
    found_jumps = jumps(reference, float(s.duration or 0.0))
    robots = [numeric_robot(s.robot, s.parameters, k) for k in range(count)]
    between = [watched(s, robots[k], loop, p[k], lambda k=k: _table(run, k, often), found_jumps) for k in range(count)]
    facts = Facts(s, motion, arrays, errors, memory, between, found_jumps)
    verdicts = [judged(facts, k, limits[k], dense[k]) for k in range(count)]
    beyond = [
        None if facts.dynamic else left_reach(s, motion.member(k), v, last_right(facts, k))
        for k, v in enumerate(verdicts)
    ]
    verdicts = [far or v for far, v in zip(beyond, verdicts)]
    trusted = np.array([trusted_until(facts, k, v) for k, v in enumerate(verdicts)])
    verdicts = [told_until(v, end) for v, end in zip(verdicts, trusted)]
    until = [last_right(facts, k) if v.status == "singular" or beyond[k] else np.inf for k, v in enumerate(verdicts)]
    for k, end in enumerate(until):  # behind a singular posture and beyond the reach there is no motion
        for value in arrays.values():
            value[k, t > end] = np.nan
    members = run.members or range(count)
    rows = [
        row
        for k, number in enumerate(members)
        if (seen := between[k]) is not None
        for row in peaks(run.asked, robots[k], seen, number, until[k], carrying_with(s, loop, p[k]))
    ]
    notes = (
        *run.notes,
        *facts.notes(),
        *_drive_notes(s, plant.drives),
        *vary_notes(s.vary, plant),
        *ending_notes(s),
        *powerless_notes(s),
        *unchanged_notes(s),
        *immovable_notes(s),
    )
    more: dict[str, Any] = {"integrated": motion.integrated, **({"peaks": tuple(rows)} if rows else {})}
    if too_long(s, lay.size):
        more["watched"] = ()
    return Computed(arrays, verdicts, np.fmax(errors, memory), trusted, notes, more)


def _all_steps(s: Scenario, divide: int = 1) -> Scenario:
    return s.replace(sample=None, verify=False, step=s.step / divide)


def _table(run: GivenRun, k: int, times: np.ndarray) -> MotionTable:
    """The motion of one member between the samples: the reference itself, or quintic pieces between the given times.

    Pieces end where a derivative of the reference jumps, so that both sides of the jump are kept.
    """
    if run.exact is not None:
        return MotionTable(run.exact.breaks, run.exact.coefficients)
    s = run.scenario
    m = run.dense(s.replace(verify=False), k, _with_marks(times, _marks(s), float(times[1] - times[0])))
    start, end = np.stack([m.q, m.qd, m.qdd])[:, :-1], np.stack([m.q, *m.before])[:, 1:]
    pieces = hermite(start, end, np.diff(m.t))
    return MotionTable(m.t, np.ascontiguousarray(np.moveaxis(pieces, 1, 2)))


def _marks(s: Scenario) -> np.ndarray:
    """Where a derivative of the reference jumps."""
    reference: Trajectory = s.reference
    known = np.asarray(reference.breaks, float)
    table = table_of(reference)
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
