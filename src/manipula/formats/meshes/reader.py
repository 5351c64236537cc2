"""A mesh file as triangles; the format follows the suffix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from manipula.errors import DescriptionError, printable
from manipula.formats.guard import read_bytes

if TYPE_CHECKING:
    from manipula.formats.meshes.triangles import Triangles

SUFFIXES = (".stl", ".obj", ".msh", ".dae", ".gltf", ".glb")
MESH_BYTES = 64 * 2**20  # of one file


def read_mesh(path: Path, limit: int = MESH_BYTES) -> Triangles:
    """The triangles of a mesh file; STL, OBJ and MSH give single precision, as these formats and MuJoCo hold it.

    Raises:
        DescriptionError: no such format, damaged, or more than the budget.
    """
    from manipula.formats.meshes.triangles import check_mesh

    try:
        return check_mesh(_read(path, read_bytes(path, limit)))
    except DescriptionError as error:
        raise error.at(file=str(path)) from None


def _read(path: Path, data: bytes) -> Triangles:
    match path.suffix.lower():
        case ".stl":
            from manipula.formats.meshes.stl import read_stl

            return read_stl(data)
        case ".obj":
            from manipula.formats.meshes.obj import read_obj

            return read_obj(data)
        case ".msh":
            from manipula.formats.meshes.msh import read_msh

            return read_msh(data)
        case ".dae":
            from manipula.formats.meshes.dae import read_dae

            return read_dae(data)
        case ".gltf" | ".glb":
            from manipula.formats.meshes.gltf import read_gltf

            return read_gltf(data, path.parent)
        case other:
            raise DescriptionError(f"Meshes end in {', '.join(SUFFIXES)}; found '{printable(other, 20)}'.")
