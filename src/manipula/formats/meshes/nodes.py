"""Trees of nodes with transforms: pieces of a mesh, each placed by the product of the transforms above it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from manipula.errors import BudgetError, DescriptionError
from manipula.formats.meshes.triangles import Triangles, check_count

MAX_NODES = 20_000  # visited, those that are shown several times counted each time
MAX_LEVELS = 200
# X of the node (4×4), its pieces as they are read, its children
Node = tuple[np.ndarray, Iterable[Triangles], Iterable[object]]


def joined(roots: Iterable[object], read: Callable[[object], Node]) -> Triangles:
    """The triangles of all nodes in one frame; each piece T of a node with the transforms A, B … C above it gives A B … C T.

    Raises:
        DescriptionError: too many nodes or triangles; a node that holds itself is nested too deeply.
    """
    vertices: list[np.ndarray] = []
    faces: list[np.ndarray] = []
    colours: list[np.ndarray] = []
    corners = triangles = visited = 0
    todo = [(root, np.eye(4), 1) for root in roots]
    while todo:
        node, above, level = todo.pop()
        visited += 1
        if visited > MAX_NODES or level > MAX_LEVELS:
            raise BudgetError(f"More than {MAX_NODES} nodes or {MAX_LEVELS} levels of them; one may hold itself.")
        own, pieces, children = read(node)
        X = above @ own
        for piece in pieces:
            triangles = check_count(triangles + len(piece.faces))
            check_count(corners // 3)
            turned = np.linalg.det(X[:3, :3]) < 0
            vertices.append(piece.vertices @ X[:3, :3].T + X[:3, 3])
            faces.append((piece.faces[:, [0, 2, 1]] if turned else piece.faces) + corners)
            own_colours = piece.colours
            colours.append(np.full((len(piece.faces), 4), np.nan) if own_colours is None else own_colours)
            corners += len(piece.vertices)
        todo.extend((child, X, level + 1) for child in children)
    if not faces:
        raise DescriptionError("This file shows no triangles.")
    every = np.concatenate(colours)
    return Triangles(np.concatenate(vertices), np.concatenate(faces), None if np.isnan(every).all() else every)
