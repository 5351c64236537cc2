"""A kind of part with its registry: what it is called, how files name it, and every part of it as plain data."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, TypeVar

from manipula.errors import DescriptionError, check_registered, printable, unknown_name
from manipula.parts.declared import FieldDeclaration, declared

T = TypeVar("T")


class PartRegistry(MutableMapping[str, T]):
    """Parts by their names in files; the module of a part is loaded when the part is first asked for.

    A line reads ``name="module:Class"``, with the module of the folder whose registry it is. What is set later may be the part itself.
    """

    def __init__(self, folder: str, **lines: str) -> None:
        self._folder = folder
        self._parts: dict[str, Any] = dict(lines)
        self._places = {place.partition(":")[2]: name for name, place in lines.items()}

    def __getitem__(self, name: str) -> T:
        part = self._parts[name]
        if isinstance(part, str):
            module, _, kind = part.partition(":")
            part = self._parts[name] = getattr(importlib.import_module(f"{self._folder}.{module}"), kind)
        return part

    def __setitem__(self, name: str, part: T) -> None:
        self._parts[name] = part

    def __delitem__(self, name: str) -> None:
        del self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def names(self, others: Mapping[str, tuple[str, ...]] = {}) -> Callable[[str], Any]:
        """``__getattr__`` of the folder: its parts by the names of their classes, and the names in ``others`` from these modules."""
        elsewhere = {name: module for module, names in others.items() for name in names}

        def attribute(name: str) -> Any:
            if name in self._places:
                return self[self._places[name]]
            if name in elsewhere:
                return getattr(importlib.import_module(elsewhere[name]), name)
            raise AttributeError(f"module '{self._folder}' has no attribute '{name}'")

        return attribute

    def listed(self, others: Iterable[str]) -> Callable[[], list[str]]:
        """``__dir__`` of the folder: its parts by the names of their classes, and others."""
        return lambda: sorted({*self._places, *others})


class _Without(Mapping[str, T]):
    """A registry without some names."""

    def __init__(self, registry: Mapping[str, T], left_out: tuple[str, ...]) -> None:
        self._registry, self._left_out = registry, left_out

    def __getitem__(self, name: str) -> T:
        if name in self._left_out:
            raise KeyError(name)
        return self._registry[name]

    def __contains__(self, name: object) -> bool:
        return name in self._registry and name not in self._left_out

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._registry if name not in self._left_out)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def described_call(
    description: Any, registry: Mapping[str, Callable[..., Any]], what: str, field: str, name: str = ""
) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The function that a table with a ``kind`` names, and its arguments, known to it and complete.

    Args:
        what: the part, in words. field: where a file has it. name: of one entry of the registry, where that is another word.
    """
    if not isinstance(description, Mapping) or "kind" not in description:
        raise DescriptionError(f"A {what} is a table with a 'kind'; found {printable(repr(description))}", field=field)
    kind = description["kind"]
    if not isinstance(kind, str) or kind not in registry:
        raise unknown_name(name or what, kind, sorted(registry), field=f"{field}.kind")
    parameters = inspect.signature(registry[kind]).parameters
    arguments = {str(key): value for key, value in description.items() if key != "kind"}
    for key in arguments:
        if key not in parameters:
            raise unknown_name(f"argument of {what} '{kind}'", key, parameters, field=f"{field}.{key}")
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and key not in arguments:
            raise DescriptionError(f"{what[0].upper()}{what[1:]} '{kind}' needs '{key}'.", field=f"{field}.{key}")
    return registry[kind], arguments


@dataclass(frozen=True)
class PartKind:
    """One kind of part.

    Attributes:
        name: in messages and on the command line, "friction law".
        key: the key of a file's table that holds the part's name; "" when a part is named by a text alone.
        registry: the parts by name: classes, functions that make a part, or objects. where: its name in Python.
        python_only: names that no file can hold. public: the namespace in which Python finds the parts; "" when they are named by a text there too.
    """

    name: str
    key: str
    registry: Mapping[str, Any]
    where: str
    python_only: tuple[str, ...] = ()
    public: str = ""

    def in_python(self, name: str) -> str:
        """What a part is called in Python, ``mp.control.PID``."""
        return f"{self.public}.{self.registry[name].__name__}" if self.public else ""

    @property
    def in_files(self) -> Mapping[str, Any]:
        """The parts that a file may name; each is loaded when it is asked for."""
        return _Without(self.registry, self.python_only)

    def find(self, name: str, **place: Any) -> Any:
        """The part of that name for a file."""
        if name not in self.in_files:
            raise unknown_name(self.name, name, list(self.in_files), **place)
        return self.registry[name]

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
