"""Identification: exact without noise, honest with noise, always physical."""

from __future__ import annotations

import numpy as np
import pytest
import scipy  # its statistics are loaded when they are used
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from manipula.algebra.inertia import moments
from manipula.algebra.inertia import pseudo_inertia as general_pseudo_inertia
from manipula.analysis.identification.estimate import identify
from manipula.analysis.identification.excitation import excitation
from manipula.analysis.identification.pseudo_inertia import (
    inertial_parameters,
    is_physical,
    nearest_physical,
    pseudo_inertia,
)
from manipula.errors import DescriptionError, ShapeError, SolveError, UnknownNameError
from manipula.formats.planar import planar
from manipula.model import Model
from manipula.physics.regressor import parameters
from strategies import random_body, random_robot

EXACT = 1e-9  # noise-free least squares with condition numbers below 1e3
UNLIKELY = 1e-4  # probability with which a correct program fails a statistical test (seeds are fixed)


# ---------------------------------------------------------------------- bodies that can exist
@pytest.mark.parametrize("seed", range(5))
def test_bodies_survive_the_round_trip(seed):
    rng = np.random.default_rng(seed)
    m = moments(*random_body(rng))
    J = m.second
    pi = np.array([m.mass, *m.first, J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]], float)
    assert np.max(np.abs(pseudo_inertia(pi) - general_pseudo_inertia(m))) < 1e-14 * np.max(np.abs(pi))
    assert np.max(np.abs(inertial_parameters(pseudo_inertia(pi)) - pi)) < 1e-14 * np.max(np.abs(pi))
    assert np.max(np.abs(nearest_physical(pi) - pi)) < 0.02 * np.max(np.abs(pi))


@given(arrays(float, 10, elements=st.floats(-10.0, 10.0)))
def test_the_nearest_body_can_exist(pi):
    assert is_physical(nearest_physical(pi))


# ---------------------------------------------------------------------- data
def measurement(model, seed=0, noise=0.02, samples=300, friction=True, harmonics=5):
    """Motion and torque of a model with friction and noise; the true parameters."""
    n = model.n
    rng = np.random.default_rng(seed)
    e = excitation(model, 8.0, harmonics, extras=("viscous", "coulomb"), starts=8, iterations=8, seed=seed)
    _, q, qd, qdd = e.sampled(samples)
    viscous, coulomb = (rng.uniform(0.2, 1.0, n), rng.uniform(0.2, 1.0, n)) if friction else (np.zeros(n), np.zeros(n))
    clean = model.inverse_dynamics(q, qd, qdd) + viscous * qd + coulomb * np.sign(qd)
    sigma = noise * np.sqrt(np.mean(clean**2, axis=0))
    tau = clean + sigma * rng.normal(size=clean.shape)
    return (q, qd, qdd, tau), np.concatenate([parameters(model.robot), viscous, coulomb]), sigma


@pytest.fixture(scope="module")
def arm():
    return Model(random_robot(np.random.default_rng(4), 3, drives=True))


@pytest.fixture(scope="module")
def noisy(arm):
    data, true, sigma = measurement(arm, seed=1)
    return identify(arm, *data), true, sigma, data


def test_without_noise_the_base_parameters_are_exact(arm):
    data, true, _ = measurement(arm, noise=0.0)
    found = identify(arm, *data)
    wanted = found.base.values(true)
    assert np.max(np.abs(found.beta - wanted)) < EXACT * np.max(np.abs(wanted))
    assert np.all(found.fit > 1.0 - 1e-12)
    assert np.all(found.is_physical)
    assert np.max(np.abs(found.friction["viscous"] - true[-6:-3])) < 1e-3  # the physical estimate leans a little
    assert np.max(np.abs(found.physical_residuals)) < 1e-3 * np.max(np.abs(data[3]))


def test_estimates_lie_where_the_covariance_says(noisy):
    """The squared distance in the metric of the covariance follows χ² with b degrees of freedom."""
    found, true, sigma, _ = noisy
    error = found.beta - found.base.values(true)
    distance = error @ np.linalg.solve(found.covariance, error)
    assert UNLIKELY < scipy.stats.chi2.cdf(distance, found.base.count) < 1.0 - UNLIKELY
    inside = np.mean(
        (found.interval[:, 0] <= found.base.values(true)) & (found.base.values(true) <= found.interval[:, 1])
    )
    assert inside > 0.8
    assert found.sigma == pytest.approx(sigma, rel=0.2)  # 300 samples: 4 % standard error


def test_confidence_intervals_cover_as_often_as_they_promise():
    """200 repetitions of a one-joint arm: the 90 % interval holds the truth in 90 % of all cases."""
    model = Model(planar([0.8], [1.5]))
    data, true, _ = measurement(model, noise=0.0, samples=60, harmonics=3)
    rng = np.random.default_rng(12)
    hits = []
    for _ in range(200):
        tau = data[3] + 0.3 * rng.normal(size=data[3].shape)
        found = identify(model, *data[:3], tau, physical=False, confidence=0.9)
        wanted = found.base.values(true)
        hits.append((found.interval[:, 0] <= wanted) & (wanted <= found.interval[:, 1]))
    total = int(np.sum(np.asarray(hits)[:, 0]))
    low, high = scipy.stats.binom.ppf([UNLIKELY, 1.0 - UNLIKELY], 200, 0.9)
    assert low <= total <= high


