"""Where each field of a TOML text stands: dotted path → line number.

``tomllib`` gives values without places, and a message without a line is half a message. The text walked here has
already been accepted by ``tomllib``, so this is a walk over well-formed text, not a second parser: it skips strings and
comments, follows tables, arrays and inline tables, and notes the line on which each begins.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = {'"': re.compile(r'"(?:[^"\\]++|\\.)*"'), "'": re.compile(r"'[^']*'")}
_BLANK = re.compile(r"(?:[ \t\n\r]+|#[^\n]*\n)*+")
_SPACE = re.compile(r"[ \t]*")
_SCALAR = re.compile(r"[^\s,\]\}#]+(?: \d\d:[^\s,\]\}#]+)?")


def line_index(text: str) -> dict[str, int]:
    """Lines (1-based) of every table, key and array element, keyed like ``dh.rows[2].mass``."""
    return _Walk(text).lines


def line_of(lines: dict[str, int], path: str) -> int | None:
    """The line of ``path``, or of the nearest thing around it that has one."""
    while path:
        if path in lines:
            return lines[path]
        cut = max(path.rfind("."), path.rfind("["))
        path = path[:cut] if cut > 0 else ""
    return None


class _Walk:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.lines = text.replace("\r\n", "\n") + "\n", 0, {}
        self._line, self._counted = 1, 0
        counts: dict[str, int] = {}
        prefix = ""
        while self._skip_blank():
            if self.text.startswith("[[", self.at):
                self.at += 2
                path = self._place(self._keys(), counts, last_is_new=True)
                self.at = self.text.index("]]", self.at) + 2
                self._note(path)
                self.lines.setdefault(path[: path.rindex("[")], self.lines[path])
                prefix = path + "."
            elif self.text[self.at] == "[":
                self.at += 1
                path = self._place(self._keys(), counts, last_is_new=False)
                self.at = self.text.index("]", self.at) + 1
                self._note(path)
                prefix = path + "."
            else:
                self._pair(prefix)

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

    def _note(self, path: str) -> None:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        self.lines.setdefault(path, self._line)

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
                self._string()
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
        if c in "\"'":
            self._string()
        elif c == "[":
            self._group("]", lambda k: self._element(path, k))
        elif c == "{":
            self._group("}", lambda _: self._pair(path + "."))
        else:
            match = _SCALAR.match(self.text, self.at)
            assert match is not None, "tomllib accepted a value that is not one"
            self.at = match.end()

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

    def _string(self) -> None:
        quote = self.text[self.at]
        if self.text.startswith(quote * 3, self.at):
            self.at += 3
            while not self.text.startswith(quote * 3, self.at):
                self.at += 2 if quote == '"' and self.text[self.at] == "\\" else 1
            self.at += 3
            while self.text[self.at] == quote:  # up to two quotes may stand before the closing three
                self.at += 1
            return
        match = _STRING[quote].match(self.text, self.at)
        assert match is not None, "tomllib accepted a string that does not end"
        self.at = match.end()

    def _skip_space(self) -> None:
        self.at = _SPACE.match(self.text, self.at).end()  # pyright: ignore[reportOptionalMemberAccess]

    def _skip_blank(self) -> bool:
        """Move past spaces, line ends and comments; is anything left?"""
        self.at = _BLANK.match(self.text, self.at).end()  # pyright: ignore[reportOptionalMemberAccess]
        return self.at < len(self.text)
