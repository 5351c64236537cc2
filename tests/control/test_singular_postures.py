"""Arms that a controller leads into singular postures: where and when is told, and a damped inverse goes through.

Judges: the reach of a planar arm in closed form; Pinocchio's Jacobian in the posture that is told; torques that NumPy's SVD would give.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.redundancy.arm import Arm
from oracles import Judge

LAWS = [control.TaskSpaceComputedTorque, control.OperationalSpace]


def leading_out(law: Any, **settings: Any) -> mp.Scenario:
    """A planar arm of 0.5 + 0.4 m, whose tip follows (0.6 + 0.5 t, 0) exactly until the arm is stretched, at t = 0.6 s."""
    robot = mp.planar(lengths=[0.5, 0.4], masses=[2, 1])
    q2 = np.arccos((0.6**2 - 0.5**2 - 0.4**2) / (2 * 0.5 * 0.4))
    q0 = np.array([-np.arctan2(0.4 * np.sin(q2), 0.5 + 0.4 * np.cos(q2)), q2])
    qd0 = np.linalg.solve(mp.compile(robot).jacobian(q0)[:2], [0.5, 0.0])
    line = mp.formula_motion(["0.6 + 0.5*t", "0"], duration=1.0)
    return mp.Scenario(robot, line, controller=law(kp=100.0, kv=20.0), q0=q0, qd0=qd0, **settings)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    "settings", [{}, {"integrator": "rk4", "sample": 0.1}, {"integrator": "dop853"}, {"verify": False}]
)
def test_a_tip_that_is_led_out_of_reach_ends_singular_when_the_arm_is_stretched(law: Any, settings: Any) -> None:
    result = mp.simulate(leading_out(law, **settings))
    assert result.status == "singular", result.reason
    when = float(re.findall(r"singular posture at t = ([\d.]+) s", result.reason)[0])
    assert when == pytest.approx(0.6, abs=2e-3)
    assert "damping" in result.reason
    assert "waypoints" in result.reason


def test_a_damped_inverse_stands_stretched_where_the_reference_leaves_the_reach() -> None:
    for law in LAWS:
        s = leading_out(law, duration=6.0)
        result = mp.simulate(s.replace(controller=law(kp=100.0, kv=20.0, damping=0.1, null_damping=5.0)))
        assert result.status == "finished", result.reason
        assert result.tip[-1, 0] == pytest.approx(0.9, abs=1e-2)


def test_gains_that_are_unstable_are_not_called_singular() -> None:
    s = leading_out(control.OperationalSpace, duration=0.2)
    result = mp.simulate(s.replace(controller=control.OperationalSpace(kp=1e9, kv=1e6), integrator="rk4"))
    assert result.status == "diverged"
    assert "singular posture" not in result.reason


def pose_run(law: Any, **gains: Any) -> mp.Result:
    """An iiwa whose tool is asked to move by 0.3 m and to turn by 3 rad, across its stretched elbow."""
    q0 = np.array([2.807, -0.648, 1.016, 0.977, -1.393, -2.045, 2.398])
    goal = np.array([2.708, -1.381, -2.056, -0.282, 0.579, 2.048, 2.831])
    X = mp.compile(mp.load("iiwa14")).pose(goal)
    turn = np.array([np.arctan2(X[2, 1], X[2, 2]), -np.arcsin(X[2, 0]), np.arctan2(X[1, 0], X[0, 0])])
    motion = mp.formula_motion(
        [repr(float(v)) for v in X[:3, 3]], duration=1.0, orientation=[repr(float(v)) for v in turn]
    )
    settings: Any = {"kp": 100.0, "kv": 20.0, "null_damping": 5.0} | gains
    return mp.simulate(mp.Scenario(mp.load("iiwa14"), motion, controller=law(**settings), q0=q0))


def test_a_pose_across_the_stretched_elbow_is_told_with_its_posture() -> None:
    result = pose_run(control.TaskSpaceComputedTorque)
    assert result.status == "singular", result.reason
    told = np.array([float(v) for v in re.findall(r"joint_\d = (-?[\d.]+)", result.reason)])
    sizes = np.linalg.svd(Judge(mp.load("iiwa14")).jacobian(told), compute_uv=False)
    assert sizes[-1] < 2e-3 * sizes[0]
    assert "orientation" in result.reason


@pytest.mark.parametrize("law", LAWS)
def test_a_damped_inverse_reaches_the_same_pose(law: Any) -> None:
    result = pose_run(law, damping=0.1)
    assert result.status == "finished", result.reason


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["iiwa14", "planar-3r"])
def test_a_damped_inverse_has_torques_in_a_singular_posture(law: Any, name: str) -> None:
    """Those of the law written with NumPy, with a null space from the SVD."""
    robot = mp.load(name)
    q, qd = np.zeros(robot.n), np.linspace(-0.5, 0.4, robot.n)
    seen, damping = Arm(robot), 0.1
    J = np.asarray(seen.task_jacobian(q), float)
    assert np.linalg.svd(J, compute_uv=False)[-1] < 1e-12
    target = control.Target(np.array([0.3, 0.2, 0.5]), np.zeros(3), np.zeros(3))
    tau = np.asarray(law(kp=100.0, kv=20.0, damping=damping, null_damping=5.0).torque(seen, 0.0, q, qd, target, ()), float)  # fmt: skip
    judge = Judge(robot)
    M, h = judge.mass_matrix(q), judge.inverse_dynamics(q, qd, np.zeros(robot.n))
    rows = list(seen.task)
    wanted = 100.0 * (target.position - judge.pose(q)[:3, 3])[rows] - 20.0 * J @ qd - np.asarray(seen.task_jacobian_rate(q, qd)) @ qd  # fmt: skip
    if law is control.TaskSpaceComputedTorque:
        qdd = J.T @ np.linalg.solve(J @ J.T + damping**2 * np.eye(len(rows)), wanted)
        expected = M @ (qdd - 5.0 * (qd - np.linalg.pinv(J, 1e-6) @ J @ qd)) + h
    else:
        inner, push = J @ np.linalg.solve(M, J.T), -5.0 * M @ qd
        soft = inner + damping**2 * robot.n / np.trace(M) * np.eye(len(rows))
        expected = J.T @ np.linalg.solve(soft, wanted) + h + push
        expected -= J.T @ np.linalg.pinv(inner, 1e-6) @ J @ np.linalg.solve(M, push)
    np.testing.assert_allclose(tau, expected, rtol=1e-8, atol=1e-8)
