"""Sensitivities against closed forms and SciPy: Ishigami's function, linear models, ranks with ties."""

import numpy as np
import pytest
import scipy  # its statistics are loaded when they are used

from manipula.analysis.sensitivity import sensitivity, sobol_indices
from manipula.errors import DescriptionError, ShapeError

A, B = 7.0, 0.1


def ishigami(x):
    return np.sin(x[:, 0]) + A * np.sin(x[:, 1]) ** 2 + B * x[:, 2] ** 4 * np.sin(x[:, 0])


def ishigami_indices():
    """Closed form (Ishigami and Homma, 1990)."""
    v1 = 0.5 * (1 + B * np.pi**4 / 5) ** 2
    v2 = A**2 / 8
    v13 = B**2 * np.pi**8 * (1 / 18 - 1 / 50)
    v = v1 + v2 + v13
    return np.array([v1, v2, 0.0]) / v, np.array([v1 + v13, v2, v13]) / v


def cube(rows, columns=3, seed=1):
    return np.random.default_rng(seed).uniform(-np.pi, np.pi, (rows, columns))


def test_first_order_indices_from_any_sample_are_those_of_the_closed_form():
    x = cube(20_000)
    found = sensitivity(x, ishigami(x))
    first, _ = ishigami_indices()
    np.testing.assert_allclose(found.first, first, atol=0.03)
    assert ((found.first_low <= first) & (first <= found.first_high)).all()
    assert np.isnan(found.total).all()


def test_the_exchange_design_gives_first_and_total_indices():
    a, b = cube(20_000, seed=2), cube(20_000, seed=3)
    ab = np.stack([ishigami(np.where(np.arange(3) == i, b, a)) for i in range(3)], axis=1)
    found = sobol_indices(a, ishigami(a), ishigami(b), ab, ["u", "v", "w"])
    first, total = ishigami_indices()
    np.testing.assert_allclose(found.first, first, atol=0.03)
    np.testing.assert_allclose(found.total, total, atol=0.03)
    assert found.names == ("u", "v", "w")
    assert found.order[2] == 2


def test_the_exchange_design_agrees_with_scipy():
    a, b = cube(4096, seed=4), cube(4096, seed=5)
    ab = np.stack([ishigami(np.where(np.arange(3) == i, b, a)) for i in range(3)], axis=1)
    found = sobol_indices(a, ishigami(a), ishigami(b), ab)
    theirs = scipy.stats.sobol_indices(
        func={"f_A": ishigami(a)[None], "f_B": ishigami(b)[None], "f_AB": ab.T[:, None, :]}, n=4096
    )
    np.testing.assert_allclose(found.first, theirs.first_order, atol=0.02)
    np.testing.assert_allclose(found.total, theirs.total_order, atol=0.02)


def test_intervals_hold_what_they_say():
    """Of many repetitions about 95 % of the intervals hold the truth."""
    truth, inside = ishigami_indices()[0][0], 0
    for seed in range(60):
        x = cube(600, seed=100 + seed)
        found = sensitivity(x, ishigami(x), seed=seed)
        inside += bool(found.first_low[0] <= truth <= found.first_high[0])
    assert 48 <= inside <= 60


def test_rank_correlations_are_spearmans_also_with_ties():
    random = np.random.default_rng(6)
    x = np.column_stack([random.integers(0, 5, 300), random.normal(size=300), np.full(300, 2.0)])
    y = np.exp(x[:, 0]) - 0.3 * x[:, 1] ** 3 + random.normal(size=300)
    found = sensitivity(x, y)
    for i in range(2):
        assert found.rank[i] == pytest.approx(scipy.stats.spearmanr(x[:, i], y).statistic, abs=1e-12)
        assert found.rank_low[i] < found.rank[i] < found.rank_high[i]
    assert np.isnan(found.rank[2])  # what does not vary explains nothing


def test_partial_rank_correlation_is_that_of_residuals():
    random = np.random.default_rng(7)
    x = random.normal(size=(400, 3))
    x[:, 1] += 0.8 * x[:, 0]
    y = x[:, 0] + 0.2 * x[:, 2] + 0.1 * random.normal(size=400)
    found = sensitivity(x, y)
    ranks = np.column_stack([scipy.stats.rankdata(c) for c in (*x.T, y)])
    for i in range(3):
        others = np.column_stack([np.ones(400), ranks[:, [k for k in range(3) if k != i]]])
        left = [v - others @ np.linalg.lstsq(others, v, rcond=None)[0] for v in (ranks[:, i], ranks[:, 3])]
        assert found.partial[i] == pytest.approx(np.corrcoef(*left)[0, 1], abs=1e-10)
    assert abs(found.partial[1]) < 0.3 < abs(found.rank[1])  # it only followed the first input


def test_rows_that_are_not_finite_are_left_out_and_counted():
    x = cube(500)
    y = ishigami(x)
    y[::10] = np.nan
    found = sensitivity(x, y)
    assert (found.used, found.left_out) == (450, 50)
    assert found == sensitivity(x, y)  # a value; the halves are drawn from a seed


def test_what_cannot_be_answered_is_refused():
    x = cube(20)
    with pytest.raises(DescriptionError, match="at least 8 rows"):
        sensitivity(x[:5], ishigami(x[:5]))
    with pytest.raises(ShapeError, match="'inputs' must be"):
        sensitivity(x, np.zeros(3))
    with pytest.raises(ShapeError, match="names"):
        sensitivity(x, ishigami(x), ["a"])
    assert np.isnan(sensitivity(x, np.ones(20)).first).all()
