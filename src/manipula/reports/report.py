"""One HTML file that tells what happened in a run: opens offline, asks no network for anything, can be mailed and printed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from manipula.errors import DescriptionError
from manipula.formats.whole_file import file_path, write_whole
from manipula.reports import tables
from manipula.reports.formulas import equations_html
from manipula.reports.key_numbers import ROUNDING, numbers_grid
from manipula.reports.page import card, chip, document, section, text
from manipula.reports.payload import frames_of, payload
from manipula.reports.plots import PLOTS
from manipula.reports.plots.base import Plot
from manipula.reports.plots.steady import largest, natural_size
from manipula.reports.source import is_batch, joint_count, names_of, robot_of, unit_of
from manipula.reports.svg import PANEL_HEIGHT, PANEL_WIDTH, TALL_HEIGHT, Chart, chart_of, set_margins
from manipula.reports.theme import new_figure, themed
from manipula.robot.robot import Robot
from manipula.simulation.recorded import limits_of
from manipula.simulation.result import Result

T = TypeVar("T")
JOINT_CHARTS = ("position", "velocity", "acceleration", "jerk", "torque", "friction-torque", "power")
CHARTS = (
    "tip",
    *JOINT_CHARTS,
    "error",
    "energy",
    "residual",
    "multipliers",
    "height",
    "bristles",
    "manipulability",
    "phase",
)
ONLY_PROGRAMMED = ("height", "multipliers")
TALL, WIDE = ("tip",), ("phase",)
MOST_PHASES = 8


def write_report(
    result: Result, path: str | os.PathLike[str], *, equations: bool = True, charts: tuple[str, ...] = CHARTS
) -> Path:
    """Write the report of a run or of a batch; the file appears whole or not at all.

    Args:
        equations: also derive the equations of motion when they are short (a few seconds at most).
        charts: kinds of plots, in order; those this result has no signals for are left out.
    """
    target = file_path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise DescriptionError(f"A report is written as .html, found '{target.suffix}'.", file=str(path))
    return write_whole(target, report_html(result, equations=equations, charts=charts))


def report_html(result: Result, *, equations: bool = True, charts: tuple[str, ...] = CHARTS) -> str:
    """The report as text."""
    if not isinstance(result, Result):
        raise DescriptionError(f"A report is made of a Result, found {type(result).__name__}.")
    batch = is_batch(result)
    shown = result.run(_representative(result)) if batch else result
    known = bool(np.isfinite(shown.arrays["q"][:1]).all()) and len(shown.t) > 1
    missing: list[str] = []
    robot = _tried("The robot", lambda: robot_of(shown), None, missing)
    index = frames_of(shown) if known else np.arange(1)
    drawn = _charts(result, shown, charts, index, missing) if known else {}
    live = {k: c.panels for k, c in drawn.items() if c.panels}
    samples = (
        _tried("The moving arm", lambda: payload(shown, index, live), _nothing(), missing) if known else _nothing()
    )
    title = str(result.meta.get("name") or "run")
    body = _header(result, title) + tables.status_banner(result)
    body += _tried("The verdict on limits", lambda: tables.limits_banner(result), "", missing)
    body += _tried("The key numbers", lambda: numbers_grid(result), "", missing)
    if samples["arm"] is not None:
        name = f"Motion of run {shown.meta['run']}" if batch else "Motion"
        body += section(name, _player(shown, samples))
    elif known:
        body += section("Motion", card("<p>The arm cannot be drawn: the result does not say which robot moved.</p>"))
    body += section("Charts", _legend(result) + _figures(drawn)) if drawn else ""
    if batch:
        body += section("Runs", f'<div class="card runs">{tables.run_table(result)}</div>')
    body += _tried("The robot", lambda: _robot(robot, result, equations), "", missing)
    body += section("Settings", card(tables.settings(result)))
    body += (
        section("Left out", card("".join(f"<p>{text(said, 400)}</p>" for said in dict.fromkeys(missing))))
        if missing
        else ""
    )
    return document(f"{title} – {result.meta.get('robot', 'robot')}", body + _footer(result), samples)


def _tried(what: str, make: Callable[[], T], otherwise: T, missing: list[str]) -> T:
    """A part of the page; one that cannot be made is left out, and the page says so: the numbers are never lost to a picture."""
    try:
        return make()
    except Exception as error:
        missing.append(f"{what} could not be shown: {type(error).__name__}: {error}")
        return otherwise


def _nothing() -> dict[str, Any]:
    return {"t": [0, 1], "names": [], "units": [], "q": [[], []], "arm": None, "charts": {}}


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


def _charts(
    result: Result, shown: Result, kinds: tuple[str, ...], index: np.ndarray, missing: list[str]
) -> dict[str, Chart]:
    """Figures by the id of their element; those that cannot be drawn are named in ``missing``."""
    out: dict[str, Chart] = {}
    programmed = result.meta.get("kind") == "programmed"
    if is_batch(result):
        kinds = ("ensemble", *kinds)
    for kind in kinds:
        plot, of = PLOTS[kind], result if kind == "ensemble" else shown
        skip = (kind in ONLY_PROGRAMMED and not programmed) or (kind == "phase" and joint_count(result) > MOST_PHASES)
        if skip or (kind == "jerk" and "jerk" not in limits_of(result)):  # found only where somebody limits it
            continue
        chart = _tried(f"The chart '{kind}'", lambda p=plot, r=of: _chart(p, r, index), None, missing)
        if chart is not None:
            out[f"chart-{kind}"] = chart
    return out


def _chart(plot: Plot, of: Result, index: np.ndarray) -> Chart | None:
    """One figure; None when this result has nothing to show there."""
    kind = plot.name
    if plot.missing(of) is not None or not _moves(of, kind):
        return None
    want = plot.panels(of)
    rows, columns, count = want.rows, want.columns, want.places
    width, height = PANEL_WIDTH, TALL_HEIGHT if kind in TALL or count == 2 else PANEL_HEIGHT
    if kind in WIDE:
        columns = count if count <= 4 else -(-count // 2)
        rows = -(-count // columns)
        width, height = 2 * PANEL_WIDTH, 0.85 * PANEL_HEIGHT * rows
    with themed():
        figure = new_figure(width, height, layout=None)
        style = {"projection": "3d"} if want.spatial else {}
        axes = [figure.add_subplot(rows, columns, i + 1, **style) for i in range(count)]
    plot(of, ax=axes if count > 1 else axes[0])
    if kind in JOINT_CHARTS or kind == "ensemble":
        for ax in figure.axes:
            if ax.get_legend() is not None:
                ax.get_legend().remove()
    if want.spatial:
        figure.subplots_adjust(0.0, 0.03, 0.93, 0.97)
    else:
        set_margins(figure, rows, columns)
    return chart_of(figure, f"chart-{kind}-", of.t, index, rows)


def _moves(result: Result, kind: str) -> bool:
    """Torque and power of a free motion are zero throughout (to rounding): nothing to look at."""
    signal = {"torque": "tau", "power": "power", "friction-torque": "friction"}.get(kind)
    if signal is None or signal not in result.arrays:
        return True
    return largest(result.arrays[signal]) > ROUNDING * natural_size(result, signal)


def _arranged(drawn: dict[str, Chart]) -> list[str]:
    """Names in an order that fills two columns: the first tall chart beside the first two single ones, the other tall ones
    in pairs, and one that has no partner beside the last two single ones."""
    wide = [name for name in drawn if name.removeprefix("chart-") in WIDE]
    tall = [
        name for name in drawn if name not in wide and (name.removeprefix("chart-") in TALL or drawn[name].rows == 2)
    ]
    single = [name for name in drawn if name not in wide and name not in tall]
    lead = [*tall[:1], *single[:2]] if len(single) > 1 else []
    tall, single = (tall[1:], single[2:]) if lead else (tall, single)
    last = [tall.pop(), *single[-2:]] if len(tall) % 2 and len(single) > 1 else []
    single = single[:-2] if last else single
    odd = [single.pop()] if len(single) % 2 else []
    return [*lead, *single, *tall, *last, *odd, *wide]


def _figures(drawn: dict[str, Chart]) -> str:
    parts = []
    for name in _arranged(drawn):
        chart, kind = drawn[name], name.removeprefix("chart-")
        live = " data-live" if chart.panels else ""
        tall = kind in TALL or chart.rows == 2
        wide = " wide" if kind in WIDE else " tall" if tall else ""
        label = PLOTS[kind].summary
        parts.append(
            f'<figure class="card{wide}" id="{name}"{live} role="img" aria-label="{text(label)}">{chart.svg}</figure>'
        )
    return f'<div class="charts">{"".join(parts)}</div><p class="hint">Move over a chart to read values; click to move the arm there.</p>'


def _legend(result: Result) -> str:
    names = names_of(result)
    if len(names) > 40:
        return ""
    return '<ul class="legend" aria-label="Colours of the joints">' + "".join(
        f"<li>{chip(i)}{text(name, 60)}</li>" for i, name in enumerate(names)
    ) + "</ul>"  # fmt: skip


def _player(result: Result, samples: dict[str, Any]) -> str:
    arm = samples["arm"]
    rows = "".join(
        f'<tr><td>{chip(i)}{text(name, 40)}</td><td id="value-{i}"></td><td>{text(unit_of(result, "q", i))}</td></tr>'
        for i, name in enumerate(names_of(result))
    )
    tip = "" if arm["tip"] is None else '<tr class="group"><td colspan="3">Tip</td></tr>' + "".join(
        f'<tr><td>{c}</td><td id="tip-{c}"></td><td>m</td></tr>' for c in "xyz"
    )  # fmt: skip
    speeds = "".join(
        f'<option value="{v}"{" selected" if v == "1" else ""}>{v}×</option>'
        for v in ("0.1", "0.25", "0.5", "1", "2", "5")
    )
    views = "" if arm["plane"] is not None else "".join(
        f'<button type="button" data-view="{v}">{label}</button>' for v, label in (("front", "Front"), ("side", "Side"), ("top", "Top"))
    )  # fmt: skip
    boxes = "" if arm["tip"] is None else '<label><input type="checkbox" id="show-trace" checked>Trace</label>'
    boxes += "" if arm["target"] is None else '<label><input type="checkbox" id="show-target" checked>Target</label>'
    boxes += "" if arm["look"] is None else '<label><input type="checkbox" id="show-shapes" checked>Shapes</label>'
    told = (
        ""
        if arm["look"] is None
        else "".join(f'<p class="note">{text(note, 300)}</p>' for note in arm["look"]["notes"])
    )
    words = "The arm along its motion. Arrow keys turn the view, plus and minus zoom, 0 resets, space plays, comma and full stop step."
    return (
        f'<div class="card player"><canvas id="stage" tabindex="0" role="img" aria-label="{words}"></canvas>'
        f'<div class="readout"><table><tbody><tr class="group"><td colspan="3">Joints</td></tr>{rows}{tip}</tbody></table></div>'
        '<div class="controls"><button type="button" id="play" aria-label="Play"><svg viewBox="0 0 16 16" class="play" aria-hidden="true">'
        '<path d="M4 2.2v11.6L14 8z"/></svg><svg viewBox="0 0 16 16" class="pause" aria-hidden="true"><path d="M3.5 2h3v12h-3zM9.5 2h3v12h-3z"/>'
        '</svg></button><input type="range" id="scrub" aria-label="Time"><output id="time" for="scrub"></output>'
        f'<label>Speed <select id="speed">{speeds}</select></label>{boxes}'
        f'<span>{views} <button type="button" data-view="home">{"3-D" if arm["plane"] is None else "Reset view"}</button></span></div></div>'
        '<noscript><p class="note">Scripts are switched off, so the arm stands still; charts and tables are complete.</p></noscript>'
        f'{told}<p class="hint">Drag to turn, pinch or shift-scroll to zoom, double-click to reset.</p>'
    )


def _robot(robot: Robot | None, result: Result, equations: bool) -> str:
    if robot is None:
        return ""
    gravity = ", ".join(text(x, 20) for x in robot.gravity)
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
