"""OBJ: corners and faces; materials are not read."""

from __future__ import annotations

import io
from array import array

import numpy as np

from manipula.errors import BudgetError, DescriptionError
from manipula.formats.meshes.triangles import Triangles, check_count, coordinates

MAX_LINES = 600_000  # vertices and faces: what is read in two seconds


def read_obj(data: bytes) -> Triangles:
    """``v x y z`` and ``f a b c [d]``; polygons are cut into a fan from their first corner."""
    points, corners = array("f"), array("q")
    lines = 0
    for raw in io.BytesIO(data):
        words = raw.split(None, 64)
        if not words:
            continue
        lines += words[0] in (b"v", b"f")
        if lines > MAX_LINES:
            raise BudgetError(f"An OBJ file has at most {MAX_LINES} vertices and faces.")
        if words[0] == b"v":
            if len(words) < 4:
                raise DescriptionError("A vertex of this OBJ file has fewer than three coordinates.")
            points.extend(coordinates(words[1:4]))
            check_count(len(points) // 9)
        elif words[0] == b"f":
            try:
                named = [int(word.partition(b"/")[0]) for word in words[1:]]
            except ValueError:
                raise DescriptionError("A face of this OBJ file is damaged.") from None
            if len(named) < 3 or 0 in named or max(map(abs, named)) >= 2**31:
                raise DescriptionError("A face of this OBJ file is damaged.")
            ring = [n - 1 if n > 0 else len(points) // 3 + n for n in named]
            for k in range(1, len(ring) - 1):
                corners.extend((ring[0], ring[k], ring[k + 1]))
            check_count(len(corners) // 3)
    if not points:
        raise DescriptionError("This OBJ file holds no vertices.")
    return Triangles(np.array(points, float).reshape(-1, 3), np.array(corners, np.int64).reshape(-1, 3))
