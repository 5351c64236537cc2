"""What a TOML text may hold at most, counted before anything is parsed."""

from __future__ import annotations

import re
from itertools import islice

from manipula.errors import BudgetError
from manipula.robot.build import MAX_LINKS

MAX_BYTES = 8 * 2**20
MAX_DEPTH = 24
MAX_LINES = 1_000_000  # a hundred for each link and for each joint
MAX_TABLES = 100_000  # lines that begin with [
_BUDGETS = {  # what costs time to parse; 5000 links with all their fields stay below
    "keys": ("=", 200_000),
    "list entries": (",", 250_000),
    "inline tables": ("{", 100_000),
    "lists": ("[", 200_000),
    "strings": ('"', 400_000),
    "strings in single quotes": ("'", 400_000),
    "escapes": ("\\", 200_000),
    "points": (".", 500_000),
}
_HEADER = re.compile(r"\n[ \t]*\[")
_MARK = re.compile(r"[\"'#\[\]{}]")
_DOTTED = re.compile(rf"(?<![\w.-])(?:(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MAX_DEPTH + 1}}}")


def check_size(text: str, file: str | None) -> None:
    """Refuse, before anything is parsed, what no robot needs: bytes, keys, list entries, nesting."""
    if len(text) > MAX_BYTES:
        raise BudgetError(f"The text is larger than the {MAX_BYTES // 2**20} MiB that are read.", file=file)
    if text.count("\n") > MAX_LINES:
        raise BudgetError(f"More than {MAX_LINES} lines; one robot needs far fewer.", file=file)
    for form in ("link", "joint"):
        if (found := text.count(f"[[{form}]]")) > MAX_LINKS:
            raise BudgetError(
                f"{found} {form}s are more than the {MAX_LINKS} links that one robot may have.", file=file
            )
    for what, (sign, most) in _BUDGETS.items():
        if text.count(sign) > most:
            raise BudgetError(f"More than {most} {what}; one robot needs far fewer.", file=file)
    if next(islice(_HEADER.finditer(text), MAX_TABLES, None), None) is not None:
        raise BudgetError(f"More than {MAX_TABLES} tables; one robot needs far fewer.", file=file)
    deep = _DOTTED.search(text)
    at = deep.start() if deep is not None else _too_deep(text)
    if at is not None:
        raise BudgetError(f"Nesting is deeper than {MAX_DEPTH}.", file=file, line=text.count("\n", 0, at) + 1)


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
