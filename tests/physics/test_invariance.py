"""What may be moved, merged or regrouped without changing the mechanics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from manipula.algebra.derivatives import directional
from manipula.algebra.pose import Pose, mat3, vec3
from manipula.physics import articulated, composite
from manipula.physics.composite import mass_matrix
from manipula.physics.coriolis import coriolis_matrix
from manipula.physics.energy import kinetic_energy, potential_energy
from manipula.physics.kinematics import jacobian, jacobian_rate, pose
from manipula.physics.mechanism import mechanism_of, regrouped
from manipula.physics.newton_euler import bias, gravity, inverse_dynamics
from manipula.physics.reactions import joint_reactions
from manipula.robot.build import JointDraft, LinkDraft, build_robot
from manipula.robot.link import Payload
from manipula.robot.robot import Robot
from strategies import random_body, random_pose, random_robot, random_state

ROUNDOFF = 1e-12  # scaled by the largest entry; the two sides are summed in different orders


def close(value: Any, reference: Any) -> bool:
    reference = np.asarray(reference, float)
    size = max(1.0, float(np.max(np.abs(reference), initial=0.0)))
    return bool(np.max(np.abs(np.asarray(value, float) - reference), initial=0.0) <= ROUNDOFF * size)


def some_robots(**features: Any) -> list[Robot]:
    rng = np.random.default_rng(31)
    sizes = [(1, False), (2, False), (3, True), (5, False), (6, True), (7, False)]
    return [random_robot(rng, n, tree, **features) for n, tree in sizes]


@pytest.mark.parametrize("robot", some_robots(oblique=True, drives=True, base=True, gravity=True), ids=repr)
def test_a_chain_regrouped_into_fewer_constants_moves_alike(robot: Robot) -> None:
    mechanism = mechanism_of(robot)
    lean = regrouped(mechanism)
    q, qd, qdd = random_state(np.random.default_rng(1), robot.n)
    tau = inverse_dynamics(mechanism, q, qd, qdd)
    assert close(inverse_dynamics(lean, q, qd, qdd), tau)
    assert close(mass_matrix(lean, q), mass_matrix(mechanism, q))
    assert close(coriolis_matrix(lean, q, qd), coriolis_matrix(mechanism, q, qd))
    assert close(bias(lean, q, qd), bias(mechanism, q, qd))
    assert close(gravity(lean, q), gravity(mechanism, q))
    assert close(kinetic_energy(lean, q, qd), kinetic_energy(mechanism, q, qd))
    reference = composite.forward_dynamics(mechanism, q, qd, tau)
    condition = np.linalg.cond(mass_matrix(mechanism, q))
    for forward in (composite.forward_dynamics, articulated.forward_dynamics):
        assert np.max(np.abs(forward(lean, q, qd, tau) - reference)) <= 1e-14 * condition * max(
            1, np.max(np.abs(reference))
        )


@pytest.mark.parametrize("robot", some_robots(), ids=repr)
def test_regrouping_leaves_a_turning_link_seven_constants_and_a_sliding_one_four(robot: Robot) -> None:
    for b in regrouped(mechanism_of(robot)).bodies:
        m, h, J = b.moments
        entries = [m, *h, *J[np.triu_indices(3)]]
        assert sum(x != 0.0 for x in entries) <= (7 if b.revolute else 4)


@pytest.mark.parametrize("robot", some_robots(oblique=True, tool=True, base=True), ids=repr)
def test_turning_base_and_gravity_together_changes_nothing(robot: Robot) -> None:
    rng = np.random.default_rng(2)
    X = random_pose(rng)
    moved = robot.replace(base=X @ robot.base, gravity=X.R @ np.array(robot.gravity))
    q, qd, qdd = random_state(rng, robot.n)
    assert close(inverse_dynamics(moved, q, qd, qdd), inverse_dynamics(robot, q, qd, qdd))
    assert close(mass_matrix(moved, q), mass_matrix(robot, q))
    assert close(joint_reactions(moved, q, qd, qdd), joint_reactions(robot, q, qd, qdd))
    assert close(pose(moved, q), X.matrix() @ pose(robot, q))
    mass = sum(link.mass for link in robot.links)
    lift = -mass * (X.R @ np.array(robot.gravity)) @ X.p
    assert close(potential_energy(moved, q), potential_energy(robot, q) + lift)


@pytest.mark.parametrize("robot", some_robots(tool=True, base=True), ids=repr)
def test_a_payload_adds_its_own_inertia_through_the_jacobian(robot: Robot) -> None:
    """M += m J_vᵀJ_v + J_ωᵀ R I Rᵀ J_ω,  g −= m J_vᵀ g,  at the payload's centre of mass."""
    rng = np.random.default_rng(3)
    mass, com, inertia = random_body(rng)
    loaded = robot.replace(payload=Payload(mass, vec3(com), mat3(inertia)))
    q, qd, _ = random_state(rng, robot.n)
    at_com = robot.replace(tool=robot.tool @ Pose.of(None, com))
    J, Jd, R = jacobian(at_com, q), jacobian_rate(at_com, q, qd), pose(at_com, q)[:3, :3]
    I = R @ inertia @ R.T
    w = J[3:] @ qd
    assert close(mass_matrix(loaded, q), mass_matrix(robot, q) + mass * J[:3].T @ J[:3] + J[3:].T @ I @ J[3:])
    assert close(gravity(loaded, q), gravity(robot, q) - mass * J[:3].T @ np.array(robot.gravity))
    extra = mass * J[:3].T @ (Jd[:3] @ qd) + J[3:].T @ (I @ (Jd[3:] @ qd) + np.cross(w, I @ w))
    assert close(bias(loaded, q, qd), bias(robot, q, qd) + extra)


