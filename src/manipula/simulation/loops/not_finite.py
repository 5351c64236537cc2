"""A run that ended in no finite numbers: whose number was it? A law's, a drive's, the controller's, or that of a singular posture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from manipula.simulation.loops.interpreted import python_plant
from manipula.simulation.loops.setup import Run
from manipula.simulation.loops.singular_posture import singular_on_the_way, singular_start
from manipula.simulation.plant.plant import Plant

NOTHING = "", ""  # found


def culprit(run: Run, k: int, t: np.ndarray, x: np.ndarray, trusted: float, stopped: float) -> tuple[str, str]:
    """Status and reason of run k, whose samples (S, size) end early, where a part gave the first number that is not finite.

    Else an empty status, and perhaps a sentence. The parts are asked at the last sample, and one step further on; postures are looked
    at where the run begins, and on the way from the last sample that can be trusted to where it stopped.
    """
    last = int(np.flatnonzero(np.isfinite(x).all(axis=1))[-1])
    plant, at, state = python_plant(run, k), float(t[last]), x[last]
    agreed = int(np.searchsorted(t, trusted, "right")) if np.isfinite(trusted) else last
    known = min(last, max(0, agreed - 1))
    found = singular_start(plant, 0.0, x[0]) or _asked(plant, at, state)
    way = None
    if found is None:
        way = singular_on_the_way(run, k, plant, float(t[known]), x[known], stopped)
        found = way if way and way[0] else None
    if found is None:
        h = min(run.scenario.step, float(t[min(last + 1, len(t) - 1)]) - at)
        try:
            state = state + h * np.asarray(plant.flow(at, state).rate, float)
        except Exception:  # user code; the run itself has told what is known
            return way or NOTHING
        found = _asked(plant, at + h, state) if np.isfinite(state).all() else None
    return found or way or NOTHING


def _asked(plant: Plant, t: float, x: np.ndarray) -> tuple[str, str] | None:
    posture = singular_start(plant, t, x)
    if posture is not None:
        return posture
    for who, values in _numbers(plant, t, x):
        odd = values[~np.isfinite(values)]
        if len(odd):
            return "not_finite", f"{who} gives {odd[0]:g} at t = {t:.6g} s, and no motion follows from that."
    return None


def _numbers(plant: Plant, t: float, x: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """What every part gives on its own, with its name; nothing of a part that fails."""
    lay = plant.layout
    q, qd, armature = lay.q(x), lay.qd(x), plant.rotors()
    states, motors = lay.friction_states(x), lay.drive_states(x)
    asked: list[tuple[str, Any]] = []
    for i, law in enumerate(plant.friction):
        if law is not None:
            who = f"friction[{i}] ('{law.name}')"
            asked.append((who, lambda law=law, i=i: law.torque(qd[i], states[i], 1.0)))
            asked.append((f"state_rate of {who}", lambda law=law, i=i: law.state_rate(qd[i], states[i], 1.0)))
    u = np.zeros(lay.n)
    if plant.controller is not None:
        who, given = f"The controller '{plant.controller.name}'", (q, qd, plant.target(t, x), lay.controller_states(x))
        rate = lambda: plant.controller.state_rate(plant.arm(), t, *given)  # pyright: ignore[reportOptionalMemberAccess]  # noqa: E731
        asked.append((who, lambda: plant.command(t, x, q, qd)))
        asked += [(f"state_rate of the controller '{plant.controller.name}'", rate)] if lay.controller else []
    for i, drive in enumerate(plant.drives):
        if drive is not None:
            numbers = (u[i], t, q[i], qd[i], motors[i], armature[i])
            who = f"drives[{i}] ('{drive.name}')"
            asked.append((who, lambda drive=drive, numbers=numbers: drive.torque(*numbers)))
            asked.append((f"state_rate of {who}", lambda drive=drive, numbers=numbers: drive.state_rate(*numbers)))
    for who, call in asked:
        try:
            yield who, np.ravel(np.asarray(call(), float))
        except Exception:  # user code; the run itself has told what is known
            continue
