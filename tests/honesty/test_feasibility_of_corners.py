"""A corner passed with speed is a jump of the velocity: no machine does that, wherever it falls and whichever limit is asked about."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app
from manipula.errors import DescriptionError
from manipula.reports.key_numbers import key_numbers

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


# what is not known ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limits", [{"torque": 1e-6}, {"power": 1e-6}], ids=str)
def test_limits_of_torque_without_a_robot_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(DescriptionError, match="need a robot"):
        mp.feasibility(SMOOTH, limits)


def test_without_limits_nothing_is_said() -> None:
    run = mp.simulate(mp.Scenario(ROBOT, SMOOTH, kind="inverse_dynamics", step=1e-2))
    for verdict in (mp.feasibility(SMOOTH, {}), mp.feasibility(SMOOTH, ROBOT), mp.feasibility(run)):
        assert verdict.feasible is None
        assert verdict.reason == run.feasibility.reason
        assert "No limits are stated" in verdict.text()
        assert verdict.to_dict()["slow_down"] is None


@pytest.mark.parametrize("status", ["not_finite", "singular", "diverged", "step_too_small"])
def test_of_a_run_that_died_only_what_it_broke_is_known(status: str) -> None:
    limits = {"velocity": 100.0}
    whole = mp.simulate(mp.Scenario(ROBOT, SMOOTH, kind="inverse_dynamics", step=1e-2, limits=limits))
    assert whole.feasible is True
    arrays = {name: np.array(values, float) for name, values in whole.arrays.items()}
    for values in arrays.values():
        values[40:] = np.nan
    dead = replace(whole, arrays=arrays, status=status, reason="It died.")
    for verdict in (dead.feasibility, mp.feasibility(dead)):
        assert verdict.feasible is None
        assert "what would have followed is not known" in verdict.reason
    slow = replace(dead, meta={**dead.meta, "limits": {"velocity": [0.1, 0.1]}})
    assert slow.feasible is False
    assert mp.feasibility(slow).feasible is False


def test_stated_limits_that_could_not_be_checked_are_not_called_unstated() -> None:
    whole = mp.simulate(mp.Scenario(ROBOT, SMOOTH, kind="inverse_dynamics", step=1e-2, limits={"torque": 1e3}))
    kept = {name: values for name, values in whole.arrays.items() if name != "tau"}
    verdict = replace(whole, arrays=kept, meta={k: v for k, v in whole.meta.items() if k != "peaks"}).feasibility
    assert verdict.feasible is None
    assert "could not be checked" in verdict.reason


def test_a_batch_with_a_run_that_died_is_not_feasible() -> None:
    scenario = mp.Scenario(
        ROBOT, q0=[[0.1, 0.2], [0.2, 0.1]], duration=0.1, step=1e-3, limits={"velocity": 100.0}, verify=False
    )
    batch = mp.simulate(scenario)
    assert batch.feasible is True
    dead = replace(batch, statuses=("finished", "diverged"))
    assert dead.feasibility.runs == (True, None)
    assert dead.feasible is None
    assert "not known" in dead.feasibility.reason


# what is trusted -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verify", [True, False])
def test_a_run_that_was_not_verified_is_not_trusted(verify: bool, tmp_path: Path) -> None:
    scenario = mp.Scenario(ROBOT, q0=[0.1, 0.2], duration=0.1, step=1e-3, limits={"velocity": 100.0}, verify=verify)
    mp.simulate(scenario).save(tmp_path / "run.npz")
    told = CliRunner().invoke(app, ["check", str(tmp_path / "run.npz")])
    assert told.exit_code == (0 if verify else 1)
    assert ("not verified" in told.output) is not verify
    plain = CliRunner().invoke(app, ["check", "--json", str(tmp_path / "run.npz")])
    assert json.loads(plain.output)["trusted"] is verify


def test_where_nothing_is_integrated_nothing_is_to_be_verified(tmp_path: Path) -> None:
    scenario = mp.Scenario(ROBOT, SMOOTH, kind="inverse_dynamics", step=1e-2, limits={"velocity": 100.0})
    mp.simulate(scenario).save(tmp_path / "run.npz")
    assert CliRunner().invoke(app, ["check", str(tmp_path / "run.npz")]).exit_code == 0


def test_the_numbers_of_a_report_are_those_of_its_limits() -> None:
    def tile(result: mp.Result) -> str:
        return next(row[1] for row in key_numbers(result) if row[0] == "Largest torque")

    limits = {"torque": 1.0}
    coarse = mp.simulate(mp.Scenario(ROBOT, SMOOTH, kind="inverse_dynamics", step=1e-3, sample=0.3, limits=limits))
    reached = max(abs(c.worst) for c in coarse.feasibility.checks)
    assert reached > np.abs(coarse.tau).max()  # it lies between the samples
    assert tile(coarse) == f"{reached:.4g}"
    corner = mp.simulate(mp.Scenario(ROBOT, PATH, kind="kinematic", q0=START, limits=limits, step=1e-2, verify=False))
    assert tile(corner) == "∞"
