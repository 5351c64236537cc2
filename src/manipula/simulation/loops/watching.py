"""A run looked at between its samples, finely enough and at every known instant: limits are compared with the motion itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from manipula.simulation.integrators import ADAPTIVE
from manipula.simulation.loops.interpreted import python_commands
from manipula.simulation.loops.setup import Run
from manipula.simulation.plant.disturbances import PayloadChange
from manipula.simulation.plant.numbers import paths_of
from manipula.simulation.stated_limits import stated_limits
from manipula.simulation.stepping.grid import Grid, every, margin, watch_step
from manipula.simulation.stepping.instants import in_order

AT_ONCE = 2_000_000  # numbers of the states that are looked at together
MOST = 20_000_000  # numbers of one run that are recorded in one pass; a longer run is repeated, and recorded piece after piece
PASSES = 8  # beyond which only samples are looked at, and the verdict says so
INSTANTS = (".start", ".stop", ".time")

Watch = Callable[[Run, Sequence[int], np.ndarray, np.ndarray, np.ndarray | None, np.ndarray], None]
"""``watch(run, members, times, states, commands, instants)``; instants: at which something is known to change."""


def between_looks(run: Run) -> float:
    """The time between two looks at a run: its step; where steps follow the error no more than finding peaks allows."""
    s = run.scenario
    return watch_step(s.step, float(s.duration or 0.0)) if s.integrator in ADAPTIVE else s.step


def too_long(run: Run) -> bool:
    """Does a run ask for more looks than are taken?"""
    return float(run.scenario.duration or 0.0) / between_looks(run) * run.plant.layout.size > MOST * PASSES


def watched_times(run: Run, grid: Grid) -> list[np.ndarray]:
    """The samples, all looks between them, and the instants at which something is known to change, in pieces that are recorded in one pass each.

    Nothing where the samples are all of them, without a limit, or in a run that is too long.
    """
    s = run.scenario
    if not stated_limits(s.robot, s.limits, parameters=s.parameters) or too_long(run):
        return []
    end = float(s.duration or 0.0)
    known = known_instants(run, grid)
    steps = every(between_looks(run), end)[1:-1]
    changes = np.concatenate([[0.0], every(s.period, end)[1:-1]]) if run.loop.periodic else steps
    # when commands change
    late = [changes + s.actuator.delay - (run.loop.delay - 1) * s.period] if run.loop.delay else []
    late += [changes] if run.loop.periodic else []
    instants = np.concatenate([steps, *late, known])
    instants = in_order(instants[(instants > 0.0) & (instants < end)])
    off = np.abs(grid.times[_nearest(grid.times, instants)] - instants)
    between = instants[off > 4.0 * margin(instants)]
    jumps = run.loop.sampled or len(known) > 0  # on samples too: they show one side only
    if not len(between) and not jumps:
        return []
    times = np.sort(np.concatenate([grid.times, between]))
    length = max(2, MOST // run.plant.layout.size)
    return [times[first : first + length + 1] for first in range(0, len(times) - 1, length)]  # ends belong to both


def known_instants(run: Run, grid: Grid) -> np.ndarray:
    """When something is known to change, in order: the marks of the grid, and what the runs of a batch have each for itself."""
    return in_order(np.concatenate([grid.marks[1:-1], _own_instants(run)]))


def _own_instants(run: Run) -> np.ndarray:
    """Instants that every run of a batch has for itself, all of them."""
    own = [
        k
        for k, path in enumerate(paths_of(run.plant))
        if path.startswith(("disturbances", "switches")) and path.endswith(INSTANTS)
    ]
    return run.p[:, own].ravel()


def looks_end_steps(run: Run) -> bool:
    """Do steps end at every look anyway, so that a run which is looked at has the bits of one that is not?"""
    s, loop = run.scenario, run.loop
    return s.integrator not in ADAPTIVE and not loop.periodic and not loop.delay and not len(_own_instants(run))


def payload_instants(run: Run) -> np.ndarray:
    """When payload changes happen in every run, (N, k): before the start counts as the start, (N, 0) without any."""
    changes = [i for i, d in enumerate(run.scenario.disturbances) if isinstance(d, PayloadChange)]
    paths = paths_of(run.plant) if changes else []
    return np.maximum(run.p[:, [paths.index(f"disturbances[{i}].time") for i in changes]], 0.0)


def recorded(
    run: Run, grid: Grid, integrate: Callable[[list[int], Grid], Any], watch: Watch | None, python: bool
) -> Any:
    """All runs of a batch at their samples, and the states in which their payloads change.

    ``watch`` sees each group of them on every step, if there is more to see than samples.

    Args:
        integrate: gives the states of some members on a grid. python: is the controller called from Python?
    """
    changes = payload_instants(run)
    pieces = [] if watch is None else watched_times(run, grid)
    times = pieces[0] if len(pieces) == 1 else None
    known = known_instants(run, grid) if pieces else np.zeros(0)
    groups = _together(changes, grid, times, run.plant.layout.size)
    parts = []
    for members, dense in groups:
        part = integrate(members, grid._replace(times=dense))
        if watch is not None and times is not None:
            asked = (
                python_commands(run, dense, part.x, members[0]) if python and part.commands is None else part.commands
            )
            watch(run, members, dense, part.x, asked, known)
        if changes.shape[1]:
            rows = np.arange(len(members))[:, None]
            part = part._replace(changed=part.x[rows, _nearest(dense, changes[members])])
        if len(dense) > len(grid.times):
            kept = np.searchsorted(dense, grid.times)
            commands = None if part.commands is None else part.commands[:, kept]
            part = part._replace(x=part.x[:, kept].copy(), commands=commands)
        parts.append(part)
    for k, piece in ((k, piece) for k in range(len(changes)) for piece in pieces[1 if times is not None else 0 :]):
        assert watch is not None
        dense = piece if piece[0] == grid.times[0] else np.concatenate([grid.times[:1], piece])
        seen = integrate([k], grid._replace(times=dense))
        asked = python_commands(run, dense, seen.x, k) if python and seen.commands is None else seen.commands
        inner = slice(len(dense) - len(piece), None)
        watch(run, [k], piece, seen.x[:, inner], None if asked is None else asked[:, inner], known)
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate([members for members, _ in groups]))
    columns = [[getattr(p, name) for p in parts] for name in parts[0]._fields]
    return type(parts[0])(*(_joined(column, order) for column in columns))


def _together(
    changes: np.ndarray, grid: Grid, watched: np.ndarray | None, size: int
) -> list[tuple[list[int], np.ndarray]]:
    """Runs that are integrated together, and the times at which they are recorded: samples, or all that is watched, and own instants."""
    everyone = list(range(len(changes)))
    if watched is not None:
        at_once = max(1, AT_ONCE // (len(watched) * size))
        return [(everyone[first : first + at_once], watched) for first in range(0, len(everyone), at_once)]
    if not changes.shape[1]:
        return [(everyone, grid.times)]
    groups: dict[bytes, tuple[list[int], np.ndarray]] = {}
    for k, own in enumerate(changes):
        inner = own[(own > grid.times[0]) & (own < grid.times[-1])]
        between = inner[np.abs(grid.times[_nearest(grid.times, inner)] - inner) > 4.0 * margin(inner)]
        dense = np.union1d(grid.times, between) if len(between) else grid.times
        groups.setdefault(between.tobytes(), ([], dense))[0].append(k)
    return list(groups.values())


def _nearest(times: np.ndarray, instants: np.ndarray) -> np.ndarray:
    """Which of the times is closest to each instant."""
    after = np.clip(np.searchsorted(times, instants), 1, len(times) - 1)
    return np.where(times[after] - instants < instants - times[after - 1], after, after - 1)


def _joined(column: list[Any], order: np.ndarray) -> Any:
    if column[0] is None:
        return None
    if isinstance(column[0], tuple):
        every = sum(column, ())
        return tuple(every[i] for i in order)
    return np.concatenate(column)[order]
