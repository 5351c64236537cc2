"""Excitation: inside every limit at every time, at rest at both ends, better than chance, the same for the same seed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from manipula.algebra.derivatives import derivatives
from manipula.analysis.identification.base_parameters import base_parameters
from manipula.analysis.identification.excitation import _ConditionSearch, bounds_of, excitation
from manipula.errors import DescriptionError, ShapeError
from manipula.formats.planar import planar
from manipula.model import Model
from manipula.robot.limits import Limits
from strategies import random_robot

ROUND = 1e-9  # of sums of a few sines
DIFFERENCES = 2e-3  # the criterion's own rounding, κ²·1e-16, over the step of the differences


@pytest.fixture(scope="module")
def limited():
    rng = np.random.default_rng(2)
    robot = random_robot(rng, 3, prismatic=True)
    limits = [Limits(-0.4, 1.1, 0.8, 2.0), Limits(None, 0.3, None, 1.0), Limits(-0.2, 0.25, 0.5, None)]
    joints = tuple(dataclasses.replace(j, limits=l) for j, l in zip(robot.joints, limits))
    return Model(dataclasses.replace(robot, joints=joints))


@pytest.fixture(scope="module")
def found(limited):
    return excitation(limited, 6.0, 4, extras=("viscous", "coulomb"), starts=12, iterations=25, seed=3)


def test_limits_hold_at_every_time(limited, found):
    t = np.random.default_rng(0).uniform(0.0, 6.0, 20_000)
    bounds = bounds_of(limited)
    assert np.all(np.abs(found.position(t) - bounds.centre) <= bounds.half)
    assert np.all(np.abs(found.velocity(t)) <= bounds.velocity)
    assert np.all(np.abs(found.acceleration(t)) <= bounds.acceleration)


def test_some_limit_of_every_joint_is_used(limited, found):
    t = np.linspace(0.0, 6.0, 4000)
    bounds = bounds_of(limited)
    used = np.maximum.reduce([
        np.ptp(found.position(t), axis=0) / (2 * bounds.half), np.max(np.abs(found.velocity(t)), 0) / bounds.velocity,
        np.max(np.abs(found.acceleration(t)), 0) / bounds.acceleration,
    ])  # fmt: skip
    assert np.all(used > 0.98)


def test_it_starts_and_ends_at_rest(found):
    for t in (0.0, 6.0):
        assert np.max(np.abs(found.velocity(t))) < ROUND
        assert np.max(np.abs(found.acceleration(t))) < ROUND
    assert np.max(np.abs(found.position(6.0) - found.position(0.0))) < ROUND


def test_rates_are_the_derivatives_of_the_position(found):
    """Taylor numbers through the formula written out here once more."""
    l = np.arange(1, 5)
    w = 2 * np.pi / 6.0 * l

    def position(t):
        s, c = np.array([(t * k).sin() for k in w], object), np.array([(t * k).cos() for k in w], object)
        return found.offset + found.sine @ (s / w) - found.cosine @ (c / w)

    wanted = derivatives(position, 1.7, 3)
    for method, value in zip((found.position, found.velocity, found.acceleration, found.jerk), wanted):
        assert np.max(np.abs(method(1.7) - np.asarray(value, float))) < ROUND * 100


def test_the_search_improves_on_chance_and_repeats_itself(limited, found):
    assert found.condition < 0.9 * found.first_condition
    again = excitation(limited, 6.0, 4, extras=("viscous", "coulomb"), starts=12, iterations=25, seed=3)
    assert np.array_equal(again.sine, found.sine)
    assert again.condition == found.condition


def test_the_condition_number_is_that_of_the_regressor():
    model = Model(planar([0.6, 0.5], [2.0, 1.0]))
    e = excitation(model, 4.0, 4, starts=8, iterations=10)
    samples = max(12 * 4, 2 * e.base.columns.size // 2)
    _, q, qd, qdd = e.sampled(samples)
    W = e.base.regressor(q, qd, qdd).reshape(-1, e.base.count)
    assert np.linalg.cond(W) == pytest.approx(e.condition, rel=1e-6)


def test_the_slope_of_the_criterion_is_right(limited):
    base = base_parameters(limited, ("viscous", "coulomb"))
    search = _ConditionSearch(base, 6.0, 4, bounds_of(limited))
    x = np.random.default_rng(5).normal(size=search.n * search.width)
    _, gradient = search.score_and_gradient(x)
    h = 1e-4
    both = search.scores(np.vstack([x + h * np.eye(len(x)), x - h * np.eye(len(x))]))
    numeric = (both[: len(x)] - both[len(x) :]) / (2 * h)
    assert np.max(np.abs(gradient - numeric)) < DIFFERENCES * np.max(np.abs(numeric))


def test_wrong_requests_are_refused():
    arm = Model(planar([1.0], [1.0]))
    with pytest.raises(DescriptionError, match="harmonics"):
        excitation(arm, harmonics=2)
    with pytest.raises(DescriptionError, match="duration"):
        excitation(arm, duration=0.0)
    with pytest.raises(ShapeError, match="velocity"):
        bounds_of(arm, velocity=[1.0, 2.0])
    with pytest.raises(DescriptionError, match="positive"):
        bounds_of(arm, acceleration=-1.0)


@pytest.mark.parametrize("samples", [0, -5, 2.5, "many", True, 10**12])
def test_a_motion_has_a_whole_number_of_samples(samples):
    move = excitation(Model(planar([0.8], [1.5])), 4.0, 3, starts=1, iterations=0)
    with pytest.raises(DescriptionError, match="samples"):
        move.sampled(samples)
