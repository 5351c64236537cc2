r"""The volume, centre and inertia that MuJoCo gives to a mesh.

With the corners a, b, c of a triangle seen from an apex o, its tetrahedron has the volume :math:`V = \tfrac16 (a\times b)\cdot c` and
the products :math:`\int x x^T dV = \tfrac{V}{20}\,(2aa^T+2bb^T+2cc^T+ab^T+ba^T+ac^T+ca^T+bc^T+cb^T)`. ``exact`` adds these up; ``legacy``,
the default, counts every tetrahedron as positive, first from the centroid of the faces, then from the centre of mass so found; ``convex``
takes the convex hull, ``shell`` the surface, with area and 12 in the place of volume and 20.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from manipula.algebra import rotation
from manipula.algebra.linear import array
from manipula.errors import DescriptionError, printable, unknown_name
from manipula.formats.meshes import MESH_BYTES, Triangles, check_mesh, read_mesh
from manipula.formats.mjcf.settings import Defaults, Settings
from manipula.formats.mjcf.trusted_folder import TrustedFolder
from manipula.formats.xml.reader import Element

SUFFIXES = (".stl", ".obj", ".msh")  # that MuJoCo reads
MODES = ("legacy", "exact", "convex", "shell")
ALL_BYTES = 4 * MESH_BYTES  # of all mesh files of one robot
OBJ_COUNTS = 8  # times, because its text takes that much longer to read
SMALLEST = 1e-15  # mjMINVAL, of a volume or an area


class Solid(NamedTuple):
    """Volume (area of a shell), centre, and inertia about it per unit of mass [m²], in the axes of the mesh."""

    volume: float
    centre: np.ndarray
    inertia: np.ndarray


class Meshes:
    """The meshes of ``<asset>``, read only when a mass depends on them."""

    def __init__(self, root: Element, trusted: TrustedFolder | None, settings: Settings, defaults: Defaults) -> None:
        self.trusted, self.settings, self.defaults = trusted, settings, defaults
        self.known: dict[str, Element] = {}
        self.solids: dict[str, Solid] = {}
        self.bytes = 0
        for asset in root.all("asset"):
            for mesh in asset.all("mesh"):
                stem = mesh.attributes.get("file", "").replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
                self.known[mesh.attributes.get("name") or stem] = mesh

    def solid(self, geom: Element) -> Solid:
        """What the mesh of a geom weighs per unit of density.

        Raises:
            DescriptionError: no such mesh, a file that cannot be read, or a shape that has no volume.
        """
        name = geom.get("mesh")
        if name not in self.known:
            raise unknown_name("mesh", name, self.known, file=geom.file, line=geom.line, field="geom.mesh")
        if name not in self.solids:
            try:
                self.solids[name] = self._computed(self.defaults.filled(self.known[name], None))
            except DescriptionError as error:
                raise DescriptionError(
                    f"The mass of this geom comes from the mesh '{printable(name, 60)}': {error.problem} State <inertial> in its body, or "
                    "inertiafromgeom='false' in <compiler>.", file=geom.file, line=geom.line, field="geom.mesh") from None  # fmt: skip
        return self.solids[name]

    def _computed(self, mesh: Element) -> Solid:
        for word in ("builtin", "params"):
            if mesh.get(word, "none") != "none":
                mesh.fail("Meshes that MuJoCo generates are not computed here.", word)
        if list(mesh.all("plugin")):
            mesh.fail("Meshes of plugins are not read.")
        mode = mesh.choice("inertia", MODES, "legacy")
        vertices, faces, _ = self._triangles(mesh)
        at = np.array(mesh.numbers("refpos", 3, (0.0, 0.0, 0.0)))
        turn = np.array(mesh.numbers("refquat", 4, (1.0, 0.0, 0.0, 0.0)))
        if not np.linalg.norm(turn) > 1e-10:
            mesh.fail("The direction is zero.", "refquat")
        R = array(rotation.from_quaternion_wxyz([float(v) for v in turn / np.linalg.norm(turn)]))
        scale = np.array(mesh.numbers("scale", 3, (1.0, 1.0, 1.0)))
        if np.prod(scale) < 0:
            faces = faces[:, [0, 2, 1]]
        vertices = ((vertices - at) @ R) * scale
        if mode == "convex" or not len(faces):
            if "maxhullvert" in mesh.attributes:
                mesh.fail("A convex hull of a limited number of vertices is not computed here.", "maxhullvert")
            hull = _hull(vertices)
            return solid(vertices, hull, "exact" if mode == "convex" else mode, faces if len(faces) else hull)
        if mode == "exact":
            _check_orientation(vertices, faces)
        return solid(vertices, faces, mode, faces)

    def _triangles(self, mesh: Element) -> Triangles:
        if "vertex" in mesh.attributes:
            points = np.array(mesh.numbers("vertex", range(12, 10**6)), dtype=np.float32).astype(float)
            corners = np.array(mesh.numbers("face", range(3, 10**6), ()))
            if len(points) % 3 or len(corners) % 3 or not np.array_equal(corners, np.floor(corners)):
                mesh.fail("Vertices and faces are three numbers each.", "vertex")
            return check_mesh(Triangles(points.reshape(-1, 3), corners.astype(np.int64).reshape(-1, 3)))
        path = self.path(mesh)
        self.bytes += path.stat().st_size * (OBJ_COUNTS if path.suffix.lower() == ".obj" else 1)
        if self.bytes > ALL_BYTES:
            mesh.fail(
                f"The mesh files that give masses have at most {ALL_BYTES // 2**20} MiB together, text of OBJ files counted {OBJ_COUNTS} times.",
                "file",
            )
        return read_mesh(path)

    def path(self, mesh: Element) -> Path:
        """The file of a mesh, in the folder of the description."""
        own = self.settings.of(mesh)
        if self.trusted is None or own.folder is None:
            shown = printable(mesh.get("file"), 60)
            mesh.fail(f"it is the file '{shown}', and a text has no folder to look it up in.", "file")
        reference = mesh.get("file").replace("\\", "/")
        if own.strippath:
            reference = reference.rpartition("/")[2]
        where = f"{own.meshdir.rstrip('/')}/" if own.meshdir.strip("./") else ""
        if reference.startswith("/") or ":" in reference:
            where = ""
        try:
            return self.trusted.file(own.folder, where + reference, SUFFIXES)
        except DescriptionError as error:
            below = Path(mesh.file).parent if mesh.file is not None else own.folder
            if below == own.folder or not below.is_relative_to(own.folder):
                raise
            within = below.relative_to(own.folder).as_posix()
            for other in (f"{within}/{reference}", f"{where}{within}/{reference}"):  # beside a file that was included
                try:
                    return self.trusted.file(own.folder, other, SUFFIXES)
                except DescriptionError:
                    continue
            raise error from None


def solid(vertices: np.ndarray, faces: np.ndarray, mode: str, around: np.ndarray) -> Solid:
    """The mass properties of triangles; ``around`` are the faces whose centroid is the first apex."""
    centroid = _centroid(vertices, around)
    volume, centre, _ = _sums(vertices, faces, centroid, mode)
    if mode == "shell":
        centre = centroid
    if volume < SMALLEST:
        what = (
            "surface is too small" if mode == "shell" else "volume is not positive; its faces may be turned inside out"
        )
        raise DescriptionError(f"Its {what} ({volume:.3g}).")
    volume, _, products = _sums(vertices, faces, centre, mode)
    return Solid(volume, centre, (np.trace(products) * np.eye(3) - products) / volume)


def _centroid(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """The area-weighted mean of the triangles."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    total = float(areas.sum())
    if total < SMALLEST:
        raise DescriptionError(f"Its surface is too small ({total:.3g}).")
    return areas @ ((a + b + c) / 3) / total


