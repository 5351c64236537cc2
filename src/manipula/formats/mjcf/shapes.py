"""What links look like → geoms that MuJoCo shows: without mass and contact."""

from __future__ import annotations

from typing import Any

from manipula.formats.xml.writer import XmlWriter
from manipula.robot.appearance import Visual

SMALLEST = 1e-9  # MuJoCo takes no size below 1e-15, nor one that is zero


def write_geom(xml: XmlWriter, shape: Visual, name: str, where: dict[str, Any]) -> None:
    """One ``<geom>``; a comment where MuJoCo would refuse it. Mesh files, which MuJoCo opens on loading, are not named."""
    size = shape.size
    if shape.kind == "mesh" or min(size) < SMALLEST:
        xml.comment(f"{name}: a {shape.kind} of the appearance is not written")
        return
    if shape.kind == "box":
        size = tuple(v / 2 for v in size)
    elif shape.kind in ("cylinder", "capsule"):
        size = (size[0], size[1] / 2)
    xml.leaf(
        "geom",
        name=name,
        type=shape.kind,
        size=size,
        **where,
        rgba=shape.colour,
        mass=0.0,
        contype=0,
        conaffinity=0,
        group=2,
    )
