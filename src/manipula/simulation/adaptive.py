r"""Runs whose step follows the error, entirely in machine code.

Between two samples the compiled loop takes as many steps as the tolerance asks for and lands exactly on the sample, so
samples are as accurate as steps. After an attempt with error e (in units of the tolerance) the next step is
:math:`h\cdot\min(8, \max(0.2, 0.9\,e^{-1/(p+1)}))`; e > 1 is repeated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.errors import DescriptionError
from manipula.simulation.fixed import Part, Samples, how_to_run, verified
from manipula.simulation.integrators import ADAPTIVE
from manipula.simulation.integrators.base import AdaptiveStep
from manipula.simulation.interpreted import RESTLESS, python_commands, python_rate
from manipula.simulation.loop import Loop, diverged
from manipula.simulation.progress import phase
from manipula.simulation.setup import Run

TIGHTEST = 2e-15
MAX_ATTEMPTS = 100_000.0  # between two samples
SMALLEST = 8.0  # units in the last place of t below which a step means nothing


def advance(
    method: AdaptiveStep, f: Any, t: Any, x: Any, h: Any, target: Any, tolerance: Any
) -> tuple[Any, Any, Any, Any]:
    """State, step proposal and remaining time at ``target``; traced or on floats. Returns (x, h, t reached, attempts)."""
    exponent = -1.0 / (method.error_order + 1)

    def attempt(t: Any, x: Any, h: Any, rejected: Any) -> tuple[Any, Any, Any, Any]:
        left = target - t
        hits = h >= left * (1.0 - 1e-12)
        step = ops.where(hits, left, h)

        def scale(new: Any) -> Any:
            return array([tolerance * (1.0 + ops.maximum(ops.abs(a), ops.abs(b))) for a, b in zip(x, new)])

        new, error = method.attempt(f, t, x, step, scale)
        fine = error <= 1.0
        factor = ops.minimum(8.0, ops.maximum(0.2, 0.9 * ops.exp(exponent * ops.log(ops.maximum(error, 1e-12)))))
        factor = ops.where(native.is_finite(error), factor, 0.2)
        factor = ops.where(rejected > 0.5, ops.minimum(factor, 1.0), factor)
        proposal = step * factor
        proposal = ops.where(
            fine & hits, ops.maximum(h, proposal), proposal
        )  # a step cut short at a sample says nothing
        x = array([ops.where(fine, a, b) for a, b in zip(new, x)])
        t = ops.where(fine, ops.where(hits, target, t + step), t)
        return t, x, proposal, ops.where(fine, 0.0, 1.0)

    def arrived(t: Any, x: Any, h: Any, rejected: Any) -> Any:
        tiny = h <= SMALLEST * 2.3e-16 * (1.0 + ops.abs(t))
        return (t >= target) | tiny

    (t, x, h, _), count = native.until(attempt, (t, x, h, 0.0), arrived, MAX_ATTEMPTS)
    return x, h, t, count


def samples_of(method: AdaptiveStep, f: Any, n: int, x: Any, interval: Any, samples: Any, tolerance: Any) -> Any:
    """States at multiples of ``interval``, and the sample at which the run ended early; traced or on floats."""

    def step(i: Any, x: Any, h: Any, reached: Any) -> Any:
        target = (i + 1.0) * interval
        x, h, t, _ = advance(method, f, i * interval, x, h, target, tolerance)
        return x, h, ops.where(t >= target, 1.0, 0.0)

    def stop(i: Any, x: Any, h: Any, reached: Any) -> Any:
        return (reached < 0.5) | diverged(x, n)

    first = ops.minimum(1e-3 * interval, 1e-4)
    done = native.repeat(step, (x, first, 1.0), samples, record=lambda i, x, h, reached: x, stop=stop)
    return {"samples": done.samples, "stopped": done.stopped}


def compiled(loop: Loop, name: str) -> native.Kernel:
    """``kernel(x0, p, breaks, coefficients, interval, samples, tolerance)`` → states at the samples, stopped."""
    found = loop.__dict__.setdefault("_adaptive", {})
    if name in found:
        return found[name]

    def run(x: Any, p: Any, breaks: Any, coefficients: Any, *numbers: Any) -> Any:
        plant = loop.traced(p, breaks, coefficients)
        return samples_of(ADAPTIVE[name], lambda t, y: plant.flow(t, y).rate, plant.layout.n, x, *numbers)

    kernel = native.compile_function(
        run, {**loop.inputs, "interval": (), "samples": (), "tolerance": ()}, name=f"{loop.plant.robot.name}.{name}",
        shared=("breaks", "coefficients", "samples"),
    )  # fmt: skip
    found[name] = kernel
    return kernel


def run_adaptive(run: Run, integrator: str, threads: int | None = None) -> Samples:
    """Integrate; then repeat some runs with a fiftieth of the tolerance and on half the grid, and compare."""
    s = run.scenario
    count = max(1, s.samples - 1)
    interval = float(s.duration or 0.0) / s.steps * min(s.every, s.steps)
    times = np.arange(count + 1) * interval
    tolerance = max(1e-6 * s.tolerance, TIGHTEST)  # long motions amplify what a step commits
    phase("compiling")
    notes = how_to_run(run, lambda: compiled(run.loop, integrator))
    if RESTLESS in "".join(notes):
        raise DescriptionError(
            f"The controller remembers something ({RESTLESS}); choose a fixed-step integrator.", field="integrator"
        )
    if notes and integrator == "rodas":
        raise DescriptionError(
            f"'rodas' needs a controller that can be compiled; use 'dop853' or 'rk4'. {notes[0]}", field="integrator"
        )
    phase("integrating")
    n, size = run.plant.layout.n, run.plant.layout.size

    def go(members: list[int], tolerance: float, divide: int = 1) -> Part:
        numbers = interval / divide, count * divide, tolerance
        if notes:
            rows = []
            for k in members:
                _, f = python_rate(run, k)
                done = samples_of(ADAPTIVE[integrator], f, n, run.x0[k], *numbers)
                rows.append((done["samples"], done["stopped"]))
            x, stopped = (np.array(column) for column in zip(*rows))
        else:
            x, stopped = compiled(run.loop, integrator)(
                run.x0[members], run.p[members], *run.inputs, *numbers, threads=threads
            )
        stopped = np.atleast_1d(np.asarray(stopped, float))
        grid = np.asarray(x).reshape(len(members), count * divide + 1, size)[:, ::divide]
        return Part(grid, None, np.where(stopped < 0, np.inf, stopped * interval / divide))

    done = go(list(range(len(run.x0))), tolerance)
    finer = tolerance / 50 if tolerance / 50 > TIGHTEST else tolerance * 8
    error = verified(
        run, done, lambda members: go(members, finer, 2), 20
    )  # other steps, so that rounding differs as well
    commands = python_commands(run, times, done.x) if notes else None
    return Samples(times, done.x, done.stopped, error, notes, commands)
