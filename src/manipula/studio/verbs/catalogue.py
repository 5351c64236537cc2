"""What there is to choose from: robots, parts with their fields, examples."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import Any

from manipula.formats.catalog import catalog
from manipula.formats.load import READABLE
from manipula.registries import describe_parts
from manipula.reports.content import drawn_by_the_page
from manipula.reports.plots import PLOTS
from manipula.simulation.files.schema import scenario_schema
from manipula.simulation.programmed.scenario import ProgramScenario
from manipula.simulation.run_kinds import EVERY_RUN, RUN_KINDS
from manipula.simulation.scenario import Scenario
from manipula.studio.pages import USUAL
from manipula.studio.runs import RunStore
from manipula.studio.wire import to_json
from manipula.symbolic.levels import LEVELS
from manipula.version import __version__


def only_once(make: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Made by whoever asks first; those who ask meanwhile wait for the same."""
    made: list[dict[str, Any]] = []
    lock = threading.Lock()

    def known() -> dict[str, Any]:
        with lock:
            if not made:
                made.append(make())
        return made[0]

    return known


def hello(runs: RunStore) -> dict[str, Any]:
    """Everything that stays the same while the studio is open."""
    return {**_constant(), "studio": runs.name, "first": runs.first}


@only_once
def _constant() -> dict[str, Any]:
    kinds = {
        name: {"what": k.what, "needs": k.needs, "settings": [*EVERY_RUN, *k.settings]} for name, k in RUN_KINDS.items()
    }
    return to_json({
        "version": __version__, "catalog": [dataclasses.asdict(entry) for entry in catalog()], "parts": describe_parts(), "kinds": kinds,
        "formats": READABLE, "levels": LEVELS, "charts": [k for k in PLOTS if drawn_by_the_page(k)], "usual_charts": USUAL,
    })  # fmt: skip


def schema(runs: RunStore) -> dict[str, Any]:
    """The JSON Schema of scenario files, with what a setting is when it is not stated."""
    return _schema()


@only_once
def _schema() -> dict[str, Any]:
    found = scenario_schema()
    for branch, cls in (("else", Scenario), ("then", ProgramScenario)):
        for field in dataclasses.fields(cls):
            stated = found[branch]["properties"].get(field.name)
            if stated is not None and isinstance(field.default, (bool, int, float, str)):
                stated["default"] = field.default
    return to_json(found)


VERBS = {"hello": hello, "schema": schema}
