"""Runs whose controller cannot be compiled: it is called from Python, everything around it is machine code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from manipula.simulation.plant import Plant
from manipula.simulation.setup import Run

RESTLESS = "it gives other torques when it is asked again"


def reason_to_interpret(run: Run) -> str:
    """Why the controller must not be compiled although it could be: it remembers something between calls. Empty if not."""
    controller = run.plant.controller
    if controller is None or controller.name != "user":
        return ""
    x, plant = run.x0[0], python_plant(run, 0)
    q, qd = plant.layout.q(x), plant.layout.qd(x)
    try:
        first, second = (np.asarray(plant.command(0.0, x, q, qd), float) for _ in range(2))
    except (TypeError, ValueError):
        return ""
    return "" if np.array_equal(first, second) else RESTLESS


def python_plant(run: Run, member: int) -> Plant:
    """The plant of one run with its own numbers, as plain floats."""
    plant = run.loop.traced([float(v) for v in run.p[member]], *run.inputs)
    return replace(plant, prepared=plant.arm())


def python_rate(run: Run, member: int) -> tuple[Plant, Callable[..., np.ndarray]]:
    """The plant of one run and ``rate(t, x[, noise, command])`` with the controller in Python and the rest compiled."""
    plant = python_plant(run, member)
    lay, kernel, p = plant.layout, run.loop.rate_given, run.p[member]
    start = 2 * lay.n + sum(lay.friction) + sum(lay.drives)

    def rate(t: Any, x: Any, noise: Any = None, command: Any = None) -> np.ndarray:
        x = np.asarray(x, float)
        now = np.zeros(2 * lay.n) if noise is None else noise
        seen_q, seen_qd = lay.q(x) + now[: lay.n], lay.qd(x) + now[lay.n :]
        u = plant.command(t, x, seen_q, seen_qd) if command is None else command
        out = np.array(kernel(x, p, *run.inputs, t, np.asarray(u, float)))
        if plant.controller is not None and lay.controller:
            target, own = plant.reference(t), lay.controller_states(x)
            out[start : start + lay.controller] = plant.controller.state_rate(
                plant.arm(), t, seen_q, seen_qd, target, own
            )
        return out

    return plant, rate


def python_commands(run: Run, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """What the controller commands at samples x (N, S, size), (N, S, n)."""
    out = np.full((*x.shape[:2], run.plant.layout.n), np.nan)
    for k, row in enumerate(x):
        plant = python_plant(run, k)
        for i, state in enumerate(row):
            if np.isfinite(state).all():
                out[k, i] = plant.command(float(t[i]), state, plant.layout.q(state), plant.layout.qd(state))
    return out
