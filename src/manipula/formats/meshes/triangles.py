"""Triangles: what every mesh file gives, and how many of them may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from manipula.errors import BudgetError, DescriptionError

MAX_TRIANGLES = 500_000  # of one file
FARTHEST = 2.0**30  # of a coordinate


class Triangles(NamedTuple):
    """Corners (n, 3) and, per triangle, the numbers of its three corners, seen from outside against the clock (m, 3)."""

    vertices: np.ndarray
    faces: np.ndarray


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
