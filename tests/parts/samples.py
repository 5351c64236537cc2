"""Values for the fields of parts, made from their declarations: a good one that is not the default, and bad ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from manipula.parts.declared import FieldDeclaration


def good(d: FieldDeclaration, n: int = 2) -> Any:
    """A value within the range that differs from the default."""
    f = d.field
    number = next(x for x in (0.75, 1.25, 3.5, 0.001) if _inside(f, x) and x != d.default)
    variable = (f.names or ("t",))[0]
    return {
        "number": number,
        "one per joint": [number] * n if f.each == "joint" else number,
        "vector": [number] * (f.lengths or (3,))[0],
        "numbers": [number] * 3,
        "rows": [[number, 0.0, 0.0], [0.0, number, 0.0], [0.0, 0.0, number]]
        if d.name == "directions"
        else [[number] * n] * 2,
        "formula": f"0.1*sin({variable})",
        "formulas": [f"0.1*sin({variable})"] + [number] * ((f.lengths or (3,))[0] - 1),
        "frame": "tool",
        "text": "word",
        "texts": ["q1"],
        "file": "0,1,2\n1,1,2\n" if d.name == "torques" else "0,1,2,3,4,5,6\n1,1,2,3,4,5,7\n",
        "choice": f.choices[-1] if f.choices else "",
        "whole number": 3,
        "whole numbers": [1, 2],
        "flag": not d.default,
        "parts": [],
    }[f.kind]


def _inside(f: Any, x: float) -> bool:
    return (
        (f.least is None or x >= f.least)
        and (f.above is None or x > f.above)
        and (f.most is None or x <= f.most)
        and (f.below is None or x < f.below)
    )


NUMERIC = ("number", "one per joint", "vector", "numbers", "rows", "formula", "formulas")


def bad(d: FieldDeclaration, n: int = 2) -> Iterator[tuple[str, Any]]:
    """(what is wrong, value) for everything that the field must refuse."""
    f = d.field
    yield "kind", 5.5 if f.kind == "constants" else {"a": 1}
    if f.kind in NUMERIC:
        yield "truth value", _shaped(f, True)
        yield "nan", _shaped(f, math.nan)
        if not f.infinite:
            yield "infinite", _shaped(f, math.inf)
        yield "text", _shaped(f, "1 +")
        yield "complex", _shaped(f, 1j)
        if f.nonzero:
            yield "zero", _shaped(f, 0.0)
    if f.kind in (*NUMERIC, "whole number", "whole numbers"):
        for bound, beyond in ((f.least, -1.0), (f.above, 0.0), (f.most, abs(f.most or 0.0) + 1.0), (f.below, 0.0)):
            if bound is not None:
                yield "out of range", _shaped(f, bound + beyond)
    if f.kind == "number":
        yield "list", [1.0, 2.0]
    if f.kind in ("vector", "formulas") and f.lengths:
        yield "length", [1.0] * (max(f.lengths) + 1)
    if f.kind == "one per joint":
        yield "length", []
    if f.kind == "whole number":
        yield "fraction", 1.5
    if f.kind in ("choice", "flag", "text", "frame"):
        yield "number", 3.25
    if f.kind == "choice" or f.choices:
        yield "word", "nonsense"


def _shaped(f: Any, value: Any) -> Any:
    if f.kind in ("vector", "formulas"):
        return [value] * (f.lengths or (3,))[0]
    if f.kind in ("numbers", "whole numbers"):
        return [value] * 3
    return [[value] * 2] * 2 if f.kind == "rows" else value
