"""Analytic derivatives of the dynamics against exact Taylor numbers and against Pinocchio's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from manipula.algebra.derivatives import jacobian as derivative
from manipula.physics import articulated, composite
from manipula.physics.composite import mass_matrix
from manipula.physics.derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from manipula.physics.mechanism import mechanism_of, regrouped
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot.robot import Robot
from strategies import random_robot, random_state

ROUNDOFF = 1e-12  # scaled by the largest entry


def some_robots() -> list[Robot]:
    rng = np.random.default_rng(61)
    sizes = [(1, False), (2, False), (4, False), (4, True), (7, True), (6, False)]
    return [
        random_robot(rng, n, tree, oblique=True, drives=True, base=True, gravity=True, payload=not tree)
        for n, tree in sizes
    ]


def close(value: np.ndarray, reference: np.ndarray, size: float = 1.0) -> bool:
    size = max(1.0, size, float(np.max(np.abs(reference))))
    return bool(np.max(np.abs(np.asarray(value, float) - reference)) <= ROUNDOFF * size)


@pytest.mark.parametrize("robot", some_robots(), ids=repr)
@pytest.mark.parametrize("lean", [False, True], ids=["as described", "regrouped"])
def test_inverse_dynamics(robot: Robot, lean: bool) -> None:
    mechanism = regrouped(mechanism_of(robot)) if lean else mechanism_of(robot)
    q, qd, qdd = random_state(np.random.default_rng(1), robot.n)
    dq, dqd, dqdd = inverse_dynamics_derivatives(mechanism, q, qd, qdd)
    assert close(dq, derivative(lambda x: inverse_dynamics(mechanism, x, qd, qdd), q))
    assert close(dqd, derivative(lambda x: inverse_dynamics(mechanism, q, x, qdd), qd))
    assert close(dqdd, derivative(lambda x: inverse_dynamics(mechanism, q, qd, x), qdd))
    assert close(dqdd, mass_matrix(mechanism, q))


@pytest.mark.parametrize("robot", some_robots(), ids=repr)
@pytest.mark.parametrize(
    "forward", [composite.forward_dynamics, articulated.forward_dynamics], ids=["composite", "articulated"]
)
def test_forward_dynamics(robot: Robot, forward: Callable[..., np.ndarray]) -> None:
    q, qd, tau = random_state(np.random.default_rng(2), robot.n)
    dq, dqd, dtau = forward_dynamics_derivatives(robot, q, qd, tau)
    condition = float(np.linalg.cond(mass_matrix(robot, q)))
    for found, reference in (
        (dq, derivative(lambda x: forward(robot, x, qd, tau), q)),
        (dqd, derivative(lambda x: forward(robot, q, x, tau), qd)),
        (dtau, derivative(lambda x: forward(robot, q, qd, x), tau)),
    ):
        assert close(found, reference, size=0.01 * condition * float(np.max(np.abs(reference))))


@pytest.mark.parametrize("robot", some_robots(), ids=repr)
def test_against_pinocchio(robot: Robot) -> None:
    pytest.importorskip("pinocchio")
    from oracles import Judge

    judge = Judge(robot)
    q, qd, x = random_state(np.random.default_rng(3), robot.n)
    pairs = [
        *zip(inverse_dynamics_derivatives(robot, q, qd, x), judge.inverse_dynamics_derivatives(q, qd, x)),
        *zip(forward_dynamics_derivatives(robot, q, qd, x), judge.forward_dynamics_derivatives(q, qd, x)),
    ]
    condition = float(np.linalg.cond(mass_matrix(robot, q)))
    for found, reference in pairs:
        assert close(found, reference, size=0.01 * condition * float(np.max(np.abs(reference))))
