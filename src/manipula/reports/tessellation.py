"""Simple bodies as triangles, and meshes made of fewer of them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from manipula.formats.meshes import Triangles
from manipula.robot.appearance import Visual

AROUND = 32  # corners of a circle
CAP = 8  # rings of half a sphere
_CUBE = np.array([[0, 3, 2], [0, 1, 3], [4, 7, 5], [4, 6, 7], [0, 5, 1], [0, 4, 5],
                  [2, 7, 6], [2, 3, 7], [0, 6, 4], [0, 2, 6], [1, 7, 3], [1, 5, 7]])  # fmt: skip


def triangles_of(shape: Visual, mesh: Triangles | None = None) -> Triangles:
    """The surface of a shape in its own frame [m]; ``mesh`` is what the file of a mesh holds."""
    size = np.array(shape.size, float)
    match shape.kind:
        case "box":
            corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
            return Triangles(corners * size, _CUBE)
        case "sphere" | "ellipsoid":
            rings = [(np.cos(a), np.sin(a)) for a in np.linspace(-np.pi / 2, np.pi / 2, 2 * CAP + 1)]
            ball = _turned(tuple(rings))
            return Triangles(ball.vertices * size, ball.faces)
        case "cylinder":
            radius, half = size[0], size[1] / 2
            return _turned(((0.0, -half), (radius, -half), (radius, half), (0.0, half)))
        case "capsule":
            radius, half = size[0], size[1] / 2
            low = [(radius * np.cos(a), radius * np.sin(a) - half) for a in np.linspace(-np.pi / 2, 0, CAP + 1)]
            return _turned((*low, *((r, -z) for r, z in reversed(low))))
    assert mesh is not None
    mirrored = np.prod(size) < 0
    return Triangles(mesh.vertices * size, mesh.faces[:, [0, 2, 1]] if mirrored else mesh.faces, mesh.colours)


@lru_cache(maxsize=256)
def _turned(profile: tuple[tuple[float, float], ...]) -> Triangles:
    """A profile of radii and heights, from below, turned about z; its first and last radius are those of points on the axis."""
    angles = np.arange(AROUND) * (2 * np.pi / AROUND)
    inner = profile[1:-1]
    rings = [np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(AROUND, z)]) for r, z in inner]
    ends = [[0.0, 0.0, profile[0][1]], [0.0, 0.0, profile[-1][1]]]
    here = np.arange(AROUND)
    there = (here + 1) % AROUND
    last = len(rings) * AROUND
    faces = [np.column_stack([np.full(AROUND, last), there, here])]
    for k in range(len(rings) - 1):
        a, b = k * AROUND + here, k * AROUND + there
        faces += [np.column_stack([a, b, b + AROUND]), np.column_stack([a, b + AROUND, a + AROUND])]
    top = last - AROUND
    faces.append(np.column_stack([np.full(AROUND, last + 1), top + here, top + there]))
    return Triangles(np.concatenate([*rings, ends]), np.concatenate(faces))


def simplified(mesh: Triangles, most: int) -> Triangles:
    """At most ``most`` triangles: corners in the same cell of a grid become their mean, and what then has no area is left out."""
    if len(mesh.faces) <= most:
        return mesh
    low = mesh.vertices.min(axis=0)
    reach = float(np.ptp(mesh.vertices, axis=0).max()) or 1.0
    cells = max(1.0, np.sqrt(most))
    while True:
        found = _clustered(mesh, low, reach / cells)
        if len(found.faces) <= most:
            return found
        cells = max(1.0, 0.95 * cells * min(0.9, np.sqrt(most / len(found.faces))))


def _clustered(mesh: Triangles, low: np.ndarray, cell: float) -> Triangles:
    places = ((mesh.vertices - low) / cell).astype(np.int64)
    across = places.max(axis=0) + 1
    keys = (places[:, 0] * across[1] + places[:, 1]) * across[2] + places[:, 2]
    _, cluster, counts = np.unique(keys, return_inverse=True, return_counts=True)
    means = (
        np.stack([np.bincount(cluster, mesh.vertices[:, k], len(counts)) for k in range(3)], axis=1) / counts[:, None]
    )
    faces = cluster[mesh.faces]
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    first = np.argmin(faces, axis=1)[:, None] if len(faces) else np.zeros((0, 1), np.int64)
    faces = np.take_along_axis(faces, (first + np.arange(3)) % 3, axis=1)
    used, renamed = np.unique(np.unique(faces, axis=0).reshape(-1), return_inverse=True)
    return Triangles(means[used], renamed.reshape(-1, 3))
