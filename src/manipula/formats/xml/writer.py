"""XML as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import quoteattr


class XmlWriter:
    """Indented XML, line by line; numbers with all their digits."""

    def __init__(self) -> None:
        self.lines = ['<?xml version="1.0" encoding="utf-8"?>']
        self.depth = 0

    def comment(self, text: str) -> None:
        self.lines.append(f"{'  ' * self.depth}<!-- {text.replace('--', '- -').rstrip('-')} -->")

    def leaf(self, tag: str, **attributes: Any) -> None:
        self.lines.append(f"{'  ' * self.depth}<{tag}{_attributes(attributes)}/>")

    def open(self, tag: str, **attributes: Any) -> None:
        self.lines.append(f"{'  ' * self.depth}<{tag}{_attributes(attributes)}>")
        self.depth += 1

    def close(self, tag: str) -> None:
        self.depth -= 1
        self.lines.append(f"{'  ' * self.depth}</{tag}>")

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def _attributes(attributes: Mapping[str, Any]) -> str:
    """``class_`` is written ``class``; ``None`` is left out."""
    return "".join(f" {k.rstrip('_')}={quoteattr(_word(v))}" for k, v in attributes.items() if v is not None)


def _word(value: Any) -> str:
    """Numbers by ``repr`` (shortest text that reads back to the same bits), ``1`` for 1.0."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(float(value))
    if isinstance(value, int):
        return str(value)
    return " ".join(_word(float(v)) for v in value)
