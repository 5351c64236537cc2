r"""Vibration: natural frequencies along a motion, spectra, the fast part of a signal.

With flexible drives the linearised arm has links and rotors joined by springs,

.. math:: \begin{bmatrix} M & 0 \\ 0 & J\end{bmatrix}\begin{bmatrix}\ddot q\\ \ddot\theta\end{bmatrix} +
          \begin{bmatrix} K + \partial g/\partial q & -K \\ -K & K\end{bmatrix}\begin{bmatrix} q\\ \theta\end{bmatrix} = 0

A rotor whose motion is prescribed stands still in the linearisation; a rigid joint moves as one with its link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, eigh

from manipula.algebra.arguments import finite_array, flag, number, rows_of, whole_number
from manipula.algebra.value import Value
from manipula.analysis.manipulability import postures
from manipula.errors import DescriptionError, ShapeError, UnphysicalError, printable
from manipula.model import model_of
from manipula.robot.drives.base import Drive
from manipula.robot.drives.flexible import Flexible
from manipula.robot.robot import Robot

ROUNDING = 3e-14  # of the largest ω²: what is smaller is the rounding of a mode without a spring
MOST_TREND = 20  # degree of a polynomial
FILTER_SAMPLES = 16  # what the filter of order 4, run both ways, needs at its ends


@dataclass(frozen=True, eq=False, repr=False)
class Modes(Value):
    """Natural frequencies [Hz] and mode shapes at one or several postures.

    Attributes:
        frequency: (..., m), ascending; NaN where a posture is unstable in that mode. Less than 2e-7 of the largest is rounding, and 0.
        shape: (..., coordinates, m), links first, then rotors; largest entry 1.
        coordinates: names.
    """

    frequency: np.ndarray
    shape: np.ndarray
    coordinates: tuple[str, ...]


def natural_modes(robot: Robot, q: Any, drives: Any = None, locked: bool = True) -> Modes:
    """Modes at postures q (..., n).

    Args:
        drives: one drive per joint, replacing the robot's.
        locked: joints with rigid drives are held by their brakes; else they move freely.
    """
    model = model_of(robot)
    robot, locked = model.robot, flag(locked, "locked")
    q = postures(robot, q)
    laws: list[Any] = [j.drive for j in robot.joints] if drives is None else list(rows_of(drives, "drives"))
    if len(laws) != robot.n or not all(d is None or isinstance(d, Drive) for d in laws):
        raise ShapeError(f"'drives' needs {robot.n} drives (or None), one per joint; found {printable(repr(drives))}.")
    elastic = [i for i, d in enumerate(laws) if isinstance(d, Flexible)]
    if not elastic:
        raise DescriptionError(
            f"Robot '{robot.name}' has no flexible drive, so nothing vibrates; give drives=….", field="drives"
        )
    rotors = [i for i in elastic if laws[i].motor is None]
    for i in rotors:
        if not float(robot.joints[i].armature) > 0.0:
            raise UnphysicalError(
                f"Joint '{robot.joint_names[i]}' has a flexible drive and a rotor without inertia; state rotor_inertia."
            )
    links = elastic if locked else list(range(robot.n))
    names = tuple(robot.joint_names[i] for i in links) + tuple(f"rotor of {robot.joint_names[i]}" for i in rotors)
    flat = q.reshape(-1, robot.n)
    zero = np.zeros_like(flat)
    M, G = model.mass_matrix(flat), model.inverse_dynamics_derivatives(flat, zero, zero)[0]
    frequencies, shapes = [], []
    armature = np.array([float(j.armature) for j in robot.joints])
    for k in range(len(flat)):
        size = len(links) + len(rotors)
        inertia, stiffness = np.zeros((size, size)), np.zeros((size, size))
        own = M[k] - np.diag(np.where([d is not None and d.separates_rotor for d in laws], armature, 0.0))
        inertia[: len(links), : len(links)] = own[np.ix_(links, links)]
        stiffness[: len(links), : len(links)] = 0.5 * (G[k] + G[k].T)[np.ix_(links, links)]
        for i in elastic:
            row = links.index(i)
            stiffness[row, row] += float(laws[i].stiffness)
            if i in rotors:
                other = len(links) + rotors.index(i)
                inertia[other, other] = armature[i]
                stiffness[other, other] += float(laws[i].stiffness)
                stiffness[row, other] = stiffness[other, row] = -float(laws[i].stiffness)
        try:
            values, vectors = eigh(stiffness, inertia)
        except LinAlgError:
            raise UnphysicalError(
                f"The mass matrix of '{robot.name}' is not positive definite at {q.reshape(-1, robot.n)[k]}."
            ) from None
        floor = ROUNDING * np.abs(values).max(initial=0.0)
        clean = np.where(np.abs(values) < floor, 0.0, values)
        frequencies.append(np.where(clean >= 0, np.sqrt(np.abs(clean)) / (2 * np.pi), np.nan))
        shapes.append(vectors / np.abs(vectors).max(axis=0))
    lead = q.shape[:-1]
    return Modes(
        np.array(frequencies).reshape(*lead, len(names)), np.array(shapes).reshape(*lead, len(names), len(names)), names
    )


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Value):
    """One-sided amplitude spectrum: frequency [Hz] (k,), amplitude (k, channels)."""

    frequency: np.ndarray
    amplitude: np.ndarray

    def peak(self, channel: int = 0, above: float = 0.0) -> tuple[float, float]:
        """Frequency and amplitude of the largest peak above a frequency; the frequency is refined between lines."""
        a = np.where(self.frequency > above, self.amplitude[:, channel], 0.0)
        k = int(np.argmax(a))
        if 0 < k < len(a) - 1 and a[k - 1] > 0 and a[k + 1] > 0:
            left, mid, right = np.log(a[k - 1 : k + 2])
            shift = 0.5 * (left - right) / (left - 2 * mid + right)
            return float(self.frequency[k] + shift * (self.frequency[1] - self.frequency[0])), float(a[k])
        return float(self.frequency[k]), float(a[k])


def _signal(t: Any, signal: Any, least: int) -> tuple[np.ndarray, np.ndarray]:
    """Increasing times (k,) and channels (k, c), k at least ``least``."""
    t, x = finite_array(t, "t"), finite_array(signal, "signal")
    x = x[:, None] if x.ndim == 1 else x
    if t.ndim != 1 or len(t) < least or x.ndim != 2 or len(x) != len(t) or np.any(np.diff(t) <= 0.0):
        raise ShapeError(
            f"At least {least} samples at increasing times are needed, t (k,) and signal (k,) or (k, channels); "
            f"found t {t.shape} and signal {np.shape(signal)}."
        )
    return t, x


def spectrum(t: Any, signal: Any, trend: int = 1) -> Spectrum:
    """Amplitudes of a uniformly sampled signal, Hann window, after removing a polynomial trend of the given degree."""
    t, x = _signal(t, signal, 8)
    trend, step = whole_number(trend, "trend", 0, MOST_TREND), np.diff(t)
    if np.ptp(step) > 1e-6 * step.mean():
        raise ShapeError("A spectrum needs at least 8 uniform samples; these stand at unequal steps of time.")
    u = np.linspace(-1.0, 1.0, len(t))
    x = x - np.polynomial.polynomial.polyval(u, np.polynomial.polynomial.polyfit(u, x, trend)).T
    window = np.hanning(len(t))
    lines = np.fft.rfft(x * window[:, None], axis=0)
    return Spectrum(np.fft.rfftfreq(len(t), step.mean()), 2.0 * np.abs(lines) / window.sum())


def fast_part(t: Any, signal: Any, cutoff: float) -> np.ndarray:
    """The part of a uniformly sampled signal above a frequency [Hz] (zero-phase Butterworth of order 4)."""
    from scipy.signal import butter, sosfiltfilt

    (t, x), cutoff = _signal(t, signal, FILTER_SAMPLES), number(cutoff, "cutoff")
    flat = np.ndim(signal) == 1
    rate = 1.0 / float(np.mean(np.diff(t)))
    if not 0.0 < cutoff < rate / 2:
        raise DescriptionError(f"The cutoff must lie between 0 and {rate / 2:g} Hz, found {cutoff:g}.", field="cutoff")
    return sosfiltfilt(butter(4, cutoff, "highpass", fs=rate, output="sos"), x[:, 0] if flat else x, axis=0)
