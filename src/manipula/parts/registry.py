"""A kind of part with its registry: what it is called, how files name it, and every part of it as plain data."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from manipula.errors import check_registered, unknown_name
from manipula.parts.declared import FieldDeclaration, declared


@dataclass(frozen=True)
class PartKind:
    """One kind of part.

    Attributes:
        name: in messages and on the command line, "friction law".
        key: the key of a file's table that holds the part's name; "" when a part is named by a text alone.
        registry: the parts by name: classes, functions that make a part, or objects. where: its name in Python.
        python_only: names that no file can hold.
    """

    name: str
    key: str
    registry: Mapping[str, Any]
    where: str
    python_only: tuple[str, ...] = ()

    @property
    def in_files(self) -> dict[str, Any]:
        """The parts that a file may name."""
        return {k: v for k, v in self.registry.items() if k not in self.python_only}

    def find(self, name: str, **place: Any) -> Any:
        """The part of that name for a file."""
        known = self.in_files
        if name not in known:
            raise unknown_name(self.name, name, known, **place)
        return known[name]

    def check_registered(self, part: object, **place: Any) -> None:
        """Refuse to write a part whose name in a file would not bring it back."""
        check_registered(self.name, part, getattr(part, "name", None), self.registry, self.where, **place)

    def fields(self, name: str) -> tuple[FieldDeclaration, ...]:
        """The fields of one part."""
        part = self.registry[name]
        return declared(part) if isinstance(part, type) or inspect.isfunction(part) else getattr(part, "options", ())

    def summary(self, name: str) -> str:
        """The first sentence of what its author wrote about a part."""
        part = self.registry[name]
        told = getattr(part, "summary", None) or inspect.getdoc(part) or ""
        return " ".join(told.split("\n\n")[0].split())


def describe(kinds: Iterable[PartKind]) -> dict[str, Any]:
    """Every part of these kinds as plain data, for JSON, tables and forms."""
    return {
        k.name: {
            "key": k.key,
            "parts": {
                name: {"summary": k.summary(name), "fields": [d.described() for d in k.fields(name)],
                       "in_files": name not in k.python_only}
                for name in k.registry
            },
        }
        for k in kinds
    }  # fmt: skip
