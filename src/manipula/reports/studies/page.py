"""One HTML file about a study: the cloud of its runs, the arm of any of them, what moves the answers. Opens offline."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from manipula.errors import ManipulaError
from manipula.formats.whole_file import write_whole
from manipula.reports import viewer
from manipula.reports.page import card, document, html_path, section, text
from manipula.reports.studies.cloud import add_series, arm_and_charts, cloud, content_of, live_runs, shown_run
from manipula.reports.studies.excerpt import Excerpt, excerpt_of
from manipula.reports.studies.findings import banner, ended, influence, main_columns, spread, worst_cases
from manipula.simulation.result import Result
from manipula.studies.files import study_text
from manipula.studies.opened import StudyResults, open_study

RULES = """
.bar{position:relative;display:block;width:8rem;height:.7rem;background:var(--page);border-radius:4px}
.bar i{position:absolute;top:0;bottom:0;background:var(--accent);border-radius:3px}
.histogram{width:100%;height:110px;display:block}.histogram rect{fill:var(--accent);opacity:.75}
.histogram line{stroke:var(--ink);stroke-width:.4;stroke-dasharray:1.5 1}
.marks{display:flex;justify-content:space-between;gap:.6rem;flex-wrap:wrap;font-size:.8rem;color:var(--muted);margin:.3rem 0 0}
.marks b{color:var(--ink);font-weight:600}
.verdict{border-radius:12px;padding:.8rem 1rem;border:1px solid var(--rule);background:var(--card);border-left:5px solid var(--c,var(--rule))}
.verdict.good{--c:var(--good)}.verdict.fair{--c:var(--fair)}.verdict.bad{--c:var(--bad)}
pre{overflow-x:auto;font-size:.8rem;margin:0}
"""


def write_study_report(results: StudyResults | str | os.PathLike[str], path: str | os.PathLike[str]) -> Path:
    """Write the page of a study; the file appears whole or not at all.

    Args:
        results: what sweep or open_study gave, or the folder of a study.
    """
    target = html_path(path)
    found = results if isinstance(results, StudyResults) else open_study(results)
    return write_whole(target, study_html(found))


MOST_LINES = 400  # of the study's file


def study_html(results: StudyResults) -> str:
    """The page as text."""
    rows = excerpt_of(results)
    name = str(results.manifest["name"])
    varied = [c.name for c in rows.columns if c.meaning == "varied"]
    line = f"{results.runs} runs · {len(varied)} number{'s' * (len(varied) != 1)} varied: {', '.join(varied)}"
    body = f"<header><h1>{text(name, 120)}</h1><p>{text(line, 400)}</p></header>\n"
    body += banner(rows) + ended(rows, results.runs)
    shown = _RunsShown(results, rows)
    body += shown.html
    body += influence(rows) + worst_cases(rows) + spread(rows)
    lines = _described(results).splitlines()
    body += section("The study", card(f"<pre>{chr(10).join(text(words, 2000) for words in lines[:MOST_LINES])}</pre>"))
    told = ", ".join(f"{k} {v}" for k, v in dict(results.manifest.get("versions") or {}).items())
    body += f"<footer>{text(told, 400)}<br>Seed {text(results.manifest.get('seed', ''))}</footer>\n"
    return document(f"{name} – study", body, shown.scripts, shown.numbers, RULES)


def _described(results: StudyResults) -> str:
    try:
        return study_text(results.study)
    except ManipulaError as error:
        return f"The study cannot be written as a file: {error}"


class _RunsShown:
    """The cloud, the moving arm and its charts; nothing where no viewer was built or no run can be shown."""

    def __init__(self, results: StudyResults, rows: Excerpt) -> None:
        self.html, self.scripts, self.numbers = "", [], None
        built = viewer.script()
        if built is None:
            self.html = f'<p class="note">{text(viewer.missing(), 600)}</p>'
            return
        if not len(rows.drawn):
            return
        first = _first(rows)
        try:
            result = _result(results, first)
        except ManipulaError as error:
            self.html = f'<p class="note">Run {first} cannot be shown: {text(error, 400)}</p>'
            return
        content, charts = content_of(result, f"run {first}")
        drawn = {c.name: _chosen(rows.values[c.name], rows.drawn) for c in rows.columns}
        axes = _axes(rows)
        again = f"mp.open_study('{results.path.name}').run(RUN)"
        study = cloud(content, rows.columns, drawn, rows.runs[rows.drawn], axes, first, rows.total, again)
        paths = [c.name for c in rows.columns if c.meaning == "varied"]
        worded = [c.name for c in rows.columns if c.meaning == "varied" and c.kind != "number"]
        module, why = (None, f"'{worded[0]}' is a choice.") if worded else live_runs(result, paths, content)
        if module is not None:
            study["live"] = paths
        else:
            add_series(study, content, _interesting(rows), results.run, first)
        content.document["study"] = study
        self.html = section("Runs", '<div class="card study" id="study"></div>')
        if module is None:
            self.html += f'<p class="note">{len(study["series"]) + 1} runs can be shown moving; the others are not computed in this page: {text(why, 300)}</p>'
        self.html += arm_and_charts(content, charts)
        self.scripts = [*([module] if module else []), built]
        self.numbers = (content.document, content.packer.text())


def _first(rows: Excerpt) -> int:
    """The run that the page begins with: the worst that finished, by the first main answer."""
    finished = np.array([rows.values["status"][k] == "finished" for k in rows.drawn], bool)
    chosen = rows.drawn[finished] if finished.any() else rows.drawn
    answers = main_columns(rows, 1)
    if not answers:
        return int(rows.runs[chosen[0]])
    y = rows.values[answers[0].name][chosen]
    return int(rows.runs[chosen[int(np.argmax(np.where(np.isfinite(y), y, -np.inf)))]])


def _interesting(rows: Excerpt) -> list[int]:
    """Runs whose samples go into the page where it cannot compute them: failed ones, extremes of the main answers, then others."""
    out = [int(rows.runs[k]) for k in rows.drawn if rows.values["status"][k] != "finished"][:12]
    for c in main_columns(rows, 4):
        y = rows.values[c.name][rows.drawn]
        order = rows.drawn[np.argsort(np.where(np.isfinite(y), y, np.inf), kind="stable")]
        out += [int(rows.runs[k]) for k in (*order[:2], *order[-3:])]
    return out + [int(r) for r in rows.runs[rows.drawn][:: max(1, len(rows.drawn) // 20)]]


def _axes(rows: Excerpt) -> tuple[str, str, str]:
    """Across the number that moves the first answer most, up that answer, coloured by the next."""
    from manipula.reports.studies.findings import sensitivities

    varied, answers = rows.numbers("varied"), main_columns(rows, 2)
    names = [c.name for c in varied] or [c.name for c in rows.columns if c.meaning == "varied"][:1]
    up = answers[0].name if answers else "status"
    found = sensitivities(rows)
    if found:
        names = [found[0][1].names[i] for i in found[0][1].order]
    colour = names[1] if len(names) > 1 else answers[1].name if len(answers) > 1 else "status"
    return (names[0] if names else up), up, colour


def _result(results: StudyResults, run: int) -> Result:
    """One run with its numbers in the places where the base has them, so that the page can change them."""
    from manipula.simulation.scenario import Scenario
    from manipula.studies.paths import prepared_for, resolved, with_value

    study = results.study
    if isinstance(study.base, Scenario):
        values = study.values_of(np.array([run]))
        plain = all(isinstance(v, np.ndarray) for v in values.values())
        if plain:
            scenario = prepared_for(study.base, list(values))
            for path, value in values.items():
                scenario = with_value(scenario, resolved(scenario, path), float(value[0]))
            return shown_run(scenario)
    return shown_run(results.scenario(run))


def _chosen(values: Any, rows: np.ndarray) -> Any:
    return values[rows] if isinstance(values, np.ndarray) else [values[k] for k in rows]
