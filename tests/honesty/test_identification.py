"""An identified robot is the robot that was identified, physical, and silent about what the data do not show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import manipula as mp
from manipula.analysis.identification.pseudo_inertia import is_physical, pseudo_inertia
from manipula.errors import DescriptionError, ShapeError, UnknownNameError
from manipula.formats.toml import to_toml
from manipula.physics.regressor import parameters
from manipula.robot.friction import Coulomb, LuGre
from strategies import random_robot

ALL = ("armature", "viscous", "coulomb", "offset")


def motion(n, samples, seed):
    """Random states, none of them near rest."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, samples, n))
    return q, qd + 0.05 * np.sign(qd), 4.0 * qdd


def data(model, samples=200, seed=0, noise=0.02, friction=(0.4, 0.7, -0.3)):
    viscous, coulomb, offset = friction
    q, qd, qdd = motion(model.n, samples, seed)
    tau = model.inverse_dynamics(q, qd, qdd) + viscous * qd + coulomb * np.sign(qd) + offset
    spread = noise * np.sqrt(np.mean(tau**2, axis=0))
    return q, qd, qdd, tau + spread * np.random.default_rng(seed + 100).normal(size=tau.shape)


@pytest.fixture(scope="module")
def arm():
    return mp.compile(random_robot(np.random.default_rng(4), 3, drives=True))


@pytest.fixture(scope="module")
def panda():
    return mp.compile(mp.load("panda"))


def own_torque(robot, q, qd, qdd):
    """Inverse dynamics of a robot plus the friction laws of its joints."""
    tau = mp.compile(robot).inverse_dynamics(q, qd, qdd)
    for i, joint in enumerate(robot.joints):
        if joint.friction is not None:
            tau[:, i] += [float(joint.friction.torque(v)) for v in qd[:, i]]
    return tau


@pytest.mark.parametrize("extras", [ALL, ("viscous", "coulomb", "offset"), ("offset",), ("viscous",), ()])
def test_the_identified_robot_carries_everything_that_was_identified(arm, extras):
    found = mp.identify(arm, *data(arm), extras=extras)
    q, qd, qdd = motion(3, 40, 7)
    wanted = found.predict(q, qd, qdd, physical=True)
    robot = found.robot
    assert np.max(np.abs(own_torque(robot, q, qd, qdd) - wanted)) < 1e-9 * np.max(np.abs(wanted))
    assert mp.from_toml(to_toml(robot)) == robot
    if "offset" in extras:
        assert found.friction["offset"] == pytest.approx([-0.3] * 3, abs=0.3)
    assert [j.gear_ratio for j in robot.joints] == [j.gear_ratio for j in arm.robot.joints]


def test_what_the_data_leave_open_stays_at_the_prior(panda):
    """The mass of the first link of a Panda moves no torque at all."""
    found = mp.identify(panda, *data(panda, noise=0.05), extras=("viscous", "coulomb", "offset"))
    columns, base = found.base.columns, found.base
    unseen = columns.names.index("m1")
    assert np.all(base.K[:, unseen] == 0.0)
    assert found.robot.links[0].mass == pytest.approx(panda.robot.links[0].mass, rel=0.05)
    for link, true in zip(found.robot.links, panda.robot.links):
        assert 0.3 * true.mass < link.mass < 3.0 * true.mass
    assert np.all(found.is_physical)


def test_bodies_on_the_border_pass_the_own_check(arm):
    """Torques that are mostly noise press the estimate against the border of bodies that can exist."""
    q, qd, qdd, tau = data(arm, samples=40, noise=3.0)
    found = mp.identify(arm, q, qd, qdd, tau)
    assert np.all(found.is_physical)
    assert np.all(is_physical(np.asarray(parameters(found.robot), float).reshape(-1, 10)))
    assert mp.doctor(found.robot).ok


def divergence(pi, prior):
    """Σ d(J‖J⁰) and its directional derivatives need nothing but the definition."""
    total = 0.0
    for body, expected in zip(pi.reshape(-1, 10), prior.reshape(-1, 10)):
        X = np.linalg.solve(pseudo_inertia(expected), pseudo_inertia(body))
        sign, log = np.linalg.slogdet(X)
        assert sign > 0
        total += np.trace(X) - log - 4.0
    return total


def test_the_physical_estimate_is_the_optimum(arm):
    """Convex problem: where no physical direction descends, nothing is better anywhere."""
    q, qd, qdd, tau = data(arm, samples=60, noise=0.5)
    sigma = np.array([1.0, 2.0, 0.5])
    found = mp.identify(arm, q, qd, qdd, tau, extras=(), weights=sigma, prior_weight=2.0)
    prior = np.asarray(parameters(arm.robot), float)
    target = tau - np.array([float(j.armature) for j in arm.robot.joints]) * qdd
    W = found.base.columns(q, qd, qdd)

    def cost(pi):
        misfit = (target - W @ pi) / sigma
        return 0.5 * np.sum(misfit**2) + 2.0 * divergence(pi, prior)

    here, best = found.parameters, cost(found.parameters)
    rng = np.random.default_rng(5)
    scale = np.repeat([np.max(np.abs(b)) for b in prior.reshape(-1, 10)], 10)
    for _ in range(60):
        direction = scale * rng.normal(size=len(here))
        h = 1e-6
        slope = (cost(here + h * direction) - cost(here - h * direction)) / (2 * h)
        bend = (cost(here + h * direction) - 2 * best + cost(here - h * direction)) / h**2
        assert bend > 0.0
        assert 0.5 * slope**2 / bend < 1e-6  # what this direction could still gain
    towards = prior - here
    assert cost(here + 0.01 * towards) > best < cost(here - 0.01 * towards)


