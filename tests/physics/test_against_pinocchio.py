"""Every physics function against Pinocchio, on random chains and trees with all features a robot may have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pinocchio")

from manipula.physics import articulated, composite
from manipula.physics.coriolis import coriolis_matrix
from manipula.physics.energy import kinetic_energy, potential_energy
from manipula.physics.kinematics import jacobian, jacobian_rate, pose, poses
from manipula.physics.lagrange_euler import lagrange_euler
from manipula.physics.newton_euler import bias, gravity, inverse_dynamics, nonlinear_effects
from manipula.physics.reactions import joint_reactions
from manipula.physics.regressor import regressor
from manipula.robot.robot import Robot
from oracles import Judge, scaled_error
from strategies import random_robot, random_state

ROUNDOFF = 1e-13  # up to 8 joints and entries of order 1 to 1000, each error divided by the largest entry
RESIDUAL = 1e-13  # of forward dynamics: torque that the result would need, less the torque that was applied
STATES = 2

FEATURES = ("fixed", "oblique", "drives", "base", "tool", "payload", "gravity", "massless")

State = tuple[np.ndarray, np.ndarray, np.ndarray]


def population(seed: int, count: int, largest: int) -> Iterator[tuple[Robot, State]]:
    """Robots of 1 to ``largest`` joints, half of them trees, each feature present in about half of them."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(1, largest + 1))
        features: dict[str, Any] = {f: bool(rng.random() < 0.5) for f in FEATURES}
        yield random_robot(rng, n, tree=bool(rng.random() < 0.5), **features), random_state(rng, n)


@pytest.mark.parametrize("robots", [150, pytest.param(1000, marks=pytest.mark.slow)])
def test_inverse_dynamics_of_many_robots(robots: int) -> None:
    rng = np.random.default_rng(20)
    worst = 0.0
    for robot, first in population(seed=11, count=robots, largest=5):
        judge = Judge(robot)
        for q, qd, qdd in [first, *(random_state(rng, robot.n) for _ in range(STATES - 1))]:
            error = scaled_error(inverse_dynamics(robot, q, qd, qdd), judge.inverse_dynamics(q, qd, qdd))
            worst = max(worst, error)
            assert error <= ROUNDOFF, f"{robot!r} at q = {q.tolist()}"
    assert worst > 0.0  # two programs never agree to the last bit everywhere: zero would mean that nothing was compared


MEDIUM = [pytest.param(robot, state, id=f"{k}-{robot.n}{'' if robot.is_chain else '-tree'}")
          for k, (robot, state) in enumerate(population(seed=12, count=40, largest=8))]  # fmt: skip


@pytest.mark.parametrize(("robot", "state"), MEDIUM)
def test_dynamics(robot: Robot, state: State) -> None:
    judge = Judge(robot)
    q, qd, qdd = state
    M = judge.mass_matrix(q)
    C = judge.coriolis_matrix(q, qd)
    assert scaled_error(composite.mass_matrix(robot, q), M) <= ROUNDOFF
    assert scaled_error(coriolis_matrix(robot, q, qd), C) <= ROUNDOFF
    assert scaled_error(bias(robot, q, qd), C @ qd) <= ROUNDOFF
    assert scaled_error(gravity(robot, q), judge.gravity(q)) <= ROUNDOFF
    assert scaled_error(nonlinear_effects(robot, q, qd), judge.nonlinear_effects(q, qd)) <= ROUNDOFF
    assert scaled_error(kinetic_energy(robot, q, qd), judge.kinetic_energy(q, qd)) <= ROUNDOFF
    assert scaled_error(potential_energy(robot, q), judge.potential_energy(q)) <= ROUNDOFF
    assert scaled_error(joint_reactions(robot, q, qd, qdd), judge.joint_reactions(q, qd, qdd)) <= ROUNDOFF
    assert scaled_error(regressor(robot, q, qd, qdd), judge.regressor(q, qd, qdd)) <= ROUNDOFF


@pytest.mark.parametrize(("robot", "state"), MEDIUM)
def test_kinematics_of_every_frame(robot: Robot, state: State) -> None:
    judge = Judge(robot)
    q, qd, _ = state
    names = tuple(judge.frame_ids)
    together = poses(robot, q, names)
    for k, name in enumerate(names):
        assert scaled_error(pose(robot, q, name), judge.pose(q, name)) <= ROUNDOFF
        assert np.array_equal(together[k], pose(robot, q, name))
        for axes in ("base", "body"):
            assert scaled_error(jacobian(robot, q, name, axes), judge.jacobian(q, name, axes)) <= ROUNDOFF
            assert (
                scaled_error(jacobian_rate(robot, q, qd, name, axes), judge.jacobian_rate(q, qd, name, axes))
                <= ROUNDOFF
            )


@pytest.mark.parametrize(
    "forward", [composite.forward_dynamics, articulated.forward_dynamics], ids=["composite", "articulated"]
)
def test_forward_dynamics_leaves_no_torque_over(forward: Callable[..., np.ndarray]) -> None:
    """Judged by Pinocchio's inverse dynamics of the result: M may be ill conditioned, the residual must not care."""
    for robot, (q, qd, tau) in population(seed=13, count=100, largest=8):
        judge = Judge(robot)
        qdd = forward(robot, q, qd, tau)
        size = max(1.0, np.max(np.abs(judge.mass_matrix(q) * qdd)), np.max(np.abs(judge.nonlinear_effects(q, qd))))
        left_over = judge.inverse_dynamics(q, qd, qdd) - tau
        assert np.max(np.abs(left_over)) / size <= RESIDUAL, f"{robot!r}"


def test_lagrange_by_traces_is_the_same_mechanics() -> None:
    """The 4×4 route shares only the description with Newton–Euler; both must meet Pinocchio."""
    for robot, (q, qd, _) in population(seed=14, count=15, largest=5):
        judge = Judge(robot)
        route = lagrange_euler(robot, q)
        assert scaled_error(route.M, judge.mass_matrix(q)) <= ROUNDOFF
        assert scaled_error(route.bias(qd), judge.nonlinear_effects(q, qd) - judge.gravity(q)) <= ROUNDOFF
        assert scaled_error(route.g, judge.gravity(q)) <= ROUNDOFF


def test_a_tree_in_an_order_that_is_not_depth_first() -> None:
    """Joints alternate between two branches: the order of q stays the robot's own, not the judge's."""
    rng = np.random.default_rng(15)
    found = 0
    while found < 5:
        robot = random_robot(rng, 7, tree=True, oblique=True, drives=True)
        judge = Judge(robot)
        if judge.order == list(range(7)):
            continue
        found += 1
        q, qd, qdd = random_state(rng, 7)
        assert scaled_error(inverse_dynamics(robot, q, qd, qdd), judge.inverse_dynamics(q, qd, qdd)) <= ROUNDOFF
        assert [judge.model.names[judge.ids[i]] for i in range(7)] == list(robot.joint_names)
