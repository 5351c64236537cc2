"""A corner passed with speed is a jump of the velocity: no machine does that, wherever it falls and whichever limit is asked about."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp

ROBOT = mp.load("planar-2r")
CORNER = mp.trajectory(
    mp.paths.joint([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], interpolation="polyline"), mp.timing.quintic(1.0)
)
SMOOTH = mp.trajectory(mp.paths.joint([[0.0, 0.0], [1.0, -0.8]]), mp.timing.quintic(1.0))
WIDE = [
    {"acceleration": 50.0},
    {"jerk": 5000.0},
    {"torque": 1000.0},
    {"power": 1e5},
    {"torque": [np.inf, 1000.0]},
    {"tip": {"acceleration": 1e4}},
    {"tip": {"jerk": 1e6}},
]


@pytest.mark.parametrize("limits", WIDE, ids=str)
def test_a_corner_of_a_trajectory_breaks_every_limit_above_the_velocity(limits: dict[str, object]) -> None:
    verdict = mp.feasibility(CORNER, limits, robot=ROBOT)
    assert verdict.feasible is False
    assert verdict.slow_down == np.inf
    assert "velocity jumps" in verdict.reason
    broken = [c for j in verdict.joints for c in j.checks if not c.ok] + [c for c in verdict.tip if not c.ok]
    assert all(np.isinf(c.worst) for c in broken)
    assert [c.first for c in broken] == pytest.approx([0.5] * len(broken))
    assert mp.feasibility(SMOOTH, limits, robot=ROBOT).feasible is True


def test_a_corner_keeps_limits_of_position_and_velocity() -> None:
    assert mp.feasibility(CORNER, {"position": 2.0, "velocity": 4.0}, robot=ROBOT).feasible is True


def test_only_the_joints_that_jump_have_an_infinite_acceleration() -> None:
    stays = mp.trajectory(
        mp.paths.joint([[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]], interpolation="polyline"), mp.timing.quintic(1.0)
    )
    first, second = mp.feasibility(stays, {"acceleration": 50.0}).joints
    assert np.isinf(first.acceleration.worst)
    assert second.ok
    hit = mp.feasibility(stays, {"torque": 1e6}, robot=ROBOT).joints[1]
    assert not hit.ok  # the impulse of the first joint passes through the second


def test_check_limits_finds_the_corner_too() -> None:
    report = mp.check_limits(CORNER, acceleration=50.0)
    assert not report
    assert {(p.coordinate, p.value, p.time) for p in report.violations} == {(0, -np.inf, 0.5), (1, np.inf, 0.5)}
    assert mp.check_limits(CORNER, velocity=4.0, acceleration=np.inf)
    assert mp.check_limits(SMOOTH, acceleration=50.0, jerk=500.0)


def test_check_limits_finds_jumps_of_the_acceleration() -> None:
    motion = mp.trajectory(mp.paths.line([0.0, 0.0], [1.0, 0.0]), mp.timing.trapezoid(1.0, 2.0))
    report = mp.check_limits(motion, jerk=10.0)
    assert [p.value for p in report.violations] == [-np.inf]
    assert report.violations[0].time == pytest.approx(0.5)  # where it stops accelerating
    assert mp.check_limits(motion, acceleration=2.1)
    assert mp.check_limits(motion, jerk=[np.inf, 10.0, 10.0])  # nothing moves in y and z


# runs ----------------------------------------------------------------------------------------------------------------

PATH = mp.trajectory(mp.paths.polyline([[1.0, 0.5], [1.2, 0.5], [1.2, 0.8]]), mp.timing.quintic(1.0))
START = mp.solve_ik(ROBOT, [1.0, 0.5, 0.0]).q


@pytest.mark.parametrize(
    "limits",
    [{"acceleration": 100.0}, {"torque": 1e4}, {"power": 1e5}, {"tip": {"acceleration": 1e4}}, {"jerk": 1e6}],
    ids=str,
)
@pytest.mark.parametrize("step", [1e-2, 1e-3])
def test_a_corner_between_the_steps_of_a_kinematic_run(limits: dict[str, object], step: float) -> None:
    result = mp.simulate(mp.Scenario(ROBOT, PATH, kind="kinematic", q0=START, limits=limits, step=step, verify=False))
    assert result.feasible is False
    assert "0.4463 s" in result.feasibility.reason
    assert mp.feasibility(result).feasible is False


def test_limits_that_a_corner_does_not_touch_stay_kept() -> None:
    limits = {"velocity": 10.0, "position": 4.0, "tip": {"velocity": 2.0}}
    result = mp.simulate(mp.Scenario(ROBOT, PATH, kind="kinematic", q0=START, limits=limits, step=1e-3, verify=False))
    assert result.feasible is True
