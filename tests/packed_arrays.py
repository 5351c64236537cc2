"""The arrays of a page read back, as ``web/src/packed.ts`` does: for tests of what a page holds."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from manipula.reports.packed import TYPES


def unpacked(arrays: list[dict[str, Any]], text: str) -> list[np.ndarray]:
    """The arrays that were packed, (rows, columns) each."""
    raw = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)
    found = []
    for a in arrays:
        kind = np.dtype(TYPES[a["type"]])
        count = a["rows"] * a["columns"]
        planes = raw[a["at"] : a["at"] + count * kind.itemsize].reshape(kind.itemsize, count)
        found.append(np.ascontiguousarray(planes.T).view(kind).reshape(a["columns"], a["rows"]).T)
    return found
