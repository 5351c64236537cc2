"""The catalog: robots that come with the package, each file naming its source. Offline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from manipula.errors import DescriptionError, unknown_name
from manipula.formats.toml.fields import Document
from manipula.formats.toml.reader import robot_from
from manipula.robot.robot import Robot
from manipula.robot.selection import Selection


@dataclass(frozen=True)
class CatalogEntry:
    """One robot of the catalog.

    Attributes:
        name: what ``load`` takes.
        description: one line.
        n: number of joints.
        source: where the numbers come from.
    """

    name: str
    description: str
    n: int
    source: str


@cache
def catalog_names() -> tuple[str, ...]:
    """Names of the robots, sorted."""
    files = (f.name for f in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


@cache
def catalog() -> tuple[CatalogEntry, ...]:
    """Every robot of the catalog with its one-line description, number of joints and source."""
    return tuple(_entry(name) for name in catalog_names())


@cache
def load_catalog(name: str, symbolic: bool = False) -> Robot:
    """The robot of that name; ``symbolic`` keeps the letters of its ``[parameters]``.

    Raises:
        UnknownNameError: with the nearest name.
    """
    return robot_from(_document(name, symbolic))


def select_catalog(name: str, symbolic: bool, selection: Selection) -> Robot:
    """What is wanted of the robot of that name."""
    if selection:
        return robot_from(_document(name, symbolic), selection)
    return load_catalog(name, symbolic) if symbolic else load_catalog(name)  # one robot, however it is asked for


def _entry(name: str) -> CatalogEntry:
    root = _document(name).root
    for key in ("description", "source"):
        if not root.get(key):
            raise DescriptionError(f"A robot of the catalog needs the key '{key}'.", file=f"{name}.toml", field=key)
    return CatalogEntry(name, root["description"], _joint_count(root), root["source"])


def _joint_count(root: dict[str, Any]) -> int:
    """Joints that move on their own, counted in the file: to list the catalog no robot is built (nor SymPy loaded for one with free parameters)."""
    if "planar" in root:
        return len(root["planar"]["lengths"])
    if "dh" in root:
        return len(root["dh"]["rows"])
    return sum(joint["type"] != "fixed" and "follows" not in joint for joint in root["joint"])


def _document(name: str, symbolic: bool = False) -> Document:
    if name not in catalog_names():
        raise unknown_name("robot in the catalog", name, catalog_names())
    return Document((_folder() / f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml", symbolic)


def _folder() -> Path:
    return Path(__file__).parents[1] / "robot" / "catalog"
