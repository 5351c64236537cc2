"""MSH, MuJoCo's own binary format."""

from __future__ import annotations

import numpy as np

from manipula.errors import DescriptionError
from manipula.formats.meshes.triangles import Triangles, check_count


def read_msh(data: bytes) -> Triangles:
    """Four counts (vertices, normals, texture coordinates, faces), then their numbers in that order."""
    if len(data) < 16:
        raise DescriptionError("This MSH file has no header.")
    vertices, normals, textures, faces = (int(n) for n in np.frombuffer(data, "<i4", 4))
    sizes = (vertices, normals, textures, faces)
    if min(sizes) < 0 or len(data) != 16 + 4 * (3 * vertices + 3 * normals + 2 * textures + 3 * faces):
        raise DescriptionError("This MSH file is damaged: its size does not fit its header.")
    check_count(faces)
    points = np.frombuffer(data, "<f4", 3 * vertices, 16).astype(float).reshape(-1, 3)
    skip = 16 + 4 * (3 * vertices + 3 * normals + 2 * textures)
    return Triangles(points, np.frombuffer(data, "<i4", 3 * faces, skip).astype(np.int64).reshape(-1, 3))
