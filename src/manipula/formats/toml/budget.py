"""What a TOML text may hold at most, counted before anything is parsed."""

from __future__ import annotations

import re
from itertools import islice

from manipula.errors import BudgetError, DescriptionError
from manipula.robot.build import MAX_LINKS

MAX_BYTES = 4 * 2**20
MAX_DEPTH = 24
MAX_LINES = 400_000  # a hundred for each link and for each joint
MAX_WORK = 800_000  # about a microsecond of parsing each; 2000 links with all their fields stay below
_WORK = {"=": 4, ",": 2, "{": 2, "[": 2, '"': 1, "'": 1, "\\": 1}  # of a key, a list entry, an inline table, a list …
_HEADER_WORK, _DOTTED_WORK = 7, 3  # of a line that begins with [, of a point inside a key
_HEADER = re.compile(r"\n[ \t]*+\[")
_PART = re.compile(r"""\.[ \t]*+(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+(?=[=.])""")
_MARK = re.compile(r"[\"'#\[\]{}]")
_DOTTED = re.compile(rf"(?<![\w.-])(?:(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MAX_DEPTH + 1}}}")


def check_size(text: str, file: str | None) -> None:
    """Refuse, before anything is parsed, what no robot needs: bytes, keys, list entries, nesting; and what no file can hold."""
    if len(text) > MAX_BYTES:
        raise BudgetError(f"The text is larger than the {MAX_BYTES // 2**20} MiB that are read.", file=file)
    if text.count("\n") > MAX_LINES:
        raise BudgetError(f"More than {MAX_LINES} lines; one robot needs far fewer.", file=file)
    for form in ("link", "joint"):
        if (found := text.count(f"[[{form}]]")) > MAX_LINKS:
            raise BudgetError(
                f"{found} {form}s are more than the {MAX_LINKS} links that one robot may have.", file=file
            )
    if parsing_work(text) > MAX_WORK:
        raise BudgetError(
            "The text has more keys, tables and list entries than are read; one robot needs far fewer.", file=file
        )
    deep = _DOTTED.search(text)
    at = deep.start() if deep is not None else _too_deep(text)
    if at is not None:
        raise BudgetError(f"Nesting is deeper than {MAX_DEPTH}.", file=file, line=text.count("\n", 0, at) + 1)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise DescriptionError(
            "The text holds half a surrogate pair, which no file can hold.", file=file, line=line
        ) from None


def parsing_work(text: str) -> int:
    """What parsing the text costs: its keys, tables and list entries, counted with their weights up to about ``MAX_WORK``."""
    work = sum(weight * text.count(sign) for sign, weight in _WORK.items())
    for pattern, weight in ((_HEADER, _HEADER_WORK), (_PART, _DOTTED_WORK)):
        if work <= MAX_WORK:
            work += weight * sum(1 for _ in islice(pattern.finditer(text), MAX_WORK // weight + 1))
    return work


def _too_deep(text: str) -> int | None:
    """Where brackets outside strings and comments nest too deeply; one pass, no recursion."""
    depth, at = 0, 0
    while (mark := _MARK.search(text, at)) is not None:
        at, c = mark.start(), mark.group()
        if c in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return at
        elif c in "]}":
            depth = max(depth - 1, 0)
        else:
            at = text.find("\n", at) if c == "#" else _after_string(text, at, c)
            if at < 0:
                return None  # the rest is one comment, or a string that never ends: tomllib says so
            continue
        at += 1
    return None


def _after_string(text: str, at: int, quote: str) -> int:
    closing = quote * 3 if text.startswith(quote * 3, at) else quote
    end = at + len(closing)
    while True:
        end = text.find(closing, end)
        if end < 0:
            return -1
        if quote == "'" or not _escaped(text, end):
            return end + len(closing)
        end += 1


def _escaped(text: str, at: int) -> bool:
    start = at
    while at > 0 and text[at - 1] == "\\":
        at -= 1
    return (start - at) % 2 == 1
