"""Every piece of code on every page runs: Python with the printed text that follows it, commands in an empty folder, whole TOML files.

The blocks of a page are one program, run from top to bottom in a folder that holds nothing but the examples and a file arm.urdf.
A block ```` ```python title="Pinocchio" ```` is the other library's side of a comparison: it runs where that library is installed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

import manipula
from manipula.cli.app import app
from manipula.formats.toml import from_toml
from manipula.native.folder import default_folder
from manipula.simulation.files.scenario_file import load_file

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^([ ]*)```(\w+)([^\n]*)\n(.*?)^\1```[ ]*$", re.MULTILINE | re.DOTALL)
OTHERS = {
    "Pinocchio": "pinocchio",
    "MuJoCo": "mujoco",
    "Robotics Toolbox": "roboticstoolbox",
    "SymPyBotics": "sympybotics",
    "Slurm": "dask_jobqueue",
}
LONG = {"ik", "identification"}  # pages that take more than some seconds
PAGES = [p for p in sorted(DOCS.rglob("*.md")) if "```python" in p.read_text(encoding="utf-8")]
WITH_COMMANDS = [
    p for p in sorted(DOCS.rglob("*.md")) if re.search(r"^ *```sh\n", p.read_text(encoding="utf-8"), re.MULTILINE)
]
NOT_RUN = {
    "studio",
    "bench",
    "library",
}  # serve until they are stopped, take long, write to the user's folders; tested elsewhere


@dataclass(frozen=True)
class Block:
    language: str
    title: str
    text: str
    shown: str | None  # the text block right behind it


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = list(BLOCK.finditer(text))
    out = []
    for k, m in enumerate(found):
        body = re.sub(f"^{m[1]}", "", m[4], flags=re.MULTILINE)
        behind = found[k + 1] if k + 1 < len(found) else None
        shown = None
        if behind is not None and behind[2] == "text" and not text[m.end() : behind.start()].strip():
            shown = re.sub(f"^{behind[1]}", "", behind[4], flags=re.MULTILINE)
        title = re.search(r'title="([^"]*)"', m[3])
        out.append(Block(m[2], title[1] if title else "", body, shown))
    return out


def name_of(page: Path) -> str:
    return str(page.relative_to(DOCS).with_suffix(""))


def marked(pages: list[Path]) -> list:
    return [pytest.param(p, id=name_of(p), marks=[pytest.mark.slow] if name_of(p) in LONG else []) for p in pages]


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples and one arm, and a home with nothing in it; code that other tests compiled is found."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    home = tmp_path / "home"
    home.mkdir()
    compiled = default_folder()
    for variable in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("MANIPULA_CACHE_DIR", str(compiled or home / "compiled"))
    monkeypatch.chdir(tmp_path)
    manipula.save(manipula.load("planar-2r"), "arm.urdf")
    return tmp_path


@pytest.mark.parametrize("page", marked(PAGES))
def test_python_runs_and_prints_what_is_shown(page: Path, empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # dataclasses look their module up
    for number, block in enumerate(blocks(page), 1):
        if block.language == "toml" and block.title:
            Path(block.title).write_text(block.text, encoding="utf-8")
        if block.language == "sh":
            run_commands(block)
        if block.language != "python" or (block.title in OTHERS and not importlib.util.find_spec(OTHERS[block.title])):
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block.text, f"{name_of(page)}, block {number}", "exec"), module.__dict__)  # noqa: S102 - our own text
        if block.shown is not None:
            assert settled(printed.getvalue()) == settled(block.shown)


def settled(text: str) -> str:
    """Without the digits of errors that only rounding makes, which differ between processors."""
    return re.sub(r"(error about )\d\.\d(e-1\d)", r"\1…\2", text)


@pytest.mark.parametrize("page", marked([p for p in WITH_COMMANDS if p not in PAGES]))
def test_commands_work(page: Path, empty_folder: Path) -> None:
    for block in blocks(page):
        if block.language == "toml" and block.title:
            Path(block.title).write_text(block.text, encoding="utf-8")
        if block.language == "sh":
            run_commands(block)


def run_commands(block: Block) -> None:
    """Lines that call ``manipula``; what they print is compared where it is shown, up to its first ellipsis."""
    for line in re.findall(r"^manipula (.*?)(?:\s+#.*)?$", block.text, re.MULTILINE):
        words = shlex.split(line)
        if words[0] in NOT_RUN:
            continue
        own = {"MANIPULA_CACHE_DIR": os.path.abspath("home/compiled")} if words[0] == "cache" else {}  # it is cleared
        done = CliRunner().invoke(app, words, env=own)
        assert done.exit_code == 0, f"manipula {line}: {done.output}"
        if block.shown is not None:
            assert done.output.startswith(block.shown.split("…")[0].rstrip("\n")), done.output


@pytest.mark.parametrize("page", [pytest.param(p, id=name_of(p)) for p in sorted(DOCS.rglob("*.md"))])
def test_whole_toml_files_are_legal(page: Path, empty_folder: Path) -> None:
    for block in blocks(page):
        if block.language != "toml":
            continue
        if re.search(r"^robot = |^\[robot\]", block.text, re.MULTILINE):
            path = empty_folder / "examples" / "shown.toml"
            path.write_text(block.text, encoding="utf-8")
            assert load_file(path).robot.n >= 1
        elif re.search(r"^\[(planar|dh)\]|^\[\[(link|dh\.rows)\]\]", block.text, re.MULTILINE):
            assert from_toml(block.text).n >= 1
