"""Axes that do not magnify rounding: a curve of 1e-17 is a line at zero, and 0.1 + 1e-17 a line at 0.1."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.reports.key_numbers import energy_size
from manipula.reports.source import prismatic
from manipula.simulation.result import Result

NOISE = 1e-10  # of the natural size of a signal: changes below this are rounding
RATES = {"qd": 1, "qdd": 2, "jerk": 3}
TORQUES = ("tau", "command", "friction", "external", "applied", "reaction", "observed_torque")


def largest(values: Any) -> float:
    """Largest finite size among numbers, 0 when there is none."""
    found = np.abs(np.asarray(values, float))
    found = found[np.isfinite(found)]
    return float(found.max(initial=0.0))


def natural_size(result: Result, signal: str, slides: bool = False) -> float:
    """How large a signal of this run may well be: what its noise is measured against.

    Positions: 1 rad (or what the joints reach, metres for those that slide); their rates over the duration; torques and powers by
    the energies that are moved.
    """
    q = np.asarray(result.arrays["q"], float)
    chosen = np.array(prismatic(result)) == slides
    reach = largest(q[..., chosen]) if chosen.any() else largest(q)
    size = max(reach, 1e-3) if slides else max(reach, 1.0)
    duration = max(float(result.t[-1] - result.t[0]), 1e-12)
    values = np.asarray(result.arrays.get(signal, 0.0), float)
    each = values.ndim > 1 and values.shape[-1] == len(chosen) and bool(chosen.any())
    own = largest(values[..., chosen] if each else values)
    if signal in RATES:
        return max(own, size / duration ** RATES[signal])
    if signal in TORQUES:
        return max(own, energy_size(result) / size, 1e-12)
    if signal == "power":
        return max(own, energy_size(result) / duration, 1e-12)
    if signal in ("tip", "height"):
        return max(largest(result.arrays.get("tip", 1.0)), 1e-6)
    return size


def steady(ax: Any, size: float, noise: float = NOISE, axis: str = "y") -> None:
    """Widen an axis whose curves change by less than rounding; ``size`` is what is natural there."""
    if (ax.get_yscale() if axis == "y" else ax.get_xscale()) != "linear" or not size > 0.0:
        return
    read = (lambda line: line.get_ydata()) if axis == "y" else (lambda line: line.get_xdata())
    parts = [np.asarray(read(line), float) for line in ax.get_lines()]
    parts = [p[np.isfinite(p)] for p in parts if len(p) > 2]  # a limit or a mark is no signal
    parts = [p for p in parts if len(p)]
    if not parts:
        return
    low, high = min(float(p.min()) for p in parts), max(float(p.max()) for p in parts)
    if high - low > noise * size:
        return
    centre = (low + high) / 2 if max(abs(low), abs(high)) > noise * size else 0.0
    half = 0.05 * max(size, abs(centre))
    (ax.set_ylim if axis == "y" else ax.set_xlim)(centre - half, centre + half)
