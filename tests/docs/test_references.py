"""Every source that the code names has an entry in docs/theory/references.md, and every entry is used where it says."""

from __future__ import annotations

import io
import re
import tokenize
import unicodedata
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "manipula"
PAGE = (ROOT / "docs" / "theory" / "references.md").read_text(encoding="utf-8")

YEAR = re.compile(r"(?<![\d.])(1[89]\d\d|20[0-4]\d)(?!\d)")
NAME = r"[^\W\d_a-z][^\W\d_]+(?:-[^\W\d_]+)*"  # a word that begins with a capital letter of any alphabet
BRACKET = re.compile(r"\[([^\[\]]*)\]")
KEY = re.compile(rf"({NAME})(1[89]\d\d|20[0-4]\d)(?!\d)")  # CodyWaite1980
OUTSIDE = (  # citations without brackets around them
    re.compile(rf"({NAME})(?: (?:and|&) {NAME})* \(((?:19|20)\d\d)"),  # Featherstone (2008, §5.3)
    re.compile(rf"({NAME}),[^.;\[\]]*?\*[^*]+\*,[^.;\[\]]*?((?:19|20)\d\d)"),  # Shoemake, *Title*, place 1985
    re.compile(r"(?<!, )\b([A-Z][a-z]+(?:(?: and|,| &) [A-Z][a-z]+)*) ((?:19|20)\d\d)\b"),  # Lee 1989
)
AUTHOR_THEN_YEAR = re.compile(rf"({NAME})(?: (?:and|&) {NAME})* \[((?:19|20)\d\d)\]")  # Slotine and Li [1987]
UNDATED = re.compile(rf"({NAME})(?:,| &) ")  # by author and title or equation
MAY_CITE = re.compile(rf"(?:1[89]|20)\d\d|\[{NAME}(?:,| &)\s")  # what every pattern above needs
TENSOR = ("Ixx", "Jxx")  # [Ixx, Iyy, …] is no author


class Citation(NamedTuple):
    author: str  # first author, or all of them in one word
    year: str
    words: str


class Entry(NamedTuple):
    key: str
    authors: tuple[str, ...]
    year: str
    title: str
    files: tuple[str, ...]


def plain(name: str) -> str:
    """The name without accents, in small letters."""
    return "".join(c for c in unicodedata.normalize("NFKD", name) if c.isalpha()).casefold()


def cited_in(text: str) -> list[Citation]:
    """All citations of one comment or string."""
    flat = re.sub(r"\s+", " ", text)
    found = [Citation(m[1], m[2], m[0]) for m in AUTHOR_THEN_YEAR.finditer(flat)]
    for bracket in BRACKET.finditer(flat):
        inside = bracket[1]
        if not re.match(NAME, inside):
            continue
        if not YEAR.search(inside) and not KEY.search(inside):
            undated = UNDATED.match(inside)
            found += [Citation(undated[1], "", inside)] if undated and undated[1] not in TENSOR else []
            continue
        author = ""
        for part in inside.split(";"):
            key = KEY.search(part)
            if key:
                found.append(Citation(key[1], key[2], inside))
                continue
            for year in YEAR.finditer(part):
                name = re.search(NAME, part[: year.start()].rsplit(":", 1)[-1])
                author = name[0] if name else author  # "Featherstone 1983; 2008"
                found.append(Citation(author, year[1], inside))
    rest = BRACKET.sub(" ", flat)
    for pattern in OUTSIDE:
        found += [Citation(re.split(r"[ ,]", m[1])[0], m[2], m[0]) for m in pattern.finditer(rest)]
    return found


@cache
def citations() -> tuple[tuple[str, Citation], ...]:
    found: list[tuple[str, Citation]] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for token in tokenize.generate_tokens(io.StringIO(text).readline) if MAY_CITE.search(text) else ():
            if token.type in (tokenize.COMMENT, tokenize.STRING):
                found += [(str(path.relative_to(PACKAGE)), c) for c in cited_in(token.string)]
    return tuple(found)


