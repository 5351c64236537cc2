"""Runs that may be verified by longer steps instead of shorter ones, which takes a sixth of the time of a verification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from manipula.simulation.integrators import FIXED
from manipula.simulation.loops.setup import Run
from manipula.simulation.plant.disturbances import IDEAL
from manipula.simulation.plant.encoder import PERFECT
from manipula.simulation.plant.numbers import HEADS, template
from manipula.simulation.stepping.coarse import BLOCK, blocks_of, follows, share
from manipula.simulation.stepping.grid import Grid
from manipula.simulation.stepping.verification import compare

LEAST_ORDER = 4  # of the method
SAFETY = 3.0  # times the difference from longer steps must be within the tolerance; its share where the modes of the run are known
MODES_OF = "rk4"  # the method whose behaviour in every mode is known
PLACES = 5  # at which the modes of a run are looked for
EFFORT = 0.75  # of the steps of a run, at most, for that; shorter steps would be twice as many
# steps of a single run that take as long as the eigenvalues of a matrix, by the cube of its size
EIGENVALUES = 130.0 / 14**3
LANES = 4  # steps of a batch that take as long as one of a single run
SHORT = 1.0 / 8.0  # of a step: modes are found from what happens within it
NUDGE = 1e-6  # of a state, or of 1
TURN = 0.25  # rad or m that all joints together may move during a block


def verified_coarsely(
    run: Run,
    grid: Grid,
    done: Any,
    repeat: Callable[[list[int], Grid], Any],
    step_once: Callable[[Run, float, float], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Errors of the runs that longer steps confirm, and the times until which they can be trusted, (N,) each; NaN for the others.

    What could hide from longer steps is left to shorter ones: user code, friction that is not viscous, drives, disturbances, contacts,
    a base that moves, cut, late or noisy commands, controllers with corners, references of shorter pieces than a block, runs that ended early,
    joints that turn far within a block, and every run for which three times the difference exceeds the tolerance; three times its share
    where blocks follow every mode of the run.

    Args:
        repeat: gives the states of some members on a grid of blocks.
        step_once: gives the states of a run one step after a time.
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
    for place in np.flatnonzero(~good & (SAFETY * off <= s.tolerance)).tolist():
        good[place] = _followed(run, members[place], grid, done.x[members[place]], blocks, step_once)
    sure = np.array(members)[good]
    error[sure], trusted[sure] = off[good], until[good]
    return error, trusted


def _followed(run: Run, k: int, grid: Grid, x: np.ndarray, blocks: Grid, step_once: Callable[[Run, float, float], np.ndarray]) -> bool:  # fmt: skip
    """Do blocks follow all modes of run k, looked for at some of its samples x? No where that would take too long."""
    s, lay = run.scenario, run.plant.layout
    states, duration = lay.size - len(lay.works), float(grid.times[-1])
    asked = (states + 1 + EIGENVALUES * states**3) * (LANES if len(run.x0) > 1 else 1)
    count = min(PLACES, int(EFFORT * duration / s.step / asked), len(x))
    if s.integrator != MODES_OF or count < 2:
        return False
    block = float(np.diff(np.union1d(blocks.times, blocks.marks[1:-1])).max())
    h = SHORT * s.step
    places = np.unique(np.linspace(0, len(x) - 1, count).astype(int))
    return all(
        follows(_modes(run, k, x[i], min(float(grid.times[i]), duration - h), h, states, step_once), block, duration)
        for i in places
    )


def _modes(run: Run, k: int, x: np.ndarray, t: float, h: float, states: int, step_once: Callable[[Run, float, float], np.ndarray]) -> np.ndarray:  # fmt: skip
    r"""λ [1/s] of small motions beside run k at the time t: :math:`\log\Lambda/h` of what a short step makes of them."""
    nudged = np.tile(x, (states + 1, 1))
    size = NUDGE * np.maximum(1.0, np.abs(x[:states]))
    nudged[np.arange(states), np.arange(states)] += size
    beside = replace(run, x0=nudged, p=np.repeat(run.p[k : k + 1], states + 1, axis=0))
    after = step_once(beside, t, h)[:, :states]
    change = (after[:-1] - after[-1]) / size[:, None]
    if not np.isfinite(change).all():
        return np.array([np.inf])
    kept = np.linalg.eigvals(change).astype(complex)
    return np.log(kept) / h if kept.all() else np.array([np.inf])


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
