"""What the notes of a run say about its secondary criteria: where they did not hold, and whether they could act at all."""

from __future__ import annotations

import dataclasses

import numpy as np

from manipula.redundancy.arm import Arm
from manipula.robot.robot import Robot
from manipula.simulation.result import Result
from manipula.simulation.scenario import Scenario

BETWEEN = np.arange(8) / 8  # places from one sample to the next that are looked at
JUDGED = ("finished", "inaccurate", "limit", "failed")  # of a run that diverged nothing else is worth telling
SOLVED = {"task_bounds": "bounded least squares of the tasks", "mpc_optimal": "costs of the predicted motion"}
MOST = 8  # sentences about the members of a batch


def with_criteria_notes(result: Result, s: Scenario) -> Result:
    """The result, its notes completed; a bounded hierarchy of tasks that missed its minimum at a sample is not finished."""
    result = _bounded(result)
    criteria = s.acting_criteria
    if not criteria or s.robot.parameters or "qdd" not in result.arrays:
        return result
    notes = []
    if len(Arm(s.robot).task) >= s.robot.n:
        names = ", ".join(f"'{c.name}'" for c in criteria)
        notes.append(
            f"The tip's position takes all {s.robot.n} joints of '{s.robot.name}': there is no null space in which {names} could act."
        )
    moved = (result.q, result.qd, result.qdd)
    rows = [moved] if result.q.ndim == 2 else list(zip(*moved))
    for k, (q, qd, qdd) in enumerate(rows):
        if (result.statuses or (result.status,))[k] not in JUDGED:
            continue
        t, dense = densely(s.robot, result.t, q, qd, qdd)
        for criterion in criteria:
            found = criterion.broken(s.robot, t, dense) if len(t) else []
            notes += found if len(rows) == 1 else [f"Run {k}: {words}" for words in found]
    if len(notes) > MOST:
        notes = [*notes[:MOST], f"{len(notes) - MOST} more sentences like these are left out."]
    return dataclasses.replace(result, notes=(*result.notes, *notes)) if notes else result


def _bounded(result: Result) -> Result:
    name = next((name for name in SOLVED if name in result.arrays), None)
    if name is None:
        return result
    missed = np.asarray(result.arrays[name]).reshape(-1, len(result.t)) < 0.5
    if not missed.any():
        return result
    first = [float(result.t[np.argmax(row)]) for row in missed]
    whys = [f"At t = {t:.6g} s the {SOLVED[name]} did not reach their minimum." for t in first]
    off = [k for k, row in enumerate(missed) if row.any()]
    worst = min(off, key=lambda k: first[k])
    if result.status != "finished":
        result = dataclasses.replace(result, notes=(*result.notes, whys[worst]))
    ours = [k for k in off if result.statuses[k] == "finished"]
    states, reasons, trusted = list(result.statuses), list(result.reasons), list(result.trusted_untils)
    for k in ours:
        states[k], reasons[k], trusted[k] = "inaccurate", whys[k], min(trusted[k], first[k])
    head = f"{len(ours)} of {len(states)} runs: " * (len(states) > 1)
    told = ("inaccurate", head + whys[worst]) if result.status == "finished" else (result.status, result.reason)
    return dataclasses.replace(
        result, status=told[0], reason=told[1], statuses=tuple(states), reasons=tuple(reasons), trusted_untils=tuple(trusted),
        trusted_until=float(np.min(trusted)),
    )  # fmt: skip


def densely(
    robot: Robot, t: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Times and postures at and between the finite samples of a run, by quintics through positions, speeds and accelerations.

    Where a quintic passes a limit by less than it differs from the cubic through positions and speeds, it is taken to stand at the limit:
    nothing is claimed that the samples do not show.
    """
    fine = np.isfinite(q).all(axis=1) & np.isfinite(qd).all(axis=1) & np.isfinite(qdd).all(axis=1)
    t, q, qd, qdd = t[fine], q[fine], qd[fine], qdd[fine]
    if len(t) < 2:
        return t, q
    h = np.diff(t)[:, None, None]
    u = BETWEEN[None, :, None]
    a, va, ca = q[:-1, None], qd[:-1, None] * h, qdd[:-1, None] * h * h
    b, vb, cb = q[1:, None], qd[1:, None] * h, qdd[1:, None] * h * h
    cubic = (1 + 2 * u) * (1 - u) ** 2 * a + u * (1 - u) ** 2 * va + u**2 * (3 - 2 * u) * b - u**2 * (1 - u) * vb
    # at the end: what the parabola from the start misses in value, slope and second derivative
    missing, slope, bend = b - (a + va + 0.5 * ca), vb - (va + ca), cb - ca
    quintic = (
        a + va * u + 0.5 * ca * u**2 + (10 * missing - 4 * slope + 0.5 * bend) * u**3
        + (-15 * missing + 7 * slope - bend) * u**4 + (6 * missing - 3 * slope + 0.5 * bend) * u**5
    )  # fmt: skip
    low, high = np.asarray(robot.position_limits, float).T
    beyond = np.maximum(low - quintic, quintic - high)
    rows = np.where(beyond > np.abs(quintic - cubic), quintic, np.clip(quintic, low, high))
    rows[:, 0] = q[:-1]
    times = t[:-1, None] + np.diff(t)[:, None] * BETWEEN
    return np.append(times.ravel(), t[-1]), np.vstack([rows.reshape(-1, q.shape[1]), q[-1:]])
