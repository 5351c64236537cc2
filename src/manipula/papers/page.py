"""A reproduced paper as one HTML file: the arm moving, sections with rows beside print, errata with proofs, the verdict at the end."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from manipula.formats.whole_file import write_whole
from manipula.papers import typeset
from manipula.papers.base import (
    CheckedRow,
    DerivedFormulas,
    Erratum,
    Figure,
    Formulas,
    PaperSection,
    PaperTable,
    Picture,
    Reproduction,
    RunCharts,
    Words,
    shown,
)
from manipula.papers.charts import panel_of, still_of
from manipula.reports import viewer
from manipula.reports.content import PageContent
from manipula.reports.key_numbers import grid
from manipula.reports.page import card, document, html_path, section, table, text
from manipula.reports.pictures import picture, still
from manipula.reports.tables import banner
from manipula.version import __version__

RULES = """
.toc{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;margin:1rem 0 0;font-size:.88rem}.toc a{text-decoration:none}
.paper p{max-width:76ch;margin:.5rem 0}.paper .card{margin:.8rem 0}.paper .figure{margin:1rem 0}.figure>h3{margin:.2rem 0 .5rem}
.paper .still{margin:.8rem 0}.verdict{white-space:nowrap;font-weight:620;color:var(--tone)}.rows td:first-child{min-width:11em}
.rows td{font-size:.86rem}.rows .remark{color:var(--muted);font-size:.78rem;display:block;margin:0}.proof{color:var(--muted);font-size:.84rem}
.paper details{margin:0}.paper .charts .card{margin:0}.data .words{min-width:9em}.paper details[open] summary{margin-bottom:.5rem}.paper .eq{overflow-x:auto}
.above td{border-bottom:0}.rows .eq{margin:.15rem 0 .35rem}.rows .eq small{color:var(--muted);margin-right:.8em}
.paper summary{font-size:.92rem}.paper .card>h3:first-child{margin-top:.2rem}
.errata th{white-space:normal;vertical-align:bottom}.errata .data .words{min-width:6em}.errata .proof{display:block;min-width:15em}
.figure .charts.small4{grid-template-columns:repeat(2,minmax(0,1fr))}.figure .charts.small4 figure{grid-column:auto}
.scrolled{max-height:34rem;overflow:auto}.scrolled .scroll{overflow:visible}.scrolled thead th{position:sticky;top:0;background:var(--card)}
@media screen and (max-width:820px){.figure .charts.small4{grid-template-columns:minmax(0,1fr)}}
"""
MANY = 14  # rows that are seen at once
LONG, LONG_TOGETHER = 44, 44  # letters: a longer value stands below its row, and so do values that are longer together
MARKED = re.compile(r"`([^`]*)`")


def write_page(found: Reproduction, path: str | os.PathLike[str]) -> Path:
    """Write the page; the file appears whole or not at all."""
    return write_whole(html_path(path), page_html(found))


def page_html(found: Reproduction) -> str:
    """The page as text."""
    built = viewer.script()
    results = [result for _, result in found.runs]
    content = PageContent(results, [name for name, _ in found.runs])
    content.add_robots()
    modules: list[str] = []
    if built is not None and found.live:
        content.add_chart("torque")  # signals that the page computes again are known by name before it is traced
        content.document["charts"].clear()
    writer = _SectionWriter(content, built is not None)
    sections = "".join(writer.section(s, k) for k, s in enumerate(found.sections))
    if built is not None and found.live:
        from manipula.reports.live import live_module

        told, module = live_module(results[0], list(found.live), content.shown[0])
        content.document["live"] = told
        modules.append(module)
    info = found.paper
    head = (
        f"<header><h1>{text(info.title, 200)}</h1><p>{text(info.authors, 200)} · {text(info.place, 200)}</p></header>\n"
    )
    body = head + _summary(found) + _contents(found)
    body += "" if built is not None else f'<p class="note">{text(viewer.missing(), 600)}</p>'
    if content.draws_an_arm and built is not None:
        body += section("Motion", '<div class="card player" id="motion"></div>')
        body += section("Try it", '<div class="card live" id="live"></div>') if modules else ""
    body += f'<div class="paper">{sections}{_errata(found)}{_open(found)}{_verdict(found)}</div>'
    body += f"<footer>manipula {text(__version__)} · manipula paper run {text(info.name)} · all that was computed here was found in this run</footer>\n"
    numbers = (content.document, content.packer.text()) if built is not None else None
    scripts = [*modules, built] if built is not None else []
    return document(info.title, body, scripts, numbers, RULES)


def _summary(found: Reproduction) -> str:
    rows, errata = list(found.rows), found.errata
    good, proven = sum(r.passed for r in rows), sum(e.proven for e in errata)
    words = "Reproduced: every row agrees." if found.passed else "Not reproduced: a row differs or a proof fails."
    told = f"{good} of {len(rows)} rows pass, {proven} of {len(errata)} errata are proven."
    printed = sum(r.printed is not None for r in rows)
    cells = [
        ("Rows", f"{good} / {len(rows)}", "", "computed here against print or recomputation"),
        ("Printed in the paper", str(printed), "", "numbers and formulas that are compared with print"),
        ("Errata", f"{proven} / {len(errata)}", "", "printed form off, correct form agrees"),
        ("Left open", str(len(found.open_points)), "", "what the paper does not say"),
    ]
    return banner("good" if found.passed else "bad", words, f"<p>{text(told)}</p>") + grid(cells)


def _contents(found: Reproduction) -> str:
    links = [(f"part-{k}", s.title) for k, s in enumerate(found.sections)]
    links += [("errata", "Errata"), ("open", "What cannot be compared"), ("verdict", "Verdict")]
    return '<nav class="toc">' + "".join(f'<a href="#{name}">{text(title)}</a>' for name, title in links) + "</nav>\n"


class _SectionWriter:
    """Writes sections and gives every chart a place."""

    def __init__(self, content: PageContent, alive: bool) -> None:
        self.content, self.alive, self.count = content, alive, 0

    def section(self, part: PaperSection, k: int) -> str:
        body = "".join(self._block(block) for block in part.blocks)
        body += card(rows_table(part.rows)) if part.rows else ""
        return f'<a id="part-{k}"></a>' + section(part.title, body)

    def _block(self, block: Any) -> str:
        if isinstance(block, Words):
            return f"<p>{sentence(block.text)}</p>"
        if isinstance(block, Formulas):
            lines = "".join(typeset.formula(line) for line in block.lines)
            head = f"<h3>{text(block.title)}</h3>" if block.title else ""
            return f'<div class="card equations">{head}{lines}</div>'
        if isinstance(block, DerivedFormulas):
            return f'<div class="card equations"><details><summary>{text(block.title)}</summary>{block.html}</details></div>'
        if isinstance(block, PaperTable):
            head = f"<h3>{text(block.title)}</h3>" if block.title else ""
            body = table(block.head, [[sentence(cell) for cell in row] for row in block.rows])
            many = f'<div class="scrolled">{body}</div>' if len(block.rows) > MANY else body
            return card(head + many)
        if isinstance(block, Picture):
            self.count += 1
            head = f"<h3>{text(block.title)}</h3>"
            return f'<div class="figure">{head}{still(block.draw(), f"figure-{self.count}", block.title)}</div>'
        if isinstance(block, RunCharts):
            return f'<div class="charts">{"".join(self._run_chart(kind) for kind in block.kinds)}</div>'
        return self._figure(block)

    def _figure(self, block: Figure) -> str:
        places = []
        for chart in block.charts:
            self.count += 1
            name = f"figure-{self.count}"
            if not self.alive:
                places.append(still_of(chart, name))
                continue
            self.content.document["charts"].append(panel_of(chart, name, self.content.packer))
            places.append(f'<figure class="card chart" id="{name}" aria-label="{text(chart.title)}"></figure>')
        kind = "charts small4" if block.small else "charts"
        return f'<div class="figure"><h3>{text(block.title)}</h3><div class="{kind}">{"".join(places)}</div></div>'

    def _run_chart(self, kind: str) -> str:
        if not self.alive:
            return picture(kind, self.content.shown[0].result)
        return "".join(
            f'<figure class="card chart" id="{panel["id"]}" aria-label="{text(panel["title"])}"></figure>'
            for panel in self.content.add_chart(kind)
        )


def sentence(words: str) -> str:
    """Text in which `formulas` between backquotes are typeset."""
    pieces = MARKED.split(words)
    return "".join(typeset.breaking(piece) if k % 2 else text(piece, 4000) for k, piece in enumerate(pieces))


def rows_table(rows: tuple[CheckedRow, ...]) -> str:
    """Quantity, printed, corrected, computed here, difference, tolerance, verdict; long formulas stand below their row."""
    heads = ("Printed in the paper", "Corrected or recomputed", "Computed here")
    top = "".join(f"<th>{name}</th>" for name in ("Quantity", *heads, "Difference", "Tolerance", "Verdict"))
    lines = []
    for row in rows:
        values = (row.printed, row.corrected, row.computed)
        name = sentence(row.quantity) + (f'<span class="remark">{text(row.remark, 300)}</span>' if row.remark else "")
        ends = f"<td>{shown(row.difference)}</td><td>{shown(row.tolerance)}</td><td>{mark(row.passed)}</td>"
        lengths = [len(value or "") for value in values]
        if max(lengths) <= LONG and sum(lengths) <= LONG_TOGETHER:
            lines.append(f"<tr><td>{name}</td>{''.join(f'<td>{_value(value)}</td>' for value in values)}{ends}</tr>")
            continue
        stacked = "".join(
            f'<div class="eq"><small>{head}</small> {sentence(value)}</div>' for head, value in zip(heads, values) if value is not None
        )  # fmt: skip
        lines.append(f'<tr class="above"><td colspan="4">{name}</td>{ends}</tr><tr><td colspan="7" class="words">{stacked}</td></tr>')  # fmt: skip
    body = f'<div class="scroll"><table class="data rows"><thead><tr>{top}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    return f'<div class="scrolled">{body}</div>' if len(rows) > MANY else body


def _value(value: str | None) -> str:
    return "–" if value is None else sentence(value)


def mark(passed: bool) -> str:
    """A verdict in its colour."""
    return f'<span class="verdict {"good" if passed else "bad"}">{"✓ pass" if passed else "✗ fails"}</span>'


def _errata(found: Reproduction) -> str:
    if not found.errata:
        return ""
    cells = [
        (text(e.where), sentence(e.printed), sentence(e.correct), f'<span class="proof">{sentence(e.proof)}</span>',
         _off(e), shown(e.correct_off), mark(e.proven))
        for e in found.errata
    ]  # fmt: skip
    head = ("*Where", "*Printed", "*Correct", "*Proof", "Printed is off by", "Correct is off by", "Verdict")
    return '<a id="errata"></a>' + section("Errata", f'<div class="errata">{card(table(head, cells))}</div>')


def _off(erratum: Erratum) -> str:
    if erratum.printed_off is None:
        return "cannot be evaluated"
    return f"{erratum.printed_off:.3g}" if erratum.effect else "no effect"


def _open(found: Reproduction) -> str:
    points = "".join(f"<li>{sentence(point)}</li>" for point in found.open_points)
    return '<a id="open"></a>' + section("What cannot be compared", card(f"<ul>{points}</ul>")) if points else ""


def _verdict(found: Reproduction) -> str:
    cells = [
        (text(title), f"{good} of {count}", text(typeset.spoken(words), 300), mark(ok))
        for title, good, count, words, ok in found.verdicts()
    ]
    head = ("*Part", "Pass", "*Nearest to its tolerance", "Verdict")
    last = banner(
        "good" if found.passed else "bad",
        "All of it is reproduced." if found.passed else "Something is not reproduced.",
        "",
    )
    return '<a id="verdict"></a>' + section("Verdict", card(table(head, cells)) + last)