@cache
def entries() -> tuple[Entry, ...]:
    found = []
    for item in re.findall(r"^- \*\*.*?(?=^- \*\*|^#|^$)", PAGE, re.MULTILINE | re.DOTALL):
        key = re.match(r"- \*\*(.+?)\*\* — ", item)
        assert key, f"An entry begins with '- **Author year** — ': {item[:60]}"
        year = YEAR.search(key[1])
        names = tuple(re.findall(NAME, key[1]))
        files = tuple(re.findall(r"`([\w/-]+\.(?:py|toml))`", item))
        title = re.search(r"\*([^*]+)\*", item[key.end() :])
        assert title, f"An entry has a title in italics: {key[1]}"
        found.append(Entry(key[1], names, year[1] if year else "", title[1], files))
    return tuple(found)


def resolves(citation: Citation, entry: Entry) -> bool:
    wanted = plain(citation.author)
    return citation.year in ("", entry.year) and wanted in (plain(entry.authors[0]), plain("".join(entry.authors)))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[Featherstone 1983; 2008, §7.3]", [("Featherstone", "1983"), ("Featherstone", "2008")]),
        ("[Luh, Walker & Paul 1980; the use of U: Khalil & Dombre 2002]", [("Luh", "1980"), ("Khalil", "2002")]),
        ("[CodyWaite1980], in parts", [("CodyWaite", "1980")]),
        ("control of Slotine and Li [1987].", [("Slotine", "1987")]),
        ("recursion of Featherstone (2008, §5.3)", [("Featherstone", "2008")]),
        ("Shoemake, *Animating rotation*, SIGGRAPH 1985.", [("Shoemake", "1985")]),
        ("[Gautier, Numerical calculation, J. Robotic Systems 8(4), 1991]", [("Gautier", "1991")]),
        ("[Žlajpah, (16), corrected]", [("Žlajpah", "")]),
        ("limits [0, 2000] and 1.0031 of 1998.5", []),
    ],
)
def test_citations_are_recognised(text: str, wanted: list[tuple[str, str]]) -> None:
    assert sorted((c.author, c.year) for c in cited_in(text)) == sorted(wanted)
    assert not wanted or MAY_CITE.search(text)


def test_every_citation_has_an_entry() -> None:
    missing = {
        f"{file}: {c.author} {c.year} in '{c.words[:80]}'"
        for file, c in citations()
        if not any(resolves(c, e) for e in entries())
    }
    assert not missing, "Add to docs/theory/references.md:\n" + "\n".join(sorted(missing))
    assert len(citations()) > 60  # the search itself works


@pytest.mark.parametrize("entry", entries(), ids=lambda e: e.key)
def test_every_entry_is_used_where_it_says(entry: Entry) -> None:
    assert entry.files, "An entry names the files that use it."
    for name in entry.files:
        text = (PACKAGE / name).read_text(encoding="utf-8")
        assert plain(entry.authors[0]) in plain(text), f"{name} does not name {entry.authors[0]}"
        assert entry.year in text or entry.title in text, f"{name} names neither the year {entry.year} nor the title"


def test_entries_are_unique() -> None:
    keys = [plain("".join(e.authors)) + e.year for e in entries()]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("path", sorted((PACKAGE / "robot" / "catalog").glob("*.toml")), ids=lambda p: p.stem)
def test_literature_of_the_catalog_has_an_entry(path: Path) -> None:
    source = re.search(r'^source = "(.*)"$', path.read_text(encoding="utf-8"), re.MULTILINE)
    assert source, f"{path.name} names no source"
    for year in YEAR.findall(source[1]):
        known = [e for e in entries() if e.year == year and plain(e.authors[0]) in plain(source[1])]
        assert known, f"{path.name} names a source of {year}; add it to docs/theory/references.md"
