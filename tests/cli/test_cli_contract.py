"""Every option of every command acts or is refused; what is printed is whole at any width and in any encoding."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import manipula as mp
from manipula.cli.app import app
from manipula.cli.terminal import OPTIONS, in_commands

ARM = mp.planar([0.5, 0.4], [2.0, 1.0])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run, one batch, a scenario of each, one that ends at a limit."""
    place = tmp_path_factory.mktemp("cli")
    bounded = ARM.replace(joints=tuple(replace(j, limits=LIMITS) for j in ARM.joints))
    one = mp.Scenario(bounded, q0=(0.1, 0.2), duration=0.02, step=0.01)
    one.save(place / "one.toml")
    mp.simulate(one).save(place / "one.nc")
    batch = one.replace(q0=((0.1, 0.2), (0.3, 0.4)))
    batch.save(place / "batch.toml")
    mp.simulate(batch).save(place / "batch.nc")
    falling = one.replace(duration=2.0, stop_at_limits=True)
    falling.save(place / "falling.toml")
    (place / "out").mkdir()
    return place


LIMITS = type(ARM.joints[0].limits)(lower=-0.5, upper=0.5)

REFUSED = {  # command and input with which an option cannot act → the option that is named
    "check one.nc --run 0": "run",
    "check one.toml --run 0": "run",
    "check batch.nc --run 7": "run",
    "plot one.nc -o x.gif --kind torque": "--kind",
    "plot one.nc -o x.mp4 --signal q": "--signal",
    "plot one.nc -o x.svg --speed 2": "--speed",
    "plot one.nc -o x.png --signal q": "--signal",
    "plot one.nc --run 0 -o x.png": "run",
    "plot --list --speed 2": "--speed",
    "plot --list --kind joints": "--kind",
    "plot --list -o x.png": "--output",
    "report one.nc --run 0 -o x.html": "run",
    "report one.nc --number controller.kp -o x.html": "--number",
    "convert panda x.urdf --dh modified": "--dh",
    "convert panda x.xml --dh standard": "--dh",
    "convert scara-khang x.txt --dh standard": "--dh",
    "run one.toml -o out --threads 2": "--threads",
    "equations planar-2r --standalone": "standalone",
    "equations planar-2r --names file": "names",
    "ik panda --pose '0 0 0 0 0 0' --rpy 0 0 1": "--rpy",
    "export panda --functions list -o x": "--output",
    "export panda --functions list --prefix x": "--prefix",
    "export panda --functions list --lock panda_joint1=1": "--lock",
    **{
        f"{c} --xacro-arg a=1": "--xacro-arg"
        for c in (
            "doctor panda",
            "certify planar-2r",
            "convert panda x.toml",
            "equations planar-2r",
            "export panda -o out",
            "ik panda --position 0 0 1",
            "identify one.nc panda",
            "calibrate one.nc panda",
        )
    },
    "doctor out --tip a": "--tip",
    "check one.toml --tip a": "--tip",
    "check one.toml --lock a=1": "--lock",
    "check one.toml --robot panda --xacro-arg a=1": "--xacro-arg",
    "doctor out --chain a b": "--chain",
    "bench --no-planar --largest 10": "--largest",
    **{
        f"{c} --force": "--force"
        for c in (
            "schema robot",
            "equations planar-2r",
            "certify planar-2r",
            "identify one.nc panda",
            "calibrate one.nc panda",
            "bench",
            "plot --list",
        )
    },
    "bench --felt --robots panda": "--robots",
    "bench --felt --no-planar": "--planar",
    "bench --felt --largest 10": "--largest",
}
ROBOT = "tip lock drop chain symbolic xacro packages"
ALWAYS = {  # options that act on whatever input the command takes
    "doctor": f"json strict {ROBOT}", "convert": f"force output {ROBOT}", "catalog": "json",
    "equations": f"level format only symbolic_inertia given_angles digits output {ROBOT}",
    "export": f"language functions parameters frame force {ROBOT}", "ik": f"position pose all_ q0 method prefer frame limits tolerance json {ROBOT}",
    "run": "output csv report json force", "plot": "listing", "report": "output equations live force", "check": f"robot point json {ROBOT}",
    "certify": f"states seed output json {ROBOT}",
    "bench": "felt robots peers planar json markdown",
    "schema": "output", "parts": "json", "studio": "port browser studies",
    "sweep": "output engine workers chunk resume dry_run quiet",
    "tune": "minimise subject_to output parameter over method evaluations population seed engine report quiet",
    "calibrate": f"what frame validate position_noise rotation_noise units column output report json {ROBOT}",
    "identify": f"validate friction cutoff decimate velocity units column output report json {ROBOT}",
}  # fmt: skip


