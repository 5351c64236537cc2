"""Scenarios in files: ``Scenario.save`` and ``Scenario.load``, for scenarios of every kind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from manipula.errors import DescriptionError, printable
from manipula.formats.guard import read_text
from manipula.formats.toml.budget import check_size
from manipula.formats.whole_file import file_path, write_whole
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
    source = file_path(path)
    return scenario_of(ScenarioDocument(read_text(source), str(source), source.absolute().parent))


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


def save_scenario(scenario: Scenario | ProgramScenario, path: str | os.PathLike[str]) -> None:
    """Write a scenario of any kind as TOML; the file appears whole or not at all, and is no larger than what is read.

    Raises:
        DescriptionError: the path is no ``.toml`` file, or cannot be written; the text is larger than files that are read.
    """
    write_toml(path, "scenario", lambda: file_text(scenario))


def write_toml(path: str | os.PathLike[str], what: str, text: Callable[[], str]) -> None:
    """Write a file that is no larger than what is read, whole or not at all; its text is made when the path was found good."""
    target = file_path(path)
    if target.suffix.lower() != ".toml":
        raise DescriptionError(f"A {what} is written as TOML: '{printable(target.stem)}.toml'.", file=str(target))
    made = text()
    check_size(made, str(target))
    write_whole(target, made)
