"""Places where something is tried out: without a pattern, the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest
import scipy  # its statistics are loaded when they are used

from manipula.algebra.scattered import Scattered


def test_the_first_numbers_of_splitmix64() -> None:
    """The sequence of seed 0 that its authors' program prints (also in the tests of many libraries)."""
    known = np.array([0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC], np.uint64)
    np.testing.assert_array_equal(Scattered(0).uniform(0.0, 1.0, 4), (known >> np.uint64(11)) * 2.0**-53)


@pytest.mark.parametrize("seed", range(8))
def test_no_pattern(seed: int) -> None:
    seen = Scattered(seed).uniform(-1.0, 3.0, (500, 4))
    assert seen.shape == (500, 4)
    assert seen.min() >= -1.0
    assert seen.max() < 3.0
    assert scipy.stats.kstest(seen.ravel(), scipy.stats.uniform(-1.0, 4.0).cdf).pvalue > 1e-3
    assert np.abs(np.corrcoef(seen.T) - np.eye(4)).max() < 0.15


def test_a_row_goes_on_and_seeds_differ() -> None:
    row = Scattered(3)
    parts = np.concatenate([row.uniform(0.0, 1.0, 3), row.uniform(0.0, 1.0, 5)])
    np.testing.assert_array_equal(parts, Scattered(3).uniform(0.0, 1.0, 8))
    assert not set(parts) & set(Scattered(4).uniform(0.0, 1.0, 100))
    assert float(Scattered(3).uniform(0.0, 1.0)) == parts[0]
