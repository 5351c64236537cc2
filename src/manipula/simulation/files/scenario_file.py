"""Scenarios in files: ``Scenario.save`` and ``Scenario.load``, for scenarios of every kind."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from manipula.errors import DescriptionError
from manipula.formats.guard import read_text
from manipula.formats.load import write_whole
from manipula.simulation.files.document import ScenarioDocument
from manipula.simulation.files.programmed import programmed_text, read_programmed
from manipula.simulation.files.scenario_read import check_parts, read_scenario
from manipula.simulation.files.scenario_write import scenario_text
from manipula.simulation.programmed.scenario import ProgramScenario
from manipula.simulation.scenario import Scenario

PROGRAMMED = "programmed"


def load_file(path: str | os.PathLike[str]) -> Scenario | ProgramScenario:
    """The scenario in a TOML file, of whatever kind it is.

    Raises:
        DescriptionError: with file, line, field and the nearest valid name; nothing else.
    """
    return scenario_of(ScenarioDocument(read_text(path), os.fspath(path), Path(path).absolute().parent))


def load_text(
    text: str, folder: str | os.PathLike[str] | None = None, *, file: str | None = None
) -> Scenario | ProgramScenario:
    """The scenario in a text; files that it names are looked for in ``folder``, or refused without one."""
    return scenario_of(ScenarioDocument(text, file, None if folder is None else Path(folder)))


def scenario_of(document: ScenarioDocument) -> Scenario | ProgramScenario:
    """The scenario of a parsed document, with its parts rehearsed together."""
    try:
        if document.root.get("kind") == PROGRAMMED or ("kind" not in document.root and "program" in document.root):
            program = read_programmed(document)
            document.check_constants()
            return program
        scenario = read_scenario(document)
        document.check_constants()
        check_parts(document, scenario)
        return scenario
    except DescriptionError as error:
        raise error.at(file=document.file) from None
    except RecursionError:
        raise DescriptionError("The file is nested too deeply.", file=document.file) from None


def load_scenario(path: str | os.PathLike[str]) -> Scenario:
    """``Scenario.load``: a file of any kind but "programmed"."""
    found = load_file(path)
    if not isinstance(found, Scenario):
        raise DescriptionError(
            "This file describes a programmed motion: use ProgramScenario.load, or run_file.",
            file=os.fspath(path), field="kind",
        )  # fmt: skip
    return found


def load_programmed(path: str | os.PathLike[str]) -> ProgramScenario:
    """``ProgramScenario.load``: a file of kind "programmed"."""
    found = load_file(path)
    if not isinstance(found, ProgramScenario):
        raise DescriptionError(
            'This file describes no programmed motion (kind = "programmed").', file=os.fspath(path), field="kind"
        )
    return found


def file_text(scenario: Scenario | ProgramScenario) -> str:
    """The TOML text that reads back as an equal scenario."""
    if isinstance(scenario, Scenario):
        return scenario_text(scenario)
    return programmed_text(scenario)


def save_scenario(scenario: Any, path: str | os.PathLike[str]) -> None:
    """Write a scenario of any kind; the file appears whole or not at all."""
    write_whole(Path(path), file_text(scenario))
