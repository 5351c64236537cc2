"""Motions in words: what a reference is, for reports, settings and ``repr``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.errors import printable

MOST_NUMBERS = 24  # that are written out; longer tables are described by their size
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def motion_words(motion: Any) -> str:
    """One line: the path with its points, the time law with its numbers, the duration."""
    path, law = getattr(motion, "path", None), getattr(motion, "law", None)
    try:
        description = None if path is not None else motion.description
    except (AttributeError, TypeError):
        description = None
    duration = f"{motion.duration:.6g} s" if hasattr(motion, "duration") else ""
    if path is not None:
        what = words(path.description) if path.description is not None else f"{len(path.curves)} curves"
        turned = ", with orientation" if getattr(path, "orientation", None) is not None else ""
        how = _law_words(law) if law is not None else "own profile"
        return f"{what}{turned}; {how}; {duration}"
    if isinstance(description, Mapping):
        return f"{words(description)}; {duration}"
    return f"{type(motion).__name__} of a Python function; {duration}" if callable(getattr(motion, "_coordinates", None)) else unaddressed(motion)  # fmt: skip


def _law_words(law: Any) -> str:
    """A time law; one of a Python function, or of a class that no file can hold, by its name."""
    try:
        return words(law.description)
    except (AttributeError, TypeError):
        return f"{type(law).__name__} in Python"


def words(description: Any) -> str:
    """A description as files hold it, ``{"kind": "line", "start": …}``, as words."""
    if not isinstance(description, Mapping):
        return value_words(description)
    entries = dict(description)
    kind = str(entries.pop("kind", "")).replace("_", " ")
    if kind == "line" and {"a", "b"} <= entries.keys():
        kind = f"line from ({value_words(entries.pop('a'))}) to ({value_words(entries.pop('b'))})"
    if kind == "formula" and isinstance(entries.get("coordinates"), (list, tuple)):
        axes = "xyz" if entries.get("space", "task") == "task" else [f"q{i + 1}" for i in range(99)]
        kind = ", ".join(f"{a} = {printable(c, 120)}" for a, c in zip(axes, entries.pop("coordinates")))
        entries.pop("duration", None)
    if isinstance(entries.get("constants"), Mapping):
        entries |= {f"{k} =": v for k, v in entries.pop("constants").items()}
    left_out = lambda k, v: v is None or v is False or k == "space" or (k == "blend" and v == 0)  # noqa: E731
    told = [f"{k.replace('_', ' ')} {_inner(v)}" for k, v in entries.items() if not left_out(k, v)]
    return f"{kind} ({', '.join(told)})".strip() if told and kind else kind or ", ".join(told)


def _inner(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"[{words(value)}]"
    if isinstance(value, (list, tuple)) and any(isinstance(v, Mapping) for v in value):
        return "[" + "; ".join(words(v) for v in value) + "]"
    text = value_words(value)
    return f"({text})" if isinstance(value, (list, tuple, np.ndarray)) else text


def value_words(value: Any) -> str:
    """A value as text: numbers with six digits, rows of them, long tables by their size, functions by their name."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, str):
        return printable(value, 200)
    if isinstance(value, (int, float, np.integer, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple, np.ndarray)):
        try:
            entries = np.asarray(value, float)
        except (TypeError, ValueError):
            return printable(", ".join(value_words(v) for v in value), 300)
        if entries.size > MOST_NUMBERS:
            return f"{' × '.join(str(k) for k in entries.shape)} numbers"
        if entries.ndim <= 1:
            return ", ".join(f"{x:.6g}" for x in entries.ravel())
        return "; ".join(", ".join(f"{x:.6g}" for x in row.ravel()) for row in entries)
    if callable(value) and hasattr(value, "__name__"):
        return f"Python function '{printable(value.__name__, 60)}'"
    return unaddressed(value)


def unaddressed(value: Any) -> str:
    """``repr`` without the place in memory, which means nothing to a reader."""
    return printable(_ADDRESS.sub("", repr(value)), 200)
