"""Kinematic runs: resolved motion rate along paths, against the reference runs of two papers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.control import Arm
from manipula.errors import DescriptionError

DATA = Path(__file__).parents[1] / "data"
SAME = 1e-8  # agreement with runs of other programs, themselves good to 1e-11


def load(name: str) -> dict:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def spline() -> tuple[dict, mp.Result]:
    data = load("planar4R_spline.json")
    points = data["parameters"]["points"]
    reference = mp.trajectory(mp.paths.spline(points, ends="natural", spacing="chord"), mp.timing.constant_speed(0.25))
    assert reference.duration == pytest.approx(data["duration"], abs=1e-10)
    run = mp.Scenario(
        robot=mp.load("zlajpah-4r"), reference=reference, kind="kinematic", q0=data["parameters"]["q0"], start="project",
        step=data["duration"] / 4000, sample=data["duration"] / 40,
    )  # fmt: skip
    return data, mp.simulate(run)


def test_four_joints_along_a_spline(spline: tuple[dict, mp.Result]) -> None:
    data, result = spline
    assert result.ok, result.reason
    for k, sample in enumerate(data["samples"]):
        assert result.t[k] == pytest.approx(sample["t"], abs=1e-12)
        np.testing.assert_allclose(result.tip[k, :2], sample["x"], atol=SAME)
        np.testing.assert_allclose(result.q[k], sample["q"], atol=SAME)
        np.testing.assert_allclose(result.qd[k], sample["qd"], atol=SAME)
        np.testing.assert_allclose(result.qdd[k], sample["qdd"], atol=2e-7)  # curvature of the spline by arc length
    assert np.abs(result.error).max() <= SAME


def test_rates_are_the_derivative_of_positions(spline: tuple[dict, mp.Result]) -> None:
    _, result = spline
    fine = mp.simulate(result.scenario.replace(sample=result.scenario.step))
    t = fine.t
    inner = slice(5, -5)
    np.testing.assert_allclose(np.gradient(fine.q, t, axis=0, edge_order=2)[inner], fine.qd[inner], atol=1e-5)
    np.testing.assert_allclose(
        np.gradient(fine.qd, t, axis=0, edge_order=2)[inner], fine.qdd[inner], atol=2e-3
    )  # kinks of jerk at knots


@pytest.fixture(scope="module")
def square() -> mp.Result:
    path = mp.paths.polyline([[2, 2], [1, 2], [1, 1], [2, 1]], closed=True)
    reference = mp.trajectory(path, mp.timing.constant_speed(1 / 15))
    run = mp.Scenario(
        robot=mp.load("arora-5r"), reference=reference, kind="kinematic", q0=np.deg2rad([70, -30, 15, -40, 2.5]), start="project",
        duration=60.0, step=0.005, sample=0.05,
    )  # fmt: skip
    return mp.simulate(run)


def test_five_joints_around_a_square(square: mp.Result) -> None:
    assert square.ok, square.reason
    degrees = np.rad2deg(square.q)
    np.testing.assert_allclose(degrees[0], [69.98207, -29.992327, 15.008301, -39.979777, 2.506921], atol=2e-6)
    np.testing.assert_allclose(np.abs(degrees).max(axis=0), [111.02, 51.42, 22.09, 96.24, 18.53], atol=6e-3)
    np.testing.assert_allclose(degrees[-1] - degrees[0], [0.145, -0.933, 1.070, -0.033, 0.272], atol=6e-4)  # not cyclic
    assert np.all(np.abs(degrees).max(axis=0) <= [180, 120, 120, 150, 150])
    for sample in load("arora5_square.json")["samples"]:
        k = round(sample["t"] / 0.05)
        np.testing.assert_allclose(square.tip[k, :2], sample["x"], atol=SAME)


def test_torques_around_the_square_are_those_of_inverse_dynamics(square: mp.Result) -> None:
    robot = mp.load("arora-5r")
    inside = [k for k in range(1, len(square.t) - 1) if k % 300]  # not on a corner, where the velocity jumps
    expected = mp.compile(robot).inverse_dynamics(square.q, square.qd, square.qdd)
    np.testing.assert_allclose(square.tau[inside], expected[inside], atol=1e-9)


def test_gain_pulls_the_tip_onto_the_path() -> None:
    r""":math:`\dot e = -ke`: an error at the start dies out exponentially."""
    robot = mp.load("zlajpah-5r")
    q0 = np.deg2rad([90, -40, -40, -40, -30])
    tip = mp.compile(robot).position(q0)
    shift = np.array([0.02, -0.01, 0.0])
    reference = mp.trajectory(
        mp.paths.line(tip + shift, tip + shift + np.array([-0.1, 0.1, 0])), mp.timing.quintic(1.0)
    )
    result = mp.simulate(
        mp.Scenario(robot=robot, reference=reference, kind="kinematic", q0=q0, gain=5.0, step=2e-3, sample=0.1)
    )
    assert result.ok
    expected = np.exp(-5.0 * result.t)[:, None] * shift
    np.testing.assert_allclose(result.error, expected, atol=1e-9)


def test_criteria_act_in_the_null_space() -> None:
    robot = mp.load("zlajpah-5r")
    q0 = np.deg2rad([90, -40, -40, -40, -30])
    tip = mp.compile(robot).position(q0)
    reference = mp.trajectory(mp.paths.line(tip, tip + np.array([-0.2, 0.1, 0])), mp.timing.quintic(1.0))
    posture = control.Posture(tuple(q0 + 0.3), gain=20.0)
    run = mp.Scenario(robot=robot, reference=reference, kind="kinematic", q0=q0, gain=10.0, step=2e-3, sample=0.1)
    plain, led = mp.simulate(run), mp.simulate(run.replace(criteria=(posture,)))
    assert np.abs(led.error).max() <= 1e-9
    assert posture.cost(Arm(robot), led.q[-1]) < 0.95 * posture.cost(Arm(robot), plain.q[-1])


def test_unreachable_paths_are_not_finished() -> None:
    robot = mp.load("zlajpah-5r")
    q0 = np.deg2rad([90, -40, -40, -40, -30])
    tip = mp.compile(robot).position(q0)
    reference = mp.trajectory(mp.paths.line(tip, tip + np.array([9.0, 0, 0])), mp.timing.quintic(1.0))
    result = mp.simulate(
        mp.Scenario(robot=robot, reference=reference, kind="kinematic", q0=q0, gain=5.0, step=2e-3, sample=0.1)
    )
    assert result.status != "finished"


def test_kinematic_runs_need_a_task_and_a_fixed_step() -> None:
    robot = mp.load("zlajpah-5r")
    joint = mp.trajectory(mp.paths.joint([[0.0] * 5, [0.1] * 5]), mp.timing.quintic(1.0))
    with pytest.raises(DescriptionError, match="task reference"):
        mp.simulate(mp.Scenario(robot=robot, reference=joint, kind="kinematic", q0=[0.1] * 5))
    line = mp.trajectory(mp.paths.line([1, 0.5, 0], [1, 0.6, 0]), mp.timing.quintic(1.0))
    with pytest.raises(DescriptionError, match="integrator"):
        mp.simulate(mp.Scenario(robot=robot, reference=line, kind="kinematic", q0=[0.1] * 5, integrator="dop853"))
