"""A run looked at on every step and at every known instant, whatever samples were asked for: limits are held against the motion itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from manipula.simulation.loops.interpreted import python_commands
from manipula.simulation.loops.setup import Run
from manipula.simulation.plant.numbers import paths_of
from manipula.simulation.stated_limits import stated_limits
from manipula.simulation.stepping.grid import Grid, margin
from manipula.simulation.stepping.instants import in_order

AT_ONCE = 5_000_000  # numbers of the states that are looked at together
MOST = 20_000_000  # numbers of one run beyond which only its samples are looked at
INSTANTS = (".start", ".stop", ".time")

Watch = Callable[[Run, Sequence[int], np.ndarray, np.ndarray, np.ndarray | None], None]


def watched_times(run: Run, grid: Grid) -> np.ndarray | None:
    """The samples, all steps, and the instants at which something is known to change; None where the samples are all of them.

    Nothing is watched without a limit, and nothing beyond a budget of memory.
    """
    s = run.scenario
    if not stated_limits(s.robot, s.limits):
        return None
    end = float(s.duration or 0.0)
    own = [
        k for k, path in enumerate(paths_of(run.plant)) if path.startswith("disturbances") and path.endswith(INSTANTS)
    ]
    instants = np.concatenate([np.arange(1, s.steps) * s.step, grid.marks[1:-1], run.p[:, own].ravel()])
    instants = in_order(instants[(instants > 0.0) & (instants < end)])
    after = np.clip(np.searchsorted(grid.times, instants), 1, len(grid.times) - 1)
    off = np.minimum(grid.times[after] - instants, instants - grid.times[after - 1])
    between = instants[off > 4.0 * margin(instants)]
    if not len(between) or (len(between) + len(grid.times)) * run.plant.layout.size > MOST:
        return None
    return np.sort(np.concatenate([grid.times, between]))


def recorded(
    run: Run, grid: Grid, integrate: Callable[[list[int], Grid], Any], watch: Watch | None, python: bool
) -> Any:
    """All runs of a batch at their samples; ``watch`` sees each group of them on every step, if there is more to see than samples.

    Args:
        integrate: gives the states of some members on a grid. python: is the controller called from Python?
    """
    everyone = list(range(len(run.x0)))
    times = None if watch is None else watched_times(run, grid)
    if watch is None or times is None:
        return integrate(everyone, grid)
    dense, kept = grid._replace(times=times), np.searchsorted(times, grid.times)
    at_once = max(1, AT_ONCE // (len(times) * run.plant.layout.size))
    parts = []
    for first in range(0, len(everyone), at_once):
        members = everyone[first : first + at_once]
        part = integrate(members, dense)
        asked = python_commands(run, times, part.x, first) if python and part.commands is None else part.commands
        watch(run, members, times, part.x, asked)
        commands = None if part.commands is None else part.commands[:, kept]
        parts.append(part._replace(x=part.x[:, kept].copy(), commands=commands))
    if len(parts) == 1:
        return parts[0]
    columns = [[getattr(p, name) for p in parts] for name in parts[0]._fields]
    joined = [None if c[0] is None else sum(c, ()) if isinstance(c[0], tuple) else np.concatenate(c) for c in columns]
    return type(parts[0])(*joined)
