"""``manipula run`` and ``manipula check``: files, exit codes, JSON, and what an interruption leaves behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app
from manipula.cli.outputs import write_all
from manipula.simulation.files.scenario_file import load_file

ROOT = Path(__file__).parents[2]
ARM = mp.load("planar-2r")
MOVE = mp.joint_move([0.0, 0.0], [1.0, 0.5], velocity=1.0, acceleration=2.0, jerk=8.0)
CONTROL = mp.control.ComputedTorque(100.0, 20.0)


TELLING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the parent process does with it
from manipula.cli import live, main
def phase(self, name):
    print(name, file=sys.stderr, flush=True)
live.Live.phase = phase
main()
"""


def run(*words):
    return CliRunner().invoke(app, [str(w) for w in words])


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "move.toml"
    mp.Scenario(ARM, MOVE, CONTROL, step=1e-3, sample=0.01, name="move").save(path)
    return path


def test_run_writes_everything_and_says_where(scenario, tmp_path):
    out = tmp_path / "deep" / "out"
    told = run("run", scenario, "-o", out, "--csv", "--no-report")
    assert told.exit_code == 0, told.output
    assert told.output.startswith("finished: ")
    assert str(out / "result.nc") in told.output
    assert sorted(p.name for p in out.iterdir()) == ["result.csv", "result.nc", "scenario.toml"]
    assert load_file(out / "scenario.toml") == load_file(scenario)
    stored, csv = mp.load_result(out / "result.nc"), mp.load_result(out / "result.csv")
    assert np.array_equal(stored.q, csv.q)
    assert stored.meta["name"] == "move"


def test_run_replaces_only_when_told(scenario, tmp_path):
    assert run("run", scenario, "-o", tmp_path / "out", "--no-report").exit_code == 0
    before = (tmp_path / "out" / "result.nc").stat().st_mtime_ns
    refused = run("run", scenario, "-o", tmp_path / "out", "--no-report")
    assert refused.exit_code == 2
    assert (tmp_path / "out" / "result.nc").stat().st_mtime_ns == before
    assert run("run", scenario, "-o", tmp_path / "out", "--no-report", "--force").exit_code == 0
    assert run("run", scenario, "-o", scenario, "--no-report").exit_code == 2  # a file where the folder should be


def test_json_is_json_and_nothing_else(scenario, tmp_path):
    told = run("run", scenario, "-o", tmp_path / "out", "--no-report", "--json")
    outcome = json.loads(told.output)
    assert outcome["status"] == "finished"
    assert outcome["error_estimate"] < 1e-6
    assert Path(outcome["files"]["result"]).is_file()


def test_exit_code_one_when_the_answer_cannot_be_trusted(tmp_path):
    mp.Scenario(ARM, q0=(0.1, 0.2), duration=5.0, step=0.05, integrator="semi_implicit").save(tmp_path / "coarse.toml")
    told = run("run", tmp_path / "coarse.toml", "-o", tmp_path / "out", "--no-report", "--json")
    assert told.exit_code == 1
    assert json.loads(told.output)["status"] == "inaccurate"
    assert mp.load_result(tmp_path / "out" / "result.nc").status == "inaccurate"  # the result is there, with its status


def test_exit_code_two_for_wrong_input(tmp_path):
    (tmp_path / "wrong.toml").write_text('robot = "planar-2r"\nduration = 1.0\nstpe = 1e-3\n', encoding="utf-8")
    told = run("run", tmp_path / "wrong.toml", "-o", tmp_path / "out")
    assert told.exit_code == 2
    assert not (tmp_path / "out").exists()
    assert run("run", tmp_path / "missing.toml", "-o", tmp_path / "out").exit_code == 2


def test_a_failure_while_writing_leaves_nothing(scenario, tmp_path, monkeypatch):
    described = load_file(scenario)
    result = mp.simulate(described)
    monkeypatch.setattr(
        "manipula.simulation.files.scenario_file.save_scenario", lambda *_: (_ for _ in ()).throw(OSError(28, "full"))
    )
    with pytest.raises(OSError, match="full"):
        write_all(tmp_path / "out", result, described, csv=False, report=False)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption_leaves_no_files(tmp_path, number):
    """A run of a hundred million steps is stopped inside its machine code."""
    mp.Scenario(ARM, q0=(0.1, 0.2), duration=1e5, step=1e-3, sample=1e2, integrator="rk4", verify=False).save(
        tmp_path / "long.toml"
    )
    command = [
        sys.executable,
        "-c",
        TELLING,
        "run",
        str(tmp_path / "long.toml"),
        "-o",
        str(tmp_path / "out"),
        "--no-report",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.strip() == "integrating":
                break
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(number)
        told = process.stderr.read()
        assert process.wait(300) == 130
    assert "interrupted" in told
    assert "Traceback" not in told
    assert not (tmp_path / "out").exists()


def test_check_says_how_much_to_slow_down(tmp_path):
    limits = {"velocity": 0.5, "torque": [60.0, 20.0], "tip": {"velocity": 5.0}}
    described = mp.Scenario(ARM, MOVE, kind="inverse_dynamics", step=1e-3, limits=limits)
    described.save(tmp_path / "move.toml")
    told = run("check", tmp_path / "move.toml", "--json")
    verdict = json.loads(told.output)
    assert told.exit_code == 1
    assert verdict["feasible"] is False
    k = verdict["slow_down"]
    worst = {c["quantity"]: c for c in verdict["joints"][0]["checks"]}["velocity"]
    assert worst["worst"] == pytest.approx(1.0, abs=1e-3)  # the move's own limit
    assert MOVE.duration / 3 < worst["time"] < 2 * MOVE.duration / 3
    slower = mp.joint_move([0.0, 0.0], [1.0, 0.5], velocity=1.0 / k, acceleration=2.0 / k**2, jerk=8.0 / k**3)
    described.replace(reference=slower, duration=slower.duration).save(tmp_path / "slow.toml")
    assert run("check", tmp_path / "slow.toml").exit_code == 0
    shown = run("check", tmp_path / "move.toml")
    assert shown.output.startswith("finished: ")
    assert "\nnot feasible: " in shown.output
    assert "velocity" in shown.output


def test_check_takes_the_robots_limits_and_stored_results(tmp_path):
    path = mp.trajectory(mp.paths.joint([[0] * 7, [0.5] * 7]), mp.timing.quintic(2.0))
    mp.Scenario(mp.load("panda"), path, kind="inverse_dynamics", step=1e-2).save(tmp_path / "panda.toml")
    told = json.loads(run("check", tmp_path / "panda.toml", "--json").output)
    assert told["feasible"] is False  # joint 4 of this arm cannot be positive
    assert told["slow_down"] is None
    assert run("run", tmp_path / "panda.toml", "-o", tmp_path / "out", "--no-report").exit_code == 0
    again = json.loads(run("check", tmp_path / "out" / "result.nc", "--robot", "panda", "--json").output)
    assert again["joints"] == told["joints"]
    mp.Scenario(ARM, MOVE, kind="inverse_dynamics", step=1e-2).save(tmp_path / "free.toml")
    assert run("check", tmp_path / "free.toml").exit_code == 2  # nobody states a limit