def test_a_payload_is_a_body_welded_to_the_tip() -> None:
    rng = np.random.default_rng(4)
    tool, body = random_pose(rng), random_body(rng)
    links, joints = [LinkDraft("base", described=False)], []
    for i in range(4):
        links.append(LinkDraft(f"l{i}", *random_body(rng)))
        axis = rng.normal(size=3)
        joints.append(
            JointDraft(f"j{i}", "prismatic" if i == 2 else "revolute", links[-2].name, f"l{i}", random_pose(rng), axis)
        )
    carried = Payload(body[0], vec3(body[1]), mat3(body[2]))
    loaded = build_robot("loaded", links, joints, tool=tool, payload=carried)
    links = [*links, LinkDraft("load", *body)]
    joints = [*joints, JointDraft("weld", "fixed", "l3", "load", tool)]
    welded = build_robot("welded", links, joints)
    q, qd, qdd = random_state(rng, 4)
    assert close(inverse_dynamics(loaded, q, qd, qdd), inverse_dynamics(welded, q, qd, qdd))
    assert close(joint_reactions(loaded, q, qd, qdd), joint_reactions(welded, q, qd, qdd))
    assert close(potential_energy(loaded, q), potential_energy(welded, q))
    assert close(pose(loaded, q), pose(welded, q))


@pytest.mark.parametrize("robot", some_robots(oblique=True), ids=repr)
def test_the_choice_of_link_frames_does_not_matter(robot: Robot) -> None:
    """A frame on a link may stand anywhere; mass, children and tip keep their places in space."""
    rng = np.random.default_rng(5)
    shift = [random_pose(rng) for _ in robot.links]  # X_LN: the new frame N in the old one L
    links, joints = [], []
    for link, X in zip(robot.links, shift):
        back = X.inverse()
        links.append(replace(link, frame=link.frame @ X, com=vec3(back.apply(link.com)),
                             inertia=mat3(back.R @ np.array(link.inertia) @ back.R.T)))  # fmt: skip
    for joint in robot.joints:
        place = joint.placement if joint.parent < 0 else shift[joint.parent].inverse() @ joint.placement
        joints.append(replace(joint, placement=place))
    frames = tuple(replace(f, pose=f.pose if f.link < 0 else shift[f.link].inverse() @ f.pose) for f in robot.frames)
    redrawn = robot.replace(links=tuple(links), joints=tuple(joints), frames=frames)
    q, qd, qdd = random_state(rng, robot.n)
    assert close(inverse_dynamics(redrawn, q, qd, qdd), inverse_dynamics(robot, q, qd, qdd))
    assert close(joint_reactions(redrawn, q, qd, qdd), joint_reactions(robot, q, qd, qdd))
    assert close(pose(redrawn, q), pose(robot, q))


@pytest.mark.parametrize("robot", some_robots(tool=True), ids=repr)
def test_a_wrench_at_a_frame_loads_the_joints_by_the_transposed_jacobian(robot: Robot) -> None:
    """Virtual work: q̇ᵀ Jᵀ w is the power of the wrench on the twist of the frame, taken from the pose itself."""
    rng = np.random.default_rng(6)
    w = rng.normal(size=6)
    q, qd, _ = random_state(rng, robot.n)
    for name in [*robot.frame_names, "tip"]:
        rate, R = directional(lambda x: pose(robot, x, name), q, qd), pose(robot, q, name)[:3, :3]  # noqa: B023
        W = rate[:3, :3] @ R.T
        twist = np.array([*rate[:3, 3], W[2, 1], W[0, 2], W[1, 0]])
        assert close(qd @ (jacobian(robot, q, name).T @ w), twist @ w)
