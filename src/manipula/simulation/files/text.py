"""Plain values as TOML text that reads back equal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.errors import DescriptionError
from manipula.formats.toml.writer import string

WIDE = 110  # characters of a list beyond which it is written one entry per line
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(content: Mapping[str, Any]) -> str:
    """Keys first, then tables; ``None`` is left out."""
    return "\n".join(_table(content, "")).strip() + "\n"


def _table(content: Mapping[str, Any], path: str) -> list[str]:
    lines: list[str] = []
    tables: list[tuple[str, Mapping[str, Any]]] = []
    for key, value in content.items():
        if value is None:
            continue
        name = key_text(key)
        if isinstance(value, Mapping):
            tables.append((f"{path}.{name}" if path else name, value))
        else:
            lines.append(f"{name} = {value_text(value)}")
    for name, value in tables:
        lines += ["", f"[{name}]", *_table(value, name)]
    return lines


def key_text(key: str) -> str:
    """A key, in quotes where TOML needs them."""
    return key if _BARE.fullmatch(key) else string(key)


def value_text(value: Any) -> str:
    """One value; a long list takes a line per entry."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return string(value)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        if np.isnan(value):
            raise DescriptionError("NaN cannot be written to a file.")
        return repr(float(value))
    if isinstance(value, Mapping):
        entries = (f"{key_text(k)} = {value_text(v)}" for k, v in value.items() if v is not None)
        body = ", ".join(entries)
        return f"{{ {body} }}" if body else "{}"
    if isinstance(value, (list, tuple, np.ndarray)):
        parts = [value_text(v) for v in value]
        line = f"[{', '.join(parts)}]"
        if len(line) <= WIDE or not any("[" in p or "{" in p or '"' in p for p in parts):
            return line
        return "[\n" + "".join(f"    {p},\n" for p in parts) + "]"
    raise DescriptionError(f"A {type(value).__name__} cannot be written to a file; a formula in quotes can.")
