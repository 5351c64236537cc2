"""A robot as coloured triangles: ``scene(robot, q)``, for anything that draws them.

Mesh files are opened here, when somebody looks, and never before. Files that are gone or damaged are reported and left out; more triangles
than the budget are made fewer. A robot without appearance gives none.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manipula.algebra.arguments import finite_array, whole_number
from manipula.bounded_cache import BoundedCache
from manipula.errors import DescriptionError, ShapeError, printable
from manipula.formats.meshes import MESH_BYTES, Triangles, read_mesh
from manipula.model import Model
from manipula.reports.tessellation import simplified, triangles_of
from manipula.robot.appearance import Colour, Visual
from manipula.robot.robot import Robot

MOST_TRIANGLES = 200_000  # of a scene
ALL_BYTES = 4 * MESH_BYTES  # of all mesh files of one robot
UNCOLOURED: Colour = (0.7, 0.7, 0.72, 1.0)


@dataclass(frozen=True)
class Surface:
    """The shapes of one colour on one body.

    Attributes:
        link: number of the body (``Frame.link``), −1 for the base.
        vertices: (n, 3) corners in the frame of the body [m].
        faces: (m, 3) numbers of the corners of each triangle, seen from outside against the clock.
        colour: red, green, blue, opacity, 0 … 1.
    """

    link: int
    vertices: np.ndarray
    faces: np.ndarray
    colour: Colour


@dataclass(frozen=True)
class RobotScene:
    """A robot in one posture.

    Attributes:
        surfaces: what moves as one piece; the same for every posture.
        poses: (len(surfaces), 4, 4) where each stands in the world.
        notes: mesh files that could not be read, and whether triangles were made fewer.
    """

    surfaces: tuple[Surface, ...]
    poses: np.ndarray
    notes: tuple[str, ...]


_SURFACES: BoundedCache[tuple[tuple[Surface, ...], tuple[str, ...]]] = BoundedCache(8)


def scene(robot: Robot, q: Any = None, *, triangles: int = MOST_TRIANGLES) -> RobotScene:
    """What ``robot`` looks like at q; at zero when omitted.

    Args:
        triangles: at most so many in all.
    """
    if not isinstance(robot, Robot):
        raise DescriptionError(f"scene() takes a Robot, found {type(robot).__name__}.")
    whole_number(triangles, "triangles", 1, 10 * MOST_TRIANGLES)
    robot = robot.numeric
    at = np.zeros(robot.n) if q is None else finite_array(q, "q")
    if at.shape != (robot.n,):
        raise ShapeError(f"q has one number per joint, shape ({robot.n},); found {at.shape}.")
    surfaces, notes = surfaces_of(robot, triangles)
    base = np.asarray(robot.base.matrix(), float)
    names = tuple(link.name for link in robot.bodies)
    bodies = Model(robot).poses(at[None], names)[0] if surfaces and names else ()
    poses = [base if s.link < 0 else bodies[s.link] for s in surfaces]
    return RobotScene(surfaces, np.array(poses).reshape(-1, 4, 4), notes)


def surfaces_of(robot: Robot, triangles: int = MOST_TRIANGLES) -> tuple[tuple[Surface, ...], tuple[str, ...]]:
    """The shapes of a numeric robot by body and colour, and what is to be told about them."""
    key = (robot.appearance, triangles, tuple(_stamp(f) for f in sorted({s.file for s in robot.appearance if s.file})))
    return _SURFACES.get(key) or _SURFACES.put(key, _surfaces(robot.appearance, triangles))


def _stamp(file: str) -> tuple[str, int, int]:
    """A file that has been changed is read again."""
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return file, 0, 0
    return file, status.st_size, status.st_mtime_ns


def _surfaces(shapes: tuple[Visual, ...], most: int) -> tuple[tuple[Surface, ...], tuple[str, ...]]:
    meshes, faults = _meshes(sorted({s.file for s in shapes if s.kind == "mesh"}))
    drawn = [(s, triangles_of(s, meshes.get(s.file))) for s in shapes if s.kind != "mesh" or s.file in meshes]
    total = sum(len(t.faces) for _, t in drawn)
    notes = [f"{len(faults)} mesh files are not shown; the first: {faults[0]}"] if faults else []
    if total > most:
        notes.append(f"{total} triangles were made fewer, at most {most}.")
    groups: dict[tuple[int, Colour], list[Triangles]] = {}
    for shape, surface in drawn:
        R, p = np.asarray(shape.pose.R, float), np.asarray(shape.pose.p, float)
        for colour, part in [(shape.colour, surface)] if shape.colour else surface.by_colour():
            share = len(part.faces) if total <= most else int(len(part.faces) * most / total)
            part = simplified(part, share)
            groups.setdefault((shape.link, colour or UNCOLOURED), []).append(  # pyright: ignore[reportArgumentType]
                Triangles(part.vertices @ R.T + p, part.faces)
            )
    return tuple(_joined(link, colour, parts) for (link, colour), parts in groups.items()), tuple(notes)


def _joined(link: int, colour: Colour, parts: list[Triangles]) -> Surface:
    starts = np.cumsum([0, *(len(t.vertices) for t in parts)])
    faces = np.concatenate([t.faces + start for t, start in zip(parts, starts)])
    vertices = np.concatenate([t.vertices for t in parts])
    for array in (vertices, faces):
        array.setflags(write=False)  # the same for every posture and every caller
    return Surface(link, vertices, faces, colour)


def _meshes(files: list[str]) -> tuple[dict[str, Triangles], list[str]]:
    found: dict[str, Triangles] = {}
    faults: list[str] = []
    left = ALL_BYTES
    for file in files:
        try:
            found[file] = read_mesh(Path(file), min(left, MESH_BYTES))
            left -= os.path.getsize(file)
        except (DescriptionError, OSError) as error:
            faults.append(printable(error, 200))
    return found, faults
