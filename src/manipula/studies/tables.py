"""Parts given as tables or by their name alone, in files and in Python: ``{ law = "pd_gravity", kp = 100 }``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from manipula.errors import DescriptionError
from manipula.simulation.files import parts
from manipula.simulation.files.document import ScenarioDocument
from manipula.simulation.files.reference import read_reference, reference_table
from manipula.simulation.files.text import toml_text, value_text

READERS = {
    "controller": ("law", parts.read_controller),
    "friction": ("law", parts.read_law),
    "drives": ("drive", parts.read_drive),
    "disturbances": ("kind", parts.read_disturbance),
    "reference": ("kind", read_reference),
}


def reference_of(table: Mapping[str, Any]) -> Any:
    """The reference that a table describes."""
    return _read("reference", table)


def part_of(group: str, value: Any) -> Any:
    """The part that a name or a table describes; an object is itself.

    Raises:
        DescriptionError: no such part, or its fields are wrong.
    """
    if isinstance(value, str):
        return _read(group, {READERS[group][0]: value})
    if isinstance(value, Mapping):
        return _read(group, value)
    return value


def _read(group: str, table: Mapping[str, Any]) -> Any:
    document = ScenarioDocument(toml_text({group: plain(table)}))
    try:
        return document.fields().read(group, READERS[group][1])
    except DescriptionError as error:
        raise DescriptionError(error.problem, field=error.field or group) from None


def plain(value: Any) -> Any:
    """Mappings as dicts, tuples as lists."""
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, (tuple, list)) else value


def table_of(value: Any, group: str) -> Any:
    """What a file says for a value of an axis: a number, a text, a list, or the table of a part.

    Raises:
        DescriptionError: for Python objects that no file can hold.
    """
    if isinstance(value, Mapping):
        return plain(value)
    if group == "reference" and hasattr(value, "derivatives"):
        return plain(reference_table(value) or {})
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return parts.part_table(value, group if group in parts.KINDS else None)
    return plain(value)


def label_of(value: Any, group: str) -> str:
    """A value that is no number, in one line, for the table of results."""
    if isinstance(value, str):
        return value
    try:
        return value_text(table_of(value, group))
    except DescriptionError:
        return repr(value)
