"""The searches behind tuning, on problems whose answers are known in closed form."""

import numpy as np
import pytest

from manipula.studies.tuning.gde3 import gde3
from manipula.studies.tuning.pareto import beats, best, crowding, dominates, front_of, fronts
from manipula.studies.tuning.searches import METHODS, SearchPlan

pytest.importorskip("optuna")


def brute_front(f):
    return {i for i in range(len(f)) if not any((f[j] <= f[i]).all() and (f[j] < f[i]).any() for j in range(len(f)))}


@pytest.mark.parametrize("objectives", [1, 2, 3])
def test_fronts_are_those_of_the_definition(objectives):
    f = np.random.default_rng(objectives).integers(0, 6, (60, objectives)).astype(float)
    v = np.zeros((60, 1))
    rank = fronts(f, v)
    left = set(range(60))
    for number in range(rank.max() + 1):
        members = sorted(left)
        found = {members[i] for i in brute_front(f[members])}
        assert found == {i for i in left if rank[i] == number}
        left -= found
    assert not left
    kept = front_of(f, v)
    assert {tuple(f[i]) for i in kept} == {tuple(f[i]) for i in brute_front(f)}


def test_what_keeps_constraints_beats_what_breaks_them():
    f = np.array([[5.0], [1.0], [0.5]])
    v = np.array([[0.0, 0.0], [0.1, 0.0], [0.3, 0.0]])
    assert beats(f[0], v[0], f[1], v[1])
    assert beats(f[1], v[1], f[2], v[2])
    assert not beats(f[1], v[1], f[0], v[0])
    assert front_of(f, v).tolist() == [0]
    assert not len(front_of(f[1:], v[1:]))


def test_crowds_are_thinned_where_they_are_dense():
    x = np.array([0.0, 0.01, 0.02, 0.5, 1.0])
    f = np.column_stack([x, 1.0 - x])
    assert np.isinf(crowding(f)[[0, 4]]).all()
    kept = best(f, np.zeros((5, 1)), 4)
    assert set(kept) >= {0, 3, 4}
    assert not dominates(f[0], f[1])


def test_a_known_trade_off_is_found():
    """ZDT1 (Zitzler, Deb and Thiele, 2000): the front is f2 = 1 − √f1."""
    random = np.random.default_rng(0)

    def zdt1(x):
        g = 1.0 + 9.0 * x[:, 1:].mean(axis=1)
        return np.column_stack([x[:, 0], g * (1.0 - np.sqrt(x[:, 0] / g))]), np.zeros((len(x), 1))

    _, f, v = gde3(zdt1, random.random((40, 6)), 150, random)
    kept = front_of(f, v)
    assert len(kept) >= 35
    assert np.abs(f[kept, 1] - (1.0 - np.sqrt(f[kept, 0]))).max() < 5e-3
    assert f[kept, 0].min() < 0.02
    assert f[kept, 0].max() > 0.95


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("objectives", [1, 2])
def test_every_method_respects_its_constraint_and_repeats_itself(method, objectives):
    """Least x + y with x y ≥ 1/4 is 1, at x = y = 1/2."""

    def run():
        seen = []

        def evaluate(x):
            f = np.column_stack([x.sum(axis=1), ((x - 1.0) ** 2).sum(axis=1)])[:, :objectives]
            v = np.maximum(0.0, 0.25 - x[:, :1] * x[:, 1:])
            seen.append((x.copy(), f, v))
            return f, v

        start = np.random.default_rng(1).random((10, 2))
        METHODS[method](evaluate, SearchPlan(start, 12, objectives, 3, 1e-9))
        return seen

    first, again = run(), run()
    assert np.array_equal(first[0][0], np.random.default_rng(1).random((10, 2)))
    for a, b in zip(first, again, strict=True):
        assert np.array_equal(a[0], b[0])
    x, f, v = (np.concatenate(part) for part in zip(*first))
    kept = front_of(f, v)
    assert len(kept)
    assert (x >= 0.0).all()
    assert (x <= 1.0).all()
    assert 1.0 <= f[kept, 0].min() < 1.1
