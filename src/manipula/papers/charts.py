"""Charts of a paper: as instruments of the page, or as still pictures where no viewer was built."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.papers.base import PaperChart
from manipula.reports.charts import Panel, colour_of
from manipula.reports.packed import Packer
from manipula.reports.pictures import still
from manipula.reports.theme import DASHES, joint_colour, new_figure, themed

MOST_POINTS = 1200
NOISE = 1e-9


def panel_of(chart: PaperChart, name: str, packer: Packer) -> Panel:
    """The chart as the page reads it; ``name`` is the id of its place."""
    curves = []
    for line in chart.lines:
        x, y = _thinned(line.x, line.y)
        at = packer.add(y), 0
        curve: dict[str, Any] = {
            "name": line.name[:60],
            "run": 0,
            "y": list(at),
            "colour": colour_of(line.colour),
            "dash": line.dash,
            "axis": line.axis,
        }
        if chart.across is None:
            curve["t"] = packer.add(x, "f8")
        else:
            curve["x"] = [packer.add(x, "f8"), 0]
        curves.append(curve | ({"role": line.role} if line.role else {}))
    axes = []
    for k, (label, unit) in enumerate(chart.axes):
        values = [np.asarray(line.y, float) for line in chart.lines if line.axis == k]
        largest = max((float(np.nanmax(np.abs(v), initial=0.0)) for v in values), default=1.0)
        positive = [v[(v > 0) & np.isfinite(v)] for v in values]
        floor = min((float(v.min()) for v in positive if len(v)), default=1e-16)
        axes.append({"label": label, "unit": unit, "size": largest or 1.0, "noise": NOISE}
                    | ({"log": True, "floor": floor} if chart.log else {}))  # fmt: skip
    panel: Panel = {"id": name, "kind": "paper", "title": chart.title, "axes": axes, "curves": curves}
    if chart.across is not None:
        values = np.concatenate([np.asarray(line.x, float) for line in chart.lines])
        panel["across"] = {"label": chart.across[0], "unit": chart.across[1], "size": float(np.nanmax(np.abs(values))) or 1.0, "noise": NOISE}  # fmt: skip
    return panel | ({"remark": chart.remark} if chart.remark else {})


def still_of(chart: PaperChart, name: str) -> str:
    """The same chart as a still picture."""
    with themed():
        figure = new_figure(5.2, 2.9)
        ax = figure.add_subplot(1, 1, 1)
        second = ax.twinx() if len(chart.axes) > 1 else None
        for line in chart.lines:
            x, y = _thinned(line.x, line.y)
            (second if line.axis and second is not None else ax).plot(
                x,
                y,
                color=joint_colour(line.colour),
                linestyle=DASHES[line.dash % len(DASHES)],
                label=line.name,
                linewidth=1.3,
            )
        ax.set_title(chart.title)
        ax.set_xlabel(_named(chart.across or ("t", "s")))
        for one, axis in zip((ax, second), chart.axes):
            if one is not None:
                one.set_ylabel(_named(axis))
                if chart.log:
                    one.set_yscale("log")
        if len(chart.lines) > 1:
            ax.legend(loc="best")
    return still(figure, name, chart.title)


def _named(axis: tuple[str, str]) -> str:
    return f"{axis[0]} [{axis[1]}]" if axis[1] else axis[0]


def _thinned(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.asarray(x, float), np.asarray(y, float)
    step = -(-len(x) // MOST_POINTS)
    return (x, y) if step == 1 else (np.append(x[:-1:step], x[-1]), np.append(y[:-1:step], y[-1]))
