"""Runs with a constant step, entirely in machine code (or in Python when a user's controller cannot be traced)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from manipula.errors import ManipulaError, TracingError
from manipula.identity import is_own
from manipula.native.calling.threads import thread_count
from manipula.native.locks import import_module
from manipula.simulation.integrators import FIXED
from manipula.simulation.loops.coarse_repetition import verified_coarsely
from manipula.simulation.loops.decisions import UnsureDecision, unsure_decisions
from manipula.simulation.loops.interpreted import (
    COMPILED,
    REMEMBERS,
    ControllerCalls,
    compiled_otherwise,
    keeps_a_memory,
    python_commands,
    python_rate,
    remembered_along,
    renew,
    step_under_command,
)
from manipula.simulation.loops.loop import CompiledLoop
from manipula.simulation.loops.probing import covered, probed
from manipula.simulation.loops.repetition import begun_beside, delicate, has_corners, verified
from manipula.simulation.loops.setup import Run
from manipula.simulation.loops.watching import Watch, recorded
from manipula.simulation.progress import phase
from manipula.simulation.stated_limits import position_limits
from manipula.simulation.stepping.coarse import share
from manipula.simulation.stepping.grid import DIVERGED, FAR, RATIO, WHOLE, Grid
from manipula.simulation.stepping.instants import formula_marks, narrower, table_marks, tabled_marks
from manipula.simulation.stepping.verification import shrinkage

SECONDS_PER_PAIR = 20e-9  # of computing that two random numbers take
MOST_NOISE = 4_000_000  # random numbers that are drawn before the runs they belong to are made; other runs draw theirs into the same memory


class RunSamples(NamedTuple):
    """What an integration gives.

    Attributes:
        t: sample times (S,). x: states (N, S, size), NaN after an early end. stopped: when each run ended early (inf: it did
            not), (N,). why: "" or what ended it: "diverged", "not_finite", "limit", "step_too_small", "too_many_steps", (N,).
        last: the last state of each run, (N, size).
        error: relative error of each run found by repeating it, (N,), NaN where that was not done.
        trusted: the time until which each run and its repetition agree, (N,), NaN where that was not done.
        calls: how the controller was called. commands: (N, S, n) where the observer cannot find them from the state.
        unseen: what changes faster than any step that was taken.
        changed: states in which payloads change, (N, k, size); NaN where a run ended before; None without such changes.
        decided: runs of which a last digit of the start decides what happens next. unsure: runs with decisions that steps cannot tell.
    """

    t: np.ndarray
    x: np.ndarray
    stopped: np.ndarray
    why: tuple[str, ...]
    last: np.ndarray
    error: np.ndarray
    trusted: np.ndarray
    calls: ControllerCalls = COMPILED
    commands: np.ndarray | None = None
    unseen: tuple[str, ...] = ()
    changed: np.ndarray | None = None
    decided: tuple[int, ...] = ()
    unsure: Mapping[int, UnsureDecision] = MappingProxyType({})


class BatchPart(NamedTuple):
    """States, commands and early ends of some runs of a batch, like the fields of Samples."""

    x: np.ndarray
    commands: np.ndarray | None
    stopped: np.ndarray
    why: tuple[str, ...]
    last: np.ndarray
    changed: np.ndarray | None = None


def grid_of(run: Run, step: float | None = None) -> tuple[Grid, tuple[str, ...]]:
    """Where the steps of a run end, and what cannot be resolved. ``step``: of a fixed method; none follows the error."""
    found = run.grids.get(step)
    if found is not None:
        return found
    s = run.scenario
    end = float(s.duration or 0.0)
    moved_by = (*run.plant.disturbances, run.plant.base_motion)
    examined = formula_marks(run.plant.drives, moved_by, end, s.step)
    marks = examined.marks if step is None else narrower(examined.marks, step)
    free = np.full(s.robot.n, np.inf)
    low, high = position_limits(s.robot, s.limits, s.parameters) if s.stop_at_limits else (-free, free)
    instants = np.concatenate([marks, table_marks(*run.inputs), tabled_marks(moved_by)])
    run.grids[step] = found = Grid.of(s.times, instants, low, high), examined.unresolved
    return found


def run_fixed(run: Run, threads: int | None = None, watch: Watch | None = None) -> RunSamples:
    """Integrate, with ``watch`` looking at every step; then repeat with longer steps where those can tell, else with every step divided in two
    unequal parts, and compare.

    A sampled loop keeps its control period when it is verified: only the integration within it gets finer.
    """
    s = run.scenario
    grid, unseen = grid_of(run, s.step)
    phase("compiling")
    calls = how_to_run(run, lambda: run.loop.run)
    integrate = _interpreted if calls.python else _native
    if calls.once_a_step:
        run, calls = _asked_once_a_step(run, s.period)
    marks, hidden = probed(run, calls.python, s.step)
    grid, unseen = grid.with_marks(marks) if len(marks) else grid, unseen + hidden
    if calls.python:
        calls = calls._replace(note=calls.note + covered(run))
    phase("integrating")
    whole = lambda members, grid: integrate(run, members, grid, WHOLE, threads)  # noqa: E731
    done = recorded(run, grid, whole, watch, calls.python)
    if calls.python and not calls.once_a_step and remembered_along(run, grid.times, done.x):
        run, calls = _asked_once_a_step(run, s.period)
        done = recorded(run, grid, whole, watch, True)
    (error, trusted), decided, unsure = unverified(len(done.x), unseen), (), {}
    if s.verify and not unseen:
        steps, order = grid.steps(steps_of(run)[0]), FIXED[s.integrator].order
        if not calls.python:
            phase("verifying")
            coarse = run if delicate(run) else replace(run, x0=begun_beside(run, steps, share(order)))
            error, trusted = verified_coarsely(
                run,
                grid,
                done,
                lambda members, blocks: _native(coarse, members, blocks, RATIO, threads, FAR),
                lambda beside, t, h: _one_step(beside, grid, t, h),
            )
        left = np.flatnonzero(np.isnan(error))
        wider = grid.with_wider_limits(s.tolerance)
        finer = lambda x0, members, at: integrate(replace(run, x0=x0), members, at, RATIO, threads)  # noqa: E731
        factor = shrinkage(1 if has_corners(run.plant) else order)
        error[left], trusted[left], decided = verified(run, wider, done, finer, factor, left.tolist(), steps)
        agreeing = np.flatnonzero(error <= s.tolerance).tolist()
        again = lambda members, at: finer(run.x0, members, at)  # noqa: E731
        shaken = lambda member: noise_of(run, member) if run.loop.noisy else None  # noqa: E731
        unsure = unsure_decisions(run, grid, whole, again, factor, agreeing, shaken, not calls.python)
        for k, found in unsure.items():
            trusted[k] = grid.times[grid.times < found.t].max()
    commands = done.commands
    if calls.python and commands is None:
        commands = python_commands(run, grid.times, done.x)
    ends = done.stopped, done.why, done.last
    return RunSamples(grid.times, done.x, *ends, error, trusted, calls, commands, unseen, done.changed, decided, unsure)


def _asked_once_a_step(run: Run, h: float) -> tuple[Run, ControllerCalls]:
    """The run of a controller with a memory: a sampled one, like a digital controller with the step as its period."""
    loop = run.loop
    held = CompiledLoop(run.plant, loop.dimension, loop.integrator, loop.noisy, loop.delay, True, loop.periodic)
    once = "once a control period" if loop.periodic else "once a step"
    note = (
        f"The controller ran in Python: {REMEMBERS}, so it was asked {once} (every {h:g} s) and its torques were "
        "held in between; every run and its verification began with the memory empty."
    )
    return replace(run, loop=held), ControllerCalls(python=True, once_a_step=True, note=note)


def how_to_run(run: Run, compile_loop: Callable[[], Any]) -> ControllerCalls:
    """Compile the loop; or say why the controller has to run in Python."""
    once_a_step = keeps_a_memory(run)
    why = REMEMBERS
    if not once_a_step:
        try:
            compile_loop()
            why = compiled_otherwise(run)
            if not why:
                return COMPILED
        except (TracingError, TypeError) as error:
            if run.plant.controller is None:
                raise
            why = str(error)
        except ManipulaError:
            raise
        except Exception as error:  # of a user's controller, asked with traced numbers; in Python it may well work
            if run.plant.controller is None or is_own(run.plant.controller):
                raise
            why = f"{type(error).__name__}: {error}"
        finally:
            renew(run)
    return ControllerCalls(True, once_a_step, f"The controller could not be compiled and ran in Python: {why}")


def unverified(count: int, unseen: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Errors and times of runs that were not repeated: nothing is known, or it is known that no step was short enough."""
    return (np.full(count, np.inf), np.zeros(count)) if unseen else (np.full(count, np.nan), np.full(count, np.nan))


