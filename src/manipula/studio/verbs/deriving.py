"""The equations of the current robot, typeset and as source code."""

from __future__ import annotations

from typing import Any

from manipula.codegen import LANGUAGES, source_texts
from manipula.errors import BudgetError, unknown_name
from manipula.studio import documents
from manipula.studio.runs import RunStore
from manipula.symbolic.levels import LEVELS

FORMATS = ("html", "latex", "text", "matlab")
MOST_SHOWN = 60_000  # operations that a page typesets, about 6 MB: more keep a browser busy for minutes


def equations(
    runs: RunStore, document: Any, level: Any = "compact", only: Any = None, format: Any = "html"
) -> dict[str, Any]:
    """Equations of the robot as text of one format."""
    if level not in LEVELS:
        raise unknown_name("level", str(level), LEVELS, field="level")
    if format not in FORMATS:
        raise unknown_name("format", str(format), FORMATS, field="format")
    from manipula.symbolic.document import sections
    from manipula.symbolic.equations import Equations  # and with it SymPy: what nobody has asked for need not be loaded
    from manipula.symbolic.expression_tree import operations
    from manipula.symbolic.render import render

    found = Equations(documents.robot_from_document(document), level)
    parts = None if only is None else str(only)
    if format == "html":
        size = sum(operations(node) for section in sections(found, parts) for node in section.nodes)
        if size > MOST_SHOWN:
            raise BudgetError(
                f"These formulas have {size} operations, more than the {MOST_SHOWN} that a page can show. The levels 'compact' and 'recursive' "
                "are shorter, and so are single parts (M, g); copied as plain text or LaTeX they come whole."
            )
    return {"text": render(found, format, parts), "format": format}


def code(runs: RunStore, document: Any, language: Any) -> dict[str, Any]:
    """The robot's functions as source code: file names with their texts, and one text to copy that needs no other file."""
    if language not in LANGUAGES:
        raise unknown_name("language", str(language), LANGUAGES, field="language")
    robot = documents.numeric_robot_from_document(document)
    files = source_texts(robot, language)
    return {"files": files, "text": one_text(language, files)}


def one_text(language: str, files: dict[str, str]) -> str:
    """All files but the test as one that compiles alone: no header is asked for, functions of MATLAB stand in a script."""
    kept = {name: text for name, text in files.items() if not name.rpartition(".")[0].endswith("_test")}
    text = "\n".join(kept.values())
    if language == "c":
        own = [f'#include "{name}"' for name in kept]
        text = "\n".join(line for line in text.split("\n") if line.strip() not in own)
    return "1; % a script; its functions follow\n\n" + text if language == "matlab" else text


VERBS = {"equations": equations, "code": code}
