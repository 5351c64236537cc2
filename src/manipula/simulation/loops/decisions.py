"""What a digital controller decides at its instants is right only where the exact state would be decided about in the same way.

An encoder counts another step on the other side of an edge, somebody's controller may round or branch. A run and its repetition that decide alike
agree, and both may decide otherwise than the exact motion, which is another one from there on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from manipula.algebra.fields import per_joint
from manipula.redundancy.arm import Motors
from manipula.simulation.loops.setup import Run
from manipula.simulation.plant.disturbances import IDEAL
from manipula.simulation.plant.plant import Plant
from manipula.simulation.stepping.grid import Grid

if TYPE_CHECKING:
    from manipula.simulation.loops.fixed import BatchPart

SAFETY = 1.5  # times the error of a position: what lies nearer to an edge is not sure of its count
BENDS = 10.0  # times what a command changes between run and repetition, continued: more is a jump
MOST_AT_ONCE = 20_000_000  # numbers of a batch that are looked at together
Integrate = Callable[[list[int], Grid], "BatchPart"]


class UnsureDecision(NamedTuple):
    """The first decision of a run that its steps cannot tell: when, and in words."""

    t: float
    reason: str


def unsure_decisions(run: Run, grid: Grid, whole: Integrate, finer: Integrate, factor: float, members: Sequence[int],
                     shaken: Callable[[int], np.ndarray | None], compiled: bool) -> dict[int, UnsureDecision]:  # fmt: skip
    """Runs, by their number, with decisions that hang on less than their steps are sure of: counts of encoders, jumps of a user's compiled controller.

    Where run and repetition decide differently while they agree within the tolerance it does not matter, nor what the controller does not use.

    Args:
        whole, finer: integrate members again, as they are and as they are repeated, recorded at the times of a grid. factor: of the differences.
        members: runs that agree with their repetition. shaken: measurement errors of a run, a row per period, or None.
        compiled: is the controller asked in machine code?
    """
    s, size = run.scenario, run.plant.layout.size
    if s.encoder.resolution is not None:
        first = _first_count
    elif compiled and run.loop.sampled and not run.loop.own_controller and not s.encoder.acts:
        first = _first_jump
    else:
        return {}
    instants = np.arange(1, s.periods + 1) * s.period
    instants = instants[instants < grid.times[-1] - 0.5 * s.step]  # what is measured at the end moves nothing
    if not len(instants):
        return {}
    at = grid._replace(times=np.union1d(grid.times, instants))
    place = np.searchsorted(at.times, instants)
    out: dict[int, UnsureDecision] = {}
    at_once = max(1, MOST_AT_ONCE // (len(at.times) * size))
    for some in (list(members[k : k + at_once]) for k in range(0, len(members), at_once)):
        pairs = zip(some, whole(some, at).x[:, place], finer(some, at).x[:, place])
        for member, *states in pairs:
            found = first(run, member, instants, states, factor, shaken(member))
            if found is not None:
                out[member] = found
    return out


def _first_jump(run: Run, member: int, t: np.ndarray, states: Sequence[np.ndarray], factor: float,
                shaken: np.ndarray | None) -> UnsureDecision | None:  # fmt: skip
    """Where the command jumps between a state of the run and the other end of what its steps leave unsure, on the line through its repetition."""
    n, far, tolerance = run.plant.layout.n, SAFETY * factor, run.scenario.tolerance
    seen = np.zeros((len(t), 2 * n)) if shaken is None else shaken[1 : len(t) + 1, : 2 * n]
    ours, theirs = (np.hstack([x[:, : 2 * n] + seen, x[:, 2 * n :]]) for x in states)
    kernel = run.loop.observe
    asked = kernel(np.stack([ours, theirs, ours + far * (theirs - ours)]), run.p[member], *run.inputs, t)
    here, there, beyond = np.asarray(dict(zip(kernel.graph.outputs, asked))["command"], float)
    along = far * (there - here)
    jumps = np.abs(beyond - here - along)
    unsure = jumps > np.maximum(BENDS * np.abs(along), tolerance * (1.0 + np.abs(here)))
    if not unsure.any():
        return None
    k = int(np.argmax(unsure.any(axis=1)))
    j = int(np.argmax(unsure[k]))
    joint = run.scenario.robot.joints[j]
    jump = f"{jumps[k, j]:.1e} {'N·m' if joint.is_revolute else 'N'}"
    return UnsureDecision(
        float(t[k]),
        f"What the controller decides for '{joint.name}' at t = {t[k]:.6g} s changes by {jump} within what steps leave unsure of the state: the exact "
        f"motion may be decided otherwise. {_advice(run)}.",
    )


def _advice(run: Run) -> str:
    return (
        "Reduce the step" if run.loop.periodic else f"State control_period = {run.scenario.step:g} and reduce the step"
    )


def _first_count(run: Run, member: int, t: np.ndarray, states: Sequence[np.ndarray], factor: float,
                 shaken: np.ndarray | None) -> UnsureDecision | None:  # fmt: skip
    plant = run.loop.traced(run.p[member], *run.inputs)
    n = plant.layout.n
    steps = np.tile(np.asarray(per_joint(plant.encoder.resolution, n), float), 2 if plant.measures_motors else 1)
    ours, theirs = (_measured(plant, t, x, shaken) / steps + 0.5 for x in states)
    off = np.abs(ours - theirs) * factor
    wider = np.maximum(
        off, np.maximum(np.vstack([off[:1], off[:-1]]), np.vstack([off[1:], off[-1:]]))
    )  # it may pass through zero
    beside = np.minimum(ours - np.floor(ours), np.ceil(ours) - ours)
    unmoved = ~(np.abs(np.floor(ours) - np.floor(theirs)) > 0.5).any(axis=0)
    unsure = (beside < SAFETY * wider) & unmoved
    for j in np.flatnonzero(unsure.any(axis=0)):
        k = int(np.argmax(unsure[:, j]))
        unsure[:, j] &= not run.loop.own_controller or _matters(
            plant, t[k], states[0][k], (ours[k] - 0.5) * steps, int(j), steps[j], run.scenario.period
        )
    if not unsure.any():
        return None
    k = int(np.argmax(unsure.any(axis=1)))
    j = int(np.argmax(unsure[k]))
    joint, what = run.scenario.robot.joints[j % n], "the motor of " * (j >= n)
    unit = "rad" if joint.is_revolute else "m"
    return UnsureDecision(
        float(t[k]),
        f"The encoder of {what}'{joint.name}' is {beside[k, j] * steps[j]:.1e} {unit} beside the edge of a count at t = {t[k]:.6g} s, where steps are sure of "
        f"{wider[k, j] * steps[j]:.1e} {unit} only: the exact motion may count another one. {_advice(run)}.",
    )


def _measured(plant: Plant, t: np.ndarray, x: np.ndarray, shaken: np.ndarray | None) -> np.ndarray:
    """What encoders see at instants t (K,) in states x (K, size): positions of joints and, where they are measured, of motors, (K, n or 2n)."""
    n = plant.layout.n
    noise = np.zeros((len(t) + 1, 4 * n)) if shaken is None else shaken
    q, qd = (part + noise[1 : len(t) + 1, k * n : (k + 1) * n] for k, part in enumerate((x[:, :n], x[:, n : 2 * n])))
    if not plant.measures_motors:
        return q
    rows = zip(t, x, q, qd, noise[1:, 2 * n :])
    motors = [plant.motors(now, y, a, b, c).position for now, y, a, b, c in rows]
    return np.concatenate([q, np.asarray(motors, float)], axis=1)


def _matters(plant: Plant, t: float, x: np.ndarray, positions: np.ndarray, j: int, step: float, period: float) -> bool:
    """Does the controller decide otherwise when the position j, of a joint or a motor, is measured one step further, and its speed with it?"""
    n, free = plant.layout.n, replace(plant, actuator=IDEAL)

    def decided(further: float) -> np.ndarray:
        moved = positions + further * (np.arange(len(positions)) == j)
        speeds = further / period * (np.arange(len(positions)) == j)
        motors = Motors(moved[n:], speeds[n:]) if plant.measures_motors else None
        seen = t, x, moved[:n], speeds[:n], motors
        own = free.updated(*seen, period) if plant.layout.controller else np.zeros(0)
        return np.concatenate([np.asarray(free.command(*seen), float), np.asarray(own, float)])

    return not np.array_equal(decided(0.0), decided(step))
