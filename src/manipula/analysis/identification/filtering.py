r"""Filters without phase shift, derivatives, decimation.

A Butterworth filter of order 4 run forward and backward has the gain :math:`1/(1 + (f/f_c)^8)` and no phase shift [Gustafsson 1996]. What is
filtered, regressor and torque alike, still obeys :math:`\tau = W\pi`, because the parameters are constants (parallel filtering
[Gautier & Poignet 2001]). Behind a low pass at :math:`f_c`, samples closer than :math:`1/(2f_c)` tell nothing new and are left out; what
noise the others still share widens confidence intervals (``shared_noise``).

What happened in a gap of a log is unknown: a log is filtered piece by piece between its gaps, and every piece loses its ends. A step
shorter than half a period of the cutoff is no gap, for what passes the filter is known there from the samples around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.value import Value
from manipula.analysis.identification.log import Log
from manipula.errors import DescriptionError

ORDER = 4
WIDER = 4.0  # cutoff of the signals, in units of the cutoff of the equations
EDGE = 1.0  # periods of the cutoff that are cut at either end, where a filter has only half of its data; both sides of the equations agree there too
FIRST_EDGE = 3.0  # periods of the cutoff of the signals: what of an end is left in their derivatives is e^{-0.38·2π·3}, a thousandth
LOWEST = 1.0  # cutoff that is chosen [Hz]
HIGHEST = 0.4  # of the sampling rate: no cutoff above this
POWER = 0.999  # share of the power of the positions below the bandwidth
# cutoff that is chosen, in units of that bandwidth: friction and products of velocities go beyond the motion
ROOM = 10.0

UNEVEN = 1e-3  # of a step: times that differ more are not evenly spaced
SHORTEST_GAP = 2.5  # steps: one missing sample is no gap, however high the cutoff


@dataclass(frozen=True, eq=False, repr=False)
class Signals(Value):
    """Filtered signals on even times: (samples,) and (samples, n).

    Attributes:
        t: [s]. q, qd, qdd: filtered, derived. effort: torque or current through the same filter.
        rate: [Hz]. cutoff: of the equations [Hz]. notes: what was done. pieces: samples between two gaps of the log.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    effort: np.ndarray
    rate: float
    cutoff: float
    notes: tuple[str, ...]
    pieces: tuple[slice, ...]

    @property
    def edge(self) -> int:
        """Samples at either end of a piece that the filters spoil."""
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


def power_gain(frequency: np.ndarray, rate: float, cutoff: float) -> np.ndarray:
    """Of :func:`low_pass`, both passes together: by how much it changes the power at frequencies [Hz]."""
    from scipy import signal

    _, response = signal.sosfreqz(signal.butter(ORDER, cutoff, fs=rate, output="sos"), frequency, fs=rate)
    return np.abs(response) ** 4


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


def even(t: np.ndarray, signals: list[np.ndarray | None], h: float) -> tuple[np.ndarray, list[np.ndarray | None]]:
    """Times with the step h, and signals there: resampled through local cubics (Akima) where the times are not even."""
    if np.max(np.abs(np.diff(t) - h)) <= UNEVEN * h:
        return t, signals
    from scipy.interpolate import Akima1DInterpolator

    times = t[0] + h * np.arange(int(np.floor((t[-1] - t[0]) / h * (1.0 + 1e-12))) + 1)
    at = np.minimum(times, t[-1])
    return times, [None if x is None else Akima1DInterpolator(t, x, axis=0)(at) for x in signals]


