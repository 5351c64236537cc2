"""ruckig: jerk-limited moves of joints from rest to rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from .timing import missing


def reason() -> str:
    """Why it cannot be timed here; empty if it can."""
    return missing("ruckig")


def available() -> bool:
    """Is ruckig installed?"""
    return not reason()


def joint_move(
    start: np.ndarray, goal: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray, jerk: np.ndarray
) -> Any:
    """Its synchronised move, limits (n,) each: ``duration`` [s], and ``at_time(t)`` gives positions, speeds and accelerations."""
    import ruckig

    n = len(start)
    given = ruckig.InputParameter(n)
    given.current_position, given.target_position = start, goal
    given.max_velocity, given.max_acceleration, given.max_jerk = velocity, acceleration, jerk
    found = ruckig.Trajectory(n)
    ruckig.Ruckig(n).calculate(given, found)
    return found
