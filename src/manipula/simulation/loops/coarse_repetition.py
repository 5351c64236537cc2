"""Runs that may be verified by longer steps instead of shorter ones, which takes a sixth of the time of a verification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from manipula.simulation.integrators import FIXED
from manipula.simulation.loops.setup import Run
from manipula.simulation.plant.disturbances import IDEAL
from manipula.simulation.plant.encoder import PERFECT
from manipula.simulation.plant.numbers import HEADS, template
from manipula.simulation.stepping.coarse import BLOCK, blocks_of, share
from manipula.simulation.stepping.grid import Grid
from manipula.simulation.stepping.verification import compare

LEAST_ORDER = 4  # of the method
SAFETY = 3.0  # times the difference from longer steps must be within the tolerance
TURN = 0.25  # rad or m that all joints together may move during a block


def verified_coarsely(
    run: Run, grid: Grid, done: Any, repeat: Callable[[list[int], Grid], Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Errors of the runs that longer steps confirm, and the times until which they can be trusted, (N,) each; NaN for the others.

    What could hide from longer steps is left to shorter ones: code of somebody's, friction that is not viscous, drives, disturbances, contacts,
    a base that moves, cut, late or noisy commands, controllers with corners, references of shorter pieces than a block, runs that ended early,
    joints that turn far within a block, and every run for which three times the difference exceeds the tolerance.

    Args:
        repeat: gives the states of some members on a grid of blocks.
    """
    error, trusted = np.full(len(done.x), np.nan), np.full(len(done.x), np.nan)
    s, lay = run.scenario, run.plant.layout
    if not _analytic(run):
        return error, trusted
    key = -s.step  # beside the grid of the run itself
    if key not in run.grids:
        run.grids[key] = blocks_of(grid, s.step)
    found = run.grids[key]
    if found is None:
        return error, trusted
    blocks, kept = found
    speed = np.abs(done.x[:, :, lay.n : 2 * lay.n]).sum(axis=2).max(axis=1)
    slow = speed * BLOCK * s.step <= TURN  # not where it is no number
    members = [k for k in np.flatnonzero(slow).tolist() if not done.why[k]]
    if not members:
        return error, trusted
    again, states = repeat(members, blocks), lay.size - len(lay.works)
    ours = done.x[np.ix_(members, kept, range(states))] if len(members) < len(error) else done.x[:, kept, :states]
    factor = share(FIXED[s.integrator].order)
    off, until = compare(ours, again.x[:, :, :states], blocks.times, s.tolerance, factor)
    good = SAFETY * off <= factor * s.tolerance
    sure = np.array(members)[good]
    error[sure], trusted[sure] = off[good], until[good]
    return error, trusted


def _analytic(run: Run) -> bool:
    """Are the equations of a run analytic, with nothing in them that is narrower than the motion itself?"""
    s, plant = run.scenario, run.plant
    believed = () if plant.model is None else tuple(joint.friction for joint in plant.model.joints)
    parts = [part for part in (plant.controller, *plant.friction, *believed) if part is not None]
    others = [part for name, part in zip(HEADS, template(plant)) if name not in ("controller", "friction")]
    if run.loop.parts is None or run.loop.sampled or plant.torques is not None or not all(map(_absent, others)):
        return False
    if FIXED[s.integrator].order < LEAST_ORDER:
        return False
    resting = not run.table.coefficients.any()
    pieces = resting or np.diff(run.table.breaks).min() >= BLOCK * s.step
    return bool(pieces) and all(type(part).smooth for part in parts)


def _absent(part: Any) -> bool:
    """Is there no such part in the run?"""
    return part in (None, IDEAL, PERFECT) or (isinstance(part, tuple) and all(x is None for x in part))