def _sums(vertices: np.ndarray, faces: np.ndarray, apex: np.ndarray, mode: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume (area), centre, and ∫ x xᵀ about the apex."""
    a, b, c = (vertices[faces[:, k]] - apex for k in range(3))
    n = np.cross(b - a, c - a)
    if mode == "shell":
        v, parts = np.linalg.norm(n, axis=1) / 2, 12
    else:
        v, parts = np.einsum("ij,ij->i", n, (a + b + c) / 3) / 6, 20
        v = np.abs(v) if mode == "legacy" else v
    s = a + b + c
    products = np.einsum("i,nij,nik->jk", v, *[np.stack([a, b, c, s])] * 2) / parts
    total = float(v.sum())
    centre = apex + (v @ s) / 4 / total if total >= SMALLEST else apex
    return total, centre, products


def _hull(vertices: np.ndarray) -> np.ndarray:
    """Triangles of the convex hull, seen from outside against the clock."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(vertices, qhull_options="Qt")
    except QhullError:
        raise DescriptionError("Its vertices have no convex hull: they lie in one plane.") from None
    faces = hull.simplices.astype(np.int64)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    flipped = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces[flipped] = faces[flipped][:, [0, 2, 1]]
    return faces


def _check_orientation(vertices: np.ndarray, faces: np.ndarray) -> None:
    """Two faces that share a directed edge are turned against each other; MuJoCo refuses them in the exact mode too."""
    _, same = np.unique(vertices, axis=0, return_inverse=True)
    ring = same.reshape(-1)[faces]
    ring = ring[(ring[:, 0] != ring[:, 1]) & (ring[:, 1] != ring[:, 2]) & (ring[:, 2] != ring[:, 0])]
    edges = np.concatenate([ring[:, [0, 1]], ring[:, [1, 2]], ring[:, [2, 0]]])
    if len(np.unique(edges, axis=0)) != len(edges):
        raise DescriptionError("Its faces are not oriented alike, so it has no exact volume.")
