"""Equations stand once, in docstrings; the pages quote them and are up to date."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "docs-equations"))
PAGES = sorted((ROOT / "docs").rglob("*.md"))
QUOTED = [p for p in PAGES if "<!-- docstring:" in p.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", QUOTED, ids=lambda p: p.stem)
def test_pages_quote_what_docstrings_say(page: Path) -> None:
    """scripts/docs-equations writes them anew."""
    text = page.read_text(encoding="utf-8")
    found = SCRIPT["BLOCK"].findall(text)
    assert found
    for opening, file, name, _ in found:
        shown = text.split(opening, 1)[1].split("<!-- end -->", 1)[0]
        assert shown == f"\n{SCRIPT['quoted'](file, name or None)}\n", f"{file} {name}: run scripts/docs-equations"


def test_every_page_of_theory_has_an_equation() -> None:
    pages = [p for p in PAGES if p.parent.name == "theory" and p.stem != "references"]
    assert len(pages) == 12
    for page in pages:
        assert re.search(r"\$[^$]+\$", page.read_text(encoding="utf-8")), page.name


def test_roles_and_directives_become_formulas() -> None:
    made = SCRIPT["quoted"]("physics/lagrange_euler.py", None)
    assert ":math:" not in made
    assert ".. math" not in made
    assert made.count("$$") == 2
