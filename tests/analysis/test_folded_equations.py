"""Least squares of many equations, some rows at a time: the same as all at once, and nothing that Ctrl-C has to wait for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.analysis.identification.folded import ROWS, least_squares, lengths, triangle
from manipula.analysis.identification.regressor_columns import Columns


@pytest.mark.parametrize("rows", [3, 10, ROWS - 1, ROWS, ROWS + 1, 3 * ROWS + 7])
@pytest.mark.parametrize("rank", [10, 6])
def test_parts_are_as_good_as_the_whole(rows: int, rank: int) -> None:
    rng = np.random.default_rng(rows + rank)
    A = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, 10)) * np.logspace(0, 6, 10)
    A /= np.linalg.norm(A, axis=0)
    b = rng.normal(size=rows)
    R = triangle(A)
    assert R.shape == (min(rows, 10), 10)
    np.testing.assert_allclose(R.T @ R, A.T @ A, atol=1e-13)
    beside, both = triangle(A, b), np.column_stack([A, b])
    np.testing.assert_allclose(beside.T @ beside, both.T @ both, atol=1e-13 * rows)
    np.testing.assert_allclose(lengths(A), np.linalg.norm(A, axis=0), rtol=1e-14)
    found, judge = least_squares(A, b, 1e-9), np.linalg.lstsq(A, b, rcond=1e-9)[0]
    np.testing.assert_allclose(found, judge, rtol=1e-9, atol=1e-9 * np.abs(judge).max())


def test_no_matrix_of_all_samples_is_factorised(monkeypatch: pytest.MonkeyPatch) -> None:
    """A factorisation cannot be interrupted: of 1.4 million rows, a log of 200 s at 1 kHz, one took half a minute."""
    seen: list[int] = []

    def noting(original: Any) -> Any:
        def noted(A: Any, *rest: Any, **named: Any) -> Any:
            seen.append(len(A))
            return original(A, *rest, **named)

        return noted

    for name in ("qr", "svd", "lstsq"):
        monkeypatch.setattr(np.linalg, name, noting(getattr(np.linalg, name)))
    arm = mp.load("planar-2r")
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 6 * ROWS, 2))
    tau = mp.compile(arm).inverse_dynamics(q, qd, qdd)
    found = mp.identify(arm, q, qd, qdd, tau)
    assert np.abs(found.residuals).max() < 1e-9
    assert max(seen) < 2 * ROWS


def test_regressors_of_a_long_log_are_made_some_samples_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a log of 400 s at 1 kHz are 2 GB, and Ctrl-C was heard seconds later; what is computed has the same bits."""
    arm = mp.load("planar-2r")
    base = mp.base_parameters(arm)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 2 * ROWS + 7, 2))
    whole = base.columns(q, qd, qdd)[..., base.kept]
    seen: list[int] = []
    asked = Columns.__call__

    def noted(self: Columns, q: Any, *rest: Any) -> np.ndarray:
        seen.append(len(q))
        return asked(self, q, *rest)

    monkeypatch.setattr(Columns, "__call__", noted)
    np.testing.assert_array_equal(base.regressor(q, qd, qdd), whole)
    assert max(seen) <= ROWS
    assert base.regressor(q[0], qd[0], qdd[0]).shape == (2, base.count)
