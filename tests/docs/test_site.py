"""The site: every page has its place, formulas become MathML, nothing is asked of other hosts, and it builds strictly."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import manipula

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "site"))
markdown, mathematics = pytest.importorskip("markdown"), pytest.importorskip("mathematics")
generated_pages, links = pytest.importorskip("generated_pages"), pytest.importorskip("links")
SETTINGS = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio)[^>]*\ssrc\s*=\s*["']?(?:https?:)?//|<link[^>]*\shref\s*=\s*["']?(?:https?:)?//(?![^>]*rel="?canonical)"""
)
FETCHED_BY_STYLE = re.compile(r"""(?:@import|url\()\s*["']?(?:https?:)?//""")


def rendered(text: str) -> str:
    return markdown.Markdown(extensions=["tables", "pymdownx.superfences", mathematics.Mathematics()]).convert(text)


def test_every_page_has_a_place() -> None:
    listed = set(re.findall(r"[\w/]+\.md", SETTINGS.split("nav:", 1)[1]))
    made = set(generated_pages.of_the_root())
    written = {str(p.relative_to(ROOT / "docs")) for p in (ROOT / "docs").rglob("*.md")}
    assert listed == written | made


def test_every_example_has_a_page() -> None:
    shown = {name for _, name, _ in generated_pages.examples()}
    assert shown == {p.name for p in (ROOT / "examples").iterdir() if p.suffix in (".py", ".toml")}
    numbers = [number for number, _, _ in generated_pages.examples()]
    assert numbers == list(range(1, len(numbers) + 1))
    pages = generated_pages.of_examples()
    for name in shown:
        assert links.target(f"examples/{name}") in pages


def test_every_public_name_has_an_entry_in_the_order_of_the_design() -> None:
    names = [name for _, group in generated_pages.groups() for name in group]
    assert sorted(names) == sorted(manipula._PUBLIC)
    text = "".join(page for place, page in generated_pages.of_names().items() if place != "api/index.md")
    assert re.findall(r"^## `mp\.(\w+)`", text, re.MULTILINE) == names
    for module in generated_pages.HIDDEN:
        assert len(re.findall(rf"^### `mp\.{module}\.\w+`", text, re.MULTILINE)) >= 2, module


def formulas() -> set[str]:
    """All formulas of pages and docstrings."""
    found: set[str] = set()
    for page in (ROOT / "docs").rglob("*.md"):
        prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        found |= set(re.findall(r"\$\$(.+?)\$\$", prose, re.DOTALL))
        found |= {
            m[1]
            for line in re.sub(r"\$\$.+?\$\$", "", prose, flags=re.DOTALL).split("\n")
            for m in mathematics.CODE_OR_MATH.findall(line)
            if m[1]
        }
    for module in set((ROOT / "src").rglob("*.py")) - {
        ROOT / "src" / "manipula" / "parts" / "tables.py"
    }:  # looks for them
        found |= set(mathematics.MATH_ROLE.findall(module.read_text(encoding="utf-8")))
    return found


def test_formulas_become_mathml() -> None:
    known = formulas()
    assert len(known) > 300
    for formula in known:
        made = re.sub(r"<[^>]*>", " ", mathematics.mathml(formula, display=False))
        assert "\\" not in made.replace("\\ ", ""), f"not understood in {formula}: {made}"


def test_docstrings_are_read_as_they_are_written() -> None:
    text = "A :math:`a_1` and :func:`f`.\n\n.. math:: x = \\frac{1}{2}\n\nEnd ``$b$``.\n\n===  ===\na    b\n===  ===\n"
    page = rendered(text)
    assert page.count("<math") == 2
    assert "<code>f</code>" in page
    assert "<code>$b$</code>" in page
    assert "<mfrac>" in page
    assert "===" not in page
    assert "<math" not in rendered("```text\n$x$ :math:`y`\n```")


def test_bars_in_tables_are_bars() -> None:
    page = rendered("| a | b |\n|---|---|\n| x | $\\|q\\|$ |\n")
    assert "‖" not in page
    assert "∥" not in page
    assert "<math" in page


@pytest.mark.slow
def test_it_builds_strictly_and_asks_nothing_of_other_hosts(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not FETCHED.search(text), f"{page.name}: {FETCHED.search(text)}"
    for sheet in (tmp_path / "site").rglob("*.css"):
        assert not FETCHED_BY_STYLE.search(sheet.read_text(encoding="utf-8")), sheet.name
    assert "<math" in (tmp_path / "site" / "api" / "a_manipulator.html").read_text(encoding="utf-8")
