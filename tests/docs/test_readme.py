"""What the README and the format page show is run: Python blocks print what the next block says, TOML blocks are legal robots."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from manipula.cli.app import COMMANDS
from manipula.formats.table import from_table
from manipula.formats.toml import from_toml
from manipula.robot.drives import REGISTRY as DRIVES
from manipula.robot.friction import REGISTRY as FRICTION

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FORMATS = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text: str, language: str) -> list[str]:
    return [body for kind, body in BLOCK.findall(text) if kind == language]


def examples() -> list[tuple[str, str]]:
    """Python blocks with the text block that follows each."""
    found = BLOCK.findall(README)
    return [
        (body, found[k + 1][1])
        for k, (kind, body) in enumerate(found)
        if kind == "python" and found[k + 1][0] == "text"
    ]


@pytest.mark.parametrize(("code", "output"), examples())
def test_python_blocks_print_what_is_shown(code: str, output: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - our own text, the point of the test
    assert printed.getvalue() == output


def test_there_is_an_example_and_both_commands() -> None:
    assert len(examples()) == 1
    assert "make run" in README
    assert "make test" in README


@pytest.mark.parametrize("text", blocks(README, "toml") + blocks(FORMATS, "toml"))
def test_toml_blocks_are_legal(text: str) -> None:
    assert from_toml(text).n >= 1


def test_table_block_is_legal() -> None:
    assert from_table(blocks(FORMATS, "text")[-1]).n == 2


def test_commands_in_the_readme_exist() -> None:
    named = re.findall(r"^manipula (\w+)", README, re.MULTILINE)
    assert named
    assert set(named) <= set(COMMANDS)


def test_format_page_names_every_law_and_drive() -> None:
    for name in (*FRICTION, *DRIVES):
        assert f"`{name}`" in FORMATS or f'"{name}"' in FORMATS


def test_links_lead_somewhere() -> None:
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