def test_the_estimate_does_not_depend_on_the_order_of_rounding(panda):
    sample = data(panda, samples=150, noise=0.05)
    first = mp.identify(panda, *sample).parameters
    shuffled = np.random.default_rng(0).permutation(150)
    second = mp.identify(panda, *(x[shuffled] for x in sample)).parameters
    assert np.max(np.abs(first - second)) < 1e-8 * np.max(np.abs(first))


def test_bounds_are_kept(arm):
    sample = data(arm, noise=0.3)
    names = [link.name for link in arm.robot.links]
    truth = [float(link.mass) for link in arm.robot.links]
    box = ((0.01, 0.02), (-np.inf, np.inf), (-0.3, -0.29))
    found = mp.identify(
        arm, *sample, masses={names[1]: (0.2 * truth[1], 0.3 * truth[1]), names[2]: (truth[2], truth[2])},
        centres={names[0]: box}, total_mass=(5.0, 5.5),
    ).robot  # fmt: skip
    assert 0.2 * truth[1] <= found.links[1].mass <= 0.3 * truth[1]
    assert found.links[2].mass == pytest.approx(truth[2], rel=1e-8)
    assert 5.0 <= sum(link.mass for link in found.links) <= 5.5
    x, _, z = found.links[0].com
    assert 0.01 <= x <= 0.02
    assert -0.3 <= z <= -0.29
    free = mp.identify(arm, *sample).robot
    wide = mp.identify(arm, *sample, masses=[(0.0, 1e6)] * 3).robot
    assert [link.mass for link in wide.links] == pytest.approx([link.mass for link in free.links], rel=1e-6)


def test_a_mass_that_is_known_exactly_does_not_slow_the_search(arm, monkeypatch):
    """Bounds 1e-9 apart curve the barrier 1e18 times as much as the data do; Newton's method must not lose the data beside it."""
    from manipula.analysis.identification import physical

    steps, one = [], physical._newton_step
    monkeypatch.setattr(physical, "_newton_step", lambda *slopes: steps.append(one(*slopes)[1]) or one(*slopes))
    sample = data(arm, noise=0.3)
    names = [link.name for link in arm.robot.links]
    mass = float(arm.robot.links[2].mass)
    found = mp.identify(arm, *sample, masses={names[2]: (mass, mass)}, total_mass=(5.0, 5.5)).robot
    assert found.links[2].mass == pytest.approx(mass, rel=1e-8)
    assert len(steps) <= 300  # thousands where rounding decides
    assert min(steps) >= 0.0


@pytest.mark.parametrize(
    ("bounds", "error", "text"),
    [
        ({"masses": {"elbw": (1, 2)}}, UnknownNameError, "elbw"),
        ({"masses": [(1, 2)]}, ShapeError, "3"),
        ({"masses": [(2, 1)] * 3}, DescriptionError, "exceeds"),
        ({"masses": [(-2, -1)] * 3}, DescriptionError, "positive"),
        ({"masses": [(0, 0)] * 3}, DescriptionError, "positive"),
        ({"weights": [1e-20, 1, 1]}, DescriptionError, "at most"),
        ({"weights": [1, 1, 1e20], "physical": False}, DescriptionError, "at most"),
        ({"weights": [1e-300] * 3}, DescriptionError, "at least"),
        ({"masses": [(1, float("nan"))] * 3}, DescriptionError, "bound"),
        ({"masses": [(1, 2)] * 3, "total_mass": (7, 8)}, DescriptionError, "add up"),
        ({"centres": [(0, 1)] * 3}, ShapeError, "three pairs"),
        ({"masses": [(1, 2)] * 3, "physical": False}, DescriptionError, "physical"),
        ({"prior_weight": 0.0}, DescriptionError, "greater than 0"),
        ({"prior": mp.planar([1.0], [1.0])}, DescriptionError, "joints"),
    ],
)
def test_impossible_requests_are_refused(arm, bounds, error, text):
    with pytest.raises(error, match=text):
        mp.identify(arm, *data(arm, samples=40), **bounds)


def test_friction_that_is_not_identified_is_taken_from_the_robot(arm):
    law = Coulomb(0.7, damping=0.4, offset=-0.3)
    known = arm.robot.replace(joints=tuple(replace(j, friction=law) for j in arm.robot.joints))
    sample = data(arm, noise=0.0)
    found = mp.identify(known, *sample, extras=())
    assert np.max(np.abs(found.residuals)) < 1e-7 * np.max(np.abs(sample[3]))
    assert [j.friction for j in found.robot.joints] == [law] * 3
    bristles = known.replace(
        joints=tuple(replace(j, friction=LuGre(1e3, 1, 0, 0.1, 0.2, 0.1, 0.1)) for j in known.joints)
    )
    with pytest.raises(DescriptionError, match="lugre"):
        mp.identify(bristles, *sample, extras=())
