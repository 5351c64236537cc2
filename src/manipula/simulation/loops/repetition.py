"""A run against its repetitions: where they begin, and what their differences say about the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manipula.simulation.loops.setup import Run
from manipula.simulation.plant.disturbances import IDEAL
from manipula.simulation.plant.plant import Plant
from manipula.simulation.plant.sticking import sticky
from manipula.simulation.progress import phase
from manipula.simulation.stepping.grid import Grid
from manipula.simulation.stepping.instants import in_order
from manipula.simulation.stepping.rests_at_zero import rests_at_zero
from manipula.simulation.stepping.verification import beside, compare

if TYPE_CHECKING:
    from manipula.simulation.loops.fixed import BatchPart

MOST_AT_ONCE = 20_000_000  # numbers of a batch that are verified together
MOST_ASKED = 64  # runs of a batch that begin at rest
ENDS_AT_ONCE = 64  # runs that ended at a limit and are repeated together, each up to its end
Repeat = Callable[[np.ndarray, list[int], Grid], "BatchPart"]


class Verified(NamedTuple):
    """What repetitions say.

    Attributes:
        error: of each run, (N,). trusted: the time until which each agrees with its repetition, (N,).
        decided: runs of which a last digit of the start decides what happens next.
    """

    error: np.ndarray
    trusted: np.ndarray
    decided: tuple[int, ...] = ()


def delicate(run: Run) -> bool:
    """May the last digit of a start decide what happens next? With user code, contacts, joints that stick, switches, encoders that count."""
    plant = run.plant
    return not run.own or plant.has_events or bool(plant.switches) or run.scenario.encoder.resolution is not None


def has_corners(plant: Plant) -> bool:
    """May the equations bend within a step: a limit of the actuators or drives, a contact, a law with corners, somebody's code?"""
    laws = [law for law in (plant.controller, *plant.friction, *plant.drives) if law is not None]
    return (
        plant.actuator != IDEAL
        or bool(plant.contacts)
        or plant.torques is not None
        or not all(law.smooth for law in laws)
    )


def begun_beside(run: Run, steps: float = 0.0, factor: float = 1.0, side: float = 1.0) -> np.ndarray:
    """Where repetitions of the runs begin, (N, size), see ``beside``: all coordinates, or positions and velocities of delicate runs."""
    s, lay = run.scenario, run.plant.layout
    count = 2 * lay.n if delicate(run) else lay.size - len(lay.works)
    carried = s.base_motion is not None or bool(s.disturbances)
    exact = not carried and rests_at_zero(s.robot) and (run.own or not _pushed(run))
    return beside(run.x0, lay.n, count, steps, factor * side, exact)


def _pushed(run: Run) -> bool:
    """Does user code push an arm that would rest at q = 0, be it by what its own rounding leaves of zero?"""
    lay = run.plant.layout
    resting = np.flatnonzero(~run.x0[:, : 2 * lay.n].any(axis=1))
    asked = (run.loop.traced(run.p[k], *run.inputs).flow(0.0, run.x0[k]).rate for k in resting[:MOST_ASKED])
    return any(np.any(lay.qd(rate)) for rate in asked)


def verified(run: Run, grid: Grid, done: BatchPart, repeat: Repeat, factor: float, members: list[int], steps: float = 0.0) -> Verified:  # fmt: skip
    """Errors of some runs found by repeating them more finely from beside their start.

    Delicate runs that differ are repeated from the start itself, and from its other side: one that differs on one side only stood on the edge of
    what decides about it and is right, and the other side is reported; one that differs on both is not a motion that anybody can foretell. One that
    differs from the start itself, too, is trusted no longer than the side that agrees with it longer.

    Args:
        grid: of a repetition. repeat: ``repeat(x0, members, grid)``, the states of some members that begin at x0 (N, size). factor: of the
            differences.
    """
    start = begun_beside(run, steps)
    error, trusted = _compared(run, grid, done, lambda some, at: repeat(start, some, at), factor, members)
    moved = (start != run.x0).any(axis=1)
    off = [k for k, m in enumerate(members) if not error[k] <= run.scenario.tolerance and moved[m]]
    if not off or not delicate(run):
        return Verified(error, trusted)
    tolerance, chosen, places = run.scenario.tolerance, [members[k] for k in off], np.array(off)
    below = begun_beside(run, steps, side=-1.0)
    same, until = _compared(run, grid, done, lambda some, at: repeat(run.x0, some, at), factor, chosen)
    there, agreed = _compared(run, grid, done, lambda some, at: repeat(below, some, at), factor, chosen)
    right, edge = same <= tolerance, there <= tolerance
    wrong, decided = places[~right], places[right & edge]
    error[wrong], trusted[wrong] = same[~right], np.fmin(until, np.fmax(trusted[places], agreed))[~right]
    error[decided], trusted[decided] = same[right & edge], until[right & edge]
    return Verified(error, trusted, tuple(np.array(members)[decided].tolist()))


def _compared(run: Run, grid: Grid, done: BatchPart, finer: Callable[[list[int], Grid], BatchPart], factor: float,
              members: list[int]) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Errors found by repeating some runs more finely, and the times until which each can be trusted, one per member each.

    A run that ended at a limit did so between two samples: its last state is compared as well.
    """
    phase("verifying")
    error, trusted = np.full(len(members), np.nan), np.full(len(members), np.nan)
    states = compared(run.plant)
    at_once = max(1, MOST_AT_ONCE // done.x[0].size)
    for first in range(0, len(error), at_once):
        some = members[first : first + at_once]
        fine = finer(some, grid)
        ours = done.x if len(some) == len(done.x) else done.x[some]
        error[first : first + at_once], trusted[first : first + at_once] = compare(
            ours[:, :, states], fine.x[:, :, states], grid.times, run.scenario.tolerance, factor
        )
    stopped = [k for k, m in enumerate(members) if done.why[m] == "limit" and done.stopped[m] > grid.times[0]]
    for first in range(0, len(stopped), ENDS_AT_ONCE):
        places = stopped[first : first + ENDS_AT_ONCE]
        some = [members[k] for k in places]
        ends = in_order(done.stopped[some])
        free = np.full_like(grid.low, np.inf)
        fine = finer(some, grid._replace(times=np.append(grid.times[0], ends), low=-free, high=free))
        there = fine.x[np.arange(len(some)), 1 + np.searchsorted(ends, done.stopped[some])][:, states]
        off = np.abs(done.last[some][:, states] - there) / np.maximum(np.abs(there), 1.0)
        error[places] = np.fmax(error[places], np.where(np.isfinite(off), off, np.inf).max(axis=1) * factor)
    return error, trusted


def compared(plant: Plant) -> Any:
    """The entries of the state that a repetition must find again.

    Works are not among them (their error is the audit), nor whether a joint sticks: near the instant at which that changes, both are right.
    """
    lay, joints = plant.layout, sticky(plant.friction)
    count = lay.size - len(lay.works)
    if not joints:
        return slice(0, count)
    return np.setdiff1d(np.arange(count), [lay.friction_start(i) for i in joints])
