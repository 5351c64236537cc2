r"""Noise behind a filter: neighbouring samples share it, and intervals say so.

White noise that has gone through a filter with the power gain :math:`|G(f)|^2` has the autocorrelation
:math:`r(\tau) \propto \int |G|^2 \cos 2\pi f\tau\,df`, so that the rows of :math:`A x = b + \varepsilon` have
:math:`\operatorname{cov}\varepsilon = \sigma^2 R` and least squares the covariance [Seber & Lee, Linear Regression Analysis, 2003]

.. math:: \operatorname{cov}\hat x = \sigma^2 (A^TA)^{-1}A^T R A(A^TA)^{-1}

With R = 1 instead, samples :math:`1/(2f_c)` apart would make deviations of slow signals 8 % too small, and all samples of a log several times too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from manipula.analysis.identification.filtering import Signals, inner, power_gain

FINE = 16  # periods of the cutoff that the autocorrelation is made for, of which half are kept


class SharedNoise(NamedTuple):
    """Noise of filtered samples, white before the filter.

    Attributes:
        pieces: samples between two gaps, and the autocorrelation of their noise at 0, 1, … samples, 1 at first.
    """

    pieces: tuple[tuple[int, np.ndarray], ...]

    @classmethod
    def of(cls, runs: Sequence[Signals], step: int | None = None) -> SharedNoise:
        """The noise of the rows that ``parallel`` gives, run after run."""
        found: list[tuple[int, np.ndarray]] = []
        for signals in runs:
            r = autocorrelation(signals.rate, signals.cutoff)[:: step or signals.decimation]
            found += [(len(inner(signals.t[p], signals, step)), r) for p in signals.pieces]
        return cls(tuple(found))

    def shared(self, rows: np.ndarray) -> np.ndarray:
        """R times rows, (samples, …): every joint has its own noise."""
        from scipy import signal

        out, first = np.empty_like(rows), 0
        for count, r in self.pieces:
            both = np.concatenate([r[:0:-1], r]).reshape(-1, *[1] * (rows.ndim - 1))
            part = slice(first, first + count)
            out[part] = signal.fftconvolve(rows[part], both, mode="same", axes=0) if count else 0.0
            first += count
        return out

    def covariance(self, A: np.ndarray, inverse: np.ndarray) -> np.ndarray:
        """Of least squares on rows A, (samples, n, b), of deviation one, whose (AᵀA)⁻¹ is ``inverse``, (b, b).

        The deviation was estimated as if rows were independent, from the residuals' sum of squares over rows − b; its mean is rows − tr((AᵀA)⁻¹AᵀRA).
        """
        whole = A.reshape(-1, A.shape[-1])
        middle = whole.T @ self.shared(A).reshape(whole.shape)
        rows, taken = len(whole), float(np.sum(inverse * middle))
        believed = max(rows - A.shape[-1], 1) / max(rows - taken, 1.0)
        return believed * (inverse @ middle @ inverse)


def autocorrelation(rate: float, cutoff: float) -> np.ndarray:
    """Of white noise behind ``low_pass`` forward and backward, at lags of 0, 1, … samples; 1 at first."""
    count = int(np.ceil(FINE * rate / cutoff))
    r = np.fft.irfft(power_gain(np.fft.rfftfreq(count, 1.0 / rate), rate, cutoff), count)
    return r[: count // 2] / r[0]
