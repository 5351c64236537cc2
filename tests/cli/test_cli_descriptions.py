"""``manipula doctor``, ``convert``, ``catalog``: output, exit codes, and nothing half written."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import manipula
from manipula.cli.app import COMMANDS, app
from manipula.formats.catalog import catalog_names, load_catalog
from manipula.formats.load import load

BROKEN = '[dh]\nconvention = "standard"\n[[dh.rows]]\nalfa = 1\n'


@pytest.fixture
def run():
    runner = CliRunner()
    return lambda *words: runner.invoke(app, [str(w) for w in words])


def test_version(run) -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"manipula {manipula.__version__}\n"


def test_help_names_every_command(run) -> None:
    text = run("--help").stdout
    assert all(name in text for name in COMMANDS)
    for name in COMMANDS:
        assert run(name, "--help").exit_code == 0


def test_doctor_on_a_catalog_robot(run) -> None:
    result = run("doctor", "puma560")
    assert result.exit_code == 0
    assert "joint2" in result.stdout
    assert "no errors, 3 warnings" in result.stdout


def test_doctor_strict_is_exit_code_one(run) -> None:
    assert run("doctor", "puma560", "--strict").exit_code == 1


def test_doctor_json(run) -> None:
    result = run("doctor", "panda", "--json")
    data = json.loads(result.stdout)
    assert data["ok"] is True
    assert any(f["code"] == "holding" for f in data["findings"])


def test_doctor_explains_a_broken_file(run, tmp_path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text(BROKEN, encoding="utf-8")
    result = run("doctor", path)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert "arm.toml:4" in result.stderr
    assert "Did you mean 'alpha'" in result.stderr


@pytest.mark.parametrize("source", ["pum", "none.toml", "none.urdf", "arm.stl", "arm.urdf.xacro"])
def test_doctor_explains_what_it_cannot_open(run, source: str) -> None:
    result = run("doctor", source)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")


def test_names_cannot_write_to_the_terminal(run, tmp_path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text(BROKEN.replace("alfa", '"\\u001b[31mred[/]"'), encoding="utf-8")
    assert "\x1b" not in run("doctor", path).stderr
    path.write_text('name = "[bold]x[/bold]"\n[planar]\nlengths = [1]\nmasses = [1]\n', encoding="utf-8")
    assert "[bold]x[/bold]" in run("doctor", path).stdout


def test_catalog(run) -> None:
    text = run("catalog").stdout
    assert all(name in text for name in catalog_names())
    assert "Armstrong" in run("catalog", "puma560").stdout
    entries = json.loads(run("catalog", "--json").stdout)
    assert [e["name"] for e in entries] == list(catalog_names())
    result = run("catalog", "pumma560")
    assert result.exit_code == 2
    assert "Did you mean 'puma560'" in result.stderr


def test_convert_round_trip(run, tmp_path) -> None:
    target = tmp_path / "puma.toml"
    assert run("convert", "puma560", target).exit_code == 0
    assert load(target) == load_catalog("puma560")
    assert [p.name for p in tmp_path.iterdir()] == ["puma.toml"]


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_convert_to_dh_rows(run, tmp_path, convention: str) -> None:
    target = tmp_path / "arm.toml"
    assert run("convert", "iiwa14", target, "--dh", convention).exit_code == 0
    assert f'convention = "{convention}"' in target.read_text(encoding="utf-8")
    assert load(target).joint_names == load_catalog("iiwa14").joint_names


def test_convert_does_not_overwrite_without_force(run, tmp_path) -> None:
    target = tmp_path / "arm.toml"
    target.write_text("mine", encoding="utf-8")
    result = run("convert", "planar-2r", target)
    assert result.exit_code == 2
    assert "--force" in result.stderr
    assert target.read_text(encoding="utf-8") == "mine"
    assert run("convert", "planar-2r", target, "--force").exit_code == 0
    assert load(target) == load_catalog("planar-2r")


@pytest.mark.parametrize(("source", "target", "options"), [
    ("broken.toml", "out.toml", ()),
    ("planar-2r", "out.stl", ()),
    ("planar-2r", "out", ()),
    ("planar-2r", "no/such/folder/out.toml", ()),
    ("abdelsatar-2r", "out.toml", ("--dh", "standard")),
    ("panda", "out.toml", ("--dh", "craig")),
])  # fmt: skip
def test_failed_conversions_write_nothing(run, tmp_path, source: str, target: str, options) -> None:
    (tmp_path / "broken.toml").write_text(BROKEN, encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    where = tmp_path / source if source.endswith(".toml") else source
    result = run("convert", where, tmp_path / target, *options)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert sorted(tmp_path.rglob("*")) == before


def test_module_and_installed_command_start_without_heavy_imports() -> None:
    code = "import sys; from manipula.cli import app; print([m for m in ('numpy', 'sympy', 'scipy', 'llvmlite') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    done = subprocess.run([sys.executable, "-m", "manipula", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("manipula ")
