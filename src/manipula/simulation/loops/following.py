"""A run followed again from one of its states, as finely as somebody asks: with the events that its own steps end at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from manipula.simulation.integrators import ADAPTIVE
from manipula.simulation.loops.adaptive import compiled, tolerance_of
from manipula.simulation.loops.fixed import grid_of, one_step_per_sample
from manipula.simulation.loops.setup import Run
from manipula.simulation.stepping.grid import FAR, Grid


def followed(run: Run, k: int, x: np.ndarray, times: np.ndarray) -> np.ndarray:
    """States (M, size) of run k at ``times`` (M,), which begin with the instant of the state x; NaN from where it goes no further.

    Fixed steps are taken from one of these times to the next. Joint limits end nothing, and nothing may be decided once a step and held.
    """
    s, free = run.scenario, np.full(run.plant.layout.n, np.inf)
    known = grid_of(run, None if s.integrator in ADAPTIVE else s.step)[0].marks[1:-1]
    grid = Grid.of(times, known, -free, free)
    if s.integrator not in ADAPTIVE:
        return one_step_per_sample(replace(run, x0=x[None], p=run.p[k : k + 1]), grid).x[0]
    out = compiled(run.loop, s.integrator)(x, run.p[k], *run.inputs, *grid, grid.intervals, tolerance_of(s), FAR)
    named = dict(zip(compiled(run.loop, s.integrator).graph.outputs, out))
    states, stopped = np.array(named["samples"], float), float(named["stopped"])
    if stopped >= 0.0:
        states[max(1, int(stopped)) :] = np.nan
    return states
