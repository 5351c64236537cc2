"""Runs with a constant step, entirely in machine code (or in Python when a user's controller cannot be traced)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from manipula import native
from manipula.control.base import Target
from manipula.errors import TracingError
from manipula.simulation.integrators import FIXED
from manipula.simulation.loop import within
from manipula.simulation.progress import phase
from manipula.simulation.setup import Run

MAX_VERIFIED = 64  # runs of a batch that are repeated with half the step


class Samples(NamedTuple):
    """States at the sample times (N, S, size), the time at which each run stopped early (inf: it did not), error estimate."""

    t: np.ndarray
    x: np.ndarray
    stopped: np.ndarray
    error: float
    notes: tuple[str, ...]


def run_fixed(run: Run, threads: int | None = None) -> Samples:
    """Integrate; then repeat with half the step (a few runs of a batch) and compare."""
    s = run.scenario
    steps, every = s.steps, s.every
    h = float(s.duration or 0.0) / steps
    times = np.arange(steps // every + 1) * (every * h)
    phase("compiling")
    try:
        run.loop.run  # noqa: B018  traced at the first use
        phase("integrating")
        x, stopped = _native(run, run.x0, run.p, h, steps, every, threads, range(len(run.x0)))
        notes: tuple[str, ...] = ()
    except (TracingError, TypeError) as error:
        if run.plant.controller is None or run.plant.controller.name != "user":
            raise
        x, stopped = _interpreted(run, h, steps, every)
        notes = (f"The controller could not be compiled and ran in Python: {error}",)
        return Samples(times, x, stopped, float("nan"), notes)
    estimate = float("nan")
    if s.verify:
        chosen = np.unique(np.linspace(0, len(x) - 1, min(len(x), MAX_VERIFIED)).astype(int))
        sane = [int(k) for k in chosen if not np.isfinite(stopped[k])]
        if sane:
            from manipula.simulation.judge import compare

            phase("verifying")
            fine, ended = _native(run, run.x0[sane], run.p[sane], h / 2, 2 * steps, 2 * every, threads, sane)
            n = run.plant.layout.n
            order = FIXED[s.integrator].order
            estimate = max(
                float("inf") if np.isfinite(ended[i]) else compare(x[k, :, : 2 * n], fine[i, :, : 2 * n], order)
                for i, k in enumerate(sane)
            )
    return Samples(times, x, stopped, estimate, notes)


def _native(run: Run, x0: np.ndarray, p: np.ndarray, h: float, steps: int, every: int, threads: int | None,
            members: Any) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    kernel = run.loop.run
    s = run.scenario
    if not run.loop.noisy:
        samples, _, stopped = kernel(x0, p, *run.inputs, 0.0, h, steps, every, threads=threads)
    else:  # every run has its own noise, drawn from (seed, run): independent of order and batch size
        rows = []
        for i, member in enumerate(members):
            breaks, noise = noise_table(s, int(member))
            rows.append(kernel(x0[i], p[i], *run.inputs, 0.0, h, steps, every, breaks, noise))
        samples, stopped = np.array([r[0] for r in rows]), np.array([r[2] for r in rows])
    stopped = np.atleast_1d(np.asarray(stopped, float))
    return np.asarray(samples).reshape(len(x0), -1, run.plant.layout.size), np.where(stopped < 0, np.inf, stopped * h)


def noise_table(s: Any, member: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise of one run as a piecewise constant table: breaks (k + 1,), values (k, 2n, 1)."""
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(s.noise.seed, spawn_key=(member,))))
    n, steps = s.robot.n, s.steps
    values = rng.standard_normal((steps, 2 * n))
    values[:, :n] *= s.noise.position
    values[:, n:] *= s.noise.velocity
    h = float(s.duration) / steps
    return np.arange(steps + 1) * h, values[:, :, None]


def _interpreted(run: Run, h: float, steps: int, every: int) -> tuple[np.ndarray, np.ndarray]:
    """The same loop in plain Python: slow, and honest about it."""
    s = run.scenario
    method = FIXED[s.integrator]
    lay = run.plant.layout
    table = native.table(run.table.breaks, run.table.coefficients)
    first, second = table.derivative(), table.derivative(2)
    plant = replace(run.plant, reference=lambda t: Target(table(t), first(t), second(t)))
    out = np.full((len(run.x0), steps // every + 1, lay.size), np.nan)
    stopped = np.full(len(run.x0), np.inf)
    for k, x0 in enumerate(run.x0):
        x = x0.astype(float)
        for i in range(steps + 1):
            if not np.isfinite(x).all() or np.abs(x[: 2 * lay.n]).max() > 1e10:
                stopped[k] = i * h
                break
            if i % every == 0:
                out[k, i // every] = x
            if i < steps:
                inside = within(i * h, h)
                x = np.asarray(method.step(lambda t, y: plant.flow(inside(t), y).rate, i * h, x, h, lay.n), float)  # noqa: B023
    return out, stopped
