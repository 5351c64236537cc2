"""Coefficients of the embedded pairs, held against SciPy's."""

from __future__ import annotations

import numpy as np
from scipy.integrate import DOP853, RK45

from manipula.simulation.integrators import tableaus


def dense(weights: dict[int, float], size: int) -> np.ndarray:
    row = np.zeros(size)
    row[list(weights)] = list(weights.values())
    return row


def test_dormand_prince_5() -> None:
    assert np.array_equal(tableaus.DOPRI5_NODES, RK45.C)
    assert np.array_equal([dense(row, 5) for row in tableaus.DOPRI5_STAGES], RK45.A)
    assert np.array_equal(dense(tableaus.DOPRI5_SOLUTION, 6), RK45.B)
    assert np.array_equal(dense(tableaus.DOPRI5_ERROR, 7), RK45.E)


def test_dormand_prince_8() -> None:
    assert np.array_equal(tableaus.DOP853_NODES, DOP853.C)
    assert np.array_equal([dense(row, 12) for row in tableaus.DOP853_STAGES], DOP853.A)
    assert np.array_equal(dense(tableaus.DOP853_SOLUTION, 12), DOP853.B)
    assert np.array_equal(dense(tableaus.DOP853_ERROR_5, 13), DOP853.E5)
    assert np.array_equal(dense(tableaus.DOP853_ERROR_3, 13), DOP853.E3)
