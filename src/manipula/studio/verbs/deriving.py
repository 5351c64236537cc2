"""The equations of the current robot, typeset and as source code."""

from __future__ import annotations

from typing import Any

from manipula.codegen import LANGUAGES, source_texts
from manipula.errors import unknown_name
from manipula.studio import documents
from manipula.studio.runs import RunStore
from manipula.symbolic.levels import LEVELS

FORMATS = ("html", "latex", "text", "matlab")


def equations(
    runs: RunStore, document: Any, level: Any = "compact", only: Any = None, format: Any = "html"
) -> dict[str, Any]:
    """Equations of the robot as text of one format."""
    if level not in LEVELS:
        raise unknown_name("level", str(level), LEVELS, field="level")
    if format not in FORMATS:
        raise unknown_name("format", str(format), FORMATS, field="format")
    from manipula.symbolic.equations import Equations  # and with it SymPy: what nobody has asked for need not be loaded
    from manipula.symbolic.render import render

    robot = documents.robot_from_document(document)
    return {"text": render(Equations(robot, level), format, None if only is None else str(only)), "format": format}


def code(runs: RunStore, document: Any, language: Any) -> dict[str, Any]:
    """The robot's functions as source code: file names with their texts."""
    if language not in LANGUAGES:
        raise unknown_name("language", str(language), LANGUAGES, field="language")
    robot = documents.robot_from_document(document).numeric
    return {"files": source_texts(robot, language)}


VERBS = {"equations": equations, "code": code}
