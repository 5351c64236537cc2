"""Noise that neighbouring samples share behind a filter, against noise that went through it."""

from __future__ import annotations

import numpy as np
import pytest

from manipula.analysis.identification.filtering import Signals, inner, low_pass
from manipula.analysis.identification.shared_noise import SharedNoise, autocorrelation


@pytest.mark.parametrize(("rate", "cutoff"), [(500.0, 12.0), (100.0, 30.0), (1000.0, 50.0)])
def test_the_autocorrelation_is_that_of_filtered_noise(rate, cutoff):
    noise = low_pass(np.random.default_rng(0).normal(size=(4000, 400)), rate, cutoff)[1000:3000]
    size = np.mean(noise**2)
    for lag in (0, 1, 2, 5, 17, int(rate / cutoff)):
        seen = np.mean(noise[: len(noise) - lag] * noise[lag:]) / size
        assert autocorrelation(rate, cutoff)[lag] == pytest.approx(seen, abs=0.01)


def test_noise_is_not_shared_across_a_gap():
    rate, cutoff, step = 100.0, 5.0, 2
    pieces = slice(0, 180), slice(180, 400)
    t = np.arange(400) / rate
    signals = Signals(t, t, t, t, t, rate, cutoff, (), pieces)
    counts = [len(inner(t[p], signals, step)) for p in pieces]
    r = np.pad(autocorrelation(rate, cutoff)[::step], (0, 400))  # nothing is left of it farther away
    blocks = [r[np.abs(np.subtract.outer(np.arange(m), np.arange(m)))] for m in counts]
    rows = np.random.default_rng(1).normal(size=(sum(counts), 3, 2))
    wanted = np.concatenate([np.tensordot(R, part, 1) for R, part in zip(blocks, np.split(rows, counts[:1]))])
    np.testing.assert_allclose(SharedNoise.of([signals], step).shared(rows), wanted, atol=1e-9)
