r"""Runs whose step follows the error, entirely in machine code.

Between two samples the compiled loop takes as many steps as the tolerance asks for and lands exactly on the sample, so
samples are as accurate as steps; it lands on every known instant as well. After an attempt with error e (in units of the
tolerance) the next step is :math:`h\cdot\min(8, \max(0.2, 0.9\,e^{-1/(p+1)}))`; e > 1 is repeated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.errors import DescriptionError
from manipula.identity import identity
from manipula.simulation.integrators import ADAPTIVE
from manipula.simulation.integrators.base import AdaptiveStep
from manipula.simulation.loops.events import advance_through_events, error_scale, following, proposed_step
from manipula.simulation.loops.fixed import BatchPart, RunSamples, grid_of, how_to_run, part_of, unverified
from manipula.simulation.loops.interpreted import REMEMBERS, python_commands, python_rate, remembered_along
from manipula.simulation.loops.loop import CompiledLoop
from manipula.simulation.loops.probing import covered, foreign, probed
from manipula.simulation.loops.repetition import verified
from manipula.simulation.loops.setup import Run
from manipula.simulation.loops.watching import Watch, recorded
from manipula.simulation.plant.plant import Plant
from manipula.simulation.progress import phase
from manipula.simulation.scenario import Scenario
from manipula.simulation.stepping.grid import FAR, RATIO, Grid, inputs_of, margin, must_end, stage_times, watch_step

TIGHTEST = 2e-15
FIRST = 1e-6  # s, the step that is tried first
MAX_ATTEMPTS = 100_000.0  # between two samples
SMALLEST = 8.0  # units in the last place of t below which a step means nothing


def advance(method: AdaptiveStep, f: Any, after: Any, over: Any, state: tuple[Any, ...], goal: Any, tolerance: Any,
            largest: Any) -> tuple[Any, ...]:  # fmt: skip
    """``(t, x, h, rejected)`` moved to the time ``goal``, or to where it goes no further; traced or on floats.

    Args:
        after: gives the first known instant after t. over: must the run end in this state? largest: step ever taken.
    """

    def attempt(t: Any, x: Any, h: Any, rejected: Any) -> tuple[Any, Any, Any, Any]:
        end = ops.minimum(goal, after(t, x))
        left, h = end - t, ops.minimum(h, largest)
        hits = h >= left * (1.0 - 1e-12)
        step = ops.where(hits, left, h)
        inside = stage_times(t, step)
        new, error = method.attempt(lambda s, y: f(inside(s), y), t, x, step, error_scale(x, tolerance))
        fine = error <= 1.0
        proposal = proposed_step(method, error, step, rejected)
        # a step cut short at a sample says nothing
        proposal = ops.where(fine & hits, ops.maximum(h, proposal), proposal)
        x = array([ops.where(fine, a, b) for a, b in zip(new, x)])
        t = ops.where(fine, ops.where(hits, end, t + step), t)
        return t, x, proposal, ops.where(fine, 0.0, 1.0)

    return native.until(attempt, state, _arrived(goal, over), MAX_ATTEMPTS).state


def _arrived(goal: Any, over: Any) -> Any:
    """Is the time ``goal`` reached, or does the run go no further?"""

    def arrived(t: Any, x: Any, h: Any, *_: Any) -> Any:
        tiny = h <= SMALLEST * 2.3e-16 * (1.0 + ops.abs(t))
        return (t >= goal - margin(goal)) | tiny | over(x)

    return arrived


def samples_of(method: AdaptiveStep, plant: Plant, f: Any, x: Any, grid: Grid, samples: Any, tolerance: Any, largest: Any) -> dict[str, Any]:  # fmt: skip
    """States at the samples, and where the run ended early; traced or on floats."""
    n, after = plant.layout.n, following(plant, grid)
    over = lambda x: must_end(x, n, grid)  # noqa: E731

    def step(k: Any, *state: Any) -> Any:
        goal = native.lookup(grid.times, k + 1.0)
        numbers = goal, tolerance, largest
        if plant.has_events:
            arrived = _arrived(goal, over)
            moved = advance_through_events(method, plant, f, after, state[:-1], *numbers, arrived, MAX_ATTEMPTS)
        else:
            moved = advance(method, f, after, over, state[:-1], *numbers)
        return *moved, ops.where(moved[0] >= goal - margin(goal), 1.0, 0.0)

    def stop(k: Any, t: Any, x: Any, *rest: Any) -> Any:
        return (rest[-1] < 0.5) | over(x)

    begin = native.lookup(grid.times, ops.minimum(samples, 0.0))
    first = (begin, x, FIRST, 0.0, *((FAR, FIRST, 1.0) if plant.has_events else ()), 1.0)
    done = native.repeat(step, first, samples, record=lambda k, t, x, *_: x, stop=stop)
    t, last, h = done.state[:3]
    return {"samples": done.samples, "stopped": done.stopped, "reached": t, "last": last, "step": h}


def compiled(loop: CompiledLoop, name: str) -> native.Kernel:
    """``kernel(x0, p, breaks, coefficients, *grid, samples, tolerance, largest)`` → what ``samples_of`` gives."""
    if name in loop.adaptive:
        return loop.adaptive[name]
    shared = inputs_of(loop.plant.layout.n)

    def run(x: Any, p: Any, breaks: Any, coefficients: Any, *rest: Any) -> Any:
        plant = loop.traced(p, breaks, coefficients)
        rate = native.traced_once(lambda t, y: plant.flow(t, y).rate)  # for every stage of a step
        return samples_of(ADAPTIVE[name], plant, rate, x, Grid(*rest[:5]), *rest[5:])

    parts = None if loop.parts is None else identity(loop.parts, ADAPTIVE[name])
    kernel = native.kernel_of(
        run, {**loop.inputs, **shared, "tolerance": (), "largest": ()}, f"{loop.plant.robot.name}.{name}",
        parts, ("breaks", "coefficients", *shared),
    )  # fmt: skip
    return loop.adaptive.setdefault(name, kernel)


def run_adaptive(run: Run, integrator: str, threads: int | None = None, watch: Watch | None = None) -> RunSamples:
    """Integrate; then repeat with a fiftieth of the tolerance and with other steps, and compare.

    ``watch`` looks at the motion between samples too.
    """
    s = run.scenario
    grid, unseen = grid_of(run)
    tolerance = tolerance_of(s)
    phase("compiling")
    calls = how_to_run(run, lambda: compiled(run.loop, integrator))
    if calls.once_a_step:
        raise _needs_fixed_steps()
    if calls.python and integrator == "rodas":
        raise DescriptionError(
            f"'rodas' needs a controller that can be compiled; use 'dop853' or 'rk4'. {calls.note}", field="integrator"
        )
    marks, hidden = probed(run, calls.python)
    grid, unseen = grid.with_marks(marks), unseen + hidden
    if calls.python:
        calls = calls._replace(note=calls.note + covered(run))
    phase("integrating")

    def go(members: list[int], grid: Grid, tolerance: float, largest: float, x0: np.ndarray = run.x0) -> BatchPart:
        if calls.python:
            rows = []
            for k in members:
                plant, f = python_rate(run, k)
                rows.append(samples_of(ADAPTIVE[integrator], plant, f, x0[k], grid, grid.intervals, tolerance, largest))
            named = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        else:
            kernel = compiled(run.loop, integrator)
            out = kernel(x0[members], run.p[members], *run.inputs, *grid, grid.intervals, tolerance, largest,
                         threads=threads)  # fmt: skip
            named = dict(zip(kernel.graph.outputs, out))
        steps, times = np.atleast_1d(named["step"]), np.atleast_1d(named["reached"])
        tiny = steps <= SMALLEST * 2.3e-16 * (1.0 + np.abs(times))
        ends = named["stopped"], named["reached"], named["last"]
        why = lambda k: "step_too_small" if tiny[k] else "too_many_steps"  # noqa: E731
        return part_of(run, grid, named["samples"], None, *ends, why)

    longest = watch_step(s.step, float(s.duration or 0.0)) if s.stop_at_limits else FAR  # none jumps over a passage
    longest = min(longest, s.step) if run.plant.has_events else longest  # nor over two events that undo each other
    done = recorded(run, grid, lambda members, grid: go(members, grid, tolerance, longest), watch, calls.python)
    if calls.python and remembered_along(run, grid.times, done.x):
        raise _needs_fixed_steps()
    (error, trusted), decided = unverified(len(done.x), unseen), ()
    if s.verify and not unseen:
        finer = tolerance / 50 if tolerance / 50 > TIGHTEST else tolerance * 8
        # one step more between any two samples, so that steps and rounding are others
        between = grid.with_marks(grid.times[:-1] + RATIO * np.diff(grid.times)).with_wider_limits(s.tolerance)
        largest = min(longest, RATIO * s.step if foreign(run) else FAR)
        everyone = list(range(len(done.x)))
        again = lambda x0, members, at: go(members, at, finer, largest, x0)  # noqa: E731
        error, trusted, decided = verified(run, between, done, again, 1.0, everyone)
    commands = python_commands(run, grid.times, done.x) if calls.python else None
    ends = done.stopped, done.why, done.last
    return RunSamples(grid.times, done.x, *ends, error, trusted, calls, commands, unseen, done.changed, decided)


def tolerance_of(s: Scenario) -> float:
    """Of one step: long motions amplify what it commits."""
    return max(1e-6 * s.tolerance, TIGHTEST)


def _needs_fixed_steps() -> DescriptionError:
    return DescriptionError(
        f"The controller must be asked once a step, for {REMEMBERS}; choose a fixed-step integrator.",
        field="integrator",
    )
