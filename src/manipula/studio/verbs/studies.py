"""Studies in the folder of the studio: which there are, two of their columns against each other, and any run as a document."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from manipula.errors import DescriptionError, ManipulaError, unknown_name
from manipula.simulation.programmed.scenario import ProgramScenario
from manipula.simulation.recorded import scenario_text
from manipula.simulation.scenario import Scenario
from manipula.studies.folder import MANIFEST
from manipula.studies.opened import StudyResults
from manipula.studio.runs import RunStore
from manipula.studio.wire import to_json

MOST_STUDIES, MOST_FOLDERS, MOST_POINTS = 100, 2000, 5000
PLAIN = ("number", "flag", "count")


def found_studies(folder: Path | None) -> dict[str, Path]:
    """Folders of studies: the folder itself and those directly below it, by their names; the page can name no other."""
    if folder is None:
        return {}
    below = sorted(p for k, p in enumerate(folder.iterdir()) if k < MOST_FOLDERS and p.is_dir() and not p.is_symlink())
    listed = [p for p in (folder, *below) if (p / MANIFEST).is_file()]
    return {p.name or "study": p for p in listed[:MOST_STUDIES]}


def studies(runs: RunStore) -> dict[str, Any]:
    """The studies that there are; one that cannot be read says why."""
    rows = []
    for name, path in found_studies(runs.folder).items():
        try:
            table = StudyResults(path)
            told = {"runs": table.runs, "done": table.done, "statuses": table.statuses(), "varied": list(table.varied)}
        except ManipulaError as error:
            told = {"runs": 0, "done": 0, "statuses": {}, "varied": [], "problem": str(error)}
        rows.append({"name": name, **told})
    return to_json({"folder": "" if runs.folder is None else runs.folder.name, "studies": rows})


def study(runs: RunStore, name: Any, x: Any = None, y: Any = None) -> dict[str, Any]:
    """Two columns of a study, run by run; by default what varies first, and the largest error or torque."""
    table = _opened(runs, name)
    columns = [c for c in table.columns if c.kind in PLAIN]
    names = [c.name for c in columns]
    usual = [n for n in ("error_max", "tau_max", "error_rms", "limit_use") if n in names] or names
    across = _column(names, x, "x", next((n for n in table.varied if n in names), names[0]))
    up = _column(names, y, "y", usual[0])
    wanted = list(dict.fromkeys(("run", across, up, "status")))
    found: dict[str, list[Any]] = {key: [] for key in wanted}
    for part in table.tables(wanted):
        for key in wanted:
            found[key] += part.column(key).to_pylist()
    every = max(1, -(-len(found["run"]) // MOST_POINTS))
    points = [
        {"run": found["run"][i], "x": _number(found[across][i]), "y": _number(found[up][i]), "status": found["status"][i] or ""}
        for i in range(0, len(found["run"]), every)
    ]  # fmt: skip
    told = [{"name": c.name, "unit": c.unit, "meaning": c.meaning} for c in columns]
    return to_json(
        {"name": name, "runs": table.runs, "done": table.done, "columns": told, "x": across, "y": up, "points": points, "thinned": every}
    )  # fmt: skip


def study_run(runs: RunStore, name: Any, run: Any) -> dict[str, Any]:
    """The scenario of one run of a study as a document, with the numbers of its row in it, and the row."""
    table = _opened(runs, name)
    if isinstance(run, bool) or not isinstance(run, int):
        raise DescriptionError("A run of a study is a whole number from 0.", field="run")
    scenario: Scenario | ProgramScenario = table.scenario(run)
    text = scenario_text(_settled(scenario))
    if not text:
        raise DescriptionError("This run cannot be written as a scenario file.", field="run")
    document = {**tomllib.loads(text), "name": f"{name}, run {run}"}
    return to_json({"document": document, "row": table.row(run)})


def _settled(scenario: Any) -> Any:
    """Free parameters that have one value are numbers of the robot."""
    values = dict(getattr(scenario, "parameters", None) or {})
    single = {key: float(np.asarray(v).ravel()[0]) for key, v in values.items() if np.asarray(v).size == 1}
    if not single or len(single) < len(values):
        return scenario
    return scenario.replace(robot=scenario.robot.with_parameters(**single), parameters={})


def _opened(runs: RunStore, name: Any) -> StudyResults:
    known = found_studies(runs.folder)
    if not isinstance(name, str) or name not in known:
        raise unknown_name("study", str(name), known, field="name")
    return StudyResults(known[name])


def _column(names: list[str], given: Any, field: str, usual: str) -> str:
    if given is None:
        return usual
    if given not in names:
        raise unknown_name("column", str(given), names, field=field)
    return str(given)


def _number(value: Any) -> float | None:
    return None if value is None or not math.isfinite(float(value)) else float(value)


VERBS = {"studies": studies, "study": study, "study_run": study_run}
