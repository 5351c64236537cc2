"""The pages under docs: links lead somewhere, pages and examples are listed, design.md says what the code is."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import manipula
from manipula.simulation.files.scenario_file import load_file
from manipula.simulation.result import STATUSES

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "manipula"
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
DESIGN = (DOCS / "design.md").read_text(encoding="utf-8")
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]*)\)")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
MOST_SECONDS = 300  # of one example


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def section(page: str, title: str) -> str:
    return re.split(r"^## ", page.split(f"## {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def anchors(page: str) -> set[str]:
    """Names by which headings can be linked, as forges make them."""
    prose = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text(page), flags=re.MULTILINE | re.DOTALL))
    for target in LINK.findall(prose):
        name, _, anchor = target.partition("#")
        found = (page.parent / name).resolve() if name else page
        assert found.exists(), f"{page.name} links to {target}"
        assert found.is_relative_to(ROOT), f"{page.name} links out of the project: {target}"
        if anchor:
            assert anchor in anchors(text(found)), f"{page.name} links to {target}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        targets = [(page.parent / t.partition("#")[0]).resolve() for t in LINK.findall(text(page))]
        waiting += [t for t in targets if t.suffix == ".md" and t.exists() and t not in reached]
    missing = [str(p.relative_to(ROOT)) for p in PAGES if p not in reached]
    assert not missing, f"No page links to {missing}; docs/README.md is the index."


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_python_on_pages_uses_names_that_exist(page: Path) -> None:
    for code in BLOCK.findall(text(page)):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "mp":
                assert node.attr in manipula.__all__, f"{page.name}: mp.{node.attr}"
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("manipula"):
                module = __import__(str(node.module), fromlist=["*"])
                for alias in node.names:
                    assert hasattr(module, alias.name), f"{page.name}: from {node.module} import {alias.name}"


EXAMPLES = sorted((ROOT / "examples").glob("*"))
SCRIPTS = [p for p in EXAMPLES if p.suffix == ".py"]


def test_every_example_is_described() -> None:
    pages = "\n".join(text(p) for p in PAGES)
    shown = [p for p in EXAMPLES if p.suffix in (".py", ".toml")]
    assert shown
    assert not [p.name for p in shown if p.name not in pages]


@pytest.mark.parametrize("path", [p for p in EXAMPLES if p.suffix == ".toml"], ids=lambda p: p.stem)
def test_scenarios_load_and_say_what_they_show(path: Path) -> None:
    found = manipula.Study.load(path).base if "[study]" in text(path) else load_file(path)
    assert found.robot.n >= 1
    assert text(path).startswith("# ")


def test_scripts_say_what_they_show() -> None:
    for path in SCRIPTS:
        assert ast.get_docstring(ast.parse(text(path))), f"{path.name}: the docstring of an example is its page"


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, id=p.stem, marks=() if p.stem == "scara_circle" else pytest.mark.slow) for p in SCRIPTS],
)
def test_scripts_run_in_a_process_of_their_own(path: Path, tmp_path: Path) -> None:
    """In this process all of them run in tests/simulation/test_scenario_docs.py."""
    done = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=MOST_SECONDS, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_design_names_every_room() -> None:
    rooms = {p.name + "/" for p in PACKAGE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    rooms |= {p.name for p in PACKAGE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert set(re.findall(r"^\| `([\w.]+/?)` \|", section(DESIGN, "Rooms"), re.MULTILINE)) == rooms


def test_design_shows_the_layers_in_force() -> None:
    settings = tomllib.loads(text(ROOT / "pyproject.toml"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(c for c in contracts if c["type"] == "layers")["layers"]
    assert " → ".join(layers) in DESIGN


def test_design_shows_the_order_inside_the_rooms() -> None:
    contracts = tomllib.loads(text(ROOT / "pyproject.toml"))["tool"]["importlinter"]["contracts"]
    inside = {
        c["containers"][0]: c["layers"] for c in contracts if c["type"] == "layers" and c["containers"] != ["manipula"]
    }
    drawn = dict(re.findall(r"^(\w+) +(.* → .*)$", section(DESIGN, "Rooms"), re.MULTILINE))
    drawn = {f"manipula.{room}": line.split(" → ") for room, line in drawn.items() if room != "cli"}
    assert set(drawn) == set(inside)
    for room, layers in drawn.items():
        if layers[0].startswith("one family"):  # of many files: told in words
            layers, inside[room] = layers[1:], inside[room][1:]
        assert layers == inside[room], room


def test_design_names_exactly_the_public_names() -> None:
    shown = re.findall(r"`(\w+)`", "".join(section(DESIGN, "Public names").split("|---|---|")[1:]))
    assert sorted(shown) == sorted(manipula._PUBLIC)


def test_design_names_every_status() -> None:
    assert set(re.findall(r"`(\w+)`", section(DESIGN, "How trust is judged"))) >= set(STATUSES)


def test_files_named_in_design_exist() -> None:
    for name in re.findall(r"`((?:\w+/)+\w+\.py)`", DESIGN):
        assert (PACKAGE / name).exists(), name
    for base in re.findall(r"^\| an? [^|]+\| `(\w+)", section(DESIGN, "Extension points"), re.MULTILINE):
        assert any(re.search(rf"^(class|def) {base}\b", text(p), re.MULTILINE) for p in PACKAGE.rglob("*.py")), base


def test_changelog_knows_this_version() -> None:
    changes = text(ROOT / "CHANGELOG.md")
    assert re.search(rf"^## \[{re.escape(manipula.__version__)}\] - \d{{4}}-\d\d-\d\d$", changes, re.MULTILINE)
    entries = re.findall(r"^- (.*)$", changes, re.MULTILINE)
    areas = {p.stem for p in PACKAGE.iterdir()} | {"docs", "project"}
    for entry in entries:
        assert entry.split(":")[0] in areas, f"the area comes first: {entry}"
