"""Tables of the documentation, the commands ``parts`` and ``schema``, and parts as plain data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import pytest
from typer.testing import CliRunner

import manipula
from manipula.cli.app import app
from manipula.parts.registry import describe
from manipula.registries import KINDS, describe_parts, find_kind

ROOT = Path(__file__).parents[2]


def test_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "parts-tables"), "--check"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_everything_is_plain_data() -> None:
    found = describe_parts()
    assert json.loads(json.dumps(found).replace("Infinity", '"inf"')).keys() == found.keys()
    field = found["friction law"]["parts"]["viscous"]["fields"][0]
    assert field["name"] == "damping"
    assert field["range"] == {"least": 0.0}
    assert field["required"]
    assert found["path"]["parts"]["spline"]["fields"][1]["choices"] == ["natural", "clamped", "periodic", "not-a-knot"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_part_has_a_summary(kind: str) -> None:
    for name, part in describe([KINDS[kind]])[kind]["parts"].items():
        assert len(part["summary"]) > 10, name


def test_kinds_are_found_by_what_people_call_them() -> None:
    for word, kind in (("controllers", "controller"), ("friction", "friction law"), ("time-laws", "time law"), ("criteria", "criterion"),
                       ("drives", "drive"), ("plots", "plot"), ("ik", None), ("timing", None)):  # fmt: skip
        if kind is not None:
            assert find_kind(word).name == kind


def test_every_part_with_a_place_in_python_is_found_there() -> None:
    for kind in KINDS.values():
        for name in kind.registry:
            path = kind.in_python(name)
            assert not path or attrgetter(path.removeprefix("mp."))(manipula) is kind.registry[name]
    assert KINDS["controller"].in_python("pd_gravity") == "mp.control.PDGravity"
    assert KINDS["signal path"].in_python("encoder") == "mp.Encoder"
    assert not KINDS["integrator"].in_python("rk4")  # named by its text


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.output


def test_parts_on_the_command_line() -> None:
    assert "computed_torque" in run("parts")
    assert "viscous" in run("parts", "friction-law")
    told = run("parts", "controller", "pid")
    assert "tracking_time" in told
    assert "greater than 0" in told
    assert json.loads(run("parts", "drive", "rigid", "--json"))["fields"][0]["name"] == "torque_limit"
    assert "path" in json.loads(run("parts", "--json").replace("Infinity", "1e999"))
    refused = CliRunner().invoke(app, ["parts", "controller", "pidd"])
    assert refused.exit_code != 0


def test_schema_on_the_command_line(tmp_path: Path) -> None:
    assert json.loads(run("schema", "robot"))["title"] == "Manipula robot"
    file = tmp_path / "scenario.json"
    run("schema", "scenario", "-o", str(file))
    assert json.loads(file.read_text(encoding="utf-8"))["$defs"]["controller"]
    assert CliRunner().invoke(app, ["schema", "scenario", "-o", str(file)]).exit_code != 0
    assert CliRunner().invoke(app, ["schema", "robots"]).exit_code != 0
