"""One page about a calibration: errors before and after, corrections with confidence, what cannot be distinguished."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from manipula.analysis.identification.calibrated import Calibration
from manipula.formats.whole_file import write_whole
from manipula.reports.identification import page
from manipula.reports.key_numbers import grid
from manipula.reports.page import card, html_path, section, table, text


def write_calibration_report(found: Calibration, path: str | os.PathLike[str]) -> Path:
    """Write the page of a calibration; the file appears whole or not at all."""
    return write_whole(html_path(path), calibration_html(found))


def calibration_html(found: Calibration) -> str:
    """The page as text."""
    before, after = found.validation or (found.before, found.after)
    words = "poses not used" if found.validation else "poses used"
    numbers = [
        ("Poses", str(found.samples), "", ""),
        ("Error before", f"{1e3 * before.position:.3g}", "mm", f"rms, {words}"),
        ("Error after", f"{1e3 * after.position:.3g}", "mm", f"rms, {words}"),
        ("Corrections", str(len(found.names)), "", f"{len(found.left_out)} cannot be distinguished"),
        ("Condition", f"{found.condition:.3g}", "", "weighted, columns of one length"),
    ]
    body = (
        f'<ul class="findings"><li class="fair"><b>doubtful</b><span>{text(found.doubt, 400)}</span></li></ul>'
        if found.doubt
        else ""
    )
    body += grid(numbers)
    heads = found.heads()
    body += section(
        "Errors of the measured frame",
        card(table((f"*{heads[0]}", *heads[1:]), [tuple(map(text, r)) for r in found.rows()])),
    )
    rows = [(text(name), text(value), text(deviation)) for name, value, deviation in found.found()]
    body += section("Corrections", card(table(("*error", "found", "deviation [mm, mrad]"), rows)))
    left = [(text(name), text(", ".join(like) or "nothing: it moves nothing")) for name, like in found.left_out]
    body += section("What cannot be distinguished", card(table(("*error", "*acts like"), left))) if left else ""
    base = [tuple(f"{v:.6g}" for v in row) for row in np.asarray(found.base)]
    body += section("Base in the device's frame", card(table(("", "", "", ""), base)))
    return page(
        f"Calibration of {found.robot.name}",
        f"{found.samples} poses · hardly seen: {', '.join(found.weak) or 'nothing'}",
        body,
    )
