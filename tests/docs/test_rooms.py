"""Rooms list their contents: the docstring of ``__init__`` names every module with a line about it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "manipula"
ROOMS = ("algebra", "analysis", "codegen", "compat", "identity", "physics", "robot", "symbolic")


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_lists_its_contents(room: str) -> None:
    folder = PACKAGE / room
    contents = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    listed = re.findall(r"^``(\w+/?)`` +\S", contents, re.MULTILINE)
    folders = {f"{p.name}/" for p in folder.iterdir() if p.is_dir() and not p.name.startswith("__")}
    assert len(listed) == len(set(listed))
    assert set(listed) == ({p.stem for p in folder.glob("*.py")} - {"__init__"}) | folders


def test_class_names_are_unique_in_these_rooms() -> None:
    found: dict[str, str] = {}
    for room in ROOMS:
        for path in (PACKAGE / room).rglob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    assert node.name not in found, f"{node.name}: {path} and {found[node.name]}"
                    found[node.name] = str(path)
