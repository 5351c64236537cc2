"""The cloud of runs: what the page's viewer is told about the points, and how it shows the run behind one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from manipula.errors import ManipulaError
from manipula.reports.content import PageContent
from manipula.reports.live import live_module
from manipula.reports.page import section, text
from manipula.reports.source import decimated
from manipula.simulation.exported.loop import INTEGRATORS
from manipula.simulation.result import Result
from manipula.simulation.run_file import run
from manipula.simulation.scenario import Scenario
from manipula.studies.columns import StudyColumn

CHARTS = ("tip", "position", "velocity", "torque", "error")
LOG_SPAN = 30.0  # a column of positive numbers over this many times itself has a logarithmic axis
MOST_WORDS = 40
SERIES_RUNS, SERIES_SAMPLES = 40, 300
Rows = Mapping[str, Any]


def cloud(
    content: PageContent, columns: Sequence[StudyColumn], rows: Rows, runs: np.ndarray, axes: tuple[str, str, str], first: int, total: int, again: str,
) -> dict[str, Any]:  # fmt: skip
    """What the page is given: columns of the points, the axes to begin with, the run that it shows at first."""
    told = [_column(content, c, rows[c.name]) for c in columns if _shown(c, rows[c.name])]
    return {
        "runs": content.packer.add(np.asarray(runs, float), "f8"), "total": total, "columns": told, "across": axes[0], "up": axes[1],
        "colour": axes[2], "first": int(first), "live": None, "series": {}, "again": again,
    }  # fmt: skip


def content_of(result: Result, name: str) -> tuple[PageContent, list[dict[str, Any]]]:
    """The arm of a run with what it has of the charts that a page about many runs shows."""
    from manipula.reports.plots import PLOTS

    content = PageContent([result], [name])
    content.add_robots()
    kinds = [kind for kind in CHARTS if PLOTS[kind].missing(result) is None]
    return content, [chart for kind in kinds for chart in content.add_chart(kind)]


def arm_and_charts(content: PageContent, charts: Sequence[Mapping[str, Any]]) -> str:
    """Where the page draws the moving arm and the charts of the run that is shown."""
    arm = section("Motion", '<div class="card player" id="motion"></div>') if content.draws_an_arm else ""
    places = "".join(
        f'<figure class="card chart" id="{p["id"]}" aria-label="{text(p["title"])}"></figure>' for p in charts
    )
    return arm + (section("Charts", f'<div class="charts">{places}</div>') if places else "")


def _shown(column: StudyColumn, values: Any) -> bool:
    if column.kind == "number":
        return bool(np.isfinite(values).any())
    return len(set(values)) <= MOST_WORDS


def _column(content: PageContent, column: StudyColumn, values: Any) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": column.name[:60], "unit": column.unit, "meaning": column.meaning, "role": "varied" if column.meaning == "varied" else "summary",
    }  # fmt: skip
    if column.kind == "number":
        known = values[np.isfinite(values)]
        log = bool(known.min() > 0.0 and known.max() > LOG_SPAN * known.min())
        return {**told, "values": content.packer.add(values, "f8"), "log": log}
    words = sorted(set(values), key=lambda word: (word != "finished", word))
    places = {word: k for k, word in enumerate(words)}
    return {**told, "values": content.packer.add([places[v] for v in values], "u2"), "words": [w[:60] for w in words]}


def shown_run(scenario: Any) -> Result:
    """The run that a page begins with. One that only an implicit method could follow is made by one that the page knows too, with the same tolerance."""
    result = run(scenario)
    if (
        isinstance(scenario, Scenario)
        and scenario.integrator == "auto"
        and result.meta.get("integrator") not in (None, *INTEGRATORS)
    ):
        other = run(scenario.replace(integrator="dop853"))
        return other if other.ok else result
    return result


def live_runs(result: Result, paths: Sequence[str], content: PageContent) -> tuple[str | None, str]:
    """The loop as a module that computes any run from the numbers of its point, or None and the reason why not."""
    try:
        told, module = live_module(result, list(paths), content.shown[0])
    except ManipulaError as error:
        return None, str(error)
    content.document["live"] = told
    return module, ""


def add_series(
    study: dict[str, Any], content: PageContent, runs: Sequence[int], make: Callable[[int], Result], skip: int
) -> list[int]:
    """Samples of some runs, so that the arm can be shown in them; those that were added."""
    added = []
    for number in [r for r in dict.fromkeys(runs) if r != skip][:SERIES_RUNS]:
        result = make(int(number))
        q = np.asarray(result.arrays["q"], float)
        good = int(np.isfinite(q).all(axis=1).sum())
        if good < 2:
            continue
        index = decimated(good, SERIES_SAMPLES)
        study["series"][str(int(number))] = {
            "t": content.packer.add(result.t[index], "f4"), "q": content.packer.add(q[index], "f4"),
        }  # fmt: skip
        added.append(int(number))
    return added