def part_of(run: Run, grid: Grid, x: Any, commands: Any, stopped: Any, reached: Any, last: Any, why: Callable[[int], str]) -> BatchPart:  # fmt: skip
    """Outputs of a loop as arrays; what was recorded where a run ended early is no sample.

    Args:
        stopped: the sample at which each run was found to have ended, or -1. reached: the time of its last state.
        why: gives the reason of a run that stopped in a sound state.
    """
    lay, stopped = run.plant.layout, np.atleast_1d(np.asarray(stopped, float))
    count = len(stopped)
    x = np.asarray(x, float).reshape(count, len(grid.times), lay.size)
    last, reached = np.asarray(last, float).reshape(count, lay.size), np.asarray(reached, float).reshape(count)
    reasons = [""] * count
    for k in np.flatnonzero(stopped >= 0):
        x[k, max(1, int(stopped[k])) :] = np.nan
        reasons[k] = _ended_by(last[k], lay.n, grid) or why(int(k))
    if commands is not None:
        commands = np.asarray(commands, float).reshape(count, len(grid.times), lay.n)
    return BatchPart(x, commands, np.where(stopped < 0, np.inf, reached), tuple(reasons), last)


def _ended_by(x: np.ndarray, n: int, grid: Grid) -> str:
    if not np.isfinite(x).all():
        return "not_finite"
    if np.abs(x[: 2 * n]).sum() > DIVERGED:
        return "diverged"
    return "limit" if ((x[:n] < grid.low) | (x[:n] > grid.high)).any() else ""


