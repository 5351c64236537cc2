"""A mesh file as triangles; the format follows the suffix."""

from __future__ import annotations

from pathlib import Path

from manipula.errors import DescriptionError, printable
from manipula.formats.guard import read_bytes
from manipula.formats.meshes.msh import read_msh
from manipula.formats.meshes.obj import read_obj
from manipula.formats.meshes.stl import read_stl
from manipula.formats.meshes.triangles import Triangles, check_mesh

SUFFIXES = (".stl", ".obj", ".msh", ".dae", ".gltf", ".glb")
MESH_BYTES = 64 * 2**20  # of one file


def read_mesh(path: Path, limit: int = MESH_BYTES) -> Triangles:
    """The triangles of a mesh file; STL, OBJ and MSH give single precision, as these formats and MuJoCo hold it.

    Raises:
        DescriptionError: no such format, damaged, or more than the budget.
    """
    try:
        return check_mesh(_read(path, read_bytes(path, limit)))
    except DescriptionError as error:
        raise error.at(file=str(path)) from None


def _read(path: Path, data: bytes) -> Triangles:
    match path.suffix.lower():
        case ".stl":
            return read_stl(data)
        case ".obj":
            return read_obj(data)
        case ".msh":
            return read_msh(data)
        case ".dae":
            from manipula.formats.meshes.dae import read_dae

            return read_dae(data)
        case ".gltf" | ".glb":
            from manipula.formats.meshes.gltf import read_gltf

            return read_gltf(data, path.parent)
        case other:
            raise DescriptionError(f"Meshes end in {', '.join(SUFFIXES)}; found '{printable(other, 20)}'.")
