"""Numbers of a page as compact text: arrays of floats, their bytes sorted by weight, deflated, in base64.

Samples of a smooth signal share their high bytes, so that these compress to little. The page's own reader is ``web/src/packed.ts``.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

TYPES = {"f4": "<f4", "f8": "<f8", "u2": "<u2", "u4": "<u4"}
LEVEL = 4
F4_LARGEST = float(np.finfo(np.float32).max)


class Packer:
    """Collects arrays and gives each a number; the same array under the same key is kept once.

    Args:
        plain: numbers as they lie in memory, each array at a multiple of 8 bytes, for a page on this machine: nothing is sorted or compressed.
    """

    def __init__(self, plain: bool = False) -> None:
        self.plain = plain
        self.arrays: list[dict[str, Any]] = []
        self._chunks: list[bytes] = []
        self.known: dict[Any, int] = {}
        self._size = 0

    def add(self, values: Any, kind: str = "f4", key: Any = None) -> int:
        """Keep an array (S,) or (S, k); its columns are stored one after the other. What is too large for 4 bytes becomes NaN."""
        if key is not None and key in self.known:
            return self.known[key]
        numbers = np.asarray(values)
        if kind == "f4":
            numbers = np.where(np.abs(numbers) < F4_LARGEST, numbers, np.nan)
        numbers = np.ascontiguousarray(np.atleast_2d(numbers.T), dtype=TYPES[kind])
        if self.plain:
            raw = numbers.tobytes() + bytes(-numbers.nbytes % 8)
        else:
            raw = numbers.view(np.uint8).reshape(numbers.size, numbers.itemsize).T.tobytes()
        self.arrays.append({"type": kind, "at": self._size, "rows": numbers.shape[1], "columns": numbers.shape[0]})
        self._chunks.append(raw)
        self._size += len(raw)
        if key is not None:
            self.known[key] = len(self.arrays) - 1
        return len(self.arrays) - 1

    def bytes(self) -> bytes:
        """All arrays, one behind the other."""
        return b"".join(self._chunks)

    def text(self, level: int = LEVEL) -> str:
        """All arrays as base64; ``level``: of compression, 1 is quickest."""
        return base64.b64encode(zlib.compress(self.bytes(), level)).decode()
