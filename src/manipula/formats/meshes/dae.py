"""COLLADA: the meshes of the scene with the transforms of its nodes, in metres.

Coordinates keep the axes of the file, as RViz and Pinocchio read it: ``up_axis`` is not applied, the visual's own pose is. Of materials
the diffuse colour is read, opaque (exporters disagree about what transparency means); skins, lines, curves and textures are not, nor
anything outside the file.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from manipula.errors import DescriptionError, printable
from manipula.formats.meshes.nodes import Node, joined
from manipula.formats.meshes.triangles import Triangles, check_count
from manipula.formats.xml.reader import Budget, Element, read_xml

MAX_BYTES = 64 * 2**20
BUDGET = Budget(bytes=MAX_BYTES, depth=256, elements=200_000, text=MAX_BYTES)
_SHADERS = ("phong", "lambert", "blinn")
_FACES = ("triangles", "polylist", "polygons", "tristrips", "trifans")


def read_dae(data: bytes) -> Triangles:
    """The triangles of a COLLADA text.

    Raises:
        DescriptionError: damaged, or more than the budget.
    """
    root, _ = read_xml(data, BUDGET)
    if root.tag != "COLLADA":
        root.fail(f"COLLADA starts with <COLLADA>, found <{printable(root.tag)}>.")
    return _Collada(root).triangles()


class _Collada:
    def __init__(self, root: Element) -> None:
        self.root = root
        self.ids: dict[str, Element] = {}
        self.arrays: dict[int, np.ndarray] = {}
        self.colours: dict[str, np.ndarray | None] = {"": None}
        todo = [root]
        while todo:
            e = todo.pop()
            if "id" in e.attributes:
                self.ids[e.get("id")] = e
            todo.extend(e.children)

    def triangles(self) -> Triangles:
        unit = self._first(self._first(self.root, "asset"), "unit")
        metre = 1.0 if unit is None else unit.number("meter", 1.0)
        if not metre > 0:
            raise DescriptionError(f"The unit of a mesh is a length, found {metre:g}.")
        scene = self._first(self._first(self.root, "scene"), "instance_visual_scene")
        if scene is not None:
            shown = self._target(scene, "url", "visual_scene")
        else:
            shown = self._first(self._first(self.root, "library_visual_scenes"), "visual_scene")
        if shown is None:
            self.root.fail("This file shows no scene.")
        found = joined(shown.all("node"), self._node)  # pyright: ignore[reportArgumentType]
        return found._replace(vertices=found.vertices * metre)

    @staticmethod
    def _first(element: Element | None, tag: str) -> Element | None:
        return None if element is None else next(element.all(tag), None)

    def _target(self, element: Element, attribute: str, tag: str) -> Element:
        """What ``#id`` names in this file."""
        name = element.get(attribute)
        found = self.ids.get(name[1:]) if name.startswith("#") else None
        if found is None or found.tag != tag:
            element.fail(f"'{printable(name, 60)}' names no <{tag}> in this file.", attribute)
        return found

    def _node(self, node: Element) -> Node:  # pyright: ignore[reportIncompatibleVariableOverride]
        X = np.eye(4)
        shown: list[tuple[Element, Element]] = []
        children: list[Element] = []
        for e in node.children:
            match e.tag:
                case "matrix" | "translate" | "rotate" | "scale":
                    X = X @ _transform(e)
                case "lookat" | "skew":
                    e.fail(f"<{e.tag}> is not read.")
                case "instance_geometry":
                    shown.append((self._target(e, "url", "geometry"), e))
                case "instance_node":
                    children.append(self._target(e, "url", "node"))
                case "node":
                    children.append(e)
        return X, (piece for geometry, instance in shown for piece in self._mesh(geometry, instance)), children

    def _mesh(self, geometry: Element, instance: Element) -> Iterator[Triangles]:
        mesh, bound = self._first(geometry, "mesh"), self._first(instance, "bind_material")
        materials = self._first(bound, "technique_common")
        targets = {} if materials is None else {
            e.get("symbol", ""): e.get("target", "") for e in materials.all("instance_material")
        }  # fmt: skip
        for e in mesh.children if mesh is not None else ():
            if e.tag in _FACES:
                yield self._faces(e).painted(self._colour(targets.get(e.get("material", ""), "")))

    def _colour(self, target: str) -> np.ndarray | None:
        """The diffuse colour of a material; ``None`` where it has a texture, or none that can be read."""
        if target not in self.colours:
            effect = self._first(self._named(target, "material"), "instance_effect")
            profile = self._first(
                None if effect is None else self._named(effect.get("url", ""), "effect"), "profile_COMMON"
            )
            technique = self._first(profile, "technique")
            shaded = None if technique is None else next((e for e in technique.children if e.tag in _SHADERS), None)
            stated = self._first(self._first(shaded, "diffuse"), "color")
            self.colours[target] = None if stated is None else _rgb(stated)
        return self.colours[target]

    def _named(self, name: str, tag: str) -> Element | None:
        found = self.ids.get(name.removeprefix("#"))
        return found if found is not None and found.tag == tag else None

    def _faces(self, element: Element) -> Triangles:
        """The corners named by one element; in ``<p>`` each corner has one number for every offset of the inputs."""
        offset, width, points = None, 1, np.zeros((0, 3))
        for e in element.all("input"):
            at = _whole(e, "offset")
            width = max(width, at + 1)
            if e.get("semantic", "") == "VERTEX":
                offset, points = at, self._points(self._target(e, "source", "vertices"))
        if offset is None or width > 64:
            element.fail("The corners of these faces are missing.")
        rings = [_numbers(p).reshape(-1) for p in element.all("p")]
        if element.tag == "polylist":
            sizes = _numbers(self._first(element, "vcount") or element.fail("<vcount> is missing."))
            every = np.concatenate(rings) if rings else np.zeros(0)
            if len(every) != width * sizes.sum() or (len(sizes) and sizes.min() < 0):
                element.fail("The numbers in <p> do not fit <vcount>.")
            corners = _indices(every[offset::width], element)
            return Triangles(points, _fans(corners, sizes.astype(np.int64)))
        if any(len(r) % width for r in rings):
            element.fail("The numbers in <p> do not fit the inputs.")
        lists = [_indices(r[offset::width], element) for r in rings]
        match element.tag:
            case "triangles":
                if any(len(c) % 3 for c in lists):
                    element.fail("A triangle has three corners.")
                faces = [c.reshape(-1, 3) for c in lists]
            case "tristrips":
                faces = [_strip(c) for c in lists]
            case _:  # polygons and fans
                faces = [_fans(c, np.array([len(c)])) for c in lists]
        check_count(sum(len(f) for f in faces))
        return Triangles(points, np.concatenate(faces) if faces else np.zeros((0, 3), np.int64))

    def _points(self, vertices: Element) -> np.ndarray:
        stated = next((e for e in vertices.all("input") if e.get("semantic", "") == "POSITION"), None)
        if stated is None:
            vertices.fail("The positions of these vertices are missing.")
        source = self._target(stated, "source", "source")
        accessor = self._first(self._first(source, "technique_common"), "accessor")
        numbers = self._first(source, "float_array")
        if numbers is None or accessor is None:
            source.fail("The positions of these vertices are missing.")
        if id(numbers) not in self.arrays:
            self.arrays[id(numbers)] = _numbers(numbers)
        values = self.arrays[id(numbers)]
        count, stride, start = (_whole(accessor, n, d) for n, d in (("count", 0), ("stride", 1), ("offset", 0)))
        if stride < 3 or start + count * stride > len(values):
            accessor.fail("The numbers of this source do not fit its accessor.")
        return values[start : start + count * stride].reshape(count, stride)[:, :3]


