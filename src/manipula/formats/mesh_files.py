"""Triangles from mesh files: STL (binary and text), OBJ, and MuJoCo's MSH. Under budgets; nothing but coordinates is read."""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from manipula.errors import BudgetError, DescriptionError, printable
from manipula.formats.guard import read_bytes

SUFFIXES = (".stl", ".obj", ".msh")
MESH_BYTES = 64 * 2**20  # of one file
MAX_TRIANGLES = 500_000  # of one file
FARTHEST = 2.0**30  # of a coordinate
_VERTEX = re.compile(rb"^[ \t]*vertex[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)[ \t\r]*$", re.M)


class Triangles(NamedTuple):
    """Corners (n, 3) and, per triangle, the numbers of its three corners, seen from outside against the clock (m, 3)."""

    vertices: np.ndarray
    faces: np.ndarray


def read_mesh(path: Path, limit: int = MESH_BYTES) -> Triangles:
    """The triangles of a mesh file; coordinates are single precision, as these formats and MuJoCo hold them.

    Raises:
        DescriptionError: no such format, damaged, or more than the budget.
    """
    data = read_bytes(path, limit)
    try:
        match path.suffix.lower():
            case ".stl":
                mesh = _stl(data)
            case ".obj":
                mesh = _obj(data)
            case ".msh":
                mesh = _msh(data)
            case other:
                raise DescriptionError(f"Meshes end in {', '.join(SUFFIXES)}; found '{printable(other, 20)}'.")
        return check_mesh(mesh)
    except DescriptionError as error:
        raise error.at(file=str(path)) from None


def check_mesh(mesh: Triangles) -> Triangles:
    """Refuse corners that are missing, not finite or too far away."""
    if len(mesh.faces) > MAX_TRIANGLES or len(mesh.vertices) > 3 * MAX_TRIANGLES:
        raise BudgetError(f"A mesh has at most {MAX_TRIANGLES} triangles, found {len(mesh.faces)}.")
    if len(mesh.vertices) < 4:
        raise DescriptionError(f"A mesh has at least 4 vertices, found {len(mesh.vertices)}.")
    if not np.all(np.abs(mesh.vertices) <= FARTHEST):  # nan compares false
        raise DescriptionError("A coordinate of the mesh is not finite or too large.")
    if len(mesh.faces) and not (mesh.faces.min() >= 0 and mesh.faces.max() < len(mesh.vertices)):
        raise DescriptionError("A face of the mesh names a vertex that is not there.")
    return mesh


def _count(given: int) -> int:
    if given > MAX_TRIANGLES:
        raise BudgetError(f"A mesh has at most {MAX_TRIANGLES} triangles, found {given}.")
    return given


def _stl(data: bytes) -> Triangles:
    """Binary: 80 bytes, the number of triangles, 50 bytes each; else the text form, ``vertex x y z`` by threes."""
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    if count >= 0 and len(data) == 84 + 50 * count:
        _count(count)
        row = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        corners = np.frombuffer(data, row, count, 84)["corners"].astype(float)
    elif data.lstrip()[:5].lower() == b"solid":
        numbers = array("f")
        for vertex in _VERTEX.finditer(data):
            numbers.extend(_coordinates(vertex.groups()))
            _count(len(numbers) // 9)
        if len(numbers) % 9 or not numbers:
            raise DescriptionError("The text of this STL file is damaged: its vertices do not come in threes.")
        corners = np.array(numbers, float)
    else:
        raise DescriptionError("This is no STL file: its size does not fit the number of triangles that it states.")
    flat = corners.reshape(-1, 3)
    return Triangles(flat, np.arange(len(flat)).reshape(-1, 3))


def _coordinates(words: Sequence[bytes]) -> list[float]:
    try:
        if not any(b"_" in word for word in words):  # Python reads 1_000, nobody else does
            return [float(word) for word in words]
    except ValueError:
        pass
    raise DescriptionError("A coordinate of the mesh is not a number.")


def _obj(data: bytes) -> Triangles:
    """``v x y z`` and ``f a b c [d]``; polygons are cut into a fan from their first corner."""
    points, corners = array("f"), array("q")
    for raw in io.BytesIO(data):
        words = raw.split(None, 64)
        if not words:
            continue
        if words[0] == b"v":
            if len(words) < 4:
                raise DescriptionError("A vertex of this OBJ file has fewer than three coordinates.")
            points.extend(_coordinates(words[1:4]))
            _count(len(points) // 9)
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
            _count(len(corners) // 3)
    if not points:
        raise DescriptionError("This OBJ file holds no vertices.")
    return Triangles(np.array(points, float).reshape(-1, 3), np.array(corners, np.int64).reshape(-1, 3))


def _msh(data: bytes) -> Triangles:
    """Four counts (vertices, normals, texture coordinates, faces), then their numbers in that order."""
    if len(data) < 16:
        raise DescriptionError("This MSH file has no header.")
    vertices, normals, textures, faces = (int(n) for n in np.frombuffer(data, "<i4", 4))
    sizes = (vertices, normals, textures, faces)
    if min(sizes) < 0 or len(data) != 16 + 4 * (3 * vertices + 3 * normals + 2 * textures + 3 * faces):
        raise DescriptionError("This MSH file is damaged: its size does not fit its header.")
    _count(faces)
    points = np.frombuffer(data, "<f4", 3 * vertices, 16).astype(float).reshape(-1, 3)
    skip = 16 + 4 * (3 * vertices + 3 * normals + 2 * textures)
    return Triangles(points, np.frombuffer(data, "<i4", 3 * faces, skip).astype(np.int64).reshape(-1, 3))
