"""Encoders that count: what is measured at an instant is right only where the exact position lies on the same side of every edge between two counts."""

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
MOST_AT_ONCE = 20_000_000  # numbers of a batch that are looked at together
Integrate = Callable[[list[int], Grid], "BatchPart"]


class UnsureCount(NamedTuple):
    """The first count of a run that its steps cannot decide: when, and in words."""

    t: float
    reason: str


def unsure_counts(run: Run, grid: Grid, whole: Integrate, finer: Integrate, factor: float, members: Sequence[int],
                  shaken: Callable[[int], np.ndarray | None]) -> dict[int, UnsureCount]:  # fmt: skip
    """Runs, by their number, with counts that hang on less than their steps are sure of.

    A run and its repetition that count alike agree, and both may count another one than the exact motion, after which they follow another motion.
    Joints of which the two count differently while they agree within the tolerance do not mind, nor those whose counts the controller does not use.

    Args:
        whole, finer: integrate members again, as they are and as they are repeated, recorded at the times of a grid. factor: of the differences.
        members: runs that agree with their repetition. shaken: measurement errors of a run, a row per period, or None.
    """
    s, size = run.scenario, run.plant.layout.size
    instants = np.arange(1, s.periods + 1) * s.period
    instants = instants[instants < grid.times[-1] - 0.5 * s.step]  # what is measured at the end moves nothing
    if not len(instants):
        return {}
    at = grid._replace(times=np.union1d(grid.times, instants))
    place = np.searchsorted(at.times, instants)
    out: dict[int, UnsureCount] = {}
    at_once = max(1, MOST_AT_ONCE // (len(at.times) * size))
    for some in (list(members[k : k + at_once]) for k in range(0, len(members), at_once)):
        pairs = zip(some, whole(some, at).x[:, place], finer(some, at).x[:, place])
        for member, *states in pairs:
            found = _first_unsure(run, member, instants, states, factor, shaken(member))
            if found is not None:
                out[member] = found
    return out


def _first_unsure(run: Run, member: int, t: np.ndarray, states: Sequence[np.ndarray], factor: float,
                  shaken: np.ndarray | None) -> UnsureCount | None:  # fmt: skip
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
    advice = (
        "Reduce the step" if run.loop.periodic else f"State control_period = {run.scenario.step:g} and reduce the step"
    )
    return UnsureCount(
        float(t[k]),
        f"The encoder of {what}'{joint.name}' is {beside[k, j] * steps[j]:.1e} {unit} beside the edge of a count at t = {t[k]:.6g} s, where steps are sure of "
        f"{wider[k, j] * steps[j]:.1e} {unit} only: the exact motion may count another one. {advice}.",
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
