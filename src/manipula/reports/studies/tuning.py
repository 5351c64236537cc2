"""One HTML file about a tuning: what was found, how the search went, every candidate as a point, the trade-off front."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from manipula.errors import ManipulaError
from manipula.formats.whole_file import write_whole
from manipula.reports import viewer
from manipula.reports.key_numbers import grid
from manipula.reports.page import card, document, html_path, section, table, text
from manipula.reports.source import summary
from manipula.reports.studies.cloud import arm_and_charts, cloud, content_of, live_runs, shown_run
from manipula.reports.studies.page import RULES
from manipula.studies.columns import StudyColumn
from manipula.studies.layout import columns_of
from manipula.studies.tuning.tune import Tuning

MOST_FRONT, MOST_POINTS = 60, 4000


def write_tuning_report(found: Tuning, path: str | os.PathLike[str]) -> Path:
    """Write the page of a tuning; the file appears whole or not at all."""
    return write_whole(html_path(path), tuning_html(found))


def tuning_html(found: Tuning) -> str:
    """The page as text."""
    units = {c.name: c.unit for c in columns_of(found.study)}
    goal = " and ".join(found.minimise)
    bounds = ", ".join(f"{name} ≤ {value:g} {units.get(name, '')}".strip() for name, value in found.subject_to.items())
    line = f"Least {goal}" + (f" with {bounds}" if bounds else "") + f" · {len(found.values)} candidates"
    line += f" of {found.draws} runs each ({found.over} counts)" if found.draws > 1 else ""
    name = found.study.name
    body = f"<header><h1>Tuning of {text(name, 120)}</h1><p>{text(line, 400)}</p></header>\n"
    body += _verdict(found, units)
    shown = _CandidatesShown(found, units)
    body += shown.html + _history(found, units) + _front(found, units)
    return document(f"Tuning of {name}", body, shown.scripts, shown.numbers, RULES)


def _verdict(found: Tuning, units: dict[str, str]) -> str:
    if not found.found:
        least = float(found.violations.sum(axis=1).min())
        return f'<p class="verdict bad">No candidate keeps every bound; the nearest breaks them by {summary(least)} of their size.</p>'
    said = "The best candidate keeps every bound." if len(found.minimise) == 1 else (
        f"{len(found.front)} candidates are on the front: none of them can be better in one goal without being worse in another. "
        "Shown is the one nearest to the least of each."
    )  # fmt: skip
    cells = [(path, summary(value), units.get(path, ""), "found") for path, value in found.answer.items()]
    cells += [(column, summary(value), units.get(column, ""), "reached") for column, value in found.objective.items()]
    return f'<p class="verdict good">{text(said, 300)}</p>' + grid(cells)


class _CandidatesShown:
    """Candidates as points, the arm of the best, its charts."""

    def __init__(self, found: Tuning, units: dict[str, str]) -> None:
        self.html, self.scripts, self.numbers = "", [], None
        built = viewer.script()
        if built is None:
            self.html = f'<p class="note">{text(viewer.missing(), 600)}</p>'
            return
        best = found.best if found.found else int(np.argmin(found.violations.sum(axis=1)))
        try:
            result = shown_run(_plain(found, best))
        except ManipulaError as error:
            self.html = f'<p class="note">The best candidate cannot be shown: {text(error, 400)}</p>'
            return
        content, charts = content_of(result, f"candidate {best}")
        columns, values = _columns(found, units)
        rows = _drawn(found)
        axes = ("generation", found.minimise[0], found.parameters[0])
        if len(found.minimise) > 1:
            axes = (found.minimise[0], found.minimise[1], "generation")
        chosen = {name: v[rows] if isinstance(v, np.ndarray) else [v[k] for k in rows] for name, v in values.items()}
        told = cloud(content, columns, chosen, rows, axes, best, len(found.values), "")
        module, why = live_runs(result, found.parameters, content)
        if module is not None:
            told["live"] = list(found.parameters)
        content.document["study"] = told
        self.html = section("Candidates", '<div class="card study" id="study"></div>')
        if module is None:
            self.html += f'<p class="note">The arm is shown for the best candidate only: {text(why, 300)}</p>'
        elif found.draws > 1:
            self.html += '<p class="note">The arm moves at the first of the conditions of a candidate.</p>'
        self.html += arm_and_charts(content, charts)
        self.scripts = [*([module] if module else []), built]
        self.numbers = (content.document, content.packer.text())


def _plain(found: Tuning, number: int) -> Any:
    """The scenario of a candidate with its numbers in the places where the base has them."""
    from manipula.studies.paths import prepared_for, resolved, with_value

    if found.draws > 1:
        return found.scenario(number)
    scenario = prepared_for(found.study.base, list(found.parameters))
    for path, value in found.candidate(number).items():
        scenario = with_value(scenario, resolved(scenario, path), value)
    return scenario


def _columns(found: Tuning, units: dict[str, str]) -> tuple[list[StudyColumn], dict[str, Any]]:
    columns = [StudyColumn(path, units.get(path, ""), "varied") for path in found.parameters]
    values: dict[str, Any] = {path: found.values[:, k] for k, path in enumerate(found.parameters)}
    for k, name in enumerate(found.minimise):
        columns.append(StudyColumn(name, units.get(name, ""), "made small"))
        values[name] = np.where(np.isfinite(found.objectives[:, k]), found.objectives[:, k], np.nan)
    columns.append(StudyColumn("generation", "", "of the search"))
    values["generation"] = found.generation.astype(float)
    columns.append(StudyColumn("violation", "", "how far bounds are broken, in units of them"))
    values["violation"] = found.violations.sum(axis=1)
    columns.append(StudyColumn("bounds", "", "are all bounds kept?", "text"))
    kept = np.atleast_1d((found.violations <= 0.0).all(axis=1))
    front = set(found.front.tolist())
    values["bounds"] = ["best" if k in front else "kept" if good else "broken" for k, good in enumerate(kept)]
    return columns, values


def _drawn(found: Tuning) -> np.ndarray:
    """All candidates, or the front and the last ones."""
    count = len(found.values)
    if count <= MOST_POINTS:
        return np.arange(count)
    return np.unique(np.concatenate([found.front, np.arange(count - MOST_POINTS + len(found.front), count)]))


def _history(found: Tuning, units: dict[str, str]) -> str:
    """The least first objective over the generations, as a line."""
    least = found.history()
    known = np.flatnonzero(np.isfinite(least))
    if len(known) < 2:
        return ""
    low, high = float(np.nanmin(least)), float(np.nanmax(least))
    span = (high - low) or abs(high) or 1.0
    points = " ".join(f"{100.0 * k / (len(least) - 1):.2f},{38.0 - 36.0 * (least[k] - low) / span:.2f}" for k in known)
    unit = units.get(found.minimise[0], "")
    drawing = (
        '<svg class="histogram" viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label="history">'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5" vector-effect="non-scaling-stroke"/></svg>'
    )
    first, last = text(summary(least[known[0]])), text(summary(least[-1]))
    marks = f'<p class="marks"><span>first <b>{first}</b></span><span>after {len(least)} generations <b>{last}</b> {text(unit)}</span></p>'
    return section(f"Least {found.minimise[0]} so far", card(drawing + marks))


def _front(found: Tuning, units: dict[str, str]) -> str:
    if not len(found.front):
        return ""
    order = found.front[np.argsort(found.objectives[found.front, 0], kind="stable")]
    if len(order) > MOST_FRONT:
        order = order[np.unique(np.linspace(0, len(order) - 1, MOST_FRONT).astype(int))]
    head = ("candidate", *(f"{c} [{units[c]}]" if units.get(c) else c for c in (*found.minimise, *found.parameters)))
    rows = [(str(k), *(text(summary(v)) for v in (*found.objectives[k], *found.values[k]))) for k in order.tolist()]
    return section("The front" if len(found.minimise) > 1 else "The best", card(table(head, rows)))