def one_step_per_sample(run: Run, grid: Grid) -> BatchPart:
    """All members from the first of the grid's times on, in steps from each time to the next; divided where something happens in between."""
    return _native(run, range(len(run.x0)), grid, WHOLE, 1, FAR, float(grid.times[0]))


def _one_step(run: Run, grid: Grid, t: float, h: float) -> np.ndarray:
    """The states of all members one step of h after the time t."""
    single = Grid.of(
        np.array([t, t + h]), np.empty(0), np.full_like(grid.low, -np.inf), np.full_like(grid.high, np.inf)
    )
    return one_step_per_sample(run, single).last


def _native(
    run: Run,
    members: Sequence[int],
    grid: Grid,
    ratio: float,
    threads: int | None,
    step: float | None = None,
    t0: float = 0.0,
) -> BatchPart:
    kernel, loop, h = run.loop.run, run.loop, step or steps_of(run)[0]
    chosen = list(members)
    x0, p = run.x0[chosen], run.p[chosen]
    every = steps_of(run)[1]
    numbers = (*run.inputs, *grid, grid.intervals, t0, h, ratio, *lag(run), *((every,) if loop.periodic else ()))
    turns = grid.steps(h) * (1.0 if ratio == WHOLE else 2.0)
    if not loop.noisy:
        out = kernel(x0, p, *numbers, threads=threads, turns=turns)
    else:  # every run has its own noise, drawn from (seed, run): independent of order and batch size
        rows, width = noise_shape(run)
        at_once = min(len(chosen), max(1, MOST_NOISE // (rows * width)))
        noise = np.empty((at_once * rows, width))
        parts = []
        for some in (slice(k, k + at_once) for k in range(0, len(chosen), at_once)):
            _draw_noise(run, chosen[some], noise, threads)
            first = rows * np.arange(len(chosen[some]), dtype=float)
            parts.append(kernel(x0[some], p[some], *numbers, noise, first, threads=threads, turns=turns))
        out = parts[0] if len(parts) == 1 else tuple(np.concatenate(column) for column in zip(*parts))
    named = dict(zip(kernel.graph.outputs, out))
    ends = named["stopped"], named["reached"], named["last"]
    return part_of(run, grid, named["samples"], named.get("commands"), *ends, lambda k: "")


def lag(run: Run) -> tuple[float, ...]:
    """What is left of the delay behind whole periods [s]; nothing where there is no delay."""
    s = run.scenario
    return (s.actuator.delay - (run.loop.delay - 1) * s.period,) if run.loop.delay else ()


def steps_of(run: Run) -> tuple[float, float]:
    """The step of a run, and how many of them a control period has: the fewest that are no longer than the step asked for."""
    s = run.scenario
    if not run.loop.periodic:
        return s.step, 1.0
    count = math.ceil(s.period / s.step * (1.0 - 1e-12))
    return s.period / count, float(count)


def noise_shape(run: Run) -> tuple[int, int]:
    """Instants at which a run is measured (every period, and the end), and what is measured: q and qd (2n), of motors too (4n)."""
    s = run.scenario
    motors = s.controller is not None and "motors" in s.controller.measures
    return s.periods + 1, (4 if motors else 2) * s.robot.n


def noise_of(run: Run, member: int, out: np.ndarray | None = None) -> np.ndarray:
    """Measurement errors of one run, with the shape of ``noise_shape``; written into ``out`` where it is given."""
    s = run.scenario
    seed, number = (run.noise_seeds[member], 0) if run.noise_seeds else (s.noise.seed, int(member))
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(number,))))
    values = np.empty(noise_shape(run)) if out is None else out
    rng.standard_normal(out=values)
    sizes = [s.noise.position] * s.robot.n + [s.noise.velocity] * s.robot.n
    values *= sizes * (values.shape[1] // len(sizes))
    return values


def _draw_noise(run: Run, members: list[int], noise: np.ndarray, threads: int | None) -> None:
    """Measurement errors of several runs behind each other; drawn on several threads, each run from its own generator."""
    rows, width = noise_shape(run)
    draw = lambda place: noise_of(run, members[place], noise[place * rows : (place + 1) * rows])  # noqa: E731
    workers = thread_count(threads, len(members) * rows * width / 2 * SECONDS_PER_PAIR)
    if workers == 1:
        for place in range(len(members)):
            draw(place)
        return
    import_module("concurrent.futures.thread")
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(draw, range(len(members))):
            pass


def _interpreted(run: Run, members: Sequence[int], grid: Grid, ratio: float, threads: int | None) -> BatchPart:
    """The same loop in plain Python: slow, and honest about it."""
    rows = []
    for k in members:
        plant, rate = python_rate(run, k)
        noise = (noise_of(run, k), 0.0) if run.loop.noisy else ()
        h, every = steps_of(run)
        numbers, late = (grid.intervals, 0.0, h, ratio), sum(lag(run))
        rows.append(
            run.loop.advance(
                plant,
                rate,
                run.x0[k],
                grid,
                *numbers,
                lag=late,
                every=every,
                noise=noise,
                hold=step_under_command(run, k),
            )
        )
    named = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    ends = named["stopped"], named["reached"], named["last"]
    return part_of(run, grid, named["samples"], named.get("commands"), *ends, lambda k: "")
