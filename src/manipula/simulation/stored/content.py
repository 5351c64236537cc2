"""What a stored result holds, whatever the format: a header in JSON, arrays of float64, one digest over every byte of both.

The header begins with the digest, so that everything after it, to the last comma, takes part. It says beforehand how large every array
is: sizes are compared with a budget, and containers against the header, before anything is allocated.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from manipula.errors import BudgetError, DescriptionError, printable
from manipula.simulation.result import STATUSES, Result
from manipula.simulation.stored.axes import described, legible
from manipula.version import __version__

FORMAT = 2  # 1 is what 0.1.0 wrote
MAX_LOADED = 2 << 30  # bytes of numbers that are loaded unless more is asked for
MAX_HEADER = 64 << 20  # bytes of the header
MAX_VALUES = 4_000_000  # values in the header
MAX_AXES = 8  # of one array
BLOCK = 1 << 18  # numbers that are hashed together
BEGIN, BLANK = '{"digest": "', "0" * 64
NOT_IN_HEADER = ("t", "arrays", "scenario")
DAMAGED = "The file is damaged: what it holds does not match the digest stored with it."
KINDS = {
    "status": str, "reason": str, "statuses": tuple, "reasons": tuple, "notes": tuple, "meta": dict, "error_estimate": float,
    "error_estimates": tuple, "trusted_until": float, "trusted_untils": tuple,
}  # fmt: skip


class Header(NamedTuple):
    """A header that was read: its text, its entries and the shapes of all arrays, ``t`` included, in the order of the signals."""

    text: str
    entries: dict[str, Any]
    shapes: dict[str, tuple[int, ...]]

    @property
    def samples(self) -> int:
        return self.shapes["t"][0]

    @property
    def columns(self) -> list[str]:
        """Names of the flat columns of a single run."""
        columns = self.entries.get("columns")
        wanted = sum(math.prod(shape[1:]) for shape in self.shapes.values())
        if not isinstance(columns, list) or len(columns) != wanted or len(self.shapes["t"]) != 1:
            raise DescriptionError("The header names other columns than its arrays have.")
        return [str(c) for c in columns]


def sealed(result: Result) -> str:
    """The header of a result as one line of JSON, its digest first."""
    shapes = {"t": list(result.t.shape), **{name: list(value.shape) for name, value in result.arrays.items()}}
    names = [f.name for f in dataclasses.fields(Result) if f.name not in NOT_IN_HEADER]
    entries = {
        "digest": BLANK, "format": FORMAT, "fields": {name: packed(getattr(result, name), name) for name in names}, "shapes": shapes,
        **described(result),
        "attributes": attributes(result),
    }  # fmt: skip
    text = json.dumps(entries)
    _check_length(text)
    return BEGIN + digest(text, {"t": result.t, **result.arrays}) + text[len(BEGIN) + len(BLANK) :]


def attributes(result: Result) -> dict[str, str]:
    """What a file says about itself as a whole."""
    title = legible(result.meta.get("name") or "run")
    return {"Conventions": "CF-1.11", "title": title, "source": f"manipula {__version__}"}


def digest(text: str, arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of the header with its digest blank and of the bits of all arrays in order; any NaN counts as the same one."""
    found = hashlib.sha256(b"manipula result 2\n")
    found.update((BEGIN + BLANK + text[len(BEGIN) + len(BLANK) :]).encode("ascii", "backslashreplace"))
    for name, values in arrays.items():
        found.update(f"\n{name}{tuple(values.shape)}\n".encode())
        flat = values.reshape(-1)
        for start in range(0, flat.size, BLOCK):
            block = np.array(flat[start : start + BLOCK], "<f8")
            block[np.isnan(block)] = np.nan
            found.update(block.data)
    return found.hexdigest()


def _check_length(text: str) -> None:
    values = sum(text.count(mark) for mark in ",[{")
    if len(text) > MAX_HEADER or values > MAX_VALUES:
        raise BudgetError(
            f"What the result says beside its numbers has {len(text)} bytes and about {values} values; "
            f"at most {MAX_HEADER} and {MAX_VALUES} fit into a file."
        )


def parsed(text: str) -> dict[str, Any]:
    """The entries of a header, whose size is looked at before it is read."""
    _check_length(text)
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        raise DescriptionError("The header of the result is damaged: it is not JSON.") from None
    if not isinstance(entries, dict):
        raise DescriptionError("The header of the result is damaged: it is no JSON object.")
    return entries


def is_legacy(entries: dict[str, Any]) -> bool:
    """Is this what 0.1.0 wrote? Such a file has no format number, and its own digest has to be right."""
    if "format" not in entries:
        return True
    if entries["format"] != FORMAT:
        raise DescriptionError(
            f"The file has format {printable(entries['format'], 20)}, this version of manipula reads 1 and {FORMAT}."
        )
    return False


