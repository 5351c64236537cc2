"""Where a field of a TOML text stands: dotted path → line number.

``tomllib`` gives values without places, and a message without a line is half a message. The text walked here has
already been accepted by ``tomllib``, so this is a walk over well-formed text, not a second parser: what does not lead to the
field is skipped whole, table by table and value by value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache

from manipula.formats.toml.budget import MAX_DEPTH

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_TEXTS = r'"""(?:[^"\\]++|\\.|"{1,2}+(?!"))*+"{3,5}+|\'\'\'(?:[^\']++|\'{1,2}+(?!\'))*+\'{3,5}+|"(?:[^"\\]++|\\.)*+"|\'[^\']*+\''
_STRING = re.compile(_TEXTS, re.DOTALL)
_BLANK = re.compile(r"(?:[ \t\n\r]++|#[^\n]*+\n)*+")
_SPACE = re.compile(r"[ \t]*+")


def _brackets(depth: int) -> str:
    """A list or inline table with at most ``depth`` more inside it, whole."""
    inside = rf"[^\"'\[\]{{}}#]++|#[^\n]*+\n|{_TEXTS}"
    return rf"[\[{{](?:{inside}{'|' + _brackets(depth - 1) if depth else ''})*+[\]}}]"


@lru_cache(maxsize=1)
def _skipped() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """One value; all statements up to the next header. Compiled when the first line is asked for."""
    groups = _brackets(MAX_DEPTH)
    value = rf"(?:[^\"'\[\]{{}}#,\n]++|{_TEXTS}|{groups})*+"
    table = rf"(?:[^\"'\[{{#\n]++|\n(?![ \t]*+\[)|#[^\n]*+|{_TEXTS}|{groups})*+\n?"
    return re.compile(value, re.DOTALL), re.compile(table, re.DOTALL)


def line_of(text: str, path: str) -> int | None:
    """The line (from 1) of ``path``, such as ``dh.rows[2].mass``, or of the nearest thing around it that has one."""
    return _Walk(text, path).line if path else None


class _Found(Exception):
    """The very thing that was looked for."""


class _Walk:
    def __init__(self, text: str, wanted: str) -> None:
        self.text, self.wanted, self.at = text.replace("\r\n", "\n") + "\n", wanted, 0
        self.line: int | None = None
        self._nearest = ""
        with suppress(_Found):
            self._document()

    def _document(self) -> None:
        counts: dict[str, int] = {}
        prefix = ""
        while self._skip_blank():
            if self.text[self.at] != "[":
                if not prefix or self._leads(prefix[:-1]):
                    self._pair(prefix)
                else:
                    self.at = _skipped()[1].match(self.text, self.at).end()  # pyright: ignore[reportOptionalMemberAccess]
                continue
            several = self.text.startswith("[[", self.at)
            self.at += 2 if several else 1
            path = self._place(self._keys(), counts, last_is_new=several)
            self.at = self.text.index("]", self.at) + (2 if several else 1)
            if several and path.endswith("[0]"):
                self._note(path[:-3])
            self._note(path)
            prefix = path + "."

    def _place(self, keys: list[str], counts: dict[str, int], last_is_new: bool) -> str:
        """Path of a header: names of arrays of tables stand for their newest element."""
        path = ""
        for k, key in enumerate(keys):
            path = f"{path}.{key}" if path else key
            if last_is_new and k == len(keys) - 1:
                counts[path] = counts.get(path, -1) + 1
            if path in counts:
                path = f"{path}[{counts[path]}]"
        return path

    def _leads(self, path: str) -> bool:
        """Is this what is looked for, or something around it?"""
        return self.wanted.startswith(path) and (len(path) == len(self.wanted) or self.wanted[len(path)] in ".[")

    def _note(self, path: str) -> None:
        if len(path) > len(self._nearest) and self._leads(path):
            self._nearest, self.line = path, self.text.count("\n", 0, self.at) + 1
            if path == self.wanted:
                raise _Found

    def _pair(self, prefix: str) -> None:
        path = prefix + ".".join(self._keys())
        self._note(path)
        self.at = self.text.index("=", self.at) + 1
        self._value(path)

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip_space()
            if self.text[self.at] in "\"'":
                start = self.at + 1
                self.at = _STRING.match(self.text, self.at).end()  # pyright: ignore[reportOptionalMemberAccess]
                keys.append(self.text[start : self.at - 1])
            else:
                match = _BARE.match(self.text, self.at)
                assert match is not None, "tomllib accepted a key that is not one"
                self.at = match.end()
                keys.append(match.group())
            self._skip_space()
            if self.text[self.at] != ".":
                return keys
            self.at += 1

    def _value(self, path: str) -> None:
        self._skip_space()
        c = self.text[self.at]
        if c == "[" and self._leads(path):
            self._group("]", lambda k: self._element(path, k))
        elif c == "{" and self._leads(path):
            self._group("}", lambda _: self._pair(path + "."))
        else:
            self.at = _skipped()[0].match(self.text, self.at).end()  # pyright: ignore[reportOptionalMemberAccess]

    def _element(self, path: str, k: int) -> None:
        self._note(f"{path}[{k}]")
        self._value(f"{path}[{k}]")

    def _group(self, close: str, item: Callable[[int], None]) -> None:
        self.at += 1
        k = 0
        while self._skip_blank() and self.text[self.at] != close:
            item(k)
            k += 1
            self._skip_blank()
            if self.text[self.at] == ",":
                self.at += 1
        self.at += 1

    def _skip_space(self) -> None:
        self.at = _SPACE.match(self.text, self.at).end()  # pyright: ignore[reportOptionalMemberAccess]

    def _skip_blank(self) -> bool:
        """Move past spaces, line ends and comments; is anything left?"""
        self.at = _BLANK.match(self.text, self.at).end()  # pyright: ignore[reportOptionalMemberAccess]
        return self.at < len(self.text)
