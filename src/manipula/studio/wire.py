"""What travels between the page and the server: JSON documents, and arrays of numbers as they lie in memory.

A document is the scenario file as plain values; numbers that JSON does not have (infinity) stand in it as ``{"$number": "inf"}``.
Arrays travel in one binary message: the length of a JSON header (4 bytes, little endian), the header, then the arrays, each at a multiple
of 8 bytes behind the header, float32 or float64.
"""

from __future__ import annotations

import datetime
import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.errors import DescriptionError

NUMBER, BYTES = "$number", "$bytes"
DEEPEST = 40  # tables in tables
MOST_VALUES = 400_000


def to_json(value: Any) -> Any:
    """Plain values for the page: tuples as lists, arrays as lists, infinities marked, dates as text."""
    if isinstance(value, (np.floating, float)):
        number = float(value)
        return number if math.isfinite(number) else {NUMBER: str(number)}
    if isinstance(value, (bool, str, int)) or value is None:
        return value
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Mapping):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return to_json(value.tolist())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_json(v) for v in value]
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def from_json(value: Any) -> Any:
    """The plain values of a document from the page.

    Raises:
        DescriptionError: it is nested too deeply, holds too many values, or null (what is not stated is left out).
    """
    left = [MOST_VALUES]

    def plain(value: Any, depth: int, place: str) -> Any:
        left[0] -= 1
        if depth > DEEPEST or left[0] < 0:
            raise DescriptionError("The document is larger or deeper than a scenario may be.", field=place or None)
        if isinstance(value, dict):
            if set(value) == {NUMBER}:
                return _marked(value[NUMBER], place)
            return {k: plain(v, depth + 1, f"{place}.{k}" if place else k) for k, v in value.items()}
        if isinstance(value, list):
            return [plain(v, depth + 1, f"{place}[{i}]") for i, v in enumerate(value)]
        if value is None:
            raise DescriptionError("A value is missing here: leave the key out, or state it.", field=place or None)
        return value

    return plain(value, 0, "")


def _marked(word: Any, place: str) -> float:
    if word not in ("inf", "-inf"):
        raise DescriptionError('Only "inf" and "-inf" are marked numbers.', field=place or None)
    return float(word)


def read_json(data: bytes) -> dict[str, Any]:
    """The table in the body of a request.

    Raises:
        DescriptionError: it is no JSON, no table, holds a key twice or a number that is none.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) != len(pairs):
            raise ValueError("a key stands twice in one table")
        return table

    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is no number of JSON")

    try:
        found = json.loads(data.decode("utf-8"), object_pairs_hook=once, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise DescriptionError(f"The request is not JSON: {str(error)[:120]}.") from None
    if not isinstance(found, dict):
        raise DescriptionError("The request is not a table.")
    return found


def packed(header: dict[str, Any], arrays: Mapping[str, tuple[np.ndarray, Any]]) -> bytes:
    """One binary message: ``arrays`` are name → (numbers, dtype); the header says under ``arrays`` where each lies and its shape."""
    blocks: list[bytes] = []
    index, at = [], 0
    for name, (values, dtype) in arrays.items():
        flat = np.ascontiguousarray(values, dtype)
        index.append({"name": name, "at": at, "shape": list(flat.shape), "type": flat.dtype.name})
        body = flat.astype(flat.dtype.newbyteorder("<"), copy=False).tobytes()
        blocks += [body, bytes(-len(body) % 8)]
        at += len(body) + -len(body) % 8
    text = json.dumps({**header, "arrays": index}, ensure_ascii=False, allow_nan=False).encode()
    text += b" " * (-(len(text) + 4) % 8)
    return b"".join([struct.pack("<I", len(text)), text, *blocks])


def with_bytes(answer: Any) -> tuple[bytes, bytes]:
    """An answer as JSON, and the bytes in it: where one stands, ``{"$bytes": [at, length]}`` tells its place behind the JSON.

    With bytes the JSON has its length in front (4 bytes, little endian) and fills up to a multiple of 8.
    """
    blocks: list[bytes] = []

    def place(value: Any) -> Any:
        if not isinstance(value, bytes):
            raise TypeError(type(value).__name__)
        at = sum(map(len, blocks))
        blocks.append(value + bytes(-len(value) % 8))
        return {BYTES: [at, len(value)]}

    text = json.dumps(answer, ensure_ascii=False, allow_nan=False, default=place).encode()
    if not blocks:
        return text, b""
    text += b" " * (-(len(text) + 4) % 8)
    return struct.pack("<I", len(text)) + text, b"".join(blocks)