def opened(text: str, entries: dict[str, Any], budget: int) -> Header:
    """The header with the shapes of its arrays, checked against the budget [bytes] before anything is allocated."""
    stored = entries.get("digest")
    if not isinstance(stored, str) or len(stored) != 64 or not text.startswith(f'{BEGIN}{stored}"'):
        raise DescriptionError("The file has no digest, or a damaged one: it cannot be trusted.")
    shapes = entries.get("shapes")
    if not isinstance(shapes, dict) or len(shapes.get("t", ())) != 1:
        raise DescriptionError("The header of the result is damaged: it does not say how large its arrays are.")
    found = {str(name): shape_of(name, shape) for name, shape in shapes.items()}
    check_size(found, budget)
    return Header(text, entries, {"t": found.pop("t"), **found})


def shape_of(name: Any, shape: Any) -> tuple[int, ...]:
    """The shape that a header gives an array, checked."""
    good = isinstance(shape, list | tuple) and len(shape) <= MAX_AXES
    if not good or any(type(k) is not int or not 0 < k < 1 << 62 for k in shape):
        raise DescriptionError(f"The header gives '{printable(name)}' the shape {printable(shape)}.")
    return tuple(shape)


def check_size(shapes: Mapping[str, tuple[int, ...]], budget: int) -> None:
    """BudgetError when arrays of these shapes take more memory than allowed."""
    size = 8 * sum(math.prod(shape) for shape in shapes.values())
    if size > budget:
        raise BudgetError(
            f"The arrays of this file would take {size:.4g} bytes, allowed are {budget:.4g}: "
            "load_result(path, budget=…) allows more."
        )


def closed(header: Header, arrays: dict[str, np.ndarray]) -> Result:
    """The result, when digest and shapes are right; ``arrays`` are fresh, ``t`` among them."""
    if list(arrays) != list(header.shapes) or any(arrays[k].shape != shape for k, shape in header.shapes.items()):
        raise DescriptionError("The file is damaged: its arrays are not those that its header names.")
    if digest(header.text, arrays) != header.entries["digest"]:
        raise DescriptionError(DAMAGED)
    fields = header.entries.get("fields")
    known = {f.name for f in dataclasses.fields(Result)} - set(NOT_IN_HEADER)
    if not isinstance(fields, dict) or not {"status", "reason", "meta"} <= set(fields):
        raise DescriptionError("The header of the result is damaged: it has no status, reason or meta.")
    if not set(fields) <= known:
        raise DescriptionError(
            f"The header has entries that this version of manipula does not know: {printable(sorted(set(fields) - known))}."
        )
    return result_of({name: unpacked(value) for name, value in fields.items()}, arrays)


def result_of(fields: dict[str, Any], arrays: dict[str, np.ndarray]) -> Result:
    """A result from plain values and fresh arrays, which become its own."""
    for name, kind in KINDS.items():
        if name in fields and not isinstance(fields[name], kind):
            raise DescriptionError(f"The header of the result is damaged: '{name}' is no {kind.__name__}.")
    if fields["status"] not in STATUSES:
        raise DescriptionError(f"The status '{printable(fields['status'])}' is not one of {', '.join(STATUSES)}.")
    for value in arrays.values():
        value.flags.writeable = False
    return Result(arrays["t"], {name: value for name, value in arrays.items() if name != "t"}, **fields)


def packed(value: Any, place: str) -> Any:
    """A plain value as JSON holds it: tuples as lists; numbers that JSON lacks and arrays are marked."""
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, np.generic):
        return packed(value.item(), place)
    if isinstance(value, float):
        return value if math.isfinite(value) else {"__float__": repr(float(value))}
    if isinstance(value, (list, tuple)):
        return [packed(v, f"{place}[{i}]") for i, v in enumerate(value)]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return {"__array__": packed(value.tolist(), place)}
    if isinstance(value, Mapping) and not {"__float__", "__array__"} & set(value):
        return {str(k): packed(v, f"{place}.{printable(k, 40)}") for k, v in value.items()}
    raise DescriptionError(f"'{place}' holds a {type(value).__name__}, which no file can hold; give plain values.")


def unpacked(value: Any) -> Any:
    """The value that was packed."""
    if isinstance(value, list):
        return tuple([unpacked(v) for v in value])
    if isinstance(value, dict):
        if set(value) == {"__float__"}:
            return float(value["__float__"])
        if set(value) == {"__array__"}:
            return np.array(unpacked(value["__array__"]))
        return {k: unpacked(v) for k, v in value.items()}
    return value
