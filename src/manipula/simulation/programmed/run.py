"""Runs of programmed motions: a start on the constraints, integration with changing independent coordinates, a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.value import handed_over
from manipula.identity import is_own
from manipula.physics.programmed import choose_independent
from manipula.robot.drives.rigid import Rigid
from manipula.simulation.integrators import FIXED
from manipula.simulation.limit_checks import Peak, peaks_of
from manipula.simulation.numeric_robot import numeric_robot
from manipula.simulation.plant.own_parts import check_own_parts
from manipula.simulation.programmed.equations import ProgrammedPlant
from manipula.simulation.programmed.instants import Instants, instants_of
from manipula.simulation.programmed.kernels import kernel, rows_at, values_of
from manipula.simulation.programmed.start import consistent_start
from manipula.simulation.programmed.traced import check_memory, check_traced
from manipula.simulation.programmed.verdict import RESIDUAL, broken, judged, trust_in_words, trusted_until, why_ended
from manipula.simulation.progress import phase
from manipula.simulation.provenance import acting, columns, programmed_settings, robot_text, versions
from manipula.simulation.result import Result
from manipula.simulation.stated_limits import stated_limits
from manipula.simulation.stepping.grid import DIVERGED, RATIO, WHOLE, margin
from manipula.simulation.stepping.rests_at_zero import rests_at_zero
from manipula.simulation.stepping.verification import beside, compare, decided_notes, shrinkage

SMALL_PIVOT = 1e-2  # of A_d with rows of length 1, below which the coordinates are split anew
SINGULAR_PIVOT = 1e-7  # below which no motion is computed
LEAVING = 1e-6  # rad or m from the constraints, in joints
MAX_SPLITS = 10_000
# numbers of a motion beyond which only its samples are compared with limits, and the verdict says so
MOST_WATCHED = 20_000_000
ROUNDING = 1e-9  # of a ratio of times that is meant to be whole


class Integrated(NamedTuple):
    """Samples (S, size); time of an early end or None; the last sound state and its time; how often coordinates were split anew."""

    t: np.ndarray
    x: np.ndarray
    ending: float | None
    last: np.ndarray
    before: float
    splits: int


class Stretch(NamedTuple):
    """Equal steps from ``t0`` on, a sample after every few of them; with ratio < 1 each step is taken in two unequal parts.

    ``steps`` and ``every`` count parts. A stretch that ends at an instant between two samples is not ``sampled``.
    """

    t0: float
    h: float
    steps: int
    every: int
    ratio: float = WHOLE
    sampled: bool = True

    @property
    def times(self) -> np.ndarray:
        """Of its samples, the first one being the last of the stretch before."""
        return (
            np.array([self.time(k) for k in range(self.every, self.steps + 1, self.every)])
            if self.sampled
            else np.zeros(0)
        )

    def time(self, number: float) -> float:
        """When part ``number`` begins."""
        if self.ratio == WHOLE:
            return self.t0 + number * self.h
        return self.t0 + number // 2 * self.h + number % 2 * self.ratio * self.h

    def divided(self) -> Stretch:
        """The same in other steps, none of which is commensurate with those of the run."""
        return self._replace(steps=2 * self.steps, every=2 * self.every, ratio=RATIO)


def stretches(duration: float, step: float, sample: float | None) -> list[Stretch]:
    """A run whose samples lie exactly on multiples of ``sample`` and whose end is one of them; no step is longer than asked for."""
    if sample is None:
        count = _whole(duration / step)
        return [Stretch(0.0, duration / count, count, 1)]
    intervals = int(duration / sample * (1.0 + ROUNDING))
    found = []
    if intervals:
        every = _whole(sample / step)
        found.append(Stretch(0.0, sample / every, intervals * every, every))
    rest = duration - intervals * sample
    if rest > ROUNDING * duration:
        count = _whole(rest / step)
        found.append(Stretch(intervals * sample, rest / count, count, count))
    return found


def cut(parts: list[Stretch], marks: np.ndarray, step: float) -> list[Stretch]:
    """The same stretches with steps that end on the marks as well; samples stay where they are."""
    found = []
    for part in parts:
        wide = part.every * part.h
        inside = marks[(marks > part.t0 + margin(part.t0)) & (marks < part.time(part.steps) - margin(part.t0))]
        done = 0
        for k in np.unique(np.floor((inside - part.t0) / wide).astype(int)):
            if k > done:
                found.append(part._replace(t0=part.t0 + done * wide, steps=(int(k) - done) * part.every))
            start, end = part.t0 + k * wide, part.t0 + (k + 1) * wide
            own = inside[(inside > start + margin(start)) & (inside < end - margin(end))]
            edges = np.concatenate([[start], own, [end]])
            for a, b in zip(edges, edges[1:]):
                count = _whole((b - a) / step)
                found.append(Stretch(float(a), float(b - a) / count, count, count, sampled=bool(b == end)))
            done = int(k) + 1
        if done * part.every < part.steps:
            found.append(part._replace(t0=part.t0 + done * wide, steps=part.steps - done * part.every))
    return found


def _whole(ratio: float) -> int:
    return max(1, int(np.ceil(ratio * (1.0 - ROUNDING))))


def run_programmed(plant: ProgrammedPlant, independent: tuple[int, ...] | None, q: np.ndarray, qd: np.ndarray | None, duration: float, h: float,
                start: str, sample: float | None, integrator: str, tolerance: float, verify: bool, limits: Any = None) -> Result:  # fmt: skip
    """Check the start, integrate (splitting the coordinates anew where needed), and judge.

    With limits the motion is looked at on all steps, whatever samples were asked for.
    """
    check_own_parts(plant.friction, plant.drives)
    check_memory(plant, q, qd, duration)
    x, moved = consistent_start(plant, q, qd, start, duration)
    check_traced(plant, x, duration)
    known = instants_of(plant, x, duration, h)
    parts = cut(stretches(duration, h, sample), known.marks, h)
    stated, peaks = stated_limits(plant.robot, limits, parameters=plant.parameters), ()
    dense = [part._replace(every=1, sampled=True) for part in parts]
    short = sum(p.steps for p in parts) * plant.layout.size <= MOST_WATCHED
    if stated and dense != parts and short:
        whole = integrate(plant, independent, x, dense, integrator)
        peaks = _peaks(plant, whole, stated, integrator)
        kept = np.concatenate([[True], *(_sampled(part) for part in parts)])
        done = whole._replace(t=whole.t[kept], x=whole.x[kept])
    else:
        done = integrate(plant, independent, x, parts, integrator)
    estimate, agreed = float("nan"), float("nan")
    if verify:
        phase("verifying")
        finer = [part.divided() for part in parts]
        begun = lambda x0: integrate(plant, independent, x0, finer, integrator)  # noqa: E731
        factor = shrinkage(1 if plant.has_corners else FIXED[integrator].order)
        steps = sum(part.steps for part in parts)
        (estimate, agreed), edge = _repeated(plant, done, begun, x, steps, tolerance, factor)
        moved = (*moved, *edge)
    return _result(
        plant, independent, done, (estimate, agreed), tolerance, max(part.h for part in parts), integrator, moved, known,
        {"limits": stated, **({"peaks": tuple(peaks)} if peaks else {}), **({} if short else {"watched": ()})},
    )  # fmt: skip


def _repeated(
    plant: ProgrammedPlant, done: Integrated, begun: Callable[[np.ndarray], Integrated], x: np.ndarray, steps: int, tolerance: float, factor: float
) -> tuple[tuple[float, float], tuple[str, ...]]:  # fmt: skip
    """Error and agreement found by a repetition that begins beside x, so that what rounding makes of the motion is part of it; and what is reported.

    User code may stand on the edge of a decision at x: then one side differs, and x itself and the other side do not.
    """
    n, states = plant.robot.n, plant.layout.size - len(plant.layout.works)
    exact = rests_at_zero(plant.robot)
    against = lambda x0: _compared(plant, done, begun(x0), tolerance, factor)  # noqa: E731
    found = against(beside(x, n, states, steps, zero_is_exact=exact))
    if found[0] <= tolerance or is_own(plant.friction, plant.drives, plant.constraints):
        return found, ()
    same = against(x)
    if not same[0] <= tolerance:
        return same, ()
    other = against(beside(x, n, states, steps, -1.0, exact))
    return (same, decided_notes((0,), 1)) if other[0] <= tolerance else (found, ())


def _compared(
    plant: ProgrammedPlant, done: Integrated, fine: Integrated, tolerance: float, factor: float
) -> tuple[float, float]:
    """The error of a motion found by its repetition, and until when both agree; of one that ended early, as far as both got."""
    m = 2 * plant.robot.n
    kept = done.x[:, :m]
    if done.ending is not None:
        kept = np.where(np.isfinite(fine.x[:, :m]).all(axis=1, keepdims=True), kept, np.nan)
    found, agreed = compare(kept, fine.x[:, :m], done.t, tolerance, factor)
    lost = done.ending is None and fine.ending is not None
    return float("inf") if lost else float(found), float(agreed)


def _sampled(part: Stretch) -> np.ndarray:
    """Which steps of a stretch end on a sample."""
    return np.array([part.sampled and (k + 1) % part.every == 0 for k in range(part.steps)])


def _peaks(plant: ProgrammedPlant, done: Integrated, limits: dict[str, Any], integrator: str) -> list[Peak]:
    """The extremes of a motion known on all steps."""
    lay, now = plant.layout, replace(plant, formulation="multipliers", independent=())
    look = kernel("observer", now, integrator)
    names, p = list(look.graph.outputs), np.array(values_of(now))
    after, before = (
        {name: np.asarray(v) for name, v in zip(names, look(done.x, p, t)) if name in ("qdd", "tau", "power")}
        for t in (done.t, np.maximum(done.t - 4.0 * margin(done.t), 0.0))
    )
    return peaks_of(
        numeric_robot(plant.robot, plant.parameters, None),
        limits,
        done.t,
        {"q": lay.q(done.x), "qd": lay.qd(done.x), **after},
        before,
    )


def integrate(plant: ProgrammedPlant, independent: tuple[int, ...] | None, x: np.ndarray, parts: list[Stretch], integrator: str) -> Integrated:  # fmt: skip
    """One stretch after the other."""
    t, rows, splits, reached = [np.zeros(1)], [x[None]], 0, 0
    done: Integrated | None = None
    for part in parts:
        done = _stretch(plant, independent, x, part, integrator, splits)
        if part.sampled:
            t.append(done.t[1:])
            rows.append(done.x[1:])
        reached += 1
        x, splits = done.last, done.splits
        if done.ending is not None:
            break
    assert done is not None
    later = [p.times for p in parts[reached:]]
    missing = sum(map(len, later))
    x_all = np.concatenate([*rows, np.full((missing, plant.layout.size), np.nan)])
    found = done._replace(t=np.concatenate([*t, *later]), x=x_all, splits=splits)
    return found if found.ending is None else _cut(plant, found)


def _stretch(plant: ProgrammedPlant, independent: tuple[int, ...] | None, x: np.ndarray, part: Stretch, integrator: str,
             splits: int) -> Integrated:  # fmt: skip
    """Step through the motion; where the independent coordinates become singular others take their place."""
    lay, steps, every, time = plant.layout, part.steps, part.every, part.time
    t = np.array([time(k) for k in range(0, steps + 1, every)])
    out = np.full((len(t), lay.size), np.nan)
    out[0] = x
    free = plant.formulation == "gpme" and independent is None and len(plant.constraints) < plant.robot.n
    done, before = 0, splits
    while done < steps:
        now, pivot = split(plant, independent, x, time(done))
        if pivot < SINGULAR_PIVOT:
            return Integrated(t, out, time(done), x, time(done), splits)
        threshold = min(SMALL_PIVOT, 0.1 * pivot) if free else SINGULAR_PIVOT
        phase("compiling")
        run = kernel("loop", now, integrator)
        phase("integrating")
        p = np.array(values_of(now))
        ahead = -done % every  # steps to the next sample: after a new split samples stay on the common grid
        count, stride = (min(ahead, steps - done), 1) if ahead else (steps - done, every)
        block, last, stopped = run(x, p, part.t0, done, part.h, part.ratio, threshold, count, stride)
        block, ok = np.asarray(block), int(stopped) < 0
        made = count if ok else int(stopped)
        if not ahead:
            whole = made // every + 1
            out[done // every : done // every + whole] = block[:whole]
        sound = np.isfinite(last).all() and np.abs(last[: 2 * lay.n]).sum() <= DIVERGED
        again = free and sound and splits < MAX_SPLITS and (made > 0 or splits == before)
        if not ok and not (again and split(plant, None, last, time(done + made))[1] >= SINGULAR_PIVOT):
            from_ = max(made - 1, 0) // stride * stride  # the last sample before the end, and every step after it
            x, first = block[from_ // stride], done + from_
            states, _, _ = run(x, p, part.t0, first, part.h, part.ratio, threshold, max(made - from_, 1), 1)
            last, steps_on = _sound(plant, np.asarray(states), [time(first + k) for k in range(len(states))])
            return Integrated(t, out, time(done + made), last, time(first + steps_on), splits)
        done, x = done + made, np.asarray(last)
        if done % every == 0:
            out[done // every] = x
        splits += not ok
    return Integrated(t, out, None, x, time(steps), splits)


def _sound(plant: ProgrammedPlant, states: np.ndarray, times: list[float]) -> tuple[np.ndarray, int]:
    """The last of consecutive states that still obeys the constraints, and its number."""
    lay = plant.layout
    found = 0
    for k, (x, t) in enumerate(zip(states, times)):
        if not np.isfinite(x).all():
            break
        rows = rows_at(plant, lay.q(x), lay.qd(x), t)
        off = np.abs(rows.value) / np.linalg.norm(rows.A, axis=1)
        if not off.max() < LEAVING:
            break
        found = k
    return states[found], found


def _cut(plant: ProgrammedPlant, run: Integrated) -> Integrated:
    """Samples from the early end on are not a motion; nor are those from the first one on that has left the constraints."""
    lay = plant.layout
    known = np.isfinite(run.x).all(axis=1)
    value = np.zeros((len(run.t), len(plant.constraints)))
    value[known] = rows_at(plant, lay.q(run.x[known]), lay.qd(run.x[known]), run.t[known]).value
    right = known & (run.t < run.ending) & (np.abs(value) <= RESIDUAL).all(axis=1)
    run.x[~np.logical_and.accumulate(right | (run.t == 0.0))] = np.nan
    return run


def split(
    plant: ProgrammedPlant, independent: tuple[int, ...] | None, x: np.ndarray, t: float
) -> tuple[ProgrammedPlant, float]:
    """The plant with its independent coordinates chosen for the state x, and how sound the choice is."""
    rows = rows_at(plant, plant.layout.q(x), plant.layout.qd(x), t)
    if plant.formulation == "gpme":
        unit = rows.A / np.linalg.norm(rows.A, axis=1)[:, None]
        plant = replace(plant, independent=choose_independent(unit) if independent is None else independent)
    else:
        plant = replace(plant, independent=())
    with np.errstate(all="ignore"):
        pivot = float(plant.health(rows))
    return plant, pivot if np.isfinite(pivot) else 0.0


def _result(plant: ProgrammedPlant, independent: tuple[int, ...] | None, done: Integrated, repeated: tuple[float, float], tolerance: float,
            h: float, integrator: str, moved: tuple[str, ...], known: Instants, more: dict[str, Any]) -> Result:  # fmt: skip
    lay, x, t, (estimate, agreed) = plant.layout, done.x, done.t, repeated
    # multipliers need no partition: the observer is the same for every split
    now = replace(plant, formulation="multipliers", independent=())
    phase("evaluating")
    look = kernel("observer", now, integrator)
    seen = dict(zip(look.graph.outputs, look(x, np.array(values_of(now)), t)))
    arrays = {"q": lay.q(x).copy(), "qd": lay.qd(x).copy(), **seen}
    arrays["tip"] = seen["pose"][..., :3, 3]
    arrays["energy"] = seen["kinetic"] + seen["potential"]
    audit = lay.audit(x)
    arrays["work_drives"], arrays["work_friction"], arrays["work_constraints"] = audit[:3]
    arrays["audit"] = audit.drives - audit.friction + audit.external - (arrays["energy"] - arrays["energy"][0])
    if sum(lay.drives):
        start = 2 * lay.n + sum(lay.friction)
        arrays["motors"] = x[:, start : start + sum(lay.drives)].copy()
    if sum(lay.friction):
        arrays["bristles"] = x[:, 2 * lay.n : 2 * lay.n + sum(lay.friction)].copy()
    missing = ~np.isfinite(x).all(axis=1)
    for value in arrays.values():
        value[missing] = np.nan
    passed = tuple(j for j in known.jumps if done.ending is None or j.t <= done.ending)
    if passed:
        status, reason = broken(passed)
    elif done.ending is None:
        status, reason = judged(plant, t, arrays["residual"], estimate, tolerance, known.unseen)
    else:
        status, reason = why_ended(plant, independent, x[0], done.last, done.before, done.ending)
    trusted = trusted_until(
        status, t, arrays["residual"], agreed, known.unseen, min((j.t for j in passed), default=np.inf)
    )
    reason += trust_in_words(trusted, float(t[-1]))
    meta = {
        "robot": plant.robot.name, "robot_digest": plant.robot.digest, "joint_names": plant.robot.joint_names,
        "joint_kinds": tuple(j.kind for j in plant.robot.joints), "kind": "programmed", "formulation": plant.formulation,
        "constraints": tuple(c.name for c in plant.constraints),
        "equations": tuple(c.equation for c in plant.constraints), "splits": done.splits, "stabilisation": plant.stabilisation,
        "step": h, "duration": float(t[-1]), "integrator": integrator, "versions": versions(), "name": "programmed motion",
        "robot_toml": robot_text(plant.robot), "settings": programmed_settings(plant),
        "acting": acting(plant.robot, plant.friction, plant.drives), "columns": columns(plant.robot, plant.friction), **more,
    }  # fmt: skip
    notes = (*moved, *known.doubts, *_drive_notes(plant), *_coordinate_notes(plant, independent, done.splits))
    arrays = {name: handed_over(value) for name, value in arrays.items()}
    return Result(t, arrays, status, reason, (status,), (reason,), estimate, meta, notes, plant, (), trusted)


def _coordinate_notes(plant: ProgrammedPlant, independent: tuple[int, ...] | None, splits: int) -> tuple[str, ...]:
    """Independent coordinates that were chosen anew, or that were given and did not act."""
    if splits:
        return (f"The independent coordinates were chosen anew {splits} times.".replace(" 1 times", " once"),)
    if independent is None or plant.formulation == "gpme":
        return ()
    given = ", ".join(plant.robot.joint_names[i] for i in independent) or "none"
    return (f'The formulation "multipliers" chooses no independent coordinates: independent = [{given}] did not act.',)


def _drive_notes(plant: ProgrammedPlant) -> tuple[str, ...]:
    """Drives of the robot that nobody asked for in this run do not act in it."""
    idle = [
        j.name
        for j, d in zip(plant.robot.joints, plant.drives)
        if d is None and j.drive is not None and not isinstance(j.drive, Rigid)
    ]
    if not idle:
        return ()
    return (
        f"The robot's own drives of {', '.join(idle)} do not act in a programmed motion; give drives=… for those that shall.",
    )
