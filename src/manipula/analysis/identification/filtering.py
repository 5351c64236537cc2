r"""Filters without phase shift, derivatives, decimation.

A Butterworth filter of order 4 run forward and backward has the gain :math:`1/(1 + (f/f_c)^8)` and no phase shift [Gustafsson 1996]. What is
filtered, regressor and torque alike, still obeys :math:`\tau = W\pi`, because the parameters are constants (parallel filtering
[Gautier & Poignet 2001]). Behind a low pass at :math:`f_c`, samples closer than :math:`1/(2f_c)` tell nothing new: what is left
after decimation has noise that is independent from sample to sample, which confidence intervals assume.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manipula.algebra.value import Value
from manipula.analysis.identification.log import Log
from manipula.errors import DescriptionError

ORDER = 4
WIDER = 4.0  # cutoff of the signals, in units of the cutoff of the equations
EDGE = 1.5  # periods of the cutoff that are cut at either end, where a filter has only half of its data
HIGHEST = 0.4  # of the sampling rate: no cutoff above this
POWER = 0.999  # share of the power of the positions below the bandwidth
ROOM = (
    10.0  # cutoff that is chosen, in units of that bandwidth: friction and products of velocities go beyond the motion
)

UNEVEN = 1e-3  # of a step: times that differ more are not evenly spaced
LARGEST_GAP = 0.1  # s without a sample, beside what the filter bridges: told


@dataclass(frozen=True, eq=False, repr=False)
class Signals(Value):
    """Filtered signals on even times: (samples,) and (samples, n).

    Attributes:
        t: [s]. q, qd, qdd: filtered, derived. effort: torque or current through the same filter.
        rate: [Hz]. cutoff: of the equations [Hz]. notes: what was done.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    effort: np.ndarray
    rate: float
    cutoff: float
    notes: tuple[str, ...]

    @property
    def edge(self) -> int:
        """Samples at either end that the filters spoil."""
        return int(np.ceil(EDGE / self.cutoff * self.rate))

    @property
    def decimation(self) -> int:
        """Every how-manieth sample tells something new."""
        return max(1, int(self.rate / (2.0 * self.cutoff)))


def low_pass(x: np.ndarray, rate: float, cutoff: float) -> np.ndarray:
    """Zero-phase Butterworth filter along the first axis."""
    from scipy import signal

    sections = signal.butter(ORDER, cutoff, fs=rate, output="sos")
    reach = min(len(x) - 1, int(np.ceil(EDGE * rate / cutoff)))
    return signal.sosfiltfilt(sections, x, axis=0, padtype="odd", padlen=reach)