def test_the_physical_estimate_explains_the_data_as_well(noisy):
    found, true, _, _ = noisy
    assert np.all(found.is_physical)
    least = np.sum((found.residuals / found.sigma) ** 2)
    physical = np.sum((found.physical_residuals / found.sigma) ** 2)
    assert least <= physical * (1.0 + 1e-9)
    assert physical < least + 40.0  # the truth itself is physical and lies about b = 22 above the minimum
    error = found.physical_beta - found.base.values(true)
    assert error @ np.linalg.solve(found.covariance, error) < scipy.stats.chi2.ppf(1.0 - UNLIKELY, found.base.count)


@pytest.mark.parametrize("seed", range(3))
def test_bad_data_still_give_bodies_that_can_exist(arm, seed):
    """Torques that are mostly noise, and a prior far from the truth: every pseudo-inertia stays positive definite."""
    (q, qd, qdd, tau), _, _ = measurement(arm, seed=2, noise=0.0, samples=40)
    rng = np.random.default_rng(seed)
    tau = tau + 2.0 * np.max(np.abs(tau)) * rng.normal(size=tau.shape)
    other = random_robot(np.random.default_rng(50 + seed), 3)
    found = identify(arm, q, qd, qdd, tau, prior=other)
    least = found.base.columns.names.index("m1")
    assert np.all(found.is_physical)
    assert found.parameters is not None
    assert found.parameters[least] > 0
    assert np.all(found.friction["viscous"] >= 0.0)
    assert np.all(found.friction["coulomb"] >= 0.0)
    from manipula.robot.doctor import doctor

    assert doctor(found.robot).ok  # masses, inertias, triangle rule


def test_the_identified_robot_moves_like_the_measured_one(arm, noisy):
    found, true, _, _ = noisy
    model = Model(found.robot)
    rng = np.random.default_rng(6)
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, 50, 3))
    wanted, got = arm.inverse_dynamics(q, qd, qdd), model.inverse_dynamics(q, qd, qdd)
    assert np.max(np.abs(got - wanted)) < 0.1 * np.max(np.abs(wanted))
    friction = true[-6:-3] * qd + true[-3:] * np.sign(qd)
    predicted = found.predict(q, qd, qdd)
    assert np.max(np.abs(predicted - wanted - friction)) < 0.1 * np.max(np.abs(wanted))
    physical = found.predict(q, qd, qdd, physical=True)
    own = got + found.friction["viscous"] * qd + found.friction["coulomb"] * np.sign(qd)
    assert np.max(np.abs(physical - own)) < EXACT * np.max(np.abs(own))


def test_rotor_inertia_can_be_identified(arm):
    data, true, _ = measurement(arm, noise=0.0)
    found = identify(arm, *data, extras=("viscous", "coulomb", "armature"))
    full = np.concatenate([true[:30], [j.armature for j in arm.robot.joints], true[30:]])
    wanted = found.base.values(full)
    assert np.max(np.abs(found.beta - wanted)) < 1e-6 * np.max(np.abs(wanted))
    assert np.all(found.friction["armature"] >= 0.0)


def test_weights_follow_the_noise_of_each_joint(arm):
    """With one joint a hundred times noisier, weighting keeps the others' precision."""
    (q, qd, qdd, tau), true, _ = measurement(arm, noise=0.0)
    size = np.sqrt(np.mean(tau**2, axis=0))
    tau = tau + size * np.array([0.5, 0.005, 0.005]) * np.random.default_rng(3).normal(size=tau.shape)
    weighted = identify(arm, q, qd, qdd, tau, physical=False)
    plain = identify(arm, q, qd, qdd, tau, physical=False, weights="none")
    given_weights = identify(arm, q, qd, qdd, tau, physical=False, weights=size * np.array([0.5, 0.005, 0.005]))
    wanted = weighted.base.values(true)
    tip = [k for k, name in enumerate(weighted.base.names) if name.endswith("3")]
    error = [np.linalg.norm((r.beta - wanted)[tip]) for r in (weighted, plain, given_weights)]
    assert error[0] < 0.5 * error[1]
    assert error[0] == pytest.approx(error[2], rel=0.2)


def test_the_report_says_everything(noisy):
    found, *_ = noisy
    text = found.text()
    for word in (
        "base parameters",
        "std. dev.",
        "95 % interval",
        "rms residual",
        "all links can exist",
        "viscous",
        *found.base.names,
    ):
        assert word in text
    for name in found.base.columns.model.robot.joint_names:
        assert name in text


def test_wrong_data_are_refused(arm):
    (q, qd, qdd, tau), _, _ = measurement(arm, samples=40)
    with pytest.raises(ShapeError, match="samples"):
        identify(arm, q[:, :2], qd, qdd, tau)
    with pytest.raises(ShapeError, match="qd has 39"):
        identify(arm, q, qd[1:], qdd, tau)
    broken = tau.copy()
    broken[7, 1] = np.nan
    with pytest.raises(ShapeError, match="sample 7"):
        identify(arm, q, qd, qdd, broken)
    with pytest.raises(ShapeError, match="measure more"):
        identify(arm, q[:3], qd[:3], qdd[:3], tau[:3])
    with pytest.raises(DescriptionError, match="exciting"):
        identify(arm, q, 0 * qd, 0 * qdd, tau)
    with pytest.raises(UnknownNameError, match="joint"):
        identify(arm, q, qd, qdd, tau, weights="joints")
    with pytest.raises(DescriptionError, match="confidence"):
        identify(arm, q, qd, qdd, tau, confidence=95)
    with pytest.raises(SolveError, match="physical=True"):
        identify(arm, q, qd, qdd, tau, physical=False).robot
