"""Where a trajectory jumps: there its higher derivatives, and what drives it, are infinite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.model import Model
from manipula.robot.robot import Robot
from manipula.simulation.stepping.corners import ASIDE, changes, jumps

ROUNDING = 1e-9  # of the largest part of a jump: less of it in a torque or at the tip is none

Torn = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""By quantity the times (m,) at which it is infinite, and ±inf for the joints where it is, else NaN: (m, n + 1), the tip last."""


def torn_of(motion: Any, robot: Robot | None) -> Torn:
    r"""Where a position or a velocity of a trajectory jumps: there every higher derivative is infinite.

    A jump :math:`\Delta\dot q` takes the impulse :math:`M\Delta\dot q`, so that joints which do not jump themselves are hit as well.
    """
    found = jumps(motion, float(motion.duration))
    if not found:
        return {}
    t, steps = changes(motion, found)
    q = np.asarray(motion.derivatives(t, 0))[0]
    out: dict[str, list[np.ndarray]] = {}
    for order, step in enumerate(steps):
        tip = np.full(len(t), np.nan)
        parts = {"velocity": step} if order == 0 else {}
        parts |= {"acceleration": step, "jerk": step}
        if robot is not None and not robot.parameters:
            model = Model(robot)
            impulse = np.einsum("mij,mj->mi", np.asarray(model.mass_matrix(q)), step)
            parts |= {"torque": impulse, "power": np.where(_moving(motion, t), impulse, 0.0)}
            if robot.tip is not None:
                shift = np.einsum("mij,mj->mi", np.asarray(model.jacobian(q))[:, :3], step)
                tip = np.where(np.linalg.norm(shift, axis=1) > ROUNDING * np.abs(step).max(axis=1), np.inf, np.nan)
        for quantity, part in parts.items():
            small = ROUNDING * np.abs(part).max(axis=1, keepdims=True)
            rows = np.where(np.abs(part) > small, np.copysign(np.inf, part), np.nan)
            out.setdefault(quantity, []).append(np.column_stack([rows, tip]))
    return {quantity: (np.tile(t, len(rows)), np.concatenate(rows)) for quantity, rows in out.items()}


def _moving(motion: Any, t: np.ndarray) -> np.ndarray:
    """Which joints move just before or just after the times t."""
    sides = [
        np.asarray(motion.derivatives(t + side, 1))[1] for side in (-ASIDE * motion.duration, ASIDE * motion.duration)
    ]
    return np.abs(sides).max(axis=0) > ROUNDING * np.abs(sides).max(initial=1e-300)


def with_jumps(
    torn: Torn, quantity: str, joint: int, values: np.ndarray, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Values and times of a signal with the instants at which it is infinite."""
    if quantity not in torn:
        return values, times
    t, rows = torn[quantity]
    times, values = np.concatenate([times, t]), np.concatenate([values, rows[:, joint]])
    order = np.argsort(times, kind="stable")
    return values[order], times[order]
