"""Triangles: what every mesh file gives, and how many of them may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from manipula.errors import BudgetError, DescriptionError

MAX_TRIANGLES = 500_000  # of one file
FARTHEST = 2.0**30  # of a coordinate


class Triangles(NamedTuple):
    """Corners (n, 3) and, per triangle, the numbers of its three corners, seen from outside against the clock (m, 3).

    ``colours``: red, green, blue and opacity (0 … 1) of each triangle (m, 4), NaN where the file states none; ``None``: nowhere.
    """

    vertices: np.ndarray
    faces: np.ndarray
    colours: np.ndarray | None = None

    def painted(self, colour: Sequence[float] | np.ndarray | None) -> Triangles:
        """The same triangles, all in one colour; unchanged without one."""
        if colour is None:
            return self
        return self._replace(colours=np.tile(np.clip(np.asarray(colour, float), 0.0, 1.0), (len(self.faces), 1)))

    def by_colour(self) -> Iterator[tuple[tuple[float, ...] | None, Triangles]]:
        """The triangles of each colour, with the corners that they use."""
        if self.colours is None:
            yield None, self
            return
        kinds, which = np.unique(np.nan_to_num(self.colours, nan=-1.0), axis=0, return_inverse=True)
        for k, colour in enumerate(kinds):
            used, faces = np.unique(self.faces[which.reshape(-1) == k], return_inverse=True)
            part = Triangles(self.vertices[used], faces.reshape(-1, 3))
            yield (None if colour[0] < 0 else tuple(float(v) for v in colour)), part


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


def check_count(given: int) -> int:
    """Refuse more triangles than one mesh may have, before work is done."""
    if given > MAX_TRIANGLES:
        raise BudgetError(f"A mesh has at most {MAX_TRIANGLES} triangles, found {given}.")
    return given


def coordinates(words: Sequence[bytes]) -> list[float]:
    """Decimal words as numbers; other words are refused."""
    try:
        if not any(b"_" in word for word in words):  # Python reads 1_000, nobody else does
            return [float(word) for word in words]
    except ValueError:
        pass
    raise DescriptionError("A coordinate of the mesh is not a number.")
