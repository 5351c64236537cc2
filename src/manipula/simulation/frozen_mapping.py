"""A mapping that is a value: it compares, hashes and does not change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


class Frozen(Mapping[str, Any]):
    """Names and plain values: floats, texts, nested tuples of them, mappings. Equal to a dict with the same entries."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self._entries = {str(k): frozen(v) for k, v in entries.items()}

    def __getitem__(self, name: str) -> Any:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return self._entries == (other._entries if isinstance(other, Frozen) else dict(Frozen(other)))

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __repr__(self) -> str:
        return repr(self._entries)

    def __reduce__(self) -> Any:
        return type(self), (self._entries,)


def frozen(value: Any) -> Any:
    """Lists and arrays as tuples, whole numbers as floats, dicts as ``Frozen``; everything else as it is."""
    if isinstance(value, Mapping):
        return value if type(value) is Frozen else Frozen(value)
    if isinstance(value, np.ndarray):
        return frozen(value.tolist())
    if isinstance(value, (list, tuple)):
        return tuple(frozen(v) for v in value)
    if isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool):
        return float("inf") if abs(value) >= 10**308 else float(value)  # refused as such where it is looked at
    return value