def derivative(x: np.ndarray, rate: float) -> np.ndarray:
    """Slope of the cubic spline through even samples: an error of (ωh)⁴/180, where central differences have (ωh)²/6."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(np.arange(len(x)) / rate, x, axis=0)(np.arange(len(x)) / rate, 1)


def bandwidth(q: np.ndarray, rate: float) -> float:
    """The frequency below which 99.9 % of the power of a motion lies [Hz], the widest of all joints."""
    moved = (q - np.linspace(0.0, 1.0, len(q))[:, None] * (q[-1] - q[0]) - q[0]) * np.hanning(len(q))[:, None]
    frequency = np.fft.rfftfreq(len(q), 1.0 / rate)
    power = np.cumsum(np.abs(np.fft.rfft(moved, axis=0)) ** 2, axis=0)
    moving = power[-1] > 1e-6 * np.max(power[-1])
    if not np.any(moving):
        raise DescriptionError("No joint moves in this log.")
    return float(max(frequency[np.searchsorted(p, POWER * p[-1])] for p in power.T[moving]))


def even(
    log: Log, effort: np.ndarray, notes: list[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]:
    """t, q, qd and effort at even times: resampled through local cubics (Akima) where the log is not."""
    steps = np.diff(log.t)
    h = float(np.median(steps))
    uneven = float(np.max(np.abs(steps - h)))
    if uneven <= UNEVEN * h:
        return log.t, log.q, log.qd, effort
    count = int(np.floor(log.duration / h * (1.0 + 1e-12))) + 1
    if count > 20 * len(log.t):
        raise DescriptionError(
            f"The log has {len(log.t)} samples in {log.duration:.3g} s, most of them {h:.3g} s apart: it has holes; cut them out."
        )
    t = log.t[0] + h * np.arange(count)
    notes.append(f"Steps between {steps.min():.3g} and {steps.max():.3g} s were resampled to {1.0 / h:.4g} Hz.")
    if steps.max() > LARGEST_GAP:
        notes.append(f"The longest gap is {steps.max():.3g} s; what happened in it is unknown.")
    from scipy.interpolate import Akima1DInterpolator

    def at(x: np.ndarray) -> np.ndarray:
        return Akima1DInterpolator(log.t, x, axis=0)(np.minimum(t, log.t[-1]))

    return t, at(log.q), None if log.qd is None else at(log.qd), at(effort)


def filtered(log: Log, effort: str, cutoff: float | None, velocity: str) -> Signals:
    """A log as equations need it.

    Args:
        effort: "tau" or "current".
        cutoff: of the equations [Hz]; chosen from the motion's bandwidth when omitted.
        velocity: "measured" or "derived" (from the positions); "auto" is measured where the log has it.
    """
    values = getattr(log, effort)
    if values is None:
        raise DescriptionError(f"The log has no columns of '{effort}'.", field=effort)
    if velocity == "measured" and log.qd is None:
        raise DescriptionError("The log has no velocities; use velocity='derived'.", field="velocity")
    notes: list[str] = []
    t, q, qd, y = even(log, values, notes)
    rate = (len(t) - 1) / float(t[-1] - t[0])
    if cutoff is None:
        cutoff = float(np.clip(ROOM * bandwidth(q, rate), 1.0, HIGHEST * rate / 2.0))
        notes.append(f"Cutoff {cutoff:.3g} Hz, {ROOM:g} times the bandwidth of the motion.")
    if not cutoff <= HIGHEST * rate:
        raise DescriptionError(
            f"The cutoff is {cutoff:g} Hz; at {rate:.4g} Hz it may be at most {HIGHEST * rate:.4g}.", field="cutoff"
        )
    if len(t) < 4 * EDGE / cutoff * rate:
        raise DescriptionError(
            f"{log.duration:.3g} s are too short for a cutoff of {cutoff:.3g} Hz: {EDGE / cutoff:.3g} s are lost at either end.",
            field="cutoff",
        )
    wide = min(WIDER * cutoff, HIGHEST * rate)
    q, y = low_pass(q, rate, wide), low_pass(y, rate, wide)
    measured = qd is not None and velocity != "derived"
    qd = low_pass(qd, rate, wide) if measured and qd is not None else derivative(q, rate)
    thin = max(1, int(rate / (5.0 * wide)))  # the regressor is made at five times the bandwidth of the signals
    qdd = derivative(qd, rate)
    notes.append(
        f"Zero-phase Butterworth filter at {wide:.3g} Hz for the signals and {cutoff:.3g} Hz for both sides of the equations; velocities "
        f"{'measured' if measured else 'derived'}; {EDGE / cutoff:.2g} s cut at either end."
    )
    return Signals(t[::thin], q[::thin], qd[::thin], qdd[::thin], y[::thin], rate / thin, float(cutoff), tuple(notes))


def parallel(x: np.ndarray, signals: Signals, step: int | None = None) -> np.ndarray:
    """Rows of a regressor or torques through the filter of the equations, ends cut, decimated."""
    flat = low_pass(x.reshape(len(x), -1), signals.rate, signals.cutoff).reshape(x.shape)
    return flat[signals.edge : len(x) - signals.edge : step or signals.decimation]
