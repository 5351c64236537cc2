"""The sub-rooms of the simulation: design.md names them all, and no import leads back, not even inside a function."""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOM = ROOT / "src" / "manipula" / "simulation"


def modules(folder: Path) -> set[str]:
    inside = {p.stem for p in folder.glob("*.py")} - {"__init__"}
    return inside | {f"{p.parent.name}/" for p in folder.glob("*/__init__.py")}


def test_design_names_every_sub_room() -> None:
    design = (ROOT / "docs" / "design.md").read_text().split("## How a run is made")[1].split("\n## ")[0]
    named = set(re.findall(r"`(\w+/)`", "".join(re.findall(r"^\| (`.*?) \|", design, re.MULTILINE))))
    assert named == {name for name in modules(ROOM) if name.endswith("/")}


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    """Modules of the room that a module imports anywhere, but for annotations."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in known else node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & set(known)


def test_no_import_leads_back() -> None:
    known = {".".join(p.with_suffix("").relative_to(ROOT / "src").parts): p for p in ROOM.rglob("*.py")}
    known = {name.removesuffix(".__init__"): p for name, p in known.items()}
    graph = {name: imported(path, known) - {name} for name, path in known.items()}
    assert sum(map(len, graph.values())) > 100
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError with the modules of a cycle
