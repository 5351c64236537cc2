"""Power and energy of a run: peaks, means, what could be fed back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manipula.algebra.value import Value
from manipula.errors import DescriptionError
from manipula.simulation.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class PowerReport(Value):
    """Per joint, (n,): peak and root mean square [W], energy taken and given back [J]; and the totals [J, W]."""

    peak: np.ndarray
    rms: np.ndarray
    taken: np.ndarray
    given_back: np.ndarray
    total: float
    peak_total: float


def power_report(result: Result) -> PowerReport:
    """Mechanical power of the drives of a Result (one run)."""
    if not isinstance(result, Result):
        raise DescriptionError(
            f"power_report() takes the Result of a run, found {type(result).__name__}.", field="result"
        )
    t, p = np.asarray(result.t, float), np.asarray(result.arrays["power"], float)
    good = np.isfinite(p).all(axis=1)
    t, p = t[good], p[good]
    if len(t) < 2:
        raise DescriptionError("The run recorded no power at two instants or more.", field="result")
    span = max(float(t[-1] - t[0]), 1e-300)
    return PowerReport(
        peak=np.abs(p).max(axis=0),
        rms=np.sqrt(np.trapezoid(p * p, t, axis=0) / span),
        taken=np.trapezoid(np.clip(p, 0, None), t, axis=0),
        given_back=np.trapezoid(np.clip(-p, 0, None), t, axis=0),
        total=float(np.trapezoid(np.clip(p, 0, None).sum(axis=1), t)),
        peak_total=float(np.abs(p.sum(axis=1)).max()),
    )
