"""Runs with a constant step, entirely in machine code (or in Python when a user's controller cannot be traced)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from manipula.errors import TracingError
from manipula.simulation.integrators import FIXED
from manipula.simulation.interpreted import RESTLESS, python_commands, python_rate, reason_to_interpret
from manipula.simulation.judge import compare
from manipula.simulation.loop import Loop
from manipula.simulation.progress import phase
from manipula.simulation.setup import Run

MAX_VERIFIED = 64  # runs of a batch that are repeated with half the step


class Samples(NamedTuple):
    """What an integration gives.

    Attributes:
        t: sample times (S,). x: states (N, S, size). stopped: when each run ended early (inf: it did not), (N,).
        error: relative error of each run found by repeating it, (N,), NaN where that was not done.
        notes: what the user should know. commands: (N, S, n) where the observer cannot find them from the state.
    """

    t: np.ndarray
    x: np.ndarray
    stopped: np.ndarray
    error: np.ndarray
    notes: tuple[str, ...] = ()
    commands: np.ndarray | None = None


class Part(NamedTuple):
    """States, commands and early ends of some runs of a batch."""

    x: np.ndarray
    commands: np.ndarray | None
    stopped: np.ndarray


def run_fixed(run: Run, threads: int | None = None) -> Samples:
    """Integrate; then repeat with half the step (a few runs of a batch) and compare.

    A sampled loop keeps its control period when the step is halved: only the integration within it gets finer.
    """
    s = run.scenario
    steps, every = s.steps, s.every
    h = float(s.duration or 0.0) / steps
    times = np.arange(steps // every + 1) * (every * h)
    phase("compiling")
    notes = how_to_run(run, lambda: run.loop.run)
    integrate = _interpreted if notes else _native
    restless = RESTLESS in "".join(notes)
    if restless:  # asked once a step, as a controller with a memory expects
        loop = run.loop
        run = replace(run, loop=Loop(run.plant, loop.dimension, loop.integrator, loop.noisy, loop.delay, held=True))
    phase("integrating")
    everyone = range(len(run.x0))
    done = integrate(run, everyone, h, steps, every, 1, threads)

    def finer(members: list[int]) -> Part:
        if run.loop.sampled:
            return integrate(run, members, h, steps, every, 2, threads)
        return integrate(run, members, h / 2, 2 * steps, 2 * every, 1, threads)

    order = FIXED[s.integrator].order
    error = np.full(len(done.x), np.nan) if restless else verified(run, done, finer, order)
    commands = done.commands
    if notes and commands is None:
        commands = python_commands(run, times, done.x)
    return Samples(times, done.x, done.stopped, error, notes, commands)


def how_to_run(run: Run, compile_loop: Callable[[], Any]) -> tuple[str, ...]:
    """Compile the loop; or say why the controller has to run in Python."""
    why = reason_to_interpret(run)
    if not why:
        try:
            compile_loop()
            return ()
        except (TracingError, TypeError) as error:
            if run.plant.controller is None:
                raise
            why = str(error)
    return (f"The controller could not be compiled and ran in Python: {why}",)


def verified(run: Run, done: Part, finer: Callable[[list[int]], Part], order: int) -> np.ndarray:
    """Errors found by repeating runs more finely, (N,).

    At most MAX_VERIFIED runs of a batch are repeated; the others are given the largest error found among those.
    """
    error = np.full(len(done.x), np.nan)
    if not run.scenario.verify:
        return error
    chosen = np.unique(np.linspace(0, len(done.x) - 1, min(len(done.x), MAX_VERIFIED)).astype(int))
    sane = [int(k) for k in chosen if not np.isfinite(done.stopped[k])]
    if not sane:
        return error
    phase("verifying")
    fine, n = finer(sane), run.plant.layout.n
    for i, k in enumerate(sane):
        ended = np.isfinite(fine.stopped[i])
        error[k] = np.inf if ended else compare(done.x[k, :, : 2 * n], fine.x[i, :, : 2 * n], order)
    if len(chosen) < len(error):
        error[np.isnan(error)] = np.nanmax(error)
    return error


def _native(
    run: Run, members: Sequence[int], h: float, steps: int, every: int, inner: int, threads: int | None
) -> Part:
    kernel, loop = run.loop.run, run.loop
    counts = (steps, every, inner) if loop.sampled else (steps, every)
    x0, p = run.x0[list(members)], run.p[list(members)]
    if not loop.noisy:
        out = kernel(x0, p, *run.inputs, 0.0, h, *counts, threads=threads)
    else:  # every run has its own noise, drawn from (seed, run): independent of order and batch size
        rows = [
            kernel(x0[i], p[i], *run.inputs, 0.0, h, *counts, *noise_table(run.scenario, member))
            for i, member in enumerate(members)
        ]
        out = tuple(np.array(column) for column in zip(*rows))
    stopped = np.atleast_1d(np.asarray(out[-1], float))
    return Part(
        np.asarray(out[0]).reshape(len(x0), -1, run.plant.layout.size),
        np.asarray(out[1]).reshape(len(x0), -1, run.plant.layout.n) if loop.sampled else None,
        np.where(stopped < 0, np.inf, stopped * h),
    )


def noise_table(s: Any, member: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise of one run as a piecewise constant table: breaks (k + 1,), values (k, 2n, 1)."""
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(s.noise.seed, spawn_key=(int(member),))))
    n, steps = s.robot.n, s.steps
    values = rng.standard_normal((steps, 2 * n))
    values[:, :n] *= s.noise.position
    values[:, n:] *= s.noise.velocity
    h = float(s.duration) / steps
    return np.arange(steps + 1) * h, values[:, :, None]


def _interpreted(
    run: Run, members: Sequence[int], h: float, steps: int, every: int, inner: int, threads: int | None
) -> Part:
    """The same loop in plain Python: slow, and honest about it."""
    rows = []
    for k in members:
        plant, rate = python_rate(run, k)
        noise = noise_table(run.scenario, k) if run.loop.noisy else ()
        rows.append(run.loop.advance(plant, rate, run.x0[k], 0.0, h, steps, every, inner, noise))
    stopped = np.array([float(r["stopped"]) for r in rows])
    commands = np.array([r["commands"] for r in rows]) if run.loop.sampled else None
    return Part(np.array([r["samples"] for r in rows]), commands, np.where(stopped < 0, np.inf, stopped * h))
