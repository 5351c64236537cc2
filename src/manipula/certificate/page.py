"""A certificate as one HTML page that needs nothing else: to attach to a publication."""

from __future__ import annotations

import os
from pathlib import Path

from manipula.certificate.certificate import DISAGREES, GROUPS, NOT_RUN, Certificate, CertifiedRow, limit, shown
from manipula.formats.whole_file import write_whole
from manipula.reports.identification import page
from manipula.reports.key_numbers import grid
from manipula.reports.page import card, html_path, section, table, text
from manipula.reports.tables import banner


def write_certificate(certificate: Certificate, path: str | os.PathLike[str]) -> Path:
    """Write the page; the file appears whole or not at all."""
    return write_whole(html_path(path), certificate_html(certificate))


def certificate_html(c: Certificate) -> str:
    """The page as text."""
    tone = "bad" if c.failed else "good"
    reasons = [row for row in (*c.failed, *c.not_run) if row.note]
    told = dict.fromkeys(f"{row.route if row.group == 'routes' else row.quantity}: {row.note}" for row in reasons)
    body = banner(tone, c.verdict(), "".join(f'<p class="note">{text(line, 600)}</p>' for line in told))
    worst = c.worst
    numbers = [
        ("States", str(c.states), "", f"random, seed {c.seed}"),
        ("Comparisons", str(sum(r.status != NOT_RUN for r in c.rows)), "", f"{len(c.not_run)} not run"),
        ("Disagreements", str(len(c.failed)), "", "beyond rounding"),
    ]
    if worst is not None and worst.error is not None and worst.tolerance:
        numbers.append(("Nearest to its tolerance", f"{worst.error:.1e}", "", f"{worst.route}, {worst.quantity}"))
    body += grid(numbers)
    for group, title in GROUPS.items():
        body += section(title, card(_table(c, group)) if any(r.group == group for r in c.rows) else "")
    body += section("How it was measured", card("".join(f"<p>{text(line, 600)}</p>" for line in c.method)))
    facts = {"robot": c.robot, "joints": c.kind, "SHA-256 of the robot": c.digest, "made": c.date, "seed": str(c.seed),
             **{f"version of {k}": v for k, v in c.versions.items()}, **c.machine}  # fmt: skip
    body += section(
        "What was certified, and where", card(table(("*", "*"), [(text(k), text(v, 200)) for k, v in facts.items()]))
    )
    return page(f"Certificate of {c.robot}", f"{c.kind} · {c.date}", body)


def _table(c: Certificate, group: str) -> str:
    rows = [row for row in c.rows if row.group == group]
    if group != "routes":
        cells = [(text(r.quantity), _cell(r), limit(r), text(r.note, 400)) for r in rows]
        return table(("*law", "error", "tolerance", "*"), cells)
    heads, _ = c.table(group)
    lines = []
    for route in dict.fromkeys(row.route for row in rows):
        found = {row.quantity: row for row in rows if row.route == route}
        lines.append((text(route), *(_cell(found[q]) if q in found else "" for q in heads[1:])))
    lines.append(("tolerance", *(text(t) for t in c.tolerances())))
    return table(("*route", *heads[1:]), lines)


def _cell(row: CertifiedRow) -> str:
    return f"<b>{text(shown(row))}</b>" if row.status == DISAGREES else text(shown(row))
