"""A gripper, or a second arm, does not take away the closed form of the arm that carries the frame."""

import dataclasses

import numpy as np
import pytest

import manipula as mp
from manipula.formats.toml import from_toml, to_toml

FINGERS = """
[[joint]]
name = "left"
type = "prismatic"
parent = "{hand}"
child = "left_finger"
axis = [0, 1, 0]
origin = {{ xyz = [0, 0, 0.1] }}
limits = {{ position = [0.01, 0.04] }}
[[link]]
name = "left_finger"
mass = 0.05
[[joint]]
name = "right"
type = "prismatic"
parent = "{hand}"
child = "right_finger"
axis = [0, -1, 0]
origin = {{ xyz = [0, 0, 0.1] }}
follows = "left"
[[link]]
name = "right_finger"
mass = 0.05
"""


def with_gripper(name):
    arm = mp.load(name)
    text = to_toml(arm) + FINGERS.format(hand=arm.links[-1].name)
    return arm, from_toml(text)


@pytest.mark.parametrize("name", ["puma560", "ur5e"])
def test_postures_are_those_of_the_bare_arm(name):
    arm, robot = with_gripper(name)
    assert robot.n == arm.n + 1
    assert len(robot.followers) == 1
    q = np.random.default_rng(2).uniform(-1, 1, arm.n)
    X = mp.compile(arm).pose(q)
    bare, whole = mp.solve_ik(arm, X, all_solutions=True), mp.solve_ik(robot, X, all_solutions=True)
    assert whole.method == bare.method
    assert whole.q.shape == (len(bare.q), robot.n)
    np.testing.assert_array_equal(whole.q[:, : arm.n], bare.q)
    np.testing.assert_array_equal(whole.q[:, arm.n], 0.01)  # zero is outside the range of the finger
    one = mp.solve_ik(robot, X, q0=[*q, 0.03])
    assert one.ok
    assert one.q[-1] == 0.03
    assert np.abs(mp.compile(robot).pose(one.q) - X).max() < 1e-9


def test_a_batch_keeps_the_other_joints_of_each_start():
    arm, robot = with_gripper("ur5e")
    rng = np.random.default_rng(3)
    q = rng.uniform(-1, 1, (2, 3, arm.n))
    X = mp.compile(arm).pose(q)
    q0 = np.concatenate([q, rng.uniform(0.01, 0.04, (2, 3, 1))], axis=-1)
    found = mp.solve_ik(robot, X, q0=q0)
    assert found.ok
    np.testing.assert_array_equal(found.q[..., -1], q0[..., -1])
    np.testing.assert_allclose(found.q, q0, atol=1e-7)


def test_a_frame_on_the_finger_needs_the_finger():
    _, robot = with_gripper("ur5e")
    q = np.array([0.2, -1.0, 1.1, 0.3, 0.4, 0.5, 0.02])
    X = mp.compile(robot).pose(q, "right_finger")
    found = mp.solve_ik(robot, X, frame="right_finger", q0=q)
    assert found.ok
    assert np.abs(mp.compile(robot).pose(found.q, "right_finger") - X).max() < 1e-9


def test_the_tool_counts_only_at_the_tip():
    arm, robot = with_gripper("ur5e")
    tool = np.eye(4)
    tool[2, 3] = 0.2
    robot = robot.replace(tip=arm.tip, tool=tool)
    q = np.array([0.2, -1.0, 1.1, 0.3, 0.4, 0.5, 0.02])
    model = mp.compile(robot)
    for frame in ("", arm.links[2].name, arm.links[-1].name):
        found = mp.solve_ik(robot, model.position(q, frame), frame=frame, q0=q)
        assert found.ok
        assert np.abs(model.position(found.q, frame) - model.position(q, frame)).max() < 1e-8


def test_wrong_starts_are_named_in_terms_of_the_whole_robot():
    _, robot = with_gripper("ur5e")
    with pytest.raises(mp.errors.ShapeError, match=r"expected \(7,\)"):
        mp.solve_ik(robot, np.eye(4), q0=np.zeros(6))


def test_dataclass_answers_stay_values():
    _, robot = with_gripper("ur5e")
    X = mp.compile(robot).pose(np.full(7, 0.02))
    a, b = mp.solve_ik(robot, X), mp.solve_ik(robot, X)
    assert a == b
    assert dataclasses.is_dataclass(a)
