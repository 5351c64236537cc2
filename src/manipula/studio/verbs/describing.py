"""Documents and robots: open, check, write."""

from __future__ import annotations

import tomllib
from typing import Any

from manipula.errors import DescriptionError, ManipulaError
from manipula.formats.dh import to_dh
from manipula.formats.toml import dh_to_toml
from manipula.simulation.scenario import Scenario
from manipula.studio import documents, first_values
from manipula.studio.robot_view import diagnosis, robot_view
from manipula.studio.runs import RunStore, error_in_words
from manipula.studio.wire import to_json


def new(runs: RunStore, robot: Any) -> dict[str, Any]:
    """A document with a robot of the catalog."""
    return {"document": documents.from_catalog(robot)}


def open_file(runs: RunStore, name: Any, text: Any) -> dict[str, Any]:
    """A file that was opened or dropped, as a document."""
    return {"document": documents.opened(name, text)}


def write(runs: RunStore, document: Any) -> dict[str, Any]:
    """The document as the text of a scenario file."""
    return {"text": documents.text_of(document)}


def check(runs: RunStore, document: Any) -> dict[str, Any]:
    """Can it run? What is wrong otherwise, and in which field."""
    try:
        scenario = documents.scenario_from(document)
    except ManipulaError as error:
        return {"ok": False, "error": to_json(error_in_words(error))}
    kind = scenario.resolved_kind() if isinstance(scenario, Scenario) else "programmed"
    return {"ok": True, "kind": kind, "duration": scenario.duration, "joints": list(scenario.robot.joint_names)}


def robot(runs: RunStore, document: Any) -> dict[str, Any]:
    """The robot of a document as the page draws it, with what the doctor says."""
    found = documents.numeric_robot_from_document(document)
    return {"robot": robot_view(found, documents.start_from_document(document)), "doctor": diagnosis(found)}


def as_dh(runs: RunStore, document: Any, convention: Any = "standard") -> dict[str, Any]:
    """The same document with its robot as a DH table, which can be edited row by row."""
    if convention not in ("standard", "modified"):
        raise DescriptionError('A convention is "standard" or "modified".', field="convention")
    found = documents.robot_from_document(document)
    table = tomllib.loads(dh_to_toml(to_dh(found, convention)))
    return {"document": {**document, "robot": to_json(table)}}


def choose(runs: RunStore, document: Any, kind: Any, place: Any, name: Any = None, q: Any = None) -> dict[str, Any]:
    """The document with a part that was chosen in a form, filled in so that it can run where that is possible."""
    return first_values.chosen(document, kind, name, place, q)


VERBS = {
    "choose": choose,
    "new": new,
    "open": open_file,
    "write": write,
    "check": check,
    "robot": robot,
    "as_dh": as_dh,
}
