"""A run can be numerically right and physically impossible: every result says whether the stated limits are kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app
from manipula.errors import DescriptionError, ShapeError, UnknownNameError

BARE = mp.load("planar-2r")
MOVE = mp.trajectory(mp.paths.joint([[0.0, 0.0], [1.0, -0.8]]), mp.timing.quintic(1.0))
LINE = mp.trajectory(mp.paths.line([1.2, 0.3, 0.0], [0.5, 1.0, 0.0]), mp.timing.quintic(1.0))
CONTROL = mp.control.ComputedTorque(100.0, 20.0)


def limited(robot: mp.Robot = BARE, **limits: float) -> mp.Robot:
    return robot.replace(joints=tuple(replace(j, limits=replace(j.limits, **limits)) for j in robot.joints))


def cli(*words: object) -> tuple[int, str]:
    told = CliRunner().invoke(app, [str(w) for w in words])
    return told.exit_code, told.output


def runs(robot: mp.Robot) -> dict[str, object]:
    """One run of every kind; each swings more than 0.3 rad and faster than 0.1 rad/s."""
    program = mp.ProgramScenario(robot, ["q1 = 0.5*sin(3*t)"], q0=[0.0, 0.2], qd0=[1.5, 0.0], duration=1.0, step=1e-3)
    return {
        "dynamic": mp.Scenario(robot, MOVE, CONTROL, step=1e-3, sample=1e-2, verify=False),
        "free": mp.Scenario(robot, q0=[0.1, 0.2], duration=0.5, step=1e-3, sample=1e-2, verify=False),
        "playback": mp.Scenario(
            robot, torques=([0.0, 0.5], [[0.0, 0.0]] * 2), q0=[0.1, 0.2], duration=0.5, kind="playback", verify=False
        ),
        "kinematic": mp.Scenario(robot, LINE, q0=[-0.3, 1.1], kind="kinematic", start="project", step=1e-2),
        "inverse_dynamics": mp.Scenario(robot, MOVE, kind="inverse_dynamics", step=1e-2),
        "programmed": program,
    }


@pytest.mark.parametrize("kind", list(runs(BARE)))
def test_every_kind_of_run_is_judged(kind: str) -> None:
    def done(robot: mp.Robot) -> mp.Result:
        described = runs(robot)[kind]
        return described.run() if isinstance(described, mp.ProgramScenario) else mp.simulate(described)

    assert done(BARE).feasible is None  # nobody states a limit
    wide = done(limited(lower=-50.0, upper=50.0, velocity=100.0, effort=1e4))
    assert wide.feasible is True
    tight = done(limited(lower=-50.0, upper=50.0, velocity=0.1, effort=1e4))
    assert tight.feasible is False
    assert "velocity" in tight.feasibility.reason
    assert tight.status == wide.status  # right numbers about an impossible motion


@pytest.mark.parametrize(
    ("own", "quantity"),
    [({"effort": 15.0}, "torque"), ({"velocity": 1.0}, "velocity"), ({"upper": 0.5}, "position")],
)
def test_joint_time_and_size_are_named(own: dict, quantity: str) -> None:
    arm = limited(**own)
    result = mp.simulate(mp.Scenario(arm, MOVE, kind="inverse_dynamics", step=1e-3))
    broken = result.feasibility.broken
    assert {c.name for c in broken} >= {"joint1"}
    first = broken[0]
    assert first.quantity == quantity
    signal = {"torque": result.tau, "velocity": result.qd, "position": result.q}[quantity][:, 0]
    limit = next(iter(own.values()))
    assert first.first == pytest.approx(result.t[np.argmax(np.abs(signal) > limit)], abs=2e-3)
    assert abs(first.worst) == pytest.approx(np.abs(signal).max(), rel=1e-6)
    assert f"{abs(first.worst):.3g}"[:3] in first.sentence()


def test_the_scenarios_own_limits_count() -> None:
    base = mp.Scenario(BARE, MOVE, kind="inverse_dynamics", step=1e-3)
    peak = 15 / 8  # rad/s of a quintic over 1 rad in 1 s
    assert mp.simulate(base.replace(limits={"velocity": 1.01 * peak})).feasible is True
    assert mp.simulate(base.replace(limits={"velocity": 0.99 * peak})).feasible is False
    model = mp.compile(BARE)
    d = MOVE.derivatives(np.linspace(0, 1, 1001), 1)
    speed = np.linalg.norm(np.einsum("tij,tj->ti", model.jacobian(d[0])[:, :3], d[1]), axis=1).max()
    assert mp.simulate(base.replace(limits={"tip": {"velocity": 1.001 * speed}})).feasible is True
    assert mp.simulate(base.replace(limits={"tip": {"velocity": 0.999 * speed}})).feasible is False


@pytest.mark.parametrize(
    "limits", [{"speed": 1.0}, {"velocity": [1.0, 2.0, 3.0]}, {"torque": -1.0}, {"tip": {"sped": 1.0}}]
)
def test_limits_that_mean_nothing_are_refused(limits: dict) -> None:
    with pytest.raises((DescriptionError, ShapeError, UnknownNameError)):
        mp.Scenario(BARE, MOVE, kind="inverse_dynamics", limits=limits)


def test_a_limit_that_is_passed_between_samples() -> None:
    """A pendulum that swings to ±A at its turning points, recorded so that no sample is near one."""
    arm = mp.planar(lengths=[1.0], masses=[1.0]).replace(gravity=(0.0, -9.81, 0.0))
    down = -np.pi / 2
    start = [down + 0.5]
    run = mp.Scenario(arm, q0=start, duration=1.24, step=1e-3, sample=0.31, tolerance=1e-8)
    low = down - 0.5  # where the swing turns, exactly
    seen = mp.simulate(run)
    assert seen.q.min() > low + 0.02  # the record never sees it
    for margin, kept in ((1e-3, True), (-3e-3, False)):
        tight = arm.replace(
            joints=tuple(replace(j, limits=replace(j.limits, lower=low - margin, upper=5.0)) for j in arm.joints)
        )
        assert mp.simulate(run.replace(robot=tight)).feasible is kept


def test_a_batch_is_judged_run_by_run() -> None:
    arm = limited(lower=-50.0, upper=0.5, velocity=1e3)
    starts = [[0.1, 0.0], [0.6, 0.0], [0.2, 0.0]]
    batch = mp.simulate(mp.Scenario(arm, q0=starts, duration=0.05, step=1e-3, verify=False))
    assert batch.feasible is False
    assert batch.feasibility.runs == (True, False, True)
    assert [batch.run(k).feasible for k in range(3)] == [True, False, True]
    assert "1 of 3 runs" in batch.feasibility.reason
    assert "run 1" in batch.feasibility.reason


@pytest.mark.parametrize("suffix", [".nc", ".npz", ".csv"])
def test_the_verdict_survives_a_file(tmp_path: Path, suffix: str) -> None:
    arm = limited(velocity=0.5, effort=15.0)
    result = mp.simulate(mp.Scenario(arm, MOVE, kind="inverse_dynamics", step=1e-2, limits={"jerk": 10.0}))
    result.save(tmp_path / f"run{suffix}")
    again = mp.load_result(tmp_path / f"run{suffix}")
    assert again.feasible is False
    assert again.feasibility == result.feasibility


def test_check_uses_the_robot_in_the_file(tmp_path: Path) -> None:
    for speed, code in ((0.5, 1), (5.0, 0)):
        arm = limited(velocity=speed)
        mp.simulate(mp.Scenario(arm, MOVE, kind="inverse_dynamics", step=1e-2)).save(tmp_path / "run.nc")
        assert cli("check", tmp_path / "run.nc")[0] == code
    mp.simulate(mp.Scenario(BARE, MOVE, kind="inverse_dynamics", step=1e-2)).save(tmp_path / "bare.nc")
    assert cli("check", tmp_path / "bare.nc")[0] == 2  # nothing to hold it against
    batch = mp.Scenario(limited(upper=0.5), q0=[[0.1, 0.0], [0.6, 0.0]], duration=0.05, step=1e-3)
    mp.simulate(batch).save(tmp_path / "batch.nc")
    code, told = cli("check", tmp_path / "batch.nc")
    assert code == 1
    assert "1 of 2 runs" in told


def test_run_tells_first_what_cannot_be(tmp_path: Path) -> None:
    for speed, first in (
        (0.5, "not feasible: Joint 'joint1' passes its velocity limit of 0.5 rad/s"),
        (5.0, "finished: "),
    ):
        mp.Scenario(limited(velocity=speed), MOVE, CONTROL, step=1e-3).save(tmp_path / "move.toml")
        _, told = cli("run", tmp_path / "move.toml", "-o", tmp_path / "out", "--no-report", "--force")
        assert told.startswith(first)
        assert "feasible: " in told
    _, told = cli("run", tmp_path / "move.toml", "-o", tmp_path / "out", "--no-report", "--force", "--json")
    assert json.loads(told)["feasible"] is True


def test_what_was_not_recorded_is_not_called_feasible() -> None:
    """A run that never started has no torques: their limits are unknown, not kept."""
    arm = limited(effort=10.0)
    result = mp.simulate(mp.Scenario(arm, MOVE, kind="inverse_dynamics", step=1e-2))
    bare = replace(result, arrays={k: v for k, v in result.arrays.items() if k != "tau"})
    assert bare.feasible is None
    assert "torque could not be checked" in bare.feasibility.remarks[0]
    lost = replace(result, arrays={**result.arrays, "tau": np.full_like(result.tau, np.nan)})
    assert lost.feasible is None


@pytest.mark.parametrize(
    "stored", ["velocity", {"velocity": [1.0]}, {"velocity": ["x", "y"]}, {"sped": [1.0, 1.0]}, {"tip": 3.0}]
)
def test_damaged_limits_in_a_result_are_an_error_of_the_file(stored: object) -> None:
    result = mp.simulate(mp.Scenario(BARE, MOVE, kind="inverse_dynamics", step=1e-2))
    with pytest.raises(DescriptionError, match="limits"):
        replace(result, meta={**result.meta, "limits": stored}).feasible
