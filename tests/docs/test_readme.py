"""What the README shows is run: Python blocks print what the next block says, commands work."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import manipula
from manipula.cli.app import COMMANDS, app
from manipula.formats.table import from_table
from manipula.formats.toml import from_toml

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FORMATS = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LONGEST = 165  # lines
SKIPPED = {
    "cluster",
    "studio",
    "bench",
    "report",
    "library",
}  # take long, never end, or write to the user's folders; tested elsewhere


def blocks(text: str, language: str) -> list[str]:
    return [body for kind, body in BLOCK.findall(text) if kind == language]


def examples() -> list[tuple[str, str]]:
    """Python blocks with the text block that follows each."""
    found = BLOCK.findall(README)
    pairs = [(body, found[k + 1]) for k, (kind, body) in enumerate(found) if kind == "python"]
    assert all(kind == "text" for _, (kind, _) in pairs), "every Python block is followed by its output"
    return [(body, output) for body, (_, output) in pairs]


def commands() -> list[str]:
    return re.findall(r"^manipula (.*?)(?:\s+#.*)?$", "\n".join(blocks(README, "sh")), re.MULTILINE)


@pytest.mark.parametrize(("code", "output"), examples())
def test_python_blocks_print_what_is_shown(code: str, output: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - our own text, the point of the test
    assert printed.getvalue() == output


def test_there_is_an_example_and_both_commands_and_it_is_short() -> None:
    assert examples()
    assert "make run" in README
    assert "make test" in README
    assert README.count("\n") < LONGEST


def test_table_block_is_legal() -> None:
    assert from_table(blocks(FORMATS, "text")[-1]).n == 2


def test_every_command_is_shown() -> None:
    groups = {group.name for group in app.registered_groups}
    assert {line.split()[0] for line in commands()} == set(COMMANDS) | groups


QUICK = {
    "catalog",
    "parts",
    "schema",
    "doctor",
    "convert",
    "equations",
    "export",
    "ik",
    "run",
    "plot",
    "cache",
    "paper",
}


@pytest.mark.parametrize(
    "chosen",
    [QUICK, pytest.param({line.split()[0] for line in commands()}, marks=pytest.mark.slow)],
    ids=["quick", "all"],
)
def test_commands_work(chosen: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line by line as they stand, in a folder that holds the examples and an arm.urdf."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    manipula.save(manipula.load("planar-2r"), "arm.urdf")
    for line in commands():
        words = shlex.split(line)
        if words[0] in SKIPPED or words[0] not in chosen:
            continue
        done = CliRunner().invoke(app, [*words, *(["--no-report"] if words[0] == "run" else [])])
        assert done.exit_code == 0, f"manipula {line}: {done.output}"
        assert done.output.strip()


def test_refusals_read_as_shown(tmp_path: Path) -> None:
    shown = blocks(README, "text")[-1].split(": ", 1)[1].split("Known:")[0]
    with pytest.raises(manipula.DescriptionError) as refused:
        from_toml('name = "arm"\n[dh]\nconvention = "standard"\nrows = [{ a = 1 }, { a = 1, alfa_deg = 90 }]\n')
    assert shown.strip() in str(refused.value)


def test_the_table_of_rooms_names_public_verbs() -> None:
    rows = [line for line in README.splitlines() if line.startswith("| `")]
    assert len(rows) >= 10
    for row in rows:
        for verb in re.findall(r"`([\w.]+)`", row.split("|")[3]):
            owner = manipula
            for part in verb.split("."):
                owner = getattr(owner, part)
        for room in re.findall(r"`([\w.]+)`", row.split("|")[1]):
            assert (ROOT / "src" / "manipula" / room).exists(), room


def test_extras_exist() -> None:
    import tomllib

    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    assert set(re.findall(r"pip install '\.\[(\w+)\]'", README)) == set(extras) - {"test", "check"}
