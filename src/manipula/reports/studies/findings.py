"""What a study found, in words and numbers: how runs ended, what moves the answers, the worst cases, how the answers are spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manipula.analysis.sensitivity import LEAST_ROWS, Sensitivity, sensitivity
from manipula.reports.key_numbers import grid
from manipula.reports.page import card, section, table, text
from manipula.reports.source import summary
from manipula.reports.studies.excerpt import Excerpt
from manipula.reports.tables import tone
from manipula.studies.columns import StudyColumn

MAIN = ("error_rms", "error_max", "tau_max", "limit_use", "energy_taken", "qd_max", "tip_x", "tip_y", "tip_z")
MOST_ANSWERS, MOST_WORST, MOST_HISTOGRAMS = 4, 10, 9
BINS = 24


def main_columns(rows: Excerpt, most: int) -> list[StudyColumn]:
    """The answers that people look at first: those of ``MAIN`` that vary, then others."""
    found = rows.numbers("summary")
    order = {name: k for k, name in enumerate(MAIN)}
    plain = [c for c in found if "[" not in c.name and c.name not in ("trusted_until", "error_estimate", "reached")]
    return sorted(plain, key=lambda c: order.get(c.name, len(order)))[:most]


def ended(rows: Excerpt, runs: int) -> str:
    """How the runs ended, as cards; what was not made yet and what breaks limits among them."""
    cells = [
        (
            "Runs",
            str(rows.total),
            "",
            "all of them" if rows.total == runs else f"of {runs}; the others were not made yet",
        )
    ]
    cells += [
        (name, str(count), "", f"{100.0 * count / max(rows.total, 1):.3g} %") for name, count in rows.statuses.items()
    ]
    if "feasible" in rows.values:
        known = any(v != "not known" for v in rows.values["feasible"])
        said = "break a limit of the machine" if known else "no limits are stated"
        cells.append(("Infeasible", str(rows.infeasible) if known else "–", "", said))
    return grid(cells)


def banner(rows: Excerpt) -> str:
    """One line that says whether the numbers can be trusted."""
    bad = {name: count for name, count in rows.statuses.items() if name != "finished"}
    if not rows.total:
        return '<p class="note">No run was made yet.</p>'
    if not bad:
        return f'<p class="verdict good">All {rows.total} runs finished: their numbers can be trusted.</p>'
    told = ", ".join(f"{count} {name}" for name, count in bad.items())
    worst = "bad" if any(tone(name) == "bad" for name in bad) else "fair"
    return f'<p class="verdict {worst}">{text(told)} of {rows.total} runs: look at these first.</p>'


def sensitivities(rows: Excerpt) -> list[tuple[StudyColumn, Sensitivity]]:
    """Of the main answers, by the finished rows that stand for all."""
    varied = rows.numbers("varied")
    finished = np.array([rows.values["status"][k] == "finished" for k in rows.even], bool)
    chosen = rows.even[finished]
    if not varied or len(chosen) < max(LEAST_ROWS, 2 * len(varied) + 2):
        return []
    x = np.column_stack([rows.values[c.name][chosen] for c in varied])
    found = []
    for answer in main_columns(rows, MOST_ANSWERS):
        y = rows.values[answer.name][chosen]
        good = np.isfinite(y) & np.isfinite(x).all(axis=1)
        if good.sum() >= LEAST_ROWS and np.ptp(y[good]) > 0.0:
            found.append((answer, sensitivity(x, y, [c.name for c in varied])))
    return found


def influence(rows: Excerpt) -> str:
    """Which varied numbers move the main answers: a table per answer."""
    out = ""
    for answer, found in sensitivities(rows):
        lines = []
        for i in found.order:
            lines.append((
                text(found.names[i]), bar(found.rank[i]), _number(found.rank[i]), f"{_number(found.rank_low[i])} … {_number(found.rank_high[i])}",
                _number(found.partial[i]), _number(found.first[i]),
            ))  # fmt: skip
        head = ("*varied", "*", "rank correlation", "95 %", "partial", "part of the variance")
        out += f"<h3>{text(answer.name)}</h3><p class=note>{text(answer.meaning)}; {found.used} finished runs</p>{table(head, lines)}"
    said = (
        '<p class="note">Rank correlation: −1 … 1, how far the answer follows a number monotonically; partial: with the others taken out; part of the '
        "variance: what the number explains alone (first-order Sobol index).</p>"
    )
    return section("What moves the answers", card(out + said)) if out else ""


def bar(value: float) -> str:
    """A number from −1 to 1 as a bar to the left or right of the middle."""
    size = 0.0 if not np.isfinite(value) else min(abs(float(value)), 1.0)
    left = 50.0 - 50.0 * size if value < 0 else 50.0
    return f'<span class="bar"><i style="left:{left:.1f}%;width:{50.0 * size:.1f}%"></i></span>'


def worst_cases(rows: Excerpt) -> str:
    """The runs with the largest main answer, and those that did not finish."""
    varied = [c for c in rows.columns if c.meaning == "varied"][:8]
    answers = main_columns(rows, 3)
    out = ""
    for answer in answers[:2]:
        y = rows.values[answer.name]
        order = np.argsort(-np.where(np.isfinite(y), y, -np.inf), kind="stable")[:MOST_WORST]
        out += f"<h3>Largest {text(answer.name)}</h3>" + _rows(rows, order[np.isfinite(y[order])], varied, answers)
    failed = [k for k, status in enumerate(rows.values["status"]) if status != "finished"][:MOST_WORST]
    if failed:
        out += "<h3>Not finished</h3>" + _rows(rows, np.array(failed), varied, answers)
    return section("Worst cases", card(out)) if out else ""


def _rows(rows: Excerpt, chosen: np.ndarray, varied: Sequence[StudyColumn], answers: Sequence[StudyColumn]) -> str:
    head = ("run", *(_head(c) for c in varied), *(_head(c) for c in answers), "*status")
    lines = []
    for k in chosen:
        cells = [_cell(rows.values[c.name][k]) for c in (*varied, *answers)]
        lines.append((str(int(rows.runs[k])), *cells, text(rows.values["status"][k])))
    return table(head, lines)


def spread(rows: Excerpt) -> str:
    """A histogram of every main answer, over the finished rows that stand for all."""
    finished = np.array([rows.values["status"][k] == "finished" for k in rows.even], bool)
    chosen, out = rows.even[finished], ""
    for c in main_columns(rows, MOST_HISTOGRAMS):
        known = rows.values[c.name][chosen]
        known = known[np.isfinite(known)]
        if len(known) > 3 and np.ptp(known) > 0.0:
            out += f'<figure class="card chart flat" aria-label="{text(c.name)}"><figcaption><b>{text(_head(c))}</b></figcaption>{histogram(known)}</figure>'
    return section("How the answers are spread", f'<div class="charts">{out}</div>') if out else ""


def histogram(values: np.ndarray) -> str:
    """Bars as a drawing, with the least, the median, the 95th percentile and the largest value under it."""
    count, edges = np.histogram(values, BINS)
    top, width = count.max(), 100.0 / BINS
    bars = "".join(
        f'<rect x="{k * width + 0.3:.2f}" y="{40 - 38 * n / top:.2f}" width="{width - 0.6:.2f}" height="{38 * n / top:.2f}"/>'
        for k, n in enumerate(count)
    )
    marks = np.percentile(values, (0, 50, 95, 100))
    words = ("least", "median", "95 %", "largest")
    told = "".join(f"<span>{word} <b>{text(summary(v))}</b></span>" for word, v in zip(words, marks))
    span = edges[-1] - edges[0]
    lines = "".join(
        f'<line x1="{100 * (v - edges[0]) / span:.2f}" x2="{100 * (v - edges[0]) / span:.2f}" y1="0" y2="40"/>'
        for v in marks[1:3]
    )
    drawn = f'<svg class="histogram" viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label="{len(values)} runs">{bars}{lines}</svg>'
    return f'{drawn}<p class="marks">{told}</p>'


def _head(column: StudyColumn) -> str:
    return f"{column.name} [{column.unit}]" if column.unit else column.name


def _cell(value: Any) -> str:
    return text(summary(value) if isinstance(value, (float, np.floating)) else value, 60)


def _number(value: float) -> str:
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "−") if np.isfinite(value) else "–"
