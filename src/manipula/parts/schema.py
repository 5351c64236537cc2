"""Declarations as JSON Schema (draft 2020-12), with which editors complete and check TOML files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from manipula.parts.declared import FieldDeclaration, declared
from manipula.parts.field import Field
from manipula.parts.registry import PartKind

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
EMPTY = {"type": "object", "maxProperties": 0}  # where {} means none
FORMULA = {"type": "string", "description": "a formula in quotes"}


def any_of(*choices: Any) -> dict[str, Any]:
    """One of several forms."""
    return {"anyOf": list(choices)}


def list_of(items: Any, lengths: tuple[int, ...] = ()) -> dict[str, Any]:
    """A list, of one of several lengths when they are given."""
    out: dict[str, Any] = {"type": "array", "items": items}
    return out | ({"minItems": min(lengths), "maxItems": max(lengths)} if lengths else {})


def table(properties: Mapping[str, Any], required: Iterable[str] = (), **more: Any) -> dict[str, Any]:
    """A table that has some of these keys, all that are required, and no others."""
    needed: dict[str, Any] = {"required": list(required)} if required else {"minProperties": 1}
    return {"type": "object", "properties": dict(properties), "additionalProperties": False, **needed, **more}


def named(values: Any) -> dict[str, Any]:
    """A table with keys of the author's choice."""
    return {"type": "object", "additionalProperties": values, "minProperties": 1}


def ref(name: str) -> dict[str, Any]:
    """A reference to a definition of the same document."""
    return {"$ref": f"#/$defs/{name.replace(' ', '_')}"}


def number(f: Field) -> dict[str, Any]:
    """One number within the range, or a formula in its place."""
    words = {"least": "minimum", "above": "exclusiveMinimum", "most": "maximum", "below": "exclusiveMaximum"}
    bounds = {word: getattr(f, name) for name, word in words.items() if getattr(f, name) is not None}
    return any_of({"type": "number", **bounds, **({"not": {"const": 0}} if f.nonzero else {})}, FORMULA)


def field_schema(f: Field) -> dict[str, Any]:
    """What a file may hold in a field."""
    one = number(f)
    rows: dict[str, Any] = {"type": "array", "items": {"type": "array"}}
    forms: dict[str, dict[str, Any]] = {
        "number": one, "one per joint": any_of(*one["anyOf"], list_of(one)), "vector": list_of(one, f.lengths),
        "numbers": list_of(one), "rows": rows, "formula": one, "formulas": list_of(one, f.lengths), "frame": TEXT, "text": TEXT,
        "file": TEXT, "choice": {"enum": list(f.choices)}, "flag": FLAG, "texts": list_of(any_of(TEXT, {"type": "integer"})),
        "whole number": {"type": "integer", **{k: v for k, v in one["anyOf"][0].items() if k != "type"}},
        "whole numbers": list_of({"type": "integer"}), "constants": named(one), "any": {},
    }  # fmt: skip
    if f.kind in ("part", "parts"):
        return ref(f.of) if f.kind == "part" else list_of(ref(f.of))
    schema = dict(forms[f.kind])
    if f.choices and f.kind != "choice":
        schema = any_of(*schema["anyOf"], {"enum": list(f.choices)})
    return schema


def properties(fields: Iterable[FieldDeclaration]) -> dict[str, Any]:
    """The keys of a table that holds these fields, with what an editor shows about them."""
    out: dict[str, Any] = {}
    for d in fields:
        for key in d.keys:
            unit = d.field.unit.replace("rad", "°") if key != d.name else d.field.unit
            told = f"{d.field.meaning} [{unit}]" if unit not in ("", "1") else d.field.meaning
            out[key] = {**field_schema(d.field), **({"description": told} if told else {})}
            plain = isinstance(d.default, (str, int)) or (isinstance(d.default, float) and math.isfinite(d.default))
            if key == d.name and not d.required and plain:
                out[key]["default"] = d.default
    return out


def fields_schema(
    fields: tuple[FieldDeclaration, ...], first: Mapping[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """A table of fields behind the keys of ``first``, which are required."""
    alone = [d.name for d in fields if d.required and len(d.keys) == 1]
    either = [any_of(*({"required": [key]} for key in d.keys)) for d in fields if d.required and len(d.keys) > 1]
    shape = table({**(first or {}), **properties(fields)}, [*(first or {}), *alone], **more)
    return shape | ({"allOf": either} if either else {})


def kind_schema(kind: PartKind) -> dict[str, Any]:
    """Every part of a kind as a table with its name."""
    return {
        "oneOf": [
            fields_schema(declared(part), {kind.key: {"const": name}}, description=kind.summary(name))
            for name, part in kind.in_files.items()
        ]
    }
