"""A given motion on every step and at every known instant: what it asks of the machine between the samples that were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from manipula.simulation.given_motion.torques import MotionTable, observed, remembered
from manipula.simulation.limit_checks import Peak, peaks_of
from manipula.simulation.loops.loop import CompiledLoop
from manipula.simulation.plant.numbers import paths_of
from manipula.simulation.scenario import Scenario
from manipula.simulation.stated_limits import stated_limits
from manipula.simulation.stepping.grid import margin

INSTANTS = (".start", ".stop", ".time")
CORNER = 1e-6  # of the largest velocity: a smaller jump is rounding
MOST = 20_000_000  # numbers of one run beyond which only its samples are looked at


class Seen(NamedTuple):
    """Signals of one run at times t (S,), and just before them where they may jump: (S, n) each."""

    t: np.ndarray
    after: Mapping[str, np.ndarray]
    before: Mapping[str, np.ndarray]


def watched(s: Scenario, loop: CompiledLoop, p: np.ndarray, table: MotionTable) -> Seen | None:
    """The motion of one run where its samples leave something out; None where they do not, or nothing asks for it.

    Args:
        p: the numbers of the run, (k,).
    """
    if not stated_limits(s.robot, s.limits) and s.actuator.limit is None:
        return None
    plant, end = loop.plant, float(s.duration or 0.0)
    own = [k for k, path in enumerate(paths_of(plant)) if path.startswith("disturbances") and path.endswith(INSTANTS)]
    instants = np.concatenate([np.arange(1, s.steps) * s.step, table.breaks, p[own]])
    times = np.unique(np.concatenate([s.times, instants[(instants > 0.0) & (instants < end)]]))
    whole = len(times) == len(s.times) and not corners(table).size
    if whole or len(times) * plant.layout.size > MOST:
        return None
    lay = plant.layout
    bristles = slice(2 * lay.n, 2 * lay.n + sum(lay.friction))
    states = remembered(loop, p, table, None, times, s.tolerance).states if sum(lay.friction) else None

    def look(t: np.ndarray, motion: np.ndarray) -> dict[str, np.ndarray]:
        x = np.zeros((1, len(t), lay.size))
        x[0, :, : lay.n], x[0, :, lay.n : 2 * lay.n] = motion[0], motion[1]
        if states is not None:
            x[0, :, bristles] = states
        seen = observed(loop, x, p[None], t, motion[2][None])
        return {"q": motion[0], "qd": motion[1], "qdd": motion[2], "tau": seen["tau"][0], "power": seen["power"][0]}

    return Seen(
        times, look(times, moved(table, times)), look(times - 4.0 * margin(times), moved(table, times, left=True))
    )


def moved(table: MotionTable, t: np.ndarray, left: bool = False) -> np.ndarray:
    """Positions, velocities and accelerations (3, S, n) of a table of polynomials; ``left`` of a break: those of the piece before it.

    Before and after the table the joints rest.
    """
    piece = np.searchsorted(table.breaks, t, side="left" if left else "right") - 1
    inside = (piece >= 0) & (piece < len(table.coefficients))
    at = np.clip(piece, 0, len(table.coefficients) - 1)
    c = table.coefficients[at]
    u = np.clip(t - table.breaks[at], 0.0, np.diff(table.breaks)[at])[:, None]
    out = []
    for _ in range(3):
        value = np.zeros(c.shape[:2])
        for j in range(c.shape[2] - 1, -1, -1):
            value = value * u + c[:, :, j]
        out.append(value if not out else np.where(inside[:, None] | (t == table.breaks[-1])[:, None], value, 0.0))
        c = c[:, :, 1:] * np.arange(1, c.shape[2])
    return np.array(out)


def corners(table: MotionTable) -> np.ndarray:
    """Breaks of a table at which a velocity jumps."""
    inner = table.breaks[1:-1]
    after, before = moved(table, inner)[1], moved(table, inner, left=True)[1]
    return inner[(np.abs(after - before) > CORNER * max(1e-12, float(np.abs(after).max(initial=0.0)))).any(axis=1)]


def peaks(s: Scenario, seen: Seen, run: int) -> list[Peak]:
    """The extremes of one run against its limits; where a velocity jumps, accelerations and torques are infinite."""
    jump = seen.after["qd"] - seen.before["qd"]
    hard = np.abs(jump) > CORNER * max(1e-12, float(np.abs(seen.after["qd"]).max(initial=0.0)))
    hard[[0, -1]] = False  # a motion may begin and end with speed
    earlier = {name: np.where(hard, np.copysign(np.inf, jump), seen.before[name]) for name in ("qdd", "tau", "power")}
    return peaks_of(s.robot, stated_limits(s.robot, s.limits), seen.t, seen.after, earlier, run, s.is_batch)
