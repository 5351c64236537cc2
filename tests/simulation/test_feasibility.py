"""Feasibility: limits are judged exactly, and the slowing-down it proposes is the smallest that works."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import manipula as mp
from manipula import control, friction
from manipula.analysis.feasibility import feasibility
from manipula.analysis.power import power_report
from manipula.errors import DescriptionError, ShapeError, UnknownNameError

ROBOT = mp.load("planar-2r")
FLAT = ROBOT.replace(gravity=(0.0, 0.0, 0.0))


def move(duration: float, goal: tuple[float, float] = (1.0, -0.8)) -> object:
    return mp.trajectory(mp.paths.joint([[0.0, 0.0], list(goal)]), mp.timing.quintic(duration))


def test_peaks_of_a_quintic_are_the_textbook_ones() -> None:
    """Distance D in time T: speed 15D/8T, acceleration 10D/(√3 T²), jerk 60D/T³."""
    verdict = feasibility(move(2.0), {"velocity": 1.0, "acceleration": 2.0, "jerk": 9.0})
    first = verdict.joints[0]
    assert abs(first.velocity.worst) == pytest.approx(15 / 16, rel=1e-6)
    assert abs(first.acceleration.worst) == pytest.approx(10 / np.sqrt(3) / 4, rel=1e-5)
    assert abs(first.jerk.worst) == pytest.approx(7.5, rel=1e-9)
    assert first.velocity.time == pytest.approx(1.0, abs=2e-3)
    assert verdict.feasible
    assert verdict.slow_down == 1.0


@pytest.mark.parametrize(
    ("limits", "factor"),
    [
        ({"velocity": 0.5}, (15 / 16) / 0.5),
        ({"acceleration": 0.3}, np.sqrt(10 / np.sqrt(3) / 4 / 0.3)),
        ({"jerk": 1.0}, 7.5 ** (1 / 3)),
    ],
)
def test_slowing_down_is_exact(limits: dict, factor: float) -> None:
    assert feasibility(move(2.0), limits).slow_down == pytest.approx(
        factor, rel=1e-5
    )  # the peak lies between two samples


@pytest.mark.parametrize(
    ("robot", "limits"),
    [
        (FLAT, {"torque": [1.5, 0.4]}),
        (ROBOT, {"torque": [20.5, 5.3]}),
        (ROBOT, {"power": [6.0, 2.5]}),
        (ROBOT, {"torque": [21.0, 5.5], "velocity": 0.8, "jerk": 6.0, "power": 12.0}),
    ],
)
def test_stretched_motion_just_fits(robot: mp.Robot, limits: dict) -> None:
    duration = 0.9
    verdict = feasibility(move(duration), limits, robot=robot)
    assert not verdict.feasible
    assert 1.0 < verdict.slow_down < 100.0
    assert feasibility(move(duration * verdict.slow_down * (1 + 1e-7)), limits, robot=robot).feasible
    assert not feasibility(move(duration * verdict.slow_down * 0.99), limits, robot=robot).feasible


def test_friction_that_does_not_shrink_with_speed() -> None:
    """With viscous friction the torque at 1/k of the speed is g + τ_inertia/k² + b q̇/k."""
    b = 3.0
    run = mp.Scenario(
        robot=FLAT, reference=move(1.0), kind="inverse_dynamics", friction=(friction.Viscous(b),) * 2, step=1e-3
    )
    limits = {"torque": [4.0, 2.0]}
    verdict = feasibility(mp.simulate(run), limits)
    k = verdict.slow_down
    slower, faster = (
        mp.simulate(run.replace(reference=move(f * k), duration=None, step=f * k / 1000)) for f in (1 + 1e-6, 0.985)
    )
    assert feasibility(slower, limits).feasible
    assert not feasibility(faster, limits).feasible


def test_friction_of_the_robot_counts() -> None:
    rough = FLAT.replace(joints=tuple(replace(j, friction=friction.Viscous(5.0)) for j in FLAT.joints))
    smooth, worn = (feasibility(move(2.0), {"torque": 100.0}, robot=r).joints[0].torque.worst for r in (FLAT, rough))
    assert abs(worn) > abs(smooth) + 1.0
    stick = FLAT.replace(joints=tuple(replace(j, friction=friction.Dahl(100.0, 1.0)) for j in FLAT.joints))
    assert "friction of joint1" in feasibility(move(2.0), {"torque": 100.0}, robot=stick).unstated


def test_some_limits_cannot_be_kept_by_slowing_down() -> None:
    heavy = feasibility(move(2.0), {"torque": [10.0, 5.0]}, robot=ROBOT)
    assert heavy.slow_down == np.inf
    assert "gravity" in heavy.reason
    far = feasibility(move(2.0), {"position": [[-0.5, 0.5], [-3.0, 3.0]]})
    assert far.slow_down == np.inf
    assert not far.joints[0].ok
    assert far.joints[1].ok
    assert "position" in far.reason


def test_limits_of_the_robot_and_what_nobody_stated() -> None:
    limited = ROBOT.replace(joints=tuple(replace(j, limits=replace(j.limits, velocity=0.4)) for j in ROBOT.joints))
    verdict = feasibility(move(2.0), limited)
    assert not verdict.feasible
    assert any(text.startswith("torque") for text in verdict.unstated)
    assert not any(text.startswith("velocity") for text in verdict.unstated)
    assert "OVER" in verdict.text()
    assert verdict.to_dict()["feasible"] is False


def test_tip_limits() -> None:
    q = move(2.0)
    v = feasibility(q, {"velocity": 10.0}, robot=ROBOT, tip={"velocity": 0.5})
    t = np.linspace(0, 2, 4001)
    d = q.derivatives(t, 1)  # pyright: ignore[reportAttributeAccessIssue]
    speed = np.linalg.norm(np.einsum("tij,tj->ti", mp.compile(ROBOT).jacobian(d[0])[:, :3], d[1]), axis=1)
    assert v.tip[0].worst == pytest.approx(speed.max(), rel=1e-5)
    assert v.slow_down == pytest.approx(speed.max() / 0.5, rel=1e-5)


def test_wrong_questions() -> None:
    with pytest.raises(UnknownNameError, match="velocity"):
        feasibility(move(1.0), {"speed": 1.0})
    with pytest.raises(DescriptionError, match="limits"):
        feasibility(move(1.0))
    with pytest.raises(ShapeError):
        feasibility(move(1.0), mp.load("planar-3r"))
    with pytest.raises(DescriptionError, match="joint trajectory"):
        feasibility(mp.trajectory(mp.paths.line([1, 0, 0], [1, 1, 0]), mp.timing.quintic(1.0)), {"velocity": 1.0})


def test_power_report_adds_up() -> None:
    run = mp.Scenario(
        robot=ROBOT, controller=control.PDGravity(30.0, 6.0, goal=[0.5, -0.2]), q0=[0.0, 0.3], duration=0.5, step=5e-4
    )
    result = mp.simulate(run)
    report = power_report(result)
    assert (report.taken - report.given_back).sum() == pytest.approx(result.work_drives[-1], abs=1e-3)  # trapezium rule
    assert np.all(report.peak >= report.rms)
    assert report.peak_total == pytest.approx(np.abs(result.power.sum(axis=1)).max())
