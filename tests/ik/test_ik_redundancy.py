"""Redundancy at one instant: identities of weighted inverses, null spaces and hierarchies."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp
from manipula.ik.tracking.self_motion import limit_pull
from manipula.redundancy.arm import Arm
from manipula.redundancy.pseudoinverse import weighted_inverse
from manipula.redundancy.resolution import (
    null_space,
    prioritised,
    resolved_acceleration,
    resolved_rate,
)

ROUNDING = 1e-11  # solutions of 6×6 systems of condition below 1e4


@pytest.fixture(scope="module")
def panda() -> mp.Model:
    return mp.compile(mp.load("panda"))


@pytest.fixture(scope="module")
def state(panda: mp.Model) -> tuple[np.ndarray, np.ndarray]:
    q = np.array([0.2, 0.4, -0.3, -1.6, 0.3, 1.4, 0.5])
    return q, panda.jacobian(q)


def test_rates_serve_the_task_and_are_the_shortest(state: tuple[np.ndarray, np.ndarray]) -> None:
    _, J = state
    v = np.array([0.1, -0.2, 0.05, 0.3, 0.1, -0.2])
    qd = resolved_rate(J, v)
    assert np.abs(J @ qd - v).max() < ROUNDING
    assert np.abs(qd - np.linalg.pinv(J) @ v).max() < ROUNDING
    other = resolved_rate(J, v, null=np.arange(7.0))
    assert np.abs(J @ other - v).max() < ROUNDING
    assert np.linalg.norm(other) > np.linalg.norm(qd)


def test_the_mass_weighted_inverse_spends_least_kinetic_energy(panda: mp.Model, state: tuple) -> None:
    q, J = state
    v = np.array([0.1, -0.2, 0.05, 0.3, 0.1, -0.2])
    M = panda.mass_matrix(q)
    best = resolved_rate(J, v, weight=M)
    assert np.abs(J @ best - v).max() < ROUNDING
    least = panda.kinetic_energy(q, best)
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = best + null_space(J) @ rng.normal(size=7)
        assert np.abs(J @ other - v).max() < ROUNDING
        assert panda.kinetic_energy(q, other) > least
    assert panda.kinetic_energy(q, resolved_rate(J, v)) > least


def test_diagonal_weights_spare_joints(state: tuple) -> None:
    _, J = state
    v = np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0])
    lazy = resolved_rate(J, v, weight=np.array([1e6, 1, 1, 1, 1, 1, 1]))
    assert abs(lazy[0]) < 1e-3 * abs(resolved_rate(J, v)).max()
    assert np.allclose(weighted_inverse(J, np.ones(7)), weighted_inverse(J), rtol=0, atol=ROUNDING)


def test_damping_bounds_rates_near_singular_postures() -> None:
    J = np.diag([1.0, 1e-6])
    assert abs(resolved_rate(J, [0.0, 1.0])[1]) > 1e5
    assert abs(resolved_rate(J, [0.0, 1.0], damping=0.1)[1]) < 1.0


def test_accelerations_follow_the_second_derivative(panda: mp.Model, state: tuple) -> None:
    q, J = state
    qd = np.array([0.3, -0.2, 0.1, 0.4, -0.1, 0.2, 0.3])
    bias = panda.jacobian_rate(q, qd) @ qd
    a = np.array([0.5, 0.1, -0.2, 0.0, 0.3, 0.1])
    qdd = resolved_acceleration(J, bias, a, null=np.ones(7))
    assert np.abs(J @ qdd + bias - a).max() < ROUNDING


def test_lower_tasks_never_disturb_higher_ones(state: tuple) -> None:
    _, J = state
    first, second, third = (J[:3], np.array([0.1, 0.2, 0.3])), (J[3:], np.ones(3)), (np.eye(7), np.full(7, 5.0))
    qd = prioritised([first, second, third])
    assert np.abs(first[0] @ qd - first[1]).max() < ROUNDING
    assert np.abs(second[0] @ qd - second[1]).max() < ROUNDING
    alone = prioritised([first, second])
    assert np.linalg.norm(third[0] @ qd - third[1]) < np.linalg.norm(third[0] @ alone - third[1])


def test_conflicting_tasks_yield_to_the_first() -> None:
    J = np.array([[1.0, 0.5, 0.2]])
    qd = prioritised([(J, [1.0]), (J, [-3.0]), (np.eye(3), np.zeros(3))])
    assert J @ qd == pytest.approx(np.array([1.0]))


def test_the_pull_points_away_from_the_nearer_limit(panda: mp.Model) -> None:
    low, high = panda.robot.position_limits.T
    middle = 0.5 * (low + high)
    assert np.abs(limit_pull(Arm(panda.robot), middle)).max() < 1e-12
    assert np.all(np.asarray(limit_pull(Arm(panda.robot), high - 0.1), float) < 0.0)
    assert np.all(np.asarray(limit_pull(Arm(panda.robot), low + 0.1), float) > 0.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: weighted_inverse(np.ones((2, 3)), np.ones(4)),
        lambda: weighted_inverse(np.ones((2, 3)), np.ones((2, 2))),
        lambda: prioritised([(np.ones((2, 3)), np.ones(3))]),
    ],
)
def test_wrong_shapes_raise(call) -> None:
    with pytest.raises(mp.ShapeError):
        call()


def test_an_empty_hierarchy_raises() -> None:
    with pytest.raises(mp.DescriptionError, match="task"):
        prioritised([])
