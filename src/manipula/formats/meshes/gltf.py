"""glTF 2.0, as JSON with its buffers in or beside it, and GLB: the triangles of the scene with the transforms of its nodes.

Coordinates keep the axes of the file (glTF calls y up): the visual's own pose turns them, as RViz and Pinocchio read it. Compressed and
sparse buffers are refused; nothing but ``.bin`` files in the file's own folder is opened. Of materials the base colour is read where no
texture covers it.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from manipula.algebra import rotation
from manipula.errors import BudgetError, DescriptionError, printable
from manipula.formats.guard import MAX_BYTES, read_bytes, safe_join
from manipula.formats.meshes.nodes import Node, joined
from manipula.formats.meshes.triangles import Triangles, check_count

ALL_BYTES = 64 * 2**20  # of all buffers
_MAGIC, _JSON, _BIN = b"glTF", 0x4E4F534A, 0x004E4942
_TYPES = {5121: "<u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_COMPRESSED = ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_mesh_quantization")


def read_gltf(data: bytes, folder: Path) -> Triangles:
    """The triangles of a glTF or GLB file that lies in ``folder``.

    Raises:
        DescriptionError: damaged, compressed, with buffers elsewhere, or more than the budget.
    """
    text, binary = _chunks(data) if data[:4] == _MAGIC else (data, None)
    if len(text) > MAX_BYTES:
        raise BudgetError(f"The JSON of a glTF file has at most {MAX_BYTES} bytes.")
    try:
        root = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        raise DescriptionError("This is no glTF file: it holds no JSON.") from None
    return _Gltf(root, binary, folder).triangles()


def _chunks(data: bytes) -> tuple[bytes, bytes | None]:
    """The JSON and the buffer of a GLB file: magic, version, length, then chunks of length, kind, content."""
    parts: dict[int, bytes] = {}
    at = 12
    while at + 8 <= len(data):
        length, kind = (int.from_bytes(data[at + k : at + k + 4], "little") for k in (0, 4))
        if at + 8 + length > len(data):
            raise DescriptionError("This GLB file is cut off.")
        parts.setdefault(kind, data[at + 8 : at + 8 + length])
        at += 8 + length
    if int.from_bytes(data[4:8], "little") != 2 or _JSON not in parts:
        raise DescriptionError("This is no GLB file of version 2.")
    return parts[_JSON], parts.get(_BIN)


class _Gltf:
    def __init__(self, root: Any, binary: bytes | None, folder: Path) -> None:
        if not isinstance(root, dict):
            raise DescriptionError("This is no glTF file: its JSON is no object.")
        self.root, self.binary, self.folder = root, binary, folder
        self.buffers: dict[int, bytes] = {}
        self.bytes = 0
        used = root.get("extensionsRequired", [])
        compressed = [name for name in _COMPRESSED if isinstance(used, list) and name in used]
        if compressed:
            raise DescriptionError(f"Compressed meshes ({compressed[0]}) are not read.")

    def triangles(self) -> Triangles:
        scenes = self.root.get("scenes")
        if scenes:
            scene = self._entry("scenes", self.root.get("scene", 0))
            roots = self._list(scene, "nodes")
        else:
            roots = range(len(self._list(self.root, "nodes")))
        return joined(roots, self._node)

    def _list(self, table: dict[str, Any], key: str) -> list[Any]:
        found = table.get(key, [])
        if not isinstance(found, list):
            raise DescriptionError(f"'{key}' of a glTF file is a list.")
        return found

    def _entry(self, key: str, number: Any) -> dict[str, Any]:
        """The entry of one of the file's lists."""
        entries = self._list(self.root, key)
        if type(number) is not int or not 0 <= number < len(entries) or not isinstance(entries[number], dict):
            raise DescriptionError(f"{key}[{printable(number, 20)}] is not in this glTF file.")
        return entries[number]

    def _node(self, number: object) -> Node:
        node = self._entry("nodes", number)
        pieces = self._mesh(node["mesh"]) if "mesh" in node else ()
        return _transform(node), pieces, self._list(node, "children")

    def _mesh(self, number: Any) -> Iterator[Triangles]:
        rows = self._list(self._entry("meshes", number), "primitives")
        return (piece.painted(self._colour(row)) for row in rows if (piece := self._primitive(row)) is not None)

    def _colour(self, row: dict[str, Any]) -> list[float] | None:
        """The base colour of a primitive's material, which glTF states in linear light; ``None`` where it is a texture or no colour."""
        materials, number = self.root.get("materials"), row.get("material")
        if not isinstance(materials, list) or type(number) is not int or not 0 <= number < len(materials):
            return None
        material: Any = materials[number]
        surface = material.get("pbrMetallicRoughness", {}) if isinstance(material, dict) else None
        if not isinstance(surface, dict) or "baseColorTexture" in surface:
            return None
        factor = surface.get("baseColorFactor", [1.0, 1.0, 1.0, 1.0])
        if (
            not isinstance(factor, list)
            or len(factor) != 4
            or not all(type(v) in (int, float) and 0 <= v <= 1 for v in factor)
        ):
            return None
        opacity = 1.0 if material.get("alphaMode", "OPAQUE") == "OPAQUE" else factor[3]
        return [*(_encoded(v) for v in factor[:3]), opacity]

    def _primitive(self, row: Any) -> Triangles | None:
        attributes = row.get("attributes") if isinstance(row, dict) else None
        if not isinstance(attributes, dict):
            raise DescriptionError("A primitive of this glTF file is damaged.")
        mode = row.get("mode", 4)
        if mode not in (4, 5, 6):  # points and lines
            return None
        points = self._accessor(attributes.get("POSITION"), "VEC3").astype(float)
        if "indices" in row:
            corners = self._accessor(row["indices"], "SCALAR").reshape(-1)
            if corners.dtype.kind != "u":
                raise DescriptionError("The indices of a glTF file are whole numbers.")
            corners = corners.astype(np.int64)
        else:
            corners = np.arange(len(points))
        if len(corners) and corners.max() >= len(points):
            raise DescriptionError("A face of the mesh names a vertex that is not there.")
        if mode == 4:
            if len(corners) % 3:
                raise DescriptionError("A triangle has three corners.")
            return Triangles(points, corners.reshape(-1, 3))
        if len(corners) < 3:
            return None
        check_count(len(corners) - 2)
        if mode == 6:
            first = np.full(len(corners) - 2, corners[0])
            return Triangles(points, np.stack([first, corners[1:-1], corners[2:]], axis=1))
        faces = np.stack([corners[:-2], corners[1:-1], corners[2:]], axis=1)
        faces[1::2] = faces[1::2][:, [1, 0, 2]]
        return Triangles(points, faces)

    def _accessor(self, number: Any, kind: str) -> np.ndarray:
        """Rows of numbers out of a buffer, (count, 3) or (count, 1)."""
        accessor = self._entry("accessors", number)
        width = {"VEC3": 3, "SCALAR": 1}[kind]
        stated: Any = accessor.get("componentType")
        form = _TYPES.get(stated) if type(stated) is int else None
        if accessor.get("type") != kind or form is None or (width == 3 and form != "<f4"):
            raise DescriptionError(f"An accessor of this glTF file is no {kind} of a kind that is read.")
        if "sparse" in accessor or "bufferView" not in accessor:
            raise DescriptionError("Sparse accessors of glTF are not read.")
        view = self._entry("bufferViews", accessor["bufferView"])
        data = self._buffer(view.get("buffer"))
        start, length = _whole(view, "byteOffset", 0), _whole(view, "byteLength")
        size = np.dtype(form).itemsize * width
        stride, count = _whole(view, "byteStride", size), _whole(accessor, "count")
        offset = _whole(accessor, "byteOffset", 0)
        check_count(count // 3)
        if start + length > len(data) or stride < size or (count and offset + stride * (count - 1) + size > length):
            raise DescriptionError("A buffer of this glTF file is too short for what it should hold.")
        item = np.dtype(form)
        return np.ndarray((count, width), item, data, start + offset, (stride, item.itemsize)).copy()

    def _buffer(self, number: Any) -> bytes:
        buffer = self._entry("buffers", number)
        if number not in self.buffers:
            data = self._content(number, buffer.get("uri"))
            self.bytes += len(data)
            if self.bytes > ALL_BYTES:
                raise BudgetError(f"The buffers of a glTF file have at most {ALL_BYTES} bytes.")
            self.buffers[number] = data
        return self.buffers[number]

    def _content(self, number: Any, uri: Any) -> bytes:
        if uri is None:
            if number != 0 or self.binary is None:
                raise DescriptionError("A buffer of this glTF file does not say where its bytes are.")
            return self.binary
        if not isinstance(uri, str):
            raise DescriptionError("The address of a buffer is a text.")
        if uri.startswith("data:"):
            head, _, body = uri.partition(",")
            if not head.endswith(";base64"):
                raise DescriptionError("Bytes inside a glTF file are base64.")
            try:
                return base64.b64decode(body, validate=True)
            except (binascii.Error, ValueError):
                raise DescriptionError("The bytes inside this glTF file are no base64.") from None
        return read_bytes(safe_join(self.folder, unquote(uri), (".bin",)), ALL_BYTES)


def _encoded(linear: float) -> float:
    """Linear light as the value that screens take (sRGB, IEC 61966-2-1)."""
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055


def _whole(table: dict[str, Any], key: str, default: int | None = None) -> int:
    value = table.get(key, default)
    if type(value) is not int or not 0 <= value <= ALL_BYTES:
        raise DescriptionError(f"'{key}' of a glTF file is a whole number, found {printable(value, 20)}.")
    return value


def _floats(node: dict[str, Any], key: str, default: list[float]) -> np.ndarray:
    value = node.get(key, default)
    numbers = isinstance(value, list) and all(type(v) in (int, float) and abs(v) < 1e12 for v in value)
    if not numbers or len(value) != len(default):
        raise DescriptionError(f"'{key}' of a node of glTF is a list of {len(default)} finite numbers.")
    return np.array(value, float)


def _transform(node: dict[str, Any]) -> np.ndarray:
    """``matrix``, by columns, or T R S of ``translation``, ``rotation`` (x, y, z, w) and ``scale``."""
    if "matrix" in node:
        return _floats(node, "matrix", [0.0] * 16).reshape(4, 4).T
    X = np.eye(4)
    x, y, z, w = _floats(node, "rotation", [0.0, 0.0, 0.0, 1.0])
    length = float(np.sqrt(x * x + y * y + z * z + w * w))
    if length < 1e-9:
        raise DescriptionError("The rotation of a node of glTF is zero.")
    R = np.array(rotation.from_quaternion_wxyz([float(v) / length for v in (w, x, y, z)]), float)
    X[:3, :3] = R * _floats(node, "scale", [1.0, 1.0, 1.0])
    X[:3, 3] = _floats(node, "translation", [0.0, 0.0, 0.0])
    return X
