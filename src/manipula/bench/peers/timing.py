"""How every peer is timed from Python."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

WINDOW_SECONDS = 2e-3
TOTAL_SECONDS = 0.4


def nanoseconds(call: Callable[[], object], *, window: float = WINDOW_SECONDS, total: float = TOTAL_SECONDS) -> float:
    """Time of one call [ns]: repeated in windows of about 2 ms, the fastest window counts.

    Interruptions by other programs only ever lengthen a window, so the minimum is what the code costs on this machine.
    """
    call()
    repeats, clock = 1, time.perf_counter
    while True:
        begin = clock()
        for _ in range(repeats):
            call()
        elapsed = clock() - begin
        if elapsed >= window / 2 or repeats >= 1 << 22:
            break
        repeats = max(2 * repeats, int(repeats * window / max(elapsed, 1e-9) / 2))
    best, end = elapsed, clock() + total
    while clock() < end:
        begin = clock()
        for _ in range(repeats):
            call()
        best = min(best, clock() - begin)
    return 1e9 * best / repeats


def states(n: int, count: int = 1, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Joint positions, velocities and accelerations of ``count`` states, each (count, n)."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-2.0, 2.0, (count, n)), rng.normal(size=(count, n)), rng.normal(size=(count, n))


SERVO_RATE = 10.0  # rad/s: critically damped joints, slow enough for steps of 1 ms
GOAL = 0.3  # rad, for every joint


def servo_gains(mass_diagonal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and damping of every joint, k_p = ω² M_ii and k_v = 2ω M_ii, with M at the goal."""
    return SERVO_RATE**2 * mass_diagonal, 2.0 * SERVO_RATE * mass_diagonal


def missing(*modules: str) -> str:
    """A sentence that names the modules that are not installed, or an empty string."""
    absent = [name for name in modules if find_spec(name) is None]
    return f"Not installed: {', '.join(absent)}." if absent else ""
