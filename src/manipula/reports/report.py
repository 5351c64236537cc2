"""One HTML file that tells what happened in a run, or compares several: opens offline, asks no network for anything, can be mailed and printed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from manipula.errors import DescriptionError, unknown_name
from manipula.formats.whole_file import write_whole
from manipula.reports import tables, viewer
from manipula.reports.comparison import compared, run_names
from manipula.reports.content import PageContent, drawn_by_the_page
from manipula.reports.formulas import equations_html
from manipula.reports.key_numbers import ROUNDING, numbers_grid
from manipula.reports.page import card, document, html_path, section, text
from manipula.reports.pictures import picture
from manipula.reports.plots import PLOTS
from manipula.reports.plots.steady import largest, natural_size
from manipula.reports.source import is_batch, joint_count, robot_of
from manipula.robot.robot import Robot
from manipula.simulation.recorded import limits_of
from manipula.simulation.result import Result

T = TypeVar("T")
CHARTS = (
    "tip", "position", "velocity", "acceleration", "jerk", "torque", "friction-torque", "observed-torque", "offset", "power", "error", "energy",
    "residual", "multipliers", "height", "bristles", "contact", "manipulability", "phase",
)  # fmt: skip
ONLY_PROGRAMMED = ("height", "multipliers")
MOST_PHASES, MOST_COMPARED = 8, 8
SMALL = "card chart small"
NO_SCRIPT = '<noscript><p class="note">Scripts are switched off, so arm and charts are not drawn; the tables are complete.</p></noscript>'


def write_report(
    result: Result | Sequence[Result],
    path: str | os.PathLike[str],
    *,
    equations: bool = True,
    charts: tuple[str, ...] = CHARTS,
    live: bool | Sequence[str] = False,
) -> Path:
    """Write the report of a run or of a batch, or compare several runs; the file appears whole or not at all.

    Args:
        result: what simulate or load_result gave; several of them are shown over each other, with a table of differences.
        equations: also derive the equations of motion when they are short (a few seconds at most).
        charts: kinds of plots, in order; those this result has no signals for are left out.
        live: the page computes the run again when the reader moves a number. True: gains, friction, payload and start get sliders; or the paths of
            numbers that get one, such as ``["controller.kp", "friction[0].damping", "payload.mass", "q0[1]"]``.

    Raises:
        DescriptionError, CompileError: when a live report is asked for and this run cannot be computed in a page; says why.
    """
    return write_whole(html_path(path), report_html(result, equations=equations, charts=charts, live=live))


def report_html(
    result: Result | Sequence[Result],
    *,
    equations: bool = True,
    charts: tuple[str, ...] = CHARTS,
    live: bool | Sequence[str] = False,
) -> str:
    """The report as text."""
    results = _checked(result)
    for kind in charts:
        if kind not in PLOTS:
            raise unknown_name("kind of plot", kind, PLOTS, field="charts")
    first = results[0]
    batch = is_batch(first)
    shown = [first.run(_representative(first))] if batch else results
    known = all(bool(np.isfinite(r.arrays["q"][:1]).all()) and len(r.t) > 1 for r in shown)
    missing: list[str] = []
    robot = _tried("The robot", lambda: robot_of(shown[0]), None, missing)
    content = PageContent(shown, run_names(results)) if known else None
    if content is not None:
        _tried("The moving arm", content.add_robots, None, missing)
    figures = _figures(first if batch else None, shown, charts, content, missing)
    built = viewer.script()
    modules = _live(results, live, content)
    title = str(first.meta.get("name") or "run") if len(results) == 1 else "Comparison of runs"
    body = _header(first, title) if len(results) == 1 else compared(results)
    if len(results) == 1:
        body += tables.status_banner(first)
        body += _tried("The verdict on limits", lambda: tables.limits_banner(first), "", missing)
        body += _tried("The key numbers", lambda: numbers_grid(first), "", missing)
    body += section("Try it", '<div class="card live" id="live"></div>') if modules else ""
    if built is None:
        body += f'<p class="note">{text(viewer.missing(), 600)}</p>'
    if content is not None and content.draws_an_arm:
        name = f"Motion of run {shown[0].meta['run']}" if batch else "Motion"
        body += section(name, '<div class="card player" id="motion"></div>') if built is not None else ""
    elif known:
        body += section("Motion", card("<p>The arm cannot be drawn: the result does not say which robot moved.</p>"))
    for title_of, chosen in (("Charts", figures[0]), ("Phase planes", figures[1])):
        body += section(title_of, f'<div class="charts">{"".join(chosen)}</div>') if chosen else ""
    body += NO_SCRIPT if built is not None else ""
    if batch:
        body += section("Runs", f'<div class="card runs">{tables.run_table(first)}</div>')
    body += _tried("The robot", lambda: _robot(robot, first, equations), "", missing)
    body += section("Settings", card(tables.settings(first))) if len(results) == 1 else ""
    if missing:
        body += section("Left out", card("".join(f"<p>{text(said, 400)}</p>" for said in dict.fromkeys(missing))))
    numbers = (content.document, content.packer.text()) if content is not None and built is not None else None
    scripts = [*modules, built] if built is not None and numbers is not None else []
    name = f"{title} – {first.meta.get('robot', 'robot')}"
    return document(name, body + _footer(first), scripts, numbers)


def _live(results: list[Result], live: bool | Sequence[str], content: PageContent | None) -> list[str]:
    """The equations of the run as a module, when the page is to compute it."""
    if live is False:
        return []
    if live is not True and not (isinstance(live, (list, tuple)) and all(isinstance(path, str) for path in live)):
        raise DescriptionError("'live' is true, or a list of paths such as 'controller.kp'.", field="live")
    if len(results) > 1 or content is None:
        raise DescriptionError("A live report is made of one run that moved.", field="live")
    if viewer.script() is None:
        raise DescriptionError(viewer.missing(), field="live")
    from manipula.reports.live import live_module  # and with it the compiler

    told, module = live_module(results[0], None if live is True else list(live), content.shown[0])
    content.document["live"] = told
    return [module]


def _checked(result: Any) -> list[Result]:
    """One result, or several single runs of arms with as many joints."""
    several = list(result) if isinstance(result, (list, tuple)) else [result]
    for r in several:
        if not isinstance(r, Result):
            raise DescriptionError(f"A report is made of a Result, found {type(r).__name__}.")
    if not 1 <= len(several) <= MOST_COMPARED:
        raise DescriptionError(f"A report compares at most {MOST_COMPARED} results, found {len(several)}.")
    if len(several) > 1:
        if any(is_batch(r) for r in several):
            raise DescriptionError("Single runs are compared and this is a batch; choose one: result.run(0).")
        if len({joint_count(r) for r in several}) > 1:
            raise DescriptionError(
                f"Runs of robots with the same number of joints are compared, found {', '.join(str(joint_count(r)) for r in several)} joints."
            )
    return several


def _tried(what: str, make: Callable[[], T], otherwise: T, missing: list[str]) -> T:
    """A part of the page; one that cannot be made is left out, and the page says so: the numbers are never lost to a picture."""
    try:
        return make()
    except Exception as error:
        missing.append(f"{what} could not be shown: {type(error).__name__}: {error}")
        return otherwise


def _representative(result: Result) -> int:
    """The first run that ended as the batch as a whole did; one that breaks a limit where there is one."""
    ended = [k for k, status in enumerate(result.statuses) if status == result.status]
    kept = result.feasibility.runs
    broken = [k for k in ended if kept and kept[k] is False]
    return (broken or ended or [0])[0]


def _header(result: Result, title: str) -> str:
    kind = tables.KINDS.get(str(result.meta.get("kind")), str(result.meta.get("kind", "run")))
    n = joint_count(result)
    line = f"{result.meta.get('robot', 'robot')} · {n} joint{'s' * (n != 1)} · {kind}"
    if "run" in result.meta:
        line += f" · run {result.meta['run']} of a batch"
    return f"<header><h1>{text(title, 120)}</h1><p>{text(line, 200)}</p></header>\n"


def _figures(
    batch: Result | None, shown: list[Result], kinds: tuple[str, ...], content: PageContent | None, missing: list[str]
) -> tuple[list[str], list[str]]:
    """The places of the charts, large ones and small ones; those that cannot be drawn are named in ``missing``."""
    if content is None:
        return [], []
    programmed = shown[0].meta.get("kind") == "programmed"
    out: list[str] = []
    for kind in ("ensemble", *kinds) if batch is not None else kinds:
        skip = (kind in ONLY_PROGRAMMED and not programmed) or (kind == "phase" and joint_count(shown[0]) > MOST_PHASES)
        if skip or (kind == "jerk" and "jerk" not in limits_of(shown[0])):  # found only where somebody limits it
            continue
        out += _tried(f"The chart '{kind}'", lambda k=kind: _chart(k, batch, shown, content), [], missing)
    return [place for place in out if SMALL not in place], [place for place in out if SMALL in place]


def _chart(kind: str, batch: Result | None, shown: list[Result], content: PageContent) -> list[str]:
    """The places of one kind of chart; none when these results have nothing to show there."""
    of = batch if kind == "ensemble" else None
    if any(PLOTS[kind].missing(r) is not None or not _moves(r, kind) for r in ([of] if of is not None else shown)):
        return []
    if viewer.script() is None or not drawn_by_the_page(kind):
        return [picture(kind, r) for r in ([of] if of is not None else shown[:1])]
    return [
        f'<figure class="{SMALL if panel.get("small") else "card chart"}" id="{panel["id"]}" aria-label="{text(panel["title"])}"></figure>'
        for panel in content.add_chart(kind, of)
    ]


def _moves(result: Result, kind: str) -> bool:
    """Torque and power of a free motion are zero throughout (to rounding): nothing to look at."""
    signal = {"torque": "tau", "power": "power", "friction-torque": "friction"}.get(kind)
    if signal is None or signal not in result.arrays:
        return True
    return largest(result.arrays[signal]) > ROUNDING * natural_size(result, signal)


def _robot(robot: Robot | None, result: Result, equations: bool) -> str:
    if robot is None:
        return ""
    gravity = ", ".join(tables.number(x) for x in robot.gravity)
    notes = "".join(f'<p class="note">{text(note, 800)}</p>' for note in robot.notes)
    words = f'<p class="note">Gravity ({gravity}) m/s², tip {text(robot.tip or "not named", 60)}.</p>'
    body = card(
        f"{notes}{words}<h3>Joints</h3>{tables.joint_table(robot, result)}<h3>Links</h3>{tables.link_table(robot)}"
    )
    out = section("Robot", body) + section("What the doctor says", card(tables.findings(robot)))
    if equations:
        formulas = equations_html(robot)
        out += section("Equations of motion", card(f'<div class="equations">{formulas}</div>')) if formulas else ""
    return out


def _footer(result: Result) -> str:
    versions = dict(result.meta.get("versions") or {})
    made = ", ".join(f"{name} {value}" for name, value in versions.items())
    digest = str(result.meta.get("robot_digest", ""))[:16]
    robot = f"<br>Robot {text(digest)}" if digest else ""
    return f"<footer>{text(made, 300)}{robot}</footer>\n"
