"""``manipula doctor``, ``convert``, ``catalog``: output, exit codes, and nothing half written."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import manipula
from manipula.cli.app import COMMANDS, GROUPS, app
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


def test_help_says_of_every_command_what_it_is_for(run) -> None:
    text = run("--help").stdout
    for name, sentence in (COMMANDS | GROUPS).items():
        assert f"  {name:11}{sentence}\n" in text  # whole: no sentence is cut where the terminal ends
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


def test_convert_has_a_place_for_what_it_writes(run, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("convert", "puma560")
    assert (done.exit_code, done.stdout) == (0, "Wrote out/puma560.toml (6 joints).\n")
    assert load(tmp_path / "out" / "puma560.toml") == load_catalog("puma560")
    again = run("convert", "puma560")
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert run("convert", "puma560", "-o", "own.urdf").exit_code == 0
    assert (tmp_path / "own.urdf").is_file()
    both = run("convert", "puma560", "a.toml", "-o", "b.toml")
    assert both.exit_code == 2
    assert "--output" in both.stderr
    assert not (tmp_path / "a.toml").exists()


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
    code = "import sys; from manipula.cli.app import app; print([m for m in ('numpy', 'sympy', 'scipy', 'llvmlite') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    done = subprocess.run([sys.executable, "-m", "manipula", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("manipula ")


TOOLS = """<robot name="ur"><link name="base"/><link name="arm"/><link name="tool0"/><link name="ft_frame"/>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
  <joint name="t" type="fixed"><parent link="arm"/><child link="tool0"/></joint>
  <joint name="f" type="fixed"><parent link="arm"/><child link="ft_frame"/></joint></robot>"""
GRIPPER = """<robot name="claw"><link name="base"/><link name="arm"/><link name="left"/><link name="right"/>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
  <joint name="l" type="prismatic"><parent link="arm"/><child link="left"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
  <joint name="r" type="prismatic"><parent link="arm"/><child link="right"/><limit lower="0" upper="1" effort="1" velocity="1"/>
    <mimic joint="l"/></joint></robot>"""


def test_several_tips_are_listed_with_the_option(run, tmp_path) -> None:
    path = tmp_path / "ur.urdf"
    path.write_text(TOOLS, encoding="utf-8")
    told = run("ik", path, "--position", "0", "0", "1")
    assert told.exit_code == 2
    assert "could be its tip (arm, tool0, ft_frame); name one: --tip tool0." in told.stderr
    assert run("doctor", path, "--tip", "tool0").stdout.startswith("ur: 1 joint, 4 frames, tip tool0")
    with pytest.raises(manipula.DescriptionError, match="name one: tip='tool0'"):
        manipula.compile(load(path)).pose([0.0])


def test_lock_drop_and_chain_on_the_command_line(run, tmp_path) -> None:
    path = tmp_path / "claw.urdf"
    path.write_text(GRIPPER, encoding="utf-8")
    out = tmp_path / "arm.toml"
    assert run("convert", path, out).exit_code == 0
    assert (load(out).n, len(load(out).followers)) == (2, 1)
    assert run("convert", path, out, "--lock", "l=0.5/2", "--force").exit_code == 0
    assert load(out) == load(path, lock={"l": 0.25})
    assert run("convert", path, out, "--drop", "l", "--drop", "r", "--force").exit_code == 0
    assert load(out) == load(path, drop=["l", "r"])
    assert run("convert", path, out, "--chain", "base", "arm", "--force").exit_code == 0
    assert load(out) == load(path, chain=("base", "arm"))
    for words, named in (
        (("--lock", "q"), "--lock"),
        (("--lock", "x=1"), "lock"),
        (("--drop", "x"), "drop"),
        (("--chain", "base", "x"), "chain"),
    ):
        told = run("doctor", path, *words)
        assert told.exit_code == 2
        assert named in told.stderr


def test_doctor_tells_how_the_description_was_read(run, tmp_path) -> None:
    path = tmp_path / "claw.urdf"
    path.write_text(GRIPPER.replace("</robot>", "<gazebo/></robot>"), encoding="utf-8")
    told = run("doctor", path).stdout
    section = told[told.index("How the description was read:") :]
    assert "joint 'r' follows 'l'" in section
    assert "<gazebo> not part of URDF, ignored" in section
    held = run("doctor", path, "--lock", "l=0.1", "--json")
    data = json.loads(held.stdout)
    assert (data["joints"], data["tip"]) == (1, None)
    assert any("joint 'l' is held at 0.1" in note for note in data["notes"])
    assert "joint 'r' follows 'l' and is held with it." in data["notes"]
    assert "(arm, left, right); name one: --tip right" in data["tip_open"]
    assert "could be its tip (left, right); name one: --tip right" in told


def test_doctor_of_a_folder(run, tmp_path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "claw.urdf").write_text(GRIPPER, encoding="utf-8")
    (tmp_path / "sub" / "broken.urdf").write_text("<robot name='x'><link/></robot>", encoding="utf-8")
    (tmp_path / "sub" / "arm.urdf.xacro").write_text("<robot/>", encoding="utf-8")
    (tmp_path / "puma.toml").write_text(manipula.formats.toml.to_toml(load("puma560")), encoding="utf-8")
    (tmp_path / "arm.xml").write_text(f"<!-- a -->\n{GRIPPER}", encoding="utf-8")
    (tmp_path / "launch.xml").write_text("<launch><node name='robot'/></launch>", encoding="utf-8")
    (tmp_path / "package.xml").write_text("<package><name>x</name></package>", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    (tmp_path / "CMakeLists.txt").write_text("project(x)\n", encoding="utf-8")
    told = run("doctor", tmp_path)
    assert told.exit_code == 1
    assert "5 files: 2 refused" in told.stdout
    data = json.loads(run("doctor", tmp_path, "--json").stdout)
    files = {row["file"].replace("\\", "/"): row for row in data["files"]}
    assert files["arm.xml"]["joints"] == files["claw.urdf"]["joints"]
    assert list(files) == ["arm.xml", "claw.urdf", "puma.toml", "sub/arm.urdf.xacro", "sub/broken.urdf"]
    assert files["puma.toml"]["joints"] == 6
    assert files["puma.toml"]["verdict"] == "warnings"
    assert "--xacro" in run("doctor", tmp_path).stdout
    assert "name" in files["sub/broken.urdf"]["reason"]
    assert str(tmp_path) not in files["sub/broken.urdf"]["reason"]
    assert data["counts"]["refused"] == 2
    (tmp_path / "empty").mkdir()
    nothing = run("doctor", tmp_path / "empty")
    assert nothing.exit_code == 2
    assert "no robot file" in nothing.stderr


def in_a_process(*words: str, **variables: str) -> str:
    """Standard output of Python with these words."""
    environment = {**os.environ, **variables, "COLUMNS": "80"}
    return subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=False).stdout


def test_asking_what_there_is_loads_no_command() -> None:
    code = (
        "import sys; from manipula.cli import main\n"
        "try: main()\n"
        "finally: print([m for m in sys.modules if m.startswith('manipula.cli.')])"
    )
    text = in_a_process("-c", code, "--help")
    assert "Is a robot model physical" in text
    assert "'manipula.cli.app'" in text
    assert not [name for name in COMMANDS if f"'manipula.cli.{name}'" in text]


def test_the_shell_completes_commands_and_options() -> None:
    asked = {"_MANIPULA_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    names = in_a_process("-m", "manipula", **asked, COMP_WORDS="manipula c").split()
    assert {"certify", "convert", "catalog", "calibrate", "check", "cache", "cluster"} <= set(names)
    options = in_a_process("-m", "manipula", **asked | {"COMP_CWORD": "2"}, COMP_WORDS="manipula run --no").split()
    assert options == ["--no-report"]
