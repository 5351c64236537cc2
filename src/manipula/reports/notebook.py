"""What a notebook shows of a value: ``_repr_html_`` of robots, results, equations and verdicts.

A robot and a result appear as the report does, inside an ``iframe`` of their own: outputs do not disturb each other, and no script runs in the page of
the notebook. The sentence above it is plain HTML, for places that drop frames. A page beyond the budget, or one without a viewer, is a table instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from manipula.analysis.feasibility_verdict import Feasibility
from manipula.ik.base import IkResult
from manipula.reports import tables, viewer
from manipula.reports.content import PageContent
from manipula.reports.formulas import equations_html
from manipula.reports.key_numbers import key_numbers
from manipula.reports.page import card, document, section, text
from manipula.reports.report import report_html
from manipula.reports.source import is_batch, typeset
from manipula.robot.doctor import Diagnosis
from manipula.robot.robot import Robot
from manipula.simulation.limit_checks import Check
from manipula.simulation.result import Result
from manipula.simulation.scenario import Scenario
from manipula.simulation.verdicts.limits import LimitVerdict
from manipula.studies.opened import StudyResults
from manipula.studies.study import Study
from manipula.symbolic.equations import Equations

LARGEST = 1_500_000  # characters of one output
MOST_ROWS = 200
TALLEST, ABOVE, ROW = 1120, 780, 42  # pixels of a robot's frame: at most, above its table, of a row
MATH = '<math style="font-size:1.2em"'  # dots over letters can be seen
TURN, SLIDE, FRAMES = 0.8, 0.2, 48  # how far a joint is shown to move [rad, m], and in how many samples


def html_of(value: Any) -> str:
    """The value as a notebook shows it."""
    return next(make for kind, make in SHOWN.items() if isinstance(value, kind))(value)


def _framed(words: str, page: str, height: int, otherwise: Callable[[], str], advice: str) -> str:
    """A page in a frame of its own below a sentence; a page that is too large is replaced by a table that says so."""
    quote, spelt = min((('"', "&quot;"), ("'", "&#39;")), key=lambda q: page.count(q[0]))
    inside = page.replace("&", "&amp;").replace(quote, spelt)
    if len(inside) > LARGEST:
        return f"{words}<p>The view has {len(inside) / 1e6:.1f} MB, more than a notebook should hold; {advice}.</p>{otherwise()}"
    style = f"width:100%;height:{height}px;border:0"
    return f'{words}<iframe sandbox="allow-scripts allow-downloads" style="{style}" srcdoc={quote}{inside}{quote}></iframe>'


def _table(head: Sequence[str], rows: Iterable[Sequence[object]], words: int = 1, more: int = 0) -> str:
    """A plain table in the style of the notebook; the first ``words`` columns and the last are flush left; ``more`` rows are only counted."""

    def line(cells: Sequence[object], tag: str) -> str:
        sides = ["left" if k < words or k == len(cells) - 1 else "right" for k in range(len(cells))]
        style = "text-align:{};padding:.1em .6em"
        return "<tr>" + "".join(f'<{tag} style="{style.format(s)}">{text(typeset(c), 600)}</{tag}>' for s, c in zip(sides, cells)) + "</tr>"  # fmt: skip

    shown = list(rows)
    more += max(len(shown) - MOST_ROWS, 0)
    told = f"<p>… and {more} more.</p>" if more else ""
    body = "".join(line(row, "td") for row in shown[:MOST_ROWS])
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>{told}"


def _said(strong: str, words: str) -> str:
    return f"<p><b>{text(strong, 120)}</b>: {text(typeset(words), 600)}</p>"


# ------------------------------------------------------------------------------------------------------------------------ results


def _result(result: Result) -> str:
    verdict = result.feasibility
    kept = {True: "feasible", False: "not feasible", None: "feasible or not is not known"}[verdict.feasible]
    words = _said(result.status, result.reason) + _said(kept, verdict.reason)
    if viewer.script() is None:
        return f"{words}<p>{text(viewer.missing(), 600)}</p>{_numbers(result)}"
    page = report_html(result, equations=False)
    return _framed(words, page, 720, lambda: _numbers(result), 'result.report("run.html") writes it to a file')


def _numbers(result: Result) -> str:
    rows = [(title, f"{value} {unit}".strip(), remark) for title, value, unit, remark in key_numbers(result)]
    return _table(("", f"{'worst of the batch' if is_batch(result) else 'value'}", ""), rows)


# ------------------------------------------------------------------------------------------------------------------------- robots


def _robot(robot: Robot) -> str:
    words = f"<p>{text(repr(robot), 400)}</p>"
    if robot.parameters or robot.n == 0 or viewer.script() is None:
        return words + _joints(robot)
    content = PageContent([_swinging(robot)], [robot.name])
    content.add_robots()
    if not content.draws_an_arm:
        return words + _joints(robot)
    body = '<div class="card player" id="motion"></div><p class="note">Each joint moves in turn, from a posture within the limits.</p>'
    body += section("Joints", card(tables.joint_table(robot))) + section("Links", card(tables.link_table(robot)))
    page = document(robot.name, body, [viewer.script() or ""], (content.document, content.packer.text()))
    height = min(TALLEST, ABOVE + ROW * robot.n)  # the joints are seen without scrolling
    return _framed(words, page, height, lambda: _joints(robot), "these are its joints")


def _swinging(robot: Robot) -> Result:
    """A motion to look at: one joint after the other goes to and fro, a second each."""
    far = np.array([TURN if j.is_revolute else SLIDE for j in robot.joints])
    low = np.array([-np.inf if j.limits.lower is None else float(j.limits.lower) for j in robot.joints])
    high = np.array([np.inf if j.limits.upper is None else float(j.limits.upper) for j in robot.joints])
    rest = np.clip(0.0, low, high)
    wave = np.sin(np.linspace(0.0, 2.0 * np.pi, FRAMES, endpoint=False))
    q = np.tile(rest, (robot.n * FRAMES + 1, 1))
    for i in range(robot.n):
        room = np.where(wave > 0.0, min(high[i] - rest[i], far[i]), min(rest[i] - low[i], far[i]))
        q[i * FRAMES : (i + 1) * FRAMES, i] += wave * room
    names = [j.name for j in robot.joints]
    meta = {"robot": robot.name, "joint_names": names, "joint_kinds": [j.kind for j in robot.joints], "limits": {}}
    scenario = Scenario(robot, q0=rest, duration=float(robot.n))
    return Result(np.arange(len(q)) / FRAMES, {"q": q}, "finished", "", meta=meta, scenario=scenario)


def _joints(robot: Robot) -> str:
    def number(x: Any) -> str:
        return "–" if x is None else f"{x:.6g}" if isinstance(x, (int, float)) else str(x)

    rows = [
        (j.name, j.kind, *(number(x) for x in (j.limits.lower, j.limits.upper, j.limits.velocity, j.limits.effort, link.mass)), link.name)
        for j, link in zip(robot.joints, robot.bodies)
    ]  # fmt: skip
    return _table(("joint", "kind", "lower", "upper", "velocity", "effort", "mass [kg]", "link"), rows, words=2)


# ----------------------------------------------------------------------------------------------------------------------- verdicts


def _diagnosis(diagnosis: Diagnosis) -> str:
    rows = [(f.severity, f.place, f"{f.sentence} {f.advice}".strip()) for f in diagnosis.findings]
    found = _table(("", "where", "what"), rows, words=2) if rows else ""
    return f"<p><b>{text(diagnosis.verdict(), 400)}</b></p>{found}"


def _checks(feasible: bool | None, reason: str, checks: Iterable[Check], remarks: Iterable[str]) -> str:
    kept = {True: "feasible", False: "not feasible", None: "not known"}[feasible]
    rows = []
    for c in checks:
        if c.limit is not None:
            limit = "{:.6g} … {:.6g}".format(*c.limit) if isinstance(c.limit, tuple) else f"{c.limit:.6g}"
            use = f"{100 * c.use:.0f} %{'' if c.ok else ' ✗'}"
            rows.append((c.name or "tip", c.quantity, f"{c.worst:.6g}", f"{c.time:.4g}", limit, use, c.unit))
    notes = "".join(f"<p>{text(r, 600)}</p>" for r in remarks if r not in reason)
    table = _table(("joint", "quantity", "worst", "at [s]", "limit", "use", "unit"), rows, words=2) if rows else ""
    return _said(kept, reason) + table + notes


def _limits(verdict: LimitVerdict) -> str:
    return _checks(verdict.feasible, verdict.reason, verdict.checks, verdict.remarks)


def _feasibility(verdict: Feasibility) -> str:
    checks = [*(c for joint in verdict.joints for c in joint.checks), *verdict.tip]
    return _checks(verdict.feasible, verdict.reason, checks, verdict.remarks)


def _postures(found: IkResult) -> str:
    """One row per posture; of a batch each with its own status."""
    q = np.atleast_2d(found.q)
    count, n = q[..., 0].size, q.shape[-1]
    residuals, statuses = (np.broadcast_to(x, q.shape[:-1]).ravel() for x in (found.residual, found.status))
    errors = [f"{x:.1e}" if x else "0" for x in residuals[:MOST_ROWS].tolist()]
    rows = [
        (str(k + 1), *(f"{x:.6g}" for x in q.reshape(count, n)[k]), errors[k], statuses[k]) for k in range(min(count, MOST_ROWS))
    ]  # fmt: skip
    single = isinstance(found.status, str)
    words = (
        _said(found.status, found.reason or str(found.method))
        if single
        else _said(f"{count} targets", f"{int(np.sum(statuses == 'solved'))} solved")
    )
    if single and found.status != "solved":
        if not found.iterations:
            return words  # nothing was searched: the posture is only where a search would start
        words += "<p>The nearest posture found:</p>"
    units = found.units if len(found.units) == n else ("rad or m",) * n
    heads = ("", *(f"q{i + 1} [{unit}]" for i, unit in enumerate(units)), "error", "status")
    return words + (_table(heads, rows, more=count - len(rows)) if rows else "")


def _equations(equations: Equations) -> str:
    formulas = equations_html(equations)
    if formulas:
        for large, fitting in (("h1", "h3"), ("h2", "h4")):  # heads of an output, not of a page
            formulas = formulas.replace(f"<{large}>", f"<{fitting}>").replace(f"</{large}>", f"</{fitting}>")
        return f'<div style="font-size:1.05em">{formulas.replace("<math", MATH)}</div>'
    advice = (
        "They are too long to be shown here; print(equations.text('g')) writes a part of them, equations.html() a page."
    )
    return f"<p>{text(repr(equations), 200)}. {text(advice)}</p>"


def _study(study: Study) -> str:
    rows = [(path, str(what)) for path, what in study.vary.items()]
    return _said(f"study '{study.name}'", f"{study.runs} runs, seed {study.seed}") + _table(("varied", "values"), rows)


def _studied(found: StudyResults) -> str:
    """How the runs ended, and the least, mean and largest of every number."""
    statuses = ", ".join(f"{name} {count}" for name, count in found.statuses().items())
    words = _said(f"study '{found.manifest['name']}'", f"{found.done} of {found.runs} runs made: {statuses or 'none'}")
    numbers = [c for c in found.columns if c.kind == "number"]
    if not found.done or not numbers:
        return words
    table = found.to_arrow([c.name for c in numbers])
    rows = []
    for c in numbers:
        values = table.column(c.name).to_numpy()
        values = values[np.isfinite(values)]
        cells = [f"{x:.4g}" for x in (values.min(), values.mean(), values.max())] if len(values) else ["–"] * 3
        rows.append((c.name, *cells, c.unit, c.meaning))
    return words + _table(("", "least", "mean", "largest", "unit", "meaning"), rows)


SHOWN: dict[type, Callable[[Any], str]] = {
    Robot: _robot, Result: _result, Equations: _equations, Diagnosis: _diagnosis, LimitVerdict: _limits, Feasibility: _feasibility,
    IkResult: _postures, Study: _study, StudyResults: _studied,
}  # fmt: skip
