"""Power and energy of a run: peaks, means, what could be fed back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manipula.algebra.value import Value
from manipula.errors import DescriptionError
from manipula.simulation.result import Result

LEAST = 5  # samples, fewer say nothing about what lies between them
ROUNDING = 1e-9  # rad or m: a joint that moves less rests
COARSE = 0.1  # of the energy exchanged: samples that leave more open are too far apart


@dataclass(frozen=True, eq=False, repr=False)
class PowerReport(Value):
    """Per joint, (n,): peak and root mean square [W], energy taken and given back [J]; and the totals [J, W].

    Attributes:
        accuracy: what the samples leave open, as a part of all energy exchanged.
    """

    peak: np.ndarray
    rms: np.ndarray
    taken: np.ndarray
    given_back: np.ndarray
    total: float
    peak_total: float
    accuracy: float = 0.0


def power_report(result: Result) -> PowerReport:
    """Mechanical power of the drives of a Result (one run), from its samples.

    Energies are sums over trapezoids; how good they are is estimated from sums over every second sample, whose error is four times as large,
    and by the work that was integrated with the motion.

    Raises:
        DescriptionError: when samples are so far apart that they leave a tenth of the energy open.
    """
    if not isinstance(result, Result):
        raise DescriptionError(
            f"power_report() takes the Result of a run, found {type(result).__name__}.", field="result"
        )
    t, p = np.asarray(result.t, float), np.asarray(result.arrays["power"], float)
    good = np.asarray(np.isfinite(p).all(axis=1))
    t, p = t[good], p[good]
    if len(t) < 2:
        raise DescriptionError("The run recorded no power at two instants or more.", field="result")
    torque = float(np.abs(np.asarray(result.arrays["tau"], float)[good]).max(initial=0.0))
    exchanged = float(np.trapezoid(np.abs(p).sum(axis=1), t)) + ROUNDING * torque
    left = _open(result, good, t, p)
    accuracy = left / exchanged if exchanged > 0.0 else left
    if not accuracy <= COARSE:
        raise DescriptionError(
            f"{len(t)} samples over {t[-1] - t[0]:.6g} s are too few to know power and energy of this run"
            + (f" ({accuracy:.0%} of the energy is open)" if np.isfinite(accuracy) else "")
            + "; record it with a smaller 'sample'.",
            field="sample",
        )
    span = max(float(t[-1] - t[0]), 1e-300)
    return PowerReport(
        peak=np.abs(p).max(axis=0),
        rms=np.sqrt(np.trapezoid(p * p, t, axis=0) / span),
        taken=np.trapezoid(np.clip(p, 0, None), t, axis=0),
        given_back=np.trapezoid(np.clip(-p, 0, None), t, axis=0),
        total=float(np.trapezoid(np.clip(p, 0, None).sum(axis=1), t)),
        peak_total=float(np.abs(p.sum(axis=1)).max()),
        accuracy=float(accuracy),
    )


def _open(result: Result, good: np.ndarray, t: np.ndarray, p: np.ndarray) -> float:
    """Energy that the samples leave open [J]."""
    if len(t) < LEAST:
        return float("inf")
    fewer = np.unique(np.append(np.arange(0, len(t), 2), len(t) - 1))
    parts = [np.clip(p, 0.0, None), np.clip(-p, 0.0, None)]
    left = sum(
        float(np.abs(np.trapezoid(x[fewer], t[fewer], axis=0) - np.trapezoid(x, t, axis=0)).sum()) for x in parts
    )
    if "work_drives" not in result.arrays:
        return left / 3.0
    work = np.asarray(result.arrays["work_drives"], float)[good]
    own = result.arrays.get("drive_energy")
    if own is not None and np.any(np.asarray(own)):  # what springs of drives hold is not at the joints
        return left / 3.0
    return max(left / 3.0, abs(float(np.trapezoid(p.sum(axis=1), t)) - float(work[-1] - work[0])))
