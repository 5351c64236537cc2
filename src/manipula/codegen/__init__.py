"""Source code of a robot's functions: one operation list, every language.

The function ``export`` writes functions of a robot, ``export_graph`` any traced function (a controller, a friction law, a path).

==============  ===================================================================
``functions``   the functions of a robot as operation lists
``parameters``  which numbers stay arguments
``program``     from a robot, or from graphs, to a program with stored test numbers
``base``        what is written, and what a language is
``statements``  operation lists as statements
``names``       identifiers and comments that are safe whatever a file says
``files``       files that appear whole or not at all
``c``           C99
``python``      Python with NumPy
``matlab``      MATLAB and Octave
``julia``       Julia
``rust``        Rust
``javascript``  JavaScript, for pages and Node
==============  ===================================================================
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from manipula.algebra.arguments import flag
from manipula.codegen.base import Language, SourceProgram
from manipula.codegen.c import C
from manipula.codegen.files import write_files
from manipula.codegen.functions import DEFAULT, NAMES
from manipula.codegen.javascript import JavaScript
from manipula.codegen.julia import Julia
from manipula.codegen.matlab import Matlab
from manipula.codegen.program import graph_program, robot_program
from manipula.codegen.python import Python
from manipula.codegen.rust import Rust
from manipula.errors import DescriptionError, unknown_name
from manipula.native.tracing.graph import Graph
from manipula.robot.link import TIP
from manipula.robot.robot import Robot
from manipula.verbs import verb

LANGUAGES: dict[str, Language] = {
    language.name: language for language in (C(), Python(), Matlab(), Julia(), Rust(), JavaScript())
}


def export(
    robot: Any,
    language: str,
    directory: str | os.PathLike[str],
    functions: Sequence[str] | None = None,
    parameters: Literal["baked", "struct"] = "baked",
    prefix: str | None = None,
    *,
    frame: str = TIP,
    force: bool = False,
) -> list[Path]:
    """Write functions of a robot, or a whole scenario, as source code; gives the files.

    A scenario is written as ``javascript``: an ES module whose ``simulate(changes)`` computes the run, and a test of it. It takes no
    ``functions``, ``parameters`` or ``frame``.

    Args:
        robot: a Robot, or a Scenario.
        language: "c", "python", "matlab" (Octave too), "julia", "rust" or "javascript".
        directory: made when it does not exist.
        functions: names from ``manipula.codegen.NAMES``; the usual ones (``DEFAULT``) when omitted.
        parameters: "baked" puts the robot's numbers into the code. "struct" makes them an argument: the free parameters
            of a symbolic robot; else mass, centre of mass, inertia, rotor inertia, friction and gravity.
        prefix: start of file names and, where a language has no modules, of function names; the robot's name by default.
        frame: where pose, position and Jacobian are taken.
        force: overwrite files that exist.
    """
    chosen, force = _language(language), flag(force, "force")
    if not isinstance(robot, Robot) and type(robot).__name__ in ("Scenario", "ProgramScenario"):
        for name, given in (
            ("functions", functions is not None),
            ("parameters", parameters != "baked"),
            ("frame", frame != TIP),
        ):
            if given:
                raise DescriptionError("This is for functions of a robot; a scenario is written whole.", field=name)
        return verb("export.scenario")(robot, language, directory, prefix, force=force)
    return write_files(directory, chosen.files(robot_program(robot, functions, parameters, prefix, frame)), force)


def export_graph(
    graph: Graph | Iterable[Graph],
    language: str,
    directory: str | os.PathLike[str],
    prefix: str | None = None,
    *,
    meanings: Mapping[str, str] | None = None,
    force: bool = False,
) -> list[Path]:
    """Write traced functions (``native.trace(f, {"q": (n,)}, "name")``) as source code; gives the files.

    Args:
        graph: one graph or several.
        meanings: what inputs and outputs are, with units, for the comments.
    """
    graphs = [graph] if isinstance(graph, Graph) else list(graph)
    chosen = _language(language)
    return write_files(directory, chosen.files(graph_program(graphs, prefix, meanings or {})), force)


def source_texts(
    robot: Robot, language: str, functions: Sequence[str] | None = None, parameters: str = "baked",
    prefix: str | None = None, *, frame: str = TIP,
) -> dict[str, str]:  # fmt: skip
    """The text of every file that :func:`export` would write, by file name."""
    return _language(language).files(robot_program(robot, functions, parameters, prefix, frame))


def _language(name: str) -> Language:
    if not isinstance(name, str) or name not in LANGUAGES:
        raise unknown_name("language", name, LANGUAGES, field="language")
    return LANGUAGES[name]


__all__ = ["DEFAULT", "LANGUAGES", "NAMES", "Language", "SourceProgram", "export", "export_graph", "source_texts"]
