"""Poses, Jacobians and their rates against exact derivatives of the poses themselves."""

from __future__ import annotations

import numpy as np
import pytest

from manipula.algebra.derivatives import derivatives, directional
from manipula.algebra.derivatives import jacobian as derivative
from manipula.errors import UnknownNameError
from manipula.physics.kinematics import ExpressedIn, jacobian, jacobian_rate, pose, position
from manipula.robot.robot import Robot
from strategies import random_robot, random_state

ROUNDOFF = 1e-13  # products of up to 7 rotations, lengths of order 1


def some_robots() -> list[Robot]:
    rng = np.random.default_rng(7)
    return [random_robot(rng, n, tree, fixed=True, oblique=True, base=True, tool=True) for n, tree in
            [(1, False), (2, False), (4, False), (7, False), (3, True), (6, True)]]  # fmt: skip


ROBOTS = [pytest.param(r, id=f"{r.n}{'' if r.is_chain else '-tree'}") for r in some_robots()]


def unskew(W: np.ndarray) -> np.ndarray:
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2


def product_of_motions(robot: Robot, q: np.ndarray, name: str) -> np.ndarray:
    """X_WF multiplied out of 4×4 matrices straight from the description, Rodrigues' formula for the turns."""
    f = robot.frame(name)
    path: list[int] = []
    i = f.link
    while i >= 0:
        path.insert(0, i)
        i = robot.joints[i].parent
    T = robot.base.matrix()
    for i in path:
        joint = robot.joints[i]
        z = np.array(joint.axis)
        K = np.array([[0, -z[2], z[1]], [z[2], 0, -z[0]], [-z[1], z[0], 0]])
        motion = np.eye(4)
        if joint.is_revolute:
            motion[:3, :3] += np.sin(q[i]) * K + (1 - np.cos(q[i])) * K @ K
        else:
            motion[:3, 3] = z * q[i]
        T = T @ joint.placement.matrix() @ motion @ robot.links[i].frame.matrix()
    return T @ f.pose.matrix()


@pytest.mark.parametrize("robot", ROBOTS)
def test_pose_is_the_product_of_the_motions(robot: Robot) -> None:
    q, _, _ = random_state(np.random.default_rng(1), robot.n)
    for name in [*robot.frame_names, "tip"]:
        X = pose(robot, q, name)
        assert np.allclose(X, product_of_motions(robot, q, name), rtol=0, atol=ROUNDOFF)
        assert np.allclose(X[:3, :3] @ X[:3, :3].T, np.eye(3), rtol=0, atol=ROUNDOFF)
        assert np.array_equal(X[:3, 3], position(robot, q, name))


@pytest.mark.parametrize("robot", ROBOTS)
def test_jacobian_is_the_derivative_of_the_pose(robot: Robot) -> None:
    q, _, _ = random_state(np.random.default_rng(2), robot.n)
    for name in [*robot.frame_names, "tip"]:
        J, X = jacobian(robot, q, name), pose(robot, q, name)
        dX = derivative(lambda x: pose(robot, x, name), q)  # noqa: B023
        assert np.allclose(J[:3], dX[:3, 3], rtol=0, atol=ROUNDOFF)
        for i in range(robot.n):
            assert np.allclose(J[3:, i], unskew(dX[:3, :3, i] @ X[:3, :3].T), rtol=0, atol=ROUNDOFF)
        body = jacobian(robot, q, name, "body")
        assert np.allclose(X[:3, :3] @ body[:3], J[:3], rtol=0, atol=ROUNDOFF)
        assert np.allclose(X[:3, :3] @ body[3:], J[3:], rtol=0, atol=ROUNDOFF)


@pytest.mark.parametrize("axes", ["base", "body"])
@pytest.mark.parametrize("robot", ROBOTS)
def test_jacobian_rate_is_the_derivative_of_the_jacobian(robot: Robot, axes: ExpressedIn) -> None:
    q, qd, _ = random_state(np.random.default_rng(3), robot.n)
    for name in [*robot.frame_names, "tip"]:
        rate = directional(lambda x: jacobian(robot, x, name, axes), q, qd)  # noqa: B023
        assert np.allclose(jacobian_rate(robot, q, qd, name, axes), rate, rtol=0, atol=10 * ROUNDOFF)


@pytest.mark.parametrize("robot", ROBOTS)
def test_acceleration_of_the_tip(robot: Robot) -> None:
    """p̈ = J q̈ + J̇ q̇ along q(t) = q + q̇ t + ½ q̈ t²."""
    q, qd, qdd = random_state(np.random.default_rng(4), robot.n)
    path = lambda t: position(robot, np.array([a + b * t + 0.5 * c * t * t for a, b, c in zip(q, qd, qdd)], object))
    _, v, a = derivatives(path, 0.0, 2)
    J, Jd = jacobian(robot, q), jacobian_rate(robot, q, qd)
    assert np.allclose(v, J[:3] @ qd, rtol=0, atol=10 * ROUNDOFF)
    assert np.allclose(a, J[:3] @ qdd + Jd[:3] @ qd, rtol=0, atol=100 * ROUNDOFF)


def test_columns_of_joints_that_do_not_carry_the_frame_are_zero() -> None:
    robot = random_robot(np.random.default_rng(5), 7, tree=True)
    q, qd, _ = random_state(np.random.default_rng(5), 7)
    for i, link in enumerate(robot.links):
        carriers, k = set(), i
        while k >= 0:
            carriers.add(k)
            k = robot.joints[k].parent
        others = [k for k in range(7) if k not in carriers]
        assert not jacobian(robot, q, link.name)[:, others].any()
        assert not jacobian_rate(robot, q, qd, link.name)[:, others].any()
    assert not jacobian(robot, q, "base").any()


def test_unknown_frame_names_the_nearest() -> None:
    robot = random_robot(np.random.default_rng(6), 2)
    with pytest.raises(UnknownNameError, match="Did you mean 'link2'"):
        pose(robot, np.zeros(2), "lnk2")
