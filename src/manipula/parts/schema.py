"""Declarations as JSON Schema (draft 2020-12), with which editors complete and check TOML files."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from manipula.algebra.arguments import LARGEST
from manipula.algebra.grammar import CONSTANTS, LONGEST_NAME
from manipula.algebra.grammar import DEFAULT as FUNCTIONS
from manipula.parts.declared import FieldDeclaration, declared
from manipula.parts.field import OF_SEVERAL_LINES, Field
from manipula.parts.registry import PartKind

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
FINITE = sys.float_info.max
NAME = {  # of what formulas use
    "pattern": rf"^(?!([nN][aA][nN]|[iI][nN][fF]([iI][nN][iI][tT][yY])?)$)[A-Za-z][A-Za-z0-9_]{{0,{LONGEST_NAME - 1}}}$",
    "not": {"enum": [*FUNCTIONS, *CONSTANTS]},
}
INSIDE = r"^(?![/\\]|[A-Za-z][A-Za-z0-9+.-]*:|(\.[/\\])*\.\.([/\\]|$))[^\x00\n]*[^\x00\n/\\ ][^\x00\n]*$"  # a path below a folder
EMPTY = {"type": "object", "maxProperties": 0}  # where {} means none
FORMULA = {"type": "string", "pattern": r"\S", "description": "a formula in quotes"}


def any_of(*choices: Any) -> dict[str, Any]:
    """One of several forms."""
    return {"anyOf": list(choices)}


def list_of(items: Any, lengths: tuple[int, ...] = (), **more: Any) -> dict[str, Any]:
    """A list, of one of several lengths when they are given."""
    out: dict[str, Any] = {"type": "array", "items": items, **more}
    counts: list[Any] = [{"minItems": k, "maxItems": k} for k in lengths]
    return out | (counts[0] if len(counts) == 1 else any_of(*counts) if counts else {})


def table(properties: Mapping[str, Any], required: Iterable[str] = (), **more: Any) -> dict[str, Any]:
    """A table that has some of these keys, all that are required, and no others."""
    needed: dict[str, Any] = {"required": list(required)} if required else {"minProperties": 1}
    return {"type": "object", "properties": dict(properties), "additionalProperties": False, **needed, **more}


def named(values: Any, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A table with keys of the author's choice, which ``names`` may restrict."""
    spelt = {"propertyNames": names} if names else {}
    return {"type": "object", "additionalProperties": values, "minProperties": 1, **spelt}


def ref(name: str) -> dict[str, Any]:
    """A reference to a definition of the same document."""
    return {"$ref": f"#/$defs/{name.replace(' ', '_')}"}


def plain_number(f: Field, scale: float = 1.0, **kind: Any) -> dict[str, Any]:
    """One number within the range of a field and of all numbers in files; ``scale``: the file's unit in that of the field.

    "Not below" is said twice, also as "not less than": only that refuses nan, which compares with nothing.
    """
    low = -LARGEST if f.least is None else max(f.least / scale, -FINITE)
    high = LARGEST if f.most is None else min(f.most / scale, FINITE)
    out: dict[str, Any] = {"type": "number", **kind, "minimum": low, "maximum": high}
    if f.above is not None:
        out["exclusiveMinimum"] = f.above / scale
    if f.below is not None:
        out["exclusiveMaximum"] = f.below / scale
    never: list[Any] = [{"exclusiveMaximum": low}, *([{"const": 0}] if f.nonzero else [])]
    return out | {"not": never[0] if len(never) == 1 else any_of(*never)}


def number(f: Field, scale: float = 1.0) -> dict[str, Any]:
    """One number within the range, or a formula in its place."""
    return any_of(plain_number(f, scale), FORMULA)


def file_name(ending: str = "") -> dict[str, Any]:
    """The name of a file below the folder of the one that names it; other texts are the content itself."""
    inside = {"type": "string", "pattern": INSIDE}
    content = (
        {"type": "string", "pattern": "\\n"}
        if ending in OF_SEVERAL_LINES
        else {"type": "string", "not": {"pattern": f"{any_case(ending)}$"}}
    )
    return any_of(inside, content)


def any_case(ending: str) -> str:
    """A pattern for a text in large or small letters."""
    return "".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else f"\\{c}" for c in ending)


def field_schema(f: Field, scale: float = 1.0) -> dict[str, Any]:
    """What a file may hold in a field; ``scale``: the file's unit in that of the field."""
    if f.kind in ("part", "parts"):
        return ref(f.of) if f.kind == "part" else list_of(ref(f.of))
    one, whole = number(f, scale), plain_number(f, type="integer")
    row = list_of(one)
    forms: dict[str, dict[str, Any]] = {
        "number": one, "one per joint": any_of(*one["anyOf"], list_of(one, minItems=1)), "vector": list_of(one, f.lengths),
        "numbers": row, "rows": list_of(any_of(row, list_of(row))), "formula": one, "formulas": list_of(one, f.lengths),
        "frame": TEXT, "text": TEXT, "file": file_name(f.of), "choice": {"enum": list(f.choices)}, "flag": FLAG,
        "texts": list_of(any_of(TEXT, {"type": "integer"})), "whole number": whole, "whole numbers": list_of(whole),
        "constants": named(one, NAME), "any": {},
    }  # fmt: skip
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
            scale = 1.0 if key == d.name else math.radians(1.0)
            out[key] = {**field_schema(d.field, scale), **({"description": told} if told else {})}
            if d.field.example is not None and key == d.name:
                out[key]["examples"] = [d.field.example]
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
