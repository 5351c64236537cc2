"""Gains and constants of a run as one vector, so that other values need no other machine code.

Every number inside a controller, a friction law, a drive is a run-time input of the compiled loop. A class may name fields
that decide its structure in ``structure``; those stay what they are.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

_FIXED: frozenset[str] = frozenset()


def is_number(value: Any) -> bool:
    """Is it a number that may change without other machine code? Yes and no are structure."""
    return isinstance(value, (float, int, np.floating, np.integer)) and not isinstance(value, bool)


def flatten(value: Any, path: str = "") -> list[tuple[str, float]]:
    """(path, number) of every float inside nested dataclasses and tuples, in a fixed order."""
    found: list[tuple[str, float]] = []
    _collect(value, path, found)
    return found


def _collect(value: Any, path: str, found: list[tuple[str, float]]) -> None:
    if is_number(value):
        found.append((path, float(value)))
    elif isinstance(value, tuple):
        for i, v in enumerate(value):
            _collect(v, f"{path}[{i}]", found)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for name in _variable(type(value)):
            _collect(getattr(value, name), f"{path}.{name}" if path else name, found)


def numbers_in(value: Any) -> list[float]:
    """The same numbers without their paths."""
    if is_number(value):
        return [float(value)]
    if isinstance(value, tuple):
        return [x for v in value if v is not None for x in numbers_in(v)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [x for name in _variable(type(value)) for x in numbers_in(getattr(value, name))]
    return []


def _variable(kind: type) -> list[str]:
    """Fields of a part whose numbers may change without other machine code."""
    fixed = getattr(kind, "structure", _FIXED)
    return [x.name for x in dataclasses.fields(kind) if x.init and x.name not in fixed]


def rebuild(value: Any, f: Callable[[str, float], Any], path: str = "") -> Any:
    """The same structure with ``f(path, number)`` in the place of every float."""
    if is_number(value):
        return f(path, float(value))
    if isinstance(value, tuple):
        return tuple(rebuild(v, f, f"{path}[{i}]") for i, v in enumerate(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = _variable(type(value))
        changes = {name: rebuild(getattr(value, name), f, f"{path}.{name}" if path else name) for name in names}
        return _unchecked(value, changes)
    return value


def shape_of(value: Any) -> Any:
    """What is left of a structure when its numbers are taken out: equal shapes share machine code."""
    if is_number(value):
        return "#"
    if isinstance(value, tuple):
        return tuple(shape_of(v) for v in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fixed = getattr(type(value), "structure", _FIXED)
        return (
            type(value),
            *(
                (x.name, getattr(value, x.name) if x.name in fixed or not x.init else shape_of(getattr(value, x.name)))
                for x in dataclasses.fields(value)
            ),
        )
    return value


class Unkeyed(Exception):
    """Something has no plain structure."""


def plain_structure(value: Any) -> Any:
    """The same as a key of plain pieces, found quickly: classes, names and texts, and where numbers stand.

    Raises:
        Unkeyed: for what holds anything else, or keeps something beside its fields.
    """
    kind = type(value)
    if kind is float or kind is int:
        return _NUMBER
    if kind is tuple:
        return (len(value), _NUMBER) if all(type(v) is float for v in value) else tuple(map(plain_structure, value))
    if kind is str or kind is bool or value is None:
        return kind, value
    fields = _fields_of(kind)
    if fields is None or len(getattr(value, "__dict__", ())) != len(fields):
        raise Unkeyed
    held = value.__dict__
    return kind, *[plain_structure(held[name]) if varies else _exactly(held[name]) for name, varies in fields]


_NUMBER = object()


def _exactly(value: Any) -> tuple[type, str]:
    """A number or word that decides the structure."""
    if type(value) not in (float, int, bool, str, type(None)):
        raise Unkeyed
    return type(value), repr(value)


@functools.cache
def _fields_of(kind: type) -> list[tuple[str, bool]] | None:
    """Names of the fields of a part, and whether their numbers are inputs; ``None`` for anything else."""
    if not dataclasses.is_dataclass(kind):
        return None
    fields, fixed = dataclasses.fields(kind), getattr(kind, "structure", _FIXED)
    return [(x.name, x.name not in fixed) for x in fields] if all(x.init for x in fields) else None


def _beside(value: Any) -> list[str]:
    """Names of what a part keeps beside its fields, properties that are computed when asked excepted."""
    names = {x.name for x in dataclasses.fields(value)}
    own = getattr(value, "__dict__", {})
    lazy = functools.cached_property
    return [name for name in own if name not in names and not isinstance(getattr(type(value), name, None), lazy)]


def computed_parts(value: Any, path: str = "") -> list[str]:
    """Paths of the parts that computed something from their numbers when they were made: other numbers would not reach it."""
    if isinstance(value, tuple):
        return [found for i, v in enumerate(value) for found in computed_parts(v, f"{path}[{i}]")]
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return []
    fields = dataclasses.fields(value)
    here = [path] if _beside(value) or not all(x.init for x in fields) else []
    inner = [computed_parts(getattr(value, x.name), f"{path}.{x.name}" if path else x.name) for x in fields]
    return [*here, *(found for part in inner for found in part)]


def _unchecked(value: Any, changes: dict[str, Any]) -> Any:
    """A copy with other fields, without running ``__post_init__`` (traced numbers are not floats).

    What a part keeps beside its fields stays what it is; what it computes from them when asked is computed anew.
    """
    copy = object.__new__(type(value))
    for name in _beside(value):
        object.__setattr__(copy, name, getattr(value, name))
    for x in dataclasses.fields(value):
        object.__setattr__(copy, x.name, changes.get(x.name, getattr(value, x.name)))
    return copy