def _rgb(element: Element) -> np.ndarray | None:
    """Red, green, blue and full opacity; ``None`` for what is no colour."""
    try:
        values = _numbers(element)
    except DescriptionError:
        return None
    return np.array([*values[:3], 1.0]) if len(values) in (3, 4) and np.isfinite(values).all() else None


def _numbers(element: Element) -> np.ndarray:
    if not element.text.strip():
        return np.zeros(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(element.text, float, sep=" ")
        except (DeprecationWarning, ValueError):
            element.fail("Numbers are needed here.")


def _whole(element: Element, attribute: str, default: int = 0) -> int:
    text = element.get(attribute, str(default)).strip()
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        element.fail(f"A whole number is needed, found '{printable(text, 20)}'.", attribute)
    return int(text)


def _indices(values: np.ndarray, element: Element) -> np.ndarray:
    if not np.all((values >= 0) & (values < 2**31)):
        element.fail("A face of the mesh names a vertex that is not there.")
    return values.astype(np.int64)


def _fans(corners: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Polygons of so many corners, cut into triangles from their first corner."""
    counts = np.maximum(sizes - 2, 0)
    total = check_count(int(counts.sum()))
    starts = np.repeat(np.cumsum(sizes) - sizes, counts)
    step = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([corners[starts], corners[starts + step + 1], corners[starts + step + 2]], axis=1)


def _strip(corners: np.ndarray) -> np.ndarray:
    """Every three corners in a row; every second triangle is turned."""
    rows = (
        np.stack([corners[:-2], corners[1:-1], corners[2:]], axis=1) if len(corners) > 2 else np.zeros((0, 3), np.int64)
    )
    rows[1::2] = rows[1::2][:, [1, 0, 2]]
    return rows


def _transform(e: Element) -> np.ndarray:
    values, wanted = _numbers(e), {"matrix": 16, "translate": 3, "rotate": 4, "scale": 3}[e.tag]
    if len(values) != wanted or not np.all(np.abs(values) < 1e12):
        e.fail(f"{wanted} finite numbers are needed, found {len(values)}.")
    X: Any = np.eye(4)
    match e.tag:
        case "matrix":
            X = values.reshape(4, 4)
        case "translate":
            X[:3, 3] = values
        case "scale":
            X[:3, :3] = np.diag(values)
        case _:
            X[:3, :3] = _rotation(values, e)
    return X


def _rotation(values: np.ndarray, e: Element) -> np.ndarray:
    """Rodrigues: 1 + sin α [u] + (1 − cos α) [u]² for the axis u and α degrees."""
    length = float(np.linalg.norm(values[:3]))
    if length < 1e-12:
        return np.eye(3) if values[3] == 0 else e.fail("The axis of this rotation is zero.")
    x, y, z = values[:3] / length
    U, a = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]), np.radians(values[3])
    return np.eye(3) + np.sin(a) * U + (1 - np.cos(a)) * (U @ U)