def between_gaps(t: np.ndarray, longest: float, least: float) -> list[slice]:
    """The pieces of a log between steps longer than ``longest`` [s], without those that last ``least`` [s] or less."""
    edges = [0, *(np.flatnonzero(np.diff(t) > longest) + 1).tolist(), len(t)]
    return [slice(a, b) for a, b in zip(edges, edges[1:]) if t[b - 1] - t[a] > least]


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
    steps = np.diff(log.t)
    h = float(np.median(steps))
    if log.duration / h > 20 * len(log.t):
        raise DescriptionError(
            f"The log has {len(log.t)} samples in {log.duration:.3g} s, most of them {h:.3g} s apart: it has holes; cut them out."
        )
    if np.max(np.abs(steps - h)) > UNEVEN * h:
        notes.append(f"Steps between {steps.min():.3g} and {steps.max():.3g} s were resampled to {1.0 / h:.4g} Hz.")
    t, (q, *_) = even(log.t, [log.q], h)
    rate = (len(t) - 1) / float(t[-1] - t[0])
    if cutoff is None and HIGHEST * rate / 2.0 < LOWEST:
        raise DescriptionError(
            f"The log has {rate:.3g} samples per second, which show no motion of a robot. Are its times in seconds? units={{'t': 'ms'}} (us, ns), on "
            "the command line --units t=ms, says that they are not; a cutoff that is stated is taken.",
            field="t",
        )
    if cutoff is None:
        cutoff = float(np.clip(ROOM * bandwidth(np.asarray(q), rate), LOWEST, HIGHEST * rate / 2.0))
        notes.append(f"Cutoff {cutoff:.3g} Hz, {ROOM:g} times the bandwidth of the motion.")
    if not cutoff <= HIGHEST * rate:
        raise DescriptionError(
            f"The cutoff is {cutoff:g} Hz; at {rate:.4g} Hz it may be at most {HIGHEST * rate:.4g}.", field="cutoff"
        )
    wide = min(WIDER * cutoff, HIGHEST * rate)
    lost = EDGE / cutoff + FIRST_EDGE / wide
    longest = max(0.5 / cutoff, SHORTEST_GAP * h)
    gaps = int(np.sum(steps > longest))
    pieces = between_gaps(log.t, longest, 2.0 * lost)
    used = sum(float(log.t[p.stop - 1] - log.t[p.start]) - 2.0 * lost for p in pieces)
    if used + h < 2.0 * lost:
        between = f", with {gaps} gaps of up to {steps.max():.3g} s," if gaps else ""
        raise DescriptionError(
            f"{log.duration:.3g} s{between} are too short for a cutoff of {cutoff:.3g} Hz: {lost:.3g} s are lost at either end"
            f"{' and on either side of a gap' if gaps else ''}.",
            field="cutoff",
        )
    if gaps:
        notes.append(
            f"{gaps} gap(s) of up to {steps.max():.3g} s: what happened there is unknown; {log.duration - 2.0 * lost - used:.3g} s in and around "
            "them were left out."
        )
    thin = max(1, int(rate / (5.0 * wide)))  # the regressor is made at five times the bandwidth of the signals
    measured = log.qd is not None and velocity != "derived"
    found = [_piece(log.t[p], log.q[p], log.qd[p] if measured and log.qd is not None else None, values[p], h, rate, wide, thin)
             for p in pieces]  # fmt: skip
    notes.append(
        f"Zero-phase Butterworth filter at {wide:.3g} Hz for the signals and {cutoff:.3g} Hz for both sides of the equations; velocities "
        f"{'measured' if measured else 'derived'}; {lost:.2g} s cut at either end."
    )
    ends = np.cumsum([0, *(len(piece[0]) for piece in found)]).tolist()
    t, q, qd, qdd, y = (np.concatenate(parts) for parts in zip(*found))
    return Signals(t, q, qd, qdd, y, rate / thin, float(cutoff), tuple(notes), tuple(map(slice, ends, ends[1:])))


def _piece(
    t: np.ndarray, q: Any, qd: Any, y: Any, h: float, rate: float, wide: float, thin: int
) -> tuple[np.ndarray, ...]:
    """t, q, qd, qdd and effort of samples without a gap: even, filtered at ``wide``, without the ends that this spoils, every ``thin``-th.

    Both sides of the equations then begin and end with what was measured, and the second filter treats them alike, its ends too.
    """
    t, (q, qd, y) = even(t, [q, qd, y], h)
    q, y = low_pass(q, rate, wide), low_pass(y, rate, wide)
    qd = derivative(q, rate) if qd is None else low_pass(qd, rate, wide)
    spoiled = int(np.ceil(FIRST_EDGE / wide * rate))
    sound = slice(spoiled, len(t) - spoiled, thin)
    return t[sound], q[sound], qd[sound], derivative(qd, rate)[sound], y[sound]


def parallel(x: np.ndarray, signals: Signals, step: int | None = None) -> np.ndarray:
    """Rows of a regressor or torques through the filter of the equations, piece by piece, ends cut, decimated."""
    flat = x.reshape(len(x), -1)
    rows = [low_pass(flat[p], signals.rate, signals.cutoff) for p in signals.pieces]
    return np.concatenate([inner(piece, signals, step) for piece in rows]).reshape(-1, *x.shape[1:])


def inner(piece: np.ndarray, signals: Signals, step: int | None = None) -> np.ndarray:
    """Of a piece between two gaps what the filters do not spoil, decimated."""
    return piece[signals.edge : len(piece) - signals.edge : step or signals.decimation]
