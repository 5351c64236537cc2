"""The robot of a scenario: a name of the catalog, a file beside the scenario, or a description inside it."""

from __future__ import annotations

import re
from pathlib import PurePath

from manipula.errors import DescriptionError, ShapeError
from manipula.formats.catalog import catalog_names, load_catalog, select_catalog
from manipula.formats.load import READABLE, load
from manipula.formats.toml.fields import Fields
from manipula.formats.toml.reader import robot_from, selection_of
from manipula.formats.toml.writer import string, to_toml
from manipula.robot.robot import Robot
from manipula.robot.selection import EVERYTHING, Selection
from manipula.simulation.files.document import Inline, ScenarioDocument

_HEADER = re.compile(r"^(\[\[?)", re.MULTILINE)


def read_robot(root: Fields, key: str = "robot") -> Robot | None:
    """``robot = "puma560"``, ``robot = "arm.urdf"``, ``robot = { load = "arm.urdf", tip = "tool0", lock = … }`` or ``[robot]`` inline."""
    if not root.has(key):
        return None
    document = root.document
    assert isinstance(document, ScenarioDocument)
    value = root.raw(key)
    if isinstance(value, str):
        return _loaded(document, value, None, key)
    table = root.table(key)
    assert table is not None
    if table.has("load"):
        name, tip = table.required_text("load"), table.text("tip")
        try:
            words = selection_of(table)
        except DescriptionError as error:
            raise document.explain(error, f"{key}.{error.field}") from None
        robot = _loaded(document, name, tip, f"{key}.load", words)
        table.close()
        return robot
    return robot_from(Inline(document, key))


def _loaded(
    document: ScenarioDocument, name: str, tip: str | None, path: str, selection: Selection = EVERYTHING
) -> Robot:
    try:
        if PurePath(name).suffix.lower() not in READABLE and "/" not in name and "\\" not in name:
            robot = select_catalog(name, False, selection)
            return robot if tip is None else robot.replace(tip=tip)
        lock, drop, chain = dict(selection.lock), selection.drop, selection.chain
        return load(document.beside(name, path), tip, lock=lock, drop=drop, chain=chain)
    except DescriptionError as error:
        if error.file is None or error.file == f"{name}.toml":
            error.file = None
            raise document.explain(error, path) from None
        raise
    except ShapeError as error:
        raise document.explain(error, path) from None


def robot_text(robot: Robot, key: str = "robot") -> tuple[str | None, str]:
    """What to write: a line (for the catalog) or ``None``, and the tables that go to the end of the file."""
    if robot.name in catalog_names() and load_catalog(robot.name) == robot:
        return f"{key} = {string(robot.name)}", ""
    inside = _HEADER.sub(rf"\g<1>{key}.", to_toml(robot))
    return None, f"\n[{key}]\n{inside}"
