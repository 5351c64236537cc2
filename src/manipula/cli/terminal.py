"""What is printed for people: sentences and tables that are whole at any width, in any encoding, with or without colours.

A table that does not fit into the terminal is printed row by row, one line per entry, so that no digit is cut. Signs that the terminal
cannot show are spelt out. Colours follow ``NO_COLOR`` and ``TERM``. Messages speak the words of the command line.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from shlex import quote
from typing import TextIO

SPELT = {
    "…": "...", "·": "*", "×": "x", "÷": "/", "−": "-", "–": "-", "—": "-", "→": "->", "⇄": "<->", "≤": "<=", "≥": ">=", "≈": "~",
    "²": "^2", "³": "^3", "°": " deg", "π": "pi", "τ": "tau", "θ": "theta", "α": "alpha", "ω": "omega", "μ": "mu", "Δ": "d",
    "√": "sqrt", "±": "+-", "∞": "inf", "’": "'", "“": '"', "”": '"', "ᵀ": "^T", "\N{NO-BREAK SPACE}": " ",
    "λ": "lambda", "φ": "phi", "σ": "sigma", "Λ": "Lambda",
    "\N{COMBINING DOT ABOVE}": "'", "\N{COMBINING DIAERESIS}": "''",
}  # fmt: skip
OPTIONS = {  # what messages say to users of Python, and what it is called here
    "limits=False": "--no-limits",
    "choose one: result.run(0)": "choose one: --run 0",
    "load_result(path, budget=…) allows more": "In Python, load_result takes a larger budget",
    "fix them with robot.with_parameters(...)": "give them values under [parameters] in its file",
    "give them numbers with robot.with_parameters(...) or export with parameters='struct'": (
        "give them values under [parameters] in its file, or use --parameters struct"
    ),
    "choose another folder or use force": "choose another folder or use --force",
    "give drives=… for those that shall": "name those that shall under [drives]",
    "record fewer: sample=…": "record fewer: sample = … in the file",
    "give it numbers in limits=…": "give it numbers under [limits]",
    "have values: robot=…": "have values: --robot FILE",
    "give limits=… or a robot that states them": "state them under [limits], or give a robot that has them",
}
_NAME = r"'([^']*)'"
WORDS = (  # a word of the line; how messages say to users of Python what to choose; on the command line; in a scenario file, under [robot]
    ("lock=", rf"lock=\{{{_NAME}: ([^}}]*)\}}", "--lock {0}={1}", 'lock = {{ "{0}" = {1} }}'),
    ("drop=", rf"drop=\[{_NAME}\]", "--drop {0}", 'drop = ["{0}"]'),
    ("chain=", rf"chain=\({_NAME}, '?([^')]*)'?\)", "--chain {0} {1}", 'chain = ["{0}", "{1}"]'),
    ("chain=", r"chain=\(base, tip\)", "--chain BASE TIP", 'chain = ["base", "tip"]'),
    ("tip=", rf"(?:robot\.replace\()?\btip={_NAME}\)?", "--tip {0}", 'tip = "{0}"'),
    ("drop=", r"drop=…", "--drop …", "drop = […]"),
    (
        "xacro=",
        r"load\([^()]*, xacro=True\), with its arguments xacro=\{[^}]*\}",
        "--xacro, with its arguments --xacro-arg NAME=VALUE",
        None,
    ),
    ("xacro=", r"load\([^()]*, xacro=True\)", "--xacro", None),
    ("with_parameters", r"robot\.with_parameters\([^()]*\)", "a table [parameters] in its file", None),
    ("package_dirs=", r"package_dirs=\[…\]", "--packages FOLDER", None),
)
# SGR parameters of ECMA-48
STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
COLOURS = ("red", "green", "yellow", "cyan")
GAP = "  "
NARROW = 24  # letters that a column of sentences needs beside the others


def spell(error: UnicodeError) -> tuple[str, int]:
    """An error handler of ``codecs``: signs in ASCII."""
    assert isinstance(error, UnicodeEncodeError)
    return "".join(SPELT.get(c, "?") for c in error.object[error.start : error.end]), error.end


codecs.register_error("manipula.spell", spell)


def _chosen(found: re.Match[str], *, said: str, key: str | None) -> str:
    """An option with its names quoted for the shell, or a key of a file."""
    if key is not None:
        return key.format(*found.groups())
    return said.format(*(name if name == "TIP" else quote(name) for name in found.groups()))


def in_commands(message: str, *, in_file: bool = False) -> str:
    """The message with the words of the command line in place of those of Python.

    Args:
        in_file: the robot is named by a file; what is chosen about it is chosen there, under ``[robot]``.
    """
    for python, command in OPTIONS.items():
        message = message.replace(python, command)
    for word, pattern, option, key in WORDS:
        if word not in message:  # most messages have none, and a pattern takes long to read
            continue
        message = re.sub(pattern, partial(_chosen, said=option, key=key if in_file else None), message)
    return message


def is_terminal(stream: TextIO) -> bool:
    """Is it a screen that somebody looks at? ``FORCE_COLOR`` says yes."""
    return bool(os.environ.get("FORCE_COLOR")) or (hasattr(stream, "isatty") and stream.isatty())


def _knows_styles() -> bool:
    """Does the terminal follow ECMA-48? On Windows the present one says so; its predecessor has to be asked to."""
    if sys.platform == "win32":
        return "WT_SESSION" in os.environ
    return os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


def _width() -> int:
    """Letters of a line: ``COLUMNS``, else those of the terminal behind any of the streams, else 80."""
    said = os.environ.get("COLUMNS", "")
    if said.isdigit() and int(said) > 0:
        return int(said)
    for number in (1, 2, 0):
        with contextlib.suppress(OSError):
            return os.get_terminal_size(number).columns or 80
    return 80


class Terminal:
    """Standard output."""

    def __init__(self) -> None:
        self.width = _width()
        self._styled = is_terminal(sys.stdout) and _knows_styles()
        self._coloured = not os.environ.get("NO_COLOR")

    def _in_style(self, text: str, style: str) -> str:
        words = [w for w in style.split() if self._coloured or w not in COLOURS]
        return f"\033[{';'.join(STYLES[w] for w in words)}m{text}\033[0m" if self._styled and words and text else text

    def _print(self, line: str = "") -> None:
        print(line, flush=True)  # a reader that is gone is noticed here, not when the program ends

    def say(self, *parts: str | tuple[str, str]) -> None:
        """One line of texts, each plain or with its style; never cut, broken by the terminal alone."""
        from manipula.errors import printable

        pairs = ((part, "") if isinstance(part, str) else part for part in parts)
        self._print("".join(self._in_style(in_commands(printable(text, 2000)), style) for text, style in pairs))

    def table(
        self,
        titles: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        left: int = 1,
        sentences: bool = False,
        styles: Mapping[tuple[int, int], str] | None = None,
    ) -> None:
        """A table: ``left`` columns flush left, the others right; with ``sentences`` the last column is broken into lines.

        Args:
            titles: one per column; all empty for a table without a head.
            styles: of cells, by (row, column).
        """
        from manipula.errors import printable

        cells = [[printable(cell, 2000) for cell in row] for row in rows]
        fixed = len(titles) - sentences
        widths = [max(len(line[k]) for line in (list(titles), *cells)) for k in range(fixed)]
        room = self.width - sum(widths) - len(GAP) * (len(titles) - 1)
        if room < (NARROW if sentences else 0):
            self._records(titles, cells)
            return

        def line(row: Sequence[str], style: Callable[[int], str]) -> None:
            texts = [
                (text.ljust(width) if k < left else text.rjust(width))
                for k, (text, width) in enumerate(zip(row, widths))
            ]
            styles = [style(k) for k in range(len(texts))]
            if sentences:
                pieces = textwrap.wrap(row[-1], room, break_on_hyphens=False) or [""]
                texts.append(("\n" + " " * (self.width - room)).join(pieces))
                styles.append("")
            while texts and not texts[-1].rstrip():
                texts.pop()
            texts[-1:] = [text.rstrip() for text in texts[-1:]]
            self._print(GAP.join(self._in_style(*pair) for pair in zip(texts, styles)))

        if any(titles):
            line(titles, lambda _: "bold")
        for i, row in enumerate(cells):
            line(row, lambda k, i=i: (styles or {}).get((i, k), ""))

    def _records(self, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Row by row: a line for each entry."""
        width = max(map(len, titles), default=0)
        for number, row in enumerate(rows):
            if number:
                self._print()
            for title, cell in zip(titles, row):
                self._print(f"{title.ljust(width)}{GAP}{cell}".strip() if any(titles) else cell)