def invoke(text: str, folder: Path):
    import shlex

    words = [str(folder / w) if re.fullmatch(r"(one|batch|falling|x|out)(\.\w+)?", w) else w for w in shlex.split(text)]
    return CliRunner().invoke(app, words)


@pytest.mark.parametrize("text", REFUSED)
def test_an_option_that_cannot_act_is_refused(text: str, folder: Path) -> None:
    before = set(folder.iterdir())
    result = invoke(text, folder)
    assert result.exit_code == 2, result.output
    assert f"{REFUSED[text]}:" in result.stderr
    assert "Traceback" not in result.output
    assert set(folder.iterdir()) == before


def test_every_option_is_in_this_contract() -> None:
    commands = typer.main.get_command(app).commands
    for name, command in commands.items():
        if hasattr(command, "commands"):
            continue
        known = set(ALWAYS.get(name, "").split())
        known |= {m.strip("-").replace("-", "_") for text, m in REFUSED.items() if text.split()[0] == name}
        options = {p.name for p in command.params if p.param_type_name == "option"} - {"help"}
        assert options <= known, f"{name}: say whether these always act: {options - known}"


def test_the_status_comes_first_and_a_stopped_run_is_not_called_feasible(folder: Path) -> None:
    result = invoke("check falling.toml", folder)
    assert result.exit_code == 1
    assert result.stdout.startswith("limit: ")
    assert not re.search(r"(?<!not )\bfeasible\b", result.stdout)
    assert '"feasible": true' not in invoke("check falling.toml --json", folder).stdout
    fine = invoke("check one.toml", folder)
    assert fine.exit_code == 0
    assert re.match(r"finished: .*\nfeasible: ", fine.stdout)


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize(
    "text",
    ["ik ur5e --pose '0.3 0.2 0.4 0 0 0.5' --all", "ik panda --position 0.4 0.1 0.5", "catalog", "doctor panda", "check one.nc", "parts",
     "parts controller", "parts friction-law lugre", "parts time-law double_s"],
)  # fmt: skip
def test_nothing_is_cut(text: str, columns: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same words and numbers at every width; tables keep to the width."""
    monkeypatch.setenv("COLUMNS", "500")
    words = sorted(set(re.findall(r"[-+\w.]+", invoke(text, folder).stdout)))
    monkeypatch.setenv("COLUMNS", str(columns))
    narrow = invoke(text, folder).stdout
    assert sorted(set(re.findall(r"[-+\w.]+", narrow))) == words
    assert "…" not in narrow.replace(" … ", "")
    if text.startswith("ik ur5e") and columns >= 80:
        assert max(map(len, narrow.splitlines()[1:])) <= columns


def test_ascii_terminals(folder: Path) -> None:
    plain = {"PYTHONIOENCODING": "ascii", "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "40"}
    told = subprocess.run(
        [sys.executable, "-m", "manipula", "doctor", "panda"],
        capture_output=True, env={**os.environ, **plain, "PYTHONPATH": str(Path(mp.__file__).parents[1])}, check=True,
    ).stdout  # fmt: skip
    text = told.decode("ascii")
    assert "?" not in text
    assert "N*m" in text
    assert "\x1b" not in text


def test_errors_speak_the_language_of_the_command_line(folder: Path) -> None:
    result = invoke("ik ur5e --position 0.1 0 9", folder)
    assert result.exit_code == 1
    assert not re.search(r"\w=(False|True|…)", result.output)
    for python, command in OPTIONS.items():
        told = in_commands(f"Do this: {python}.")
        assert command in told
        assert not re.search(r"\w=(False|True|…|')|\(\.\.\.\)", told)


CHOICES = {  # what a message says to users of Python: on the command line, in a scenario file
    "name one: tip='tool0'.": ("name one: --tip tool0.", 'name one: tip = "tool0".'),
    "lock={'floating base': 0}": ("--lock 'floating base'=0", 'lock = { "floating base" = 0 }'),
    "drop=['j']; chain=('a', TIP).": ("--drop j; --chain a TIP.", 'drop = ["j"]; chain = ["a", "TIP"].'),
    "choose another: robot.replace(tip='link6').": ("choose another: --tip link6.", 'choose another: tip = "link6".'),
    "or take the arm alone (chain=(base, tip)).": (
        "or take the arm alone (--chain BASE TIP).",
        'or take the arm alone (chain = ["base", "tip"]).',
    ),
    "If you trust it: load(path, xacro=True).": ("If you trust it: --xacro.",) * 2,
    "give them values: robot.with_parameters(m=1.0, …).": ("give them values: a table [parameters] in its file.",) * 2,
    "give the folder it lies in: package_dirs=[…]": ("give the folder it lies in: --packages FOLDER",) * 2,
}


@pytest.mark.parametrize("message", CHOICES)
def test_what_to_choose_is_said_in_the_words_of_the_place(message: str) -> None:
    command, file = CHOICES[message]
    assert in_commands(message) == command
    assert in_commands(message, in_file=True) == file


def test_alone_it_says_what_to_try_first() -> None:
    """Every command that is named exists, and those without a file of the reader's are complete."""
    told = CliRunner().invoke(app, [])
    assert told.exit_code == 0
    assert max(map(len, told.stdout.splitlines())) <= 80
    named = re.findall(r"^  manipula (\S+)", told.stdout, re.MULTILINE)
    assert set(named) <= set(typer.main.get_command(app).commands)
    assert {"studio", "doctor", "run"} <= set(named)
    line = re.search(r"^  manipula (ik .*)$", told.stdout, re.MULTILINE)
    assert line is not None
    assert CliRunner().invoke(app, line[1].split()).exit_code == 0
    assert "Commands:" in CliRunner().invoke(app, ["--help"]).stdout


def test_results_go_to_a_folder_named_after_the_scenario(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["run", str(folder / "one.toml"), "--no-report"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert sorted(p.name for p in (tmp_path / "out" / "one").iterdir()) == ["result.nc", "scenario.toml"]
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert CliRunner().invoke(app, [*words, "--force"]).exit_code == 0


@pytest.mark.parametrize("name", ["../x", "nothing", "/tmp/x"])
def test_a_name_that_is_not_in_the_library_makes_no_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["library", "run", name])
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text", ["doctor abdelsatar-2r", "ik abdelsatar-2r --position 0.1 0.2 0", "export abdelsatar-2r -o x"]
)
def test_hints_about_free_parameters_are_in_the_words_of_the_command_line(text: str, folder: Path) -> None:
    told = invoke(text, folder).output
    assert "[parameters]" in told
    assert "with_parameters" not in told


WRITING = {  # commands that write a file → its name; the input exists, so that nothing but the file keeps them from it
    "report one.nc -o x.html": "x.html",
    "report one.nc": "one.html",
    "plot one.nc -o x.svg": "x.svg",
    "plot one.nc -o x.gif": "x.gif",
    "equations planar-2r -o x.txt": "x.txt",
    "certify planar-2r -o x.html": "x.html",
    "identify one.nc panda -o x.toml": "x.toml",
    "identify one.nc panda --report x.html": "x.html",
    "calibrate one.nc panda -o x.toml": "x.toml",
    "bench --json x.json": "x.json",
    "bench --felt --markdown x.md": "x.md",
    "convert panda x.toml": "x.toml",
    "schema robot -o x.json": "x.json",
}


@pytest.mark.parametrize("text", WRITING)
def test_no_command_replaces_a_file_unasked(text: str, folder: Path) -> None:
    """One rule for all of them, and before any work is done."""
    place = folder / WRITING[text]
    place.write_text("mine")
    try:
        result = invoke(text, folder)
        assert result.exit_code == 2, result.output
        assert "--force" in result.stderr
        assert place.name in result.stderr
        assert place.read_text() == "mine"
    finally:
        place.unlink()


@pytest.mark.parametrize("text", ["report one.nc -o x.html", "plot one.nc -o x.svg", "equations planar-2r -o x.txt"])
def test_force_replaces_a_file(text: str, folder: Path) -> None:
    place = folder / WRITING[text]
    place.write_text("mine")
    assert invoke(f"{text} --force", folder).exit_code == 0
    assert place.read_text() != "mine"
    place.unlink()


def test_two_options_do_not_write_one_file(folder: Path) -> None:
    result = invoke("bench --json x.json --markdown x.json", folder)
    assert result.exit_code == 2
    assert "the same file" in result.stderr


def test_numbers_of_a_live_report_are_listed_once(folder: Path) -> None:
    result = invoke("report one.nc --live --number controller.kq -o x.html", folder)
    assert result.exit_code == 2
    assert "--number:" in result.stderr
    known = result.stderr.split("Known: ")[1].strip().rstrip(".").split(", ")
    assert len(known) == len(set(known)), known
