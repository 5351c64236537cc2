"""STL, binary and text."""

from __future__ import annotations

import re
from array import array

import numpy as np

from manipula.errors import DescriptionError
from manipula.formats.meshes.triangles import Triangles, check_count, coordinates

_VERTEX = re.compile(rb"^[ \t]*vertex[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)[ \t\r]*$", re.M)


def read_stl(data: bytes) -> Triangles:
    """Binary: 80 bytes, the number of triangles, 50 bytes each; else the text form, ``vertex x y z`` by threes."""
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    if count >= 0 and len(data) == 84 + 50 * count:
        check_count(count)
        row = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        corners = np.frombuffer(data, row, count, 84)["corners"].astype(float)
    elif data.lstrip()[:5].lower() == b"solid":
        numbers = array("f")
        for vertex in _VERTEX.finditer(data):
            numbers.extend(coordinates(vertex.groups()))
            check_count(len(numbers) // 9)
        if len(numbers) % 9 or not numbers:
            raise DescriptionError("The text of this STL file is damaged: its vertices do not come in threes.")
        corners = np.array(numbers, float)
    else:
        raise DescriptionError("This is no STL file: its size does not fit the number of triangles that it states.")
    flat = corners.reshape(-1, 3)
    return Triangles(flat, np.arange(len(flat)).reshape(-1, 3))
