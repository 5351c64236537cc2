"""Figures inside a page: SVG whose colours follow the page (light, dark, print) and whose panels know where time is."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.reports.theme import JOINT_COLOURS, PAGE_COLOURS, themed

PANEL_WIDTH, PANEL_HEIGHT = 5.2, 2.75  # inches of a panel that takes half of the page
TALL_HEIGHT = 5.86  # of one that stands beside two others, with the gap between them
VARIABLES = {pair[0]: f"var(--j{i + 1})" for i, pair in enumerate(JOINT_COLOURS)} | {
    pair[0]: f"var(--{name})" for name, pair in PAGE_COLOURS.items()
}
TIME = "t [s]"  # label of a horizontal axis that is time
NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_COLOUR = re.compile(r"((?:stroke|fill|color):\s*)(#[0-9a-f]{6})\b")
_ID = re.compile(r'(\bid="|url\(#|href="#)')


@dataclass(frozen=True)
class Chart:
    """One figure of the page: its SVG, and for every panel over time its box in the drawing and its lines."""

    svg: str
    panels: list[dict[str, Any]]
    rows: int = 1


def set_margins(figure: Any, rows: int, columns: int) -> None:
    """Room for labels in inches: many times quicker than measuring every text, and the same from chart to chart."""
    width, height = figure.get_size_inches()
    twins = len(figure.axes) > len({ax.get_subplotspec() for ax in figure.axes})
    sizes = [max(map(abs, ax.get_ylim())) for ax in figure.axes if ax.get_yscale() == "linear"]
    powers = any(size >= 1e5 or 0 < size < 1e-4 for size in sizes)  # a power of ten stands between title and axis
    left, right, top, bottom = 0.68, 0.68 if twins else 0.14, 0.46 if powers else 0.3, 0.45
    panel_width, panel_height = (width - left - right) / columns, (height - top - bottom) / rows
    figure.subplots_adjust(left / width, bottom / height, 1 - right / width, 1 - top / height,
                           0.72 / (panel_width - 0.72), 0.78 / (panel_height - 0.78))  # fmt: skip


def chart_of(figure: Any, prefix: str, t: np.ndarray, index: np.ndarray, rows: int = 1) -> Chart:
    """The figure as inline SVG.

    Args:
        prefix: makes the ids unique within the page.
        t: sample times of the result. index: samples that are read out.
    """
    with themed():
        for ax in figure.axes:
            ax.set_facecolor("none")
        text = io.StringIO()
        figure.savefig(text, format="svg", facecolor="none", metadata=NO_METADATA)
    return Chart(_inline(text.getvalue(), prefix), _panels(figure, t, index), rows)


def _inline(text: str, prefix: str) -> str:
    start = text.index("<svg")
    svg = text[start:].strip().replace("xlink:href", "href")
    head, body = svg.split(">", 1)
    box = re.search(r'viewBox="([^"]+)"', head)
    svg = f'<svg viewBox="{box.group(1) if box else "0 0 1 1"}" aria-hidden="true">{body}'
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = _COLOUR.sub(lambda m: m.group(1) + VARIABLES.get(m.group(2), m.group(2)), svg)
    svg = _ID.sub(lambda m: m.group(1) + prefix, svg)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    return re.sub(r">\s*\n\s*<", "><", svg)


def _panels(figure: Any, t: np.ndarray, index: np.ndarray) -> list[dict[str, Any]]:
    """Boxes and lines of the panels whose horizontal axis is time; scales that share a box are one panel."""
    from matplotlib.colors import to_hex

    width, height = figure.get_size_inches() * 72.0
    over_time = {_box(ax, width, height) for ax in figure.axes if ax.get_xlabel() == TIME}
    found: dict[tuple[float, ...], dict[str, Any]] = {}
    for ax in figure.axes:
        box = _box(ax, width, height)
        if box not in over_time:
            continue
        panel = found.setdefault(box, {"box": list(box), "span": [float(v) for v in ax.get_xlim()], "series": []})
        for line in ax.get_lines():
            x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
            if len(x) < 3:  # a limit or a mark, not a signal
                continue
            label, colour = str(line.get_label()), to_hex(line.get_color())
            name = "" if label.startswith("_") else label.strip().replace(r"\$", "$")
            values = y[index] if len(x) == len(t) else np.interp(t[index], x, y)
            panel["series"].append({"name": name, "colour": VARIABLES.get(colour, colour), "values": rounded(values)})
    return [panel for panel in found.values() if 0 < len(panel["series"]) <= 16]


def _box(ax: Any, width: float, height: float) -> tuple[float, ...]:
    """Left, top, right and bottom of an axes in the drawing."""
    place = ax.get_position()
    corners = (place.x0 * width, (1 - place.y1) * height, place.x1 * width, (1 - place.y0) * height)
    return tuple(round(float(v), 1) for v in corners)


def rounded(values: Any, digits: int = 5) -> list[Any]:
    """Numbers with that many significant digits, None where there is none; nested like the array."""
    array = np.asarray(values, float)
    with np.errstate(all="ignore"):
        size = np.where(np.isfinite(array) & (array != 0.0), np.abs(array), 1.0)
        step = 10.0 ** (np.floor(np.log10(size)) - digits + 1)
        cut = np.where(np.isfinite(array), np.round(array / step) * step, np.nan)
    return _plain(cut.tolist(), digits)


def _plain(value: Any, digits: int) -> Any:
    if isinstance(value, list):
        return [_plain(v, digits) for v in value]
    if value != value:
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short == int(short) and abs(short) < 1e15 else short
