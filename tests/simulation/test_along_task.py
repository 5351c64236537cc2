"""Inverse dynamics along task references: the published examples."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from manipula.algebra import ops
from manipula.motion.formula_motion import formula_motion

DATA = Path(__file__).parents[1] / "data"
SCARA = 1e-11  # agreement asked of q, qd, qdd, tau (three derivations of the data agree to 2e-13)
SQUARE = 1e-8  # integration with RK4 of steps of 5 ms; the data are exact to 7e-14
SPLINE = 1e-8


def phi(t, T: float = 4.0):
    """Jerk a, −a, a over a quarter, a half and a quarter of T, one whole turn [Khang & Trung (3.3), sign of ½aT²t corrected]."""
    a = 64 * np.pi / T**3
    first = a * t**3 / 6
    second = a * T**3 / 192 - a * T**2 * t / 16 + a * T * t**2 / 4 - a * t**3 / 6
    third = -13 * a * T**3 / 96 + a * T**2 * t / 2 - a * T * t**2 / 2 + a * t**3 / 6
    return ops.where(t < T / 4, first, ops.where(t < 3 * T / 4, second, third))


@pytest.mark.parametrize(("elbow", "branch"), [(0, "elbow_q2_positive"), (1, "elbow_q2_negative")])
def test_scara_example_with_both_elbows(elbow: int, branch: str) -> None:
    samples = json.loads((DATA / "scara.json").read_text())["trajectory"][branch]
    motion = formula_motion(
        lambda t: [0.3 + 0.15 * ops.cos(phi(t)), 0.2 + 0.15 * ops.sin(phi(t)), ops.sin(np.pi * t / 2)],
        4.0,
        breaks=(1.0, 3.0),
        orientation=lambda t: [np.pi, 0.0, 0.0],  # q1 + q2 + q3 = 0, tool down
    )
    run = mp.Scenario(
        robot=mp.load("scara-khang"),
        reference=motion,
        kind="inverse_dynamics",
        duration=4.0,
        step=0.1,
        ik_solution=elbow,
    )
    result = mp.simulate(run)
    assert result.status == "finished"
    for name in ("q", "qd", "qdd", "tau"):
        expected = np.array([s[name] for s in samples])
        assert np.abs(getattr(result, name) - expected).max() <= SCARA, name


def test_an_elbow_that_does_not_exist_is_refused() -> None:
    motion = formula_motion(["0.3 + 0.1*t", "0.2", "0.3"], 1.0, orientation=lambda t: [np.pi, 0.0, 0.0])
    with pytest.raises(mp.DescriptionError, match="Solution 5"):
        mp.simulate(mp.Scenario(robot=mp.load("scara-khang"), reference=motion, kind="inverse_dynamics", ik_solution=5))


def test_a_motion_out_of_reach_fails_and_says_when() -> None:
    motion = formula_motion(["0.3 + t", "0.2", "0.3"], 1.0, orientation=lambda t: [np.pi, 0.0, 0.0])
    result = mp.simulate(mp.Scenario(robot=mp.load("scara-khang"), reference=motion, kind="inverse_dynamics"))
    assert result.status == "failed"
    assert re.search(r"t = 0\.\d+ s", result.reason)
    with pytest.raises(mp.SolveError, match="ended as 'failed'"):
        result.check()


def test_square_of_the_redundant_five_link_arm() -> None:
    data = json.loads((DATA / "arora5_square_joints.json").read_text())
    square = mp.paths.polyline([[2, 2, 0], [1, 2, 0], [1, 1, 0], [2, 1, 0], [2, 2, 0]])
    ref = mp.trajectory(square, mp.timing.constant_speed(1 / 15))
    robot = mp.load("arora-5r").replace(gravity=(0.0, -9.81, 0.0))
    run = mp.Scenario(robot=robot, reference=ref, kind="inverse_dynamics", q0=data["q0"], step=0.005, sample=0.5)
    result = mp.simulate(run)
    assert result.status == "failed"  # the corners are passed with speed: no finite torque there
    assert all(f"t = {corner} s" in result.reason for corner in (15, 30, 45))
    compared = 0
    for s in data["samples"]:
        k = round(s["t"] / 0.5)
        if abs(s["t"] - 0.5 * k) > 1e-9 or abs(s["t"] % 15) < 1e-9:
            continue  # corners are one-sided
        assert np.abs(result.q[k] - s["q"]).max() <= SQUARE
        assert np.abs(result.qd[k] - s["qd"]).max() <= SQUARE
        assert np.abs(result.qdd[k] - s["qdd"]).max() <= SQUARE
        compared += 1
    assert compared >= 8


def test_spline_of_the_redundant_four_link_arm() -> None:
    data = json.loads((DATA / "planar4R_spline.json").read_text())
    points = [[*p, 0.0] for p in data["parameters"]["points"]]
    ref = mp.trajectory(mp.paths.spline(points, ends="natural"), mp.timing.constant_speed(0.25))
    assert ref.path.length == pytest.approx(data["path_length"], abs=1e-11)
    assert ref.duration == pytest.approx(data["duration"], abs=1e-11)
    steps = 4000
    run = mp.Scenario(
        robot=mp.load("zlajpah-4r"), reference=ref, kind="inverse_dynamics", q0=data["parameters"]["q0"],
        step=ref.duration / steps, sample=ref.duration / 40,
    )  # fmt: skip
    result = mp.simulate(run)
    for k, s in enumerate(data["samples"]):
        assert np.abs(result.q[k] - s["q"]).max() <= SPLINE
        assert np.abs(result.qd[k] - s["qd"]).max() <= SPLINE


def test_pose_references_of_a_redundant_arm() -> None:
    robot = mp.load("iiwa14")
    model = mp.compile(robot)
    q0 = np.array([0.2, 0.5, -0.1, -1.2, 0.3, 0.8, 0.1])
    X = model.pose(q0)
    from manipula.motion.paths.orientation import constant

    line = mp.paths.line(X[:3, 3], X[:3, 3] + [0.1, -0.1, 0.05]).with_orientation(constant(X[:3, :3]))
    ref = mp.trajectory(line, mp.timing.quintic(2.0))
    result = mp.simulate(mp.Scenario(robot=robot, reference=ref, kind="inverse_dynamics", q0=q0, step=0.01))
    assert result.status == "finished"
    assert np.abs(result.error).max() < 1e-6
    assert np.abs(result.pose[:, :3, :3] - X[:3, :3]).max() < 1e-6
    assert (
        np.abs(result.tau - model.inverse_dynamics(result.q, result.qd, result.qdd)).max()
        < 1e-9 + np.abs(result.friction).max()
    )
