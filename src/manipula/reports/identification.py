"""One page about an identification: residuals of every joint, confidence, what the motion does not show."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from manipula.analysis.identification.log_identified import Comparison, LogIdentification
from manipula.formats.whole_file import write_whole
from manipula.reports.key_numbers import grid
from manipula.reports.page import card, chip, document, html_path, section, table, text
from manipula.reports.pictures import still
from manipula.reports.theme import INK, joint_line, new_figure, plain, themed
from manipula.version import __version__

WIDTH, HEIGHT = 5.2, 2.75  # inches of a chart
MOST_POINTS = 1500  # of one line


def notes_list(notes: tuple[str, ...]) -> str:
    """Sentences, one a line."""
    return "".join(f'<p class="note">{text(note, 400)}</p>' for note in notes)


def page(title: str, line: str, body: str) -> str:
    """The whole page."""
    head = f"<header><h1>{text(title, 120)}</h1><p>{text(line, 300)}</p></header>\n"
    return document(title, f"{head}{body}<footer><p>manipula {text(__version__)}</p></footer>\n")


def write_identification_report(found: LogIdentification, path: str | os.PathLike[str]) -> Path:
    """Write the page of an identification; the file appears whole or not at all."""
    return write_whole(html_path(path), identification_html(found))


def identification_html(found: LogIdentification) -> str:
    """The page as text."""
    base, robot = found.found.base, found.found.base.columns.model.robot
    judged = found.validation or found.training
    share = float(np.mean(judged.rms / np.maximum(judged.size, 1e-300)))
    numbers = [
        ("Samples", str(len(found.training.t)), "", f"{found.used_rate:.3g} of {found.rate:.4g} Hz"),
        ("Cutoff", f"{found.cutoff:.3g}", "Hz", "zero phase, both sides"),
        ("Base parameters", str(base.count), "", f"of {base.columns.size}"),
        ("Condition", f"{found.found.condition:.3g}", "", "weighted, columns of one length"),
        ("Residual", f"{100 * share:.2g}", "%", f"of the torque, {'validation' if found.validation else 'training'}"),
        ("Not excited", str(len(found.not_excited)), "", f"{len(found.weak)} hardly seen"),
    ]
    body = grid(numbers)
    joints = [(f"{chip(i)}{text(row[0], 60)}", *map(text, row[1:])) for i, row in enumerate(found.rows())]
    words = "Root mean square of torque and residuals [N·m, N]; “as a robot” is what the physically consistent robot leaves."
    body += section(
        "Residual per joint", card(f'{table(("*joint", *found.heads()[1:]), joints)}<p class="note">{words}</p>')
    )
    title = "Torque on data that were not used" if found.validation else "Torque"
    body += section(title, f'<div class="charts">{_charts(found, judged)}</div>')
    unseen = ", ".join(found.not_excited) or "none"
    weak = ", ".join(found.weak) or "none"
    body += section("What the motion does not show", card(
        f"<p>Not excited, kept at the prior: {text(unseen, 4000)}.</p><p>Hardly seen, deviation above half of the value: {text(weak, 4000)}.</p>"
    ))  # fmt: skip
    body += section("Friction and rotor inertia", card(_friction(found))) if found.extras else ""
    body += section("Base parameters", card(_parameters(found)))
    body += section("What was done to the data", card(notes_list(found.notes)))
    source = Path(found.source).name if found.source else "a log"
    return page(
        f"Identification of {robot.name}",
        f"{source} · {robot.n} joints · {', '.join(found.extras) or 'links only'}",
        body,
    )


def _charts(found: LogIdentification, judged: Comparison) -> str:
    """Measured torque, prediction and residual of every joint."""
    robot = found.found.base.columns.model.robot
    step = -(-len(judged.t) // MOST_POINTS)
    parts = []
    for i, joint in enumerate(robot.joints):
        with themed():
            figure = new_figure(WIDTH, HEIGHT)
            ax = figure.add_subplot(1, 1, 1)
            ax.plot(judged.t[::step], judged.measured[::step, i], color=INK, linewidth=0.9, label="measured")
            ax.plot(judged.t[::step], judged.predicted[::step, i], **joint_line(i), linewidth=1.2, label="predicted")
            rest = (judged.measured - judged.predicted)[::step, i]
            ax.fill_between(
                judged.t[::step], rest, 0.0, color=joint_line(i)["color"], alpha=0.35, linewidth=0, label="residual"
            )
            ax.set_title(plain(joint.name))
            ax.set_xlabel("t [s]")
            ax.set_ylabel("τ [N·m]" if joint.is_revolute else "f [N]")
            ax.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=3)
        parts.append(still(figure, f"chart-{i}", f"Torque of {joint.name}, measured and predicted"))
    return "".join(parts)


def _friction(found: LogIdentification) -> str:
    base = found.found.base.columns
    values = dict(found.found.friction)
    if "coulomb" in values:
        values["width v₀"] = np.broadcast_to(base.smooth, base.n)
    if "stribeck" in values:
        values["v_s"] = np.broadcast_to(base.v_stribeck, base.n)
    names = base.model.robot.joint_names
    rows = [
        (f"{chip(i)}{text(name, 60)}", *(f"{v[i]:.4g}" if abs(v[i]) > 1e-6 else "0" for v in values.values()))
        for i, name in enumerate(names)
    ]
    return table(("*joint", *values), rows)


def _parameters(found: LogIdentification) -> str:
    rows = zip(found.found.base.names, found.found.base.definitions(), found.found.beta, found.found.standard_deviation,
               found.found.relative_deviation, found.found.interval)  # fmt: skip
    unseen = set(found.not_excited)
    cells = [
        (text(name), text(definition, 300), f"{b:.5g}",
         *(("–", "–", "not excited") if name in unseen else (f"{s:.2g}", f"{100 * r:.2g}", f"{lo:.4g} … {hi:.4g}")))
        for name, definition, b, s, r, (lo, hi) in rows
    ]  # fmt: skip
    return table(("*name", "*sum", "estimate", "deviation", "%", f"{100 * found.found.confidence:g} % interval"), cells)
