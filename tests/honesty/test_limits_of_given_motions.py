"""Limits of given motions hold on both sides of every jump of the acceleration, wherever it falls, for joints and tip of every member."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

import manipula as mp

L1, L2 = 1.0, 0.8
ARM = mp.planar([L1, L2], [1.0, 1.0])
MODEL = mp.compile(ARM)


def postures(x: np.ndarray) -> np.ndarray:
    """Joints of the arm with its tip at x (S, 3), elbow on one side."""
    c2 = (x[:, 0] ** 2 + x[:, 1] ** 2 - L1**2 - L2**2) / (2 * L1 * L2)
    q2 = np.arccos(c2)
    q1 = np.arctan2(x[:, 1], x[:, 0]) - np.arctan2(L2 * np.sin(q2), L1 + L2 * np.cos(q2))
    return np.stack([q1, q2], 1)


def required(motion: Any, t: np.ndarray, side: str) -> dict[str, np.ndarray]:
    """What the motion asks of the joints at times t, from the Jacobian alone."""
    x, v, a = np.asarray(motion.derivatives(t, 2, side))[:3]
    q = postures(x)
    J = MODEL.jacobian(q)[:, :2]
    qd = np.linalg.solve(J, v[:, :2, None])[:, :, 0]
    bias = (MODEL.jacobian_rate(q, qd)[:, :2] @ qd[:, :, None])[:, :, 0]
    qdd = np.linalg.solve(J, (a[:, :2] - bias)[:, :, None])[:, :, 0]
    tau = MODEL.inverse_dynamics(q, qd, qdd)
    return {"acceleration": qdd, "torque": tau, "power": tau * qd, "tip": np.linalg.norm(a, axis=1)}


LINE = mp.paths.line([1.5, -0.3, 0.0], [0.6, 1.0, 0.0])
# what is largest stands just before (braking) or just after (starting) a jump of the acceleration, between two steps
MOTIONS = {
    "trapezoid": mp.trajectory(LINE, mp.timing.trapezoid(1.7, 4.3)),
    "late": mp.trajectory(LINE, mp.timing.trapezoid(2.1, 2.0, 7.0)),
    "blend": mp.trajectory(
        mp.paths.polyline([[1.4, -0.4, 0.0], [1.3, 0.5, 0.0], [0.5, 0.9, 0.0]], blend=0.25, shape="circular"),
        mp.timing.trapezoid(1.1, 3.0),
    ),
}


@pytest.mark.parametrize("kind", ["kinematic", "inverse_dynamics"])
@pytest.mark.parametrize("name", list(MOTIONS))
def test_both_sides_of_a_jump_of_the_acceleration(kind: str, name: str) -> None:
    motion = MOTIONS[name]
    t = np.sort(np.concatenate([np.linspace(0.0, motion.duration, 20_001), motion.breaks]))
    sides = [required(motion, t, side) for side in ("left", "right")]
    q0 = postures(np.asarray(motion.position(np.zeros(1))))[0]
    largest = {k: np.maximum(*(np.abs(s[k]).max(axis=0) for s in sides)) for k in sides[0]}
    limits = {k: (1e6 * v).tolist() for k, v in largest.items() if k != "tip"} | {"tip": {"acceleration": 1e6}}
    common: dict[str, Any] = {"kind": kind, "q0": q0, "start": "project", "step": 0.0217, "tolerance": 1e-4}
    seen = mp.simulate(mp.Scenario(ARM, motion, limits=limits, **common)).feasibility
    assert seen.feasible is True, seen.reason
    for check in seen.checks:
        exact = largest["tip"] if not check.name else largest[check.quantity][int(check.name[-1]) - 1]
        assert abs(check.worst) == pytest.approx(exact, rel=3e-3), (check.name, check.quantity)


@pytest.mark.parametrize("kind", ["kinematic", "inverse_dynamics"])
def test_a_jump_on_a_sample_has_two_sides(kind: str) -> None:
    """Braking ends on a step: the acceleration there is that of the braking until then."""
    motion = mp.trajectory(mp.paths.line([0.9, 0.5, 0.0], [1.3, 0.5, 0.0]), mp.timing.trapezoid(1.0, 4.0, 10.0))
    step = float(motion.breaks[1]) / 5  # 0.05 s
    t = np.asarray(motion.breaks)
    exact = max(np.abs(required(motion, t, side)["acceleration"][:, 0]).max() for side in ("left", "right"))
    q0 = postures(np.asarray(motion.position(np.zeros(1))))[0]
    s = mp.Scenario(ARM, motion, kind=kind, q0=q0, start="project", step=step, limits={"acceleration": 1e6})
    assert abs(mp.simulate(s).feasibility.checks[0].worst) == pytest.approx(exact, rel=1e-5)


def free_arm() -> tuple[mp.Robot, float]:
    """The arm with an open length of its second link."""
    return mp.planar([L1, sympy.Symbol("reach", positive=True)], [1.0, 1.0]), L2


@pytest.mark.parametrize("quantity", ["velocity", "acceleration"])
@pytest.mark.parametrize("kind", ["kinematic", "inverse_dynamics", "joint", "free"])
def test_the_tip_of_a_robot_with_free_parameters(kind: str, quantity: str) -> None:
    """A short bump between two coarse samples: the tip is quick there, and slow at every sample."""
    robot, length = free_arm()
    task = mp.formula_motion(["1.3 + 0.02*exp(-((t - 0.53)/0.02)^2)", "0.4", "0"], 1.0)
    joints = mp.formula_motion(["0.1 + 0.02*exp(-((t - 0.53)/0.02)^2)", "0.4"], 1.0, space="joint")
    q0 = postures(np.array([[1.3, 0.4, 0.0]]))[0]
    push = mp.Wrench((0, 0, 0, 0, 0, "800*exp(-((t - 0.53)/0.002)^2) - 800*exp(-((t - 0.55)/0.002)^2)"))
    given: dict[str, Any] = {
        "kinematic": {"reference": task, "kind": "kinematic", "q0": q0},
        "inverse_dynamics": {"reference": task, "kind": "inverse_dynamics", "q0": q0},
        "joint": {"reference": joints, "kind": "inverse_dynamics"},
        "free": {"q0": q0, "duration": 1.0, "disturbances": push},
    }[kind]
    limit = {"velocity": 0.5, "acceleration": 20.0}[quantity]
    for arm, values in ((ARM, None), (robot, {"reach": length})):
        if kind == "free":
            arm = arm.replace(gravity=(0, 0, 0))
        s = mp.Scenario(arm, **given, step=1e-3, sample=0.25, parameters=values, limits={"tip": {quantity: limit}})
        result = mp.simulate(s)
        assert result.ok, result.reason
        assert result.feasible is False, (values, result.feasibility.checks)


@pytest.mark.parametrize("kind", ["joint", "free"])
def test_the_tip_of_every_member_of_a_batch(kind: str) -> None:
    robot, length = free_arm()
    robot = robot.replace(gravity=(0, 0, 0))
    joints = mp.formula_motion(["0.1 + 0.02*exp(-((t - 0.53)/0.02)^2)", "0.4"], 1.0, space="joint")
    push = mp.Wrench((0, 0, 0, 0, 0, "200*exp(-((t - 0.53)/0.002)^2) - 200*exp(-((t - 0.55)/0.002)^2)"))
    given: dict[str, Any] = {
        "joint": {"reference": joints, "kind": "inverse_dynamics"},
        "free": {"q0": [0.1, 0.4], "duration": 1.0, "disturbances": push},
    }[kind]
    lengths = [0.2, length, 4.0]
    common: dict[str, Any] = {**given, "step": 1e-3, "sample": 0.25}
    sizes = []
    for one in lengths:
        alone = mp.Scenario(robot, **common, parameters={"reach": one}, limits={"tip": {"velocity": 1e3}})
        sizes.append(mp.simulate(alone).feasibility.checks[0].worst)
    bound = float(np.median(sizes)) * 1.05
    batch = mp.Scenario(robot, **common, parameters={"reach": lengths}, limits={"tip": {"velocity": bound}})
    assert mp.simulate(batch).feasibility.runs == tuple(size < bound for size in sizes)


@pytest.mark.parametrize(("limit", "kept"), [(50.32, True), (50.015, False)])
def test_the_side_before_a_jump_counts(limit: float, kept: bool) -> None:
    """The force grows to 50.03 N, between two looks, and is gone."""
    slider = mp.from_urdf(
        '<robot name="s"><link name="base"/><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
        'iyz="0"/></inertial></link><joint name="j" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="1 0 0"/>'
        '<limit lower="-9" upper="9" velocity="9" effort="9"/></joint></robot>'
    )
    move = mp.trajectory(mp.paths.joint([[0.0], [0.1]]), mp.timing.quintic(1.0))  # without acceleration in the middle
    push = mp.Wrench(["-100*t", 0, 0, 0, 0, 0], stop=0.5003)
    run = mp.simulate(
        mp.Scenario(slider, move, kind="inverse_dynamics", disturbances=(push,), limits={"torque": limit})
    )
    assert run.status == "finished"
    assert run.feasible is kept
