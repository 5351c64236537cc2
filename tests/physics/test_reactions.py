"""Wrenches across joints: every body on its own obeys Newton and Euler."""

from __future__ import annotations

import numpy as np
import pytest

from manipula.algebra.derivatives import derivatives
from manipula.algebra.pose import Pose
from manipula.physics.kinematics import pose
from manipula.physics.newton_euler import inverse_dynamics
from manipula.physics.reactions import joint_reactions, normal_forces
from manipula.robot.robot import Robot
from strategies import random_robot, random_state

ROUNDOFF = 1e-11  # forces of some hundred newtons, summed over 7 bodies


def some_robots() -> list[Robot]:
    rng = np.random.default_rng(41)
    sizes = [(1, False), (3, False), (4, True), (7, True), (6, False)]
    return [random_robot(rng, n, tree, oblique=True, drives=True, base=True, gravity=True) for n, tree in sizes]


@pytest.mark.parametrize("robot", some_robots(), ids=repr)
def test_every_body_obeys_newton_and_euler(robot: Robot) -> None:
    """Forces through its joints and its weight give each link the motion that its pose really has."""
    rng = np.random.default_rng(1)
    q, qd, qdd = random_state(rng, robot.n)
    path = lambda t: np.array([a + b * t + 0.5 * c * t * t for a, b, c in zip(q, qd, qdd)], object)
    wrench = joint_reactions(robot, q, qd, qdd)
    g = np.array(robot.gravity)
    force, moment, com = np.zeros((robot.n, 3)), np.zeros((robot.n, 3)), np.zeros((robot.n, 3))
    joint_poses = []
    for i, link in enumerate(robot.links):
        X, Xd, Xdd = derivatives(lambda t: pose(robot, path(t), link.name), 0.0, 2)  # noqa: B023
        R, c = X[:3, :3], np.array(link.com)
        com[i] = X[:3, :3] @ c + X[:3, 3]
        spin = Xd[:3, :3] @ R.T
        U = Xdd[:3, :3] @ R.T
        w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        alpha = np.array([U[2, 1] - U[1, 2], U[0, 2] - U[2, 0], U[1, 0] - U[0, 1]]) / 2
        I = R @ np.array(link.inertia) @ R.T
        force[i] = link.mass * (Xdd[:3, :3] @ c + Xdd[:3, 3] - g)
        moment[i] = I @ alpha + np.cross(w, I @ w)
        joint_poses.append(Pose.from_matrix(X) @ link.frame.inverse())
    for i in range(robot.n):
        f, m = np.zeros(3), np.zeros(3)
        for k in range(robot.n):
            sign = 1.0 if k == i else -1.0 if robot.joints[k].parent == i else 0.0
            R, p = joint_poses[k].R, joint_poses[k].p
            f += sign * R @ wrench[k, :3]
            m += sign * (R @ wrench[k, 3:] + np.cross(p - com[i], R @ wrench[k, :3]))
        size = max(1.0, np.max(np.abs(wrench)))
        assert np.max(np.abs(f - force[i])) <= ROUNDOFF * size
        assert np.max(np.abs(m - moment[i])) <= ROUNDOFF * size


@pytest.mark.parametrize("robot", some_robots(), ids=repr)
def test_the_component_along_the_axis_is_the_drive_without_its_rotor(robot: Robot) -> None:
    q, qd, qdd = random_state(np.random.default_rng(2), robot.n)
    tau = inverse_dynamics(robot, q, qd, qdd)
    for i, (joint, w) in enumerate(zip(robot.joints, joint_reactions(robot, q, qd, qdd))):
        along = np.array(joint.axis) @ (w[3:] if joint.is_revolute else w[:3])
        assert abs(along - (tau[i] - joint.armature * qdd[i])) <= ROUNDOFF * max(1.0, np.max(np.abs(tau)))


@pytest.mark.parametrize("robot", some_robots(), ids=repr)
def test_normal_force_is_what_is_perpendicular_to_the_axis(robot: Robot) -> None:
    q, qd, qdd = random_state(np.random.default_rng(3), robot.n)
    for joint, w, found in zip(robot.joints, joint_reactions(robot, q, qd, qdd), normal_forces(robot, q, qd, qdd)):
        assert abs(np.linalg.norm(np.cross(joint.axis, w[:3])) - found) <= ROUNDOFF * max(1.0, found)


def test_a_hanging_chain_carries_the_weight_below_each_joint() -> None:
    """At rest the force through joint i is the weight of everything it carries, and nothing else."""
    robot = random_robot(np.random.default_rng(4), 5)
    q = np.random.default_rng(4).uniform(-3, 3, 5)
    still = np.zeros(5)
    wrench = joint_reactions(robot, q, still, still)
    for i in range(5):
        below = sum(link.mass for link in robot.links[i:])
        assert abs(np.linalg.norm(wrench[i, :3]) - 9.81 * below) <= ROUNDOFF * 9.81 * below
