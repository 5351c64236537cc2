"""Tables of TOML → parts: the name in a registry and the fields that the part declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from manipula.algebra.arguments import LARGEST
from manipula.algebra.expression import parse
from manipula.errors import DescriptionError, ManipulaError, printable
from manipula.formats.toml.fields import Fields, check_name, radians
from manipula.parts.checks import check_value
from manipula.parts.declared import FieldDeclaration, declared
from manipula.parts.field import OF_SEVERAL_LINES
from manipula.parts.registry import PartKind

FAILURES = (ManipulaError, TypeError, ValueError, ArithmeticError, IndexError, KeyError, AttributeError)
Reader = Callable[[Fields], Any]


def read_part(table: Fields, kind: PartKind, nested: Mapping[str, Reader] | None = None) -> Any:
    """The part that a table names, with the values of the table; the table is closed."""
    name = table.required_text(kind.key)
    made = kind.in_files.get(name)
    if made is None:  # only now is the line looked for, which takes as long as reading
        made = kind.find(name, **table.document.place(table.where(kind.key)))
    return read_fields(table, made, f"{kind.name} '{name}'", nested)


def read_fields(table: Fields, made: Callable[..., Any], what: str, nested: Mapping[str, Reader] | None = None) -> Any:
    """What ``made`` gives for the fields in a table; ``nested`` reads parts inside the part, by their kind.

    Raises:
        DescriptionError: with file, line and field.
    """
    fields = declared(made)
    keys = [table.either(*d.keys) for d in fields]
    table.close()  # a misspelt key is reported before the one that it leaves missing
    arguments: dict[str, Any] = {}
    for d, key in zip(fields, keys):
        if key is not None:
            arguments[d.name] = read_value(table, key, d, what, nested or {})
        elif d.required:
            raise table.missing(d.name, f"The {what} needs '{d.name}'.")
    return constructed(table, lambda: made(**arguments), what, {d.name: key for d, key in zip(fields, keys)})


def constructed(table: Fields, make: Callable[[], Any], what: str, keys: Mapping[str, str | None]) -> Any:
    """What ``make`` gives; what it refuses is reported with the place of the field."""
    document = table.document
    try:
        return make()
    except DescriptionError as error:
        if error.file is not None and error.file != document.file:  # a file of its own
            raise
        key = keys.get(re.split(r"[\[.,]", error.field or "")[0])
        if key is None:
            raise document.located(error, table.path) from None
        error.field = None
        raise error.at(**document.place(table.where(key))) from None
    except FAILURES as error:
        told = str(error) if isinstance(error, ManipulaError) else f"it refuses these values: {printable(error, 200)}."
        raise DescriptionError(f"The {what}: {told}", **document.place(table.path)) from None


def read_value(table: Fields, key: str, d: FieldDeclaration, what: str, nested: Mapping[str, Reader]) -> Any:
    """One field of a part from its key."""
    kind, raw, path = d.field.kind, table.raw(key), table.where(key)
    if kind == "flag":
        return table.flag(key, False)
    if kind in ("text", "frame"):
        return table.required_text(key)
    if kind == "file":
        text = table.required_text(key)
        named = "\n" not in text if d.field.of in OF_SEVERAL_LINES else text.lower().endswith(d.field.of)
        return str(table.document.beside(text, path)) if named else text  # pyright: ignore[reportAttributeAccessIssue]
    if kind == "texts":
        return raw
    if kind == "formulas" and not d.field.names:  # the part knows them
        return (
            [v if isinstance(v, str) else table.document.scalar(v, path) for v in raw] if isinstance(raw, list) else raw
        )
    if kind == "constants":
        inner = table.table(key)
        assert inner is not None
        for name in inner.names():
            check_name(inner, name, name)
        return {name: inner.scalar(name) for name in inner.names()}
    if kind == "choice":
        return table.choice(key, d.field.choices)
    if kind == "parts":
        return tuple(nested[d.field.of](t) for t in table.tables(key))
    if kind == "part":
        return table.read(key, nested[d.field.of])
    if isinstance(raw, str) and raw in d.field.choices:
        return raw
    if kind == "formulas" and isinstance(raw, list):
        return tuple(read_formula(table, v, f"{path}[{i}]", d.field.names) for i, v in enumerate(raw))
    if kind in ("formula", "formulas"):
        return read_formula(table, raw, path, d.field.names)
    if kind in ("whole number", "whole numbers"):
        _whole(table, raw, key, d, what)
        return tuple(raw) if isinstance(raw, list) else raw
    return numbers(table, raw, path, degrees=key != d.name)


def _whole(table: Fields, raw: Any, key: str, d: FieldDeclaration, what: str) -> None:
    try:
        check_value(raw, d, what)
    except DescriptionError as error:
        error.field = None
        raise error.at(**table.document.place(table.where(key))) from None
    if any(abs(v) > LARGEST for v in (raw if isinstance(raw, list) else [raw])):
        raise table.error(f"At most {LARGEST:g} in size is allowed.", key)


def numbers(table: Fields, value: Any, path: str, *, degrees: bool = False) -> Any:
    """A number, or nested lists of numbers as tuples; formulas in quotes are evaluated."""
    if isinstance(value, list):
        return tuple(numbers(table, v, f"{path}[{i}]", degrees=degrees) for i, v in enumerate(value))
    number = table.document.scalar(value, path)
    return radians(number) if degrees else number


def read_formula(table: Fields, value: Any, path: str, names: tuple[str, ...] = ("t",)) -> Any:
    """A number, or a text that is a formula in t and stays one."""
    if not isinstance(value, str):
        return table.document.scalar(value, path)
    try:
        parse(value, names=names)
    except DescriptionError as error:
        raise table.document.located(error, path) from None
    return value
