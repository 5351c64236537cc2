"""``manipula ik``: output, exit codes, and messages for wrong targets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app


@pytest.fixture
def run():
    runner = CliRunner()
    return lambda *words: runner.invoke(app, ["ik", *(str(w) for w in words)])


def test_position_as_json_brings_the_tip_there(run) -> None:
    result = run("panda", "--position", 0.4, 0.1, 0.5, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["status"] == "solved"
    assert len(found["joints"]) == 7
    q = np.array(found["q"])
    assert np.abs(mp.compile(mp.load("panda")).position(q) - [0.4, 0.1, 0.5]).max() < 1e-8


def test_poses_are_read_in_both_spellings(run) -> None:
    model = mp.compile(mp.load("ur5e"))
    X = model.pose(np.array([0.4, -1.2, 1.1, -0.7, 0.9, 0.3]))
    sixteen = " ".join(repr(float(x)) for x in X.ravel())
    result = run("ur5e", "--pose", sixteen, "--all", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert np.abs(model.pose(np.array(found["q"])) - X).max() < 1e-7
    assert len(found["q"]) > 1
    six = run("ur5e", "--pose", "0.3 0.2 0.4 0 0 0.5", "--json")
    turned = run("ur5e", "--position", 0.3, 0.2, 0.4, "--rpy", 0, 0, 0.5, "--json")
    assert json.loads(six.stdout)["q"] == json.loads(turned.stdout)["q"]


def test_the_table_for_people(run) -> None:
    result = run("scara-khang", "--position", 0.3, 0.2, 0.1, "--q0", "0, 1, 0, 0")
    assert result.exit_code == 0
    assert "solved" in result.stdout
    assert "joint1" in result.stdout


def test_no_solution_is_exit_code_1_with_a_reason(run) -> None:
    result = run("ur5e", "--position", 4, 0, 0)
    assert result.exit_code == 1
    assert "outside the reach" in " ".join(result.stdout.split())
    assert run("ur5e", "--position", 4, 0, 0, "--json", "--no-limits").exit_code == 1


@pytest.mark.parametrize(
    "words",
    [
        ("ur5e",),
        ("ur5e", "--position", 0.1, 0.2, 0.3, "--pose", "0 0 0 0 0 0"),
        ("ur5e", "--pose", "1 2 3"),
        ("ur5e", "--pose", "a b c d e f"),
        ("ur5e", "--position", "nan", 0, 0),
        ("ur5e", "--position", 0.1, 0.2, 0.3, "--q0", "1 2"),
        ("ur5e", "--position", 0.1, 0.2, 0.3, "--method", "guess"),
        ("no-such-robot", "--position", 0.1, 0.2, 0.3),
    ],
)
def test_wrong_input_is_explained_without_a_traceback(run, words: tuple) -> None:
    result = run(*words)
    assert result.exit_code not in (0, 1)
    assert "Traceback" not in result.output


def test_methods_of_the_survey_and_preferences(run) -> None:
    words = ("puma560", "--no-limits", "--position", 0.4, 0.2, 0.3, "--rpy", 0.1, 0.2, 0.3)
    told = json.loads(run(*words, "--method", "elimination", "--json").stdout)
    assert (told["status"], told["method"]) == ("solved", "elimination")
    assert run(*words, "--prefer", "middle").exit_code == 0
    refused = run(*words, "--prefer", "nearest")
    assert refused.exit_code == 2
    assert "nearest to q0" in refused.stderr
    refused = run("panda", "--position", 0.4, 0.2, 0.3, "--rpy", 0, 0, 0, "--method", "elimination")
    assert refused.exit_code == 2
    assert "six revolute joints" in refused.stderr


@pytest.mark.parametrize("command", ["ik", "check", "calibrate", "identify"])
def test_letters_that_would_be_given_their_values_again_are_refused(command: str, tmp_path: Path) -> None:
    """These commands compute with numbers; with --symbolic nothing else came out."""
    mp.simulate(mp.Scenario(mp.load("planar-2r"), q0=[0.1, 0.2], duration=0.01)).save(tmp_path / "run.nc")
    (tmp_path / "log.csv").write_text("t,q1,q2\n0,0,0\n1,1,1\n")
    more = {
        "ik": ["planar-2r", "--position", "0.5", "0.3", "0"],
        "check": [str(tmp_path / "run.nc"), "--robot", "planar-2r"],
        "calibrate": ["planar-2r", str(tmp_path / "log.csv")],
        "identify": ["planar-2r", str(tmp_path / "log.csv")],
    }
    refused = CliRunner().invoke(app, [command, *more[command], "--symbolic"])
    assert refused.exit_code == 2
    assert "--symbolic: This option does nothing here" in refused.output
