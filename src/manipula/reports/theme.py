"""Colours, type and figures shared by plots, animation and report: joint i has the same colour everywhere."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from manipula.errors import printable

# One pair a joint: on a light page, on a dark page. Contrast against white and against #14181f is at least 4.5 : 1.
JOINT_COLOURS = (
    ("#2159b8", "#79adff"),
    ("#c2410c", "#ff9a62"),
    ("#237a35", "#66d184"),
    ("#7b34ad", "#cb9bf0"),
    ("#b8215a", "#ff8bb3"),
    ("#0b6b7d", "#52cfdd"),
    ("#856404", "#e3bf4f"),
    ("#4a5461", "#b4bdc9"),
)
PAGE_COLOURS = {
    "ink": ("#1b2330", "#e6eaf0"),
    "muted": ("#5a6676", "#98a4b4"),
    "rule": ("#d9dfe7", "#2f3845"),
    "trace": ("#e0457b", "#ff6fa0"),
    "target": ("#7d8a9c", "#8d9aac"),
    "accent": ("#0f6b8f", "#5cc3e8"),
    "good": ("#1e7e45", "#5fd08a"),
    "fair": ("#96600a", "#f0b95a"),
    "bad": ("#b42318", "#ff8a7d"),
}
INK, MUTED, RULE = (PAGE_COLOURS[name][0] for name in ("ink", "muted", "rule"))
TRACE, TARGET, BAD, FAIR = (PAGE_COLOURS[name][0] for name in ("trace", "target", "bad", "fair"))
DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
RC: Any = {
    "font.family": ["DejaVu Sans"], "font.size": 9.0, "axes.titlesize": 10.0, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.labelsize": 9.0, "axes.labelcolor": MUTED, "axes.edgecolor": RULE, "axes.titlecolor": INK, "axes.linewidth": 0.8,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True, "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 5), "axes.facecolor": "white", "axes.unicode_minus": True,
    "grid.color": RULE, "grid.linewidth": 0.6, "xtick.color": MUTED, "ytick.color": MUTED, "xtick.labelsize": 8.0, "ytick.labelsize": 8.0,
    "xtick.major.size": 0.0, "ytick.major.size": 0.0, "text.color": INK, "lines.linewidth": 1.5, "lines.solid_capstyle": "round",
    "lines.solid_joinstyle": "round", "legend.frameon": False, "legend.fontsize": 8.0, "legend.handlelength": 1.6,
    "figure.facecolor": "white", "savefig.facecolor": "white", "savefig.dpi": 160, "svg.fonttype": "none", "pdf.fonttype": 42,
    "svg.hashsalt": "manipula", "path.simplify": True, "path.simplify_threshold": 0.2, "agg.path.chunksize": 20000,
}  # fmt: skip


def joint_colour(i: int) -> str:
    """Colour of joint i on a light page."""
    return JOINT_COLOURS[i % len(JOINT_COLOURS)][0]


def joint_line(i: int) -> dict[str, Any]:
    """Colour and dash of joint i: the dash changes when the colours are used up."""
    return {"color": joint_colour(i), "linestyle": DASHES[i // len(JOINT_COLOURS) % len(DASHES)]}


def plain(text: object, limit: int = 28) -> str:
    """Text of unknown origin as a label: no control characters, no mathematical markup, never hidden, cut to a length."""
    shown = printable(text, limit).replace("\\", "\\\\" if "$" in str(text) else "\\").replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown  # a leading underscore would hide it from the legend


@contextmanager
def themed() -> Iterator[None]:
    """The look of every figure; glyphs that no font holds (a name in another script) are boxes, not warnings."""
    import matplotlib

    with warnings.catch_warnings(), matplotlib.rc_context(RC):
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def new_figure(width: float = 7.2, height: float = 4.2, layout: Literal["constrained"] | None = "constrained") -> Any:
    """A figure of its own, unknown to pyplot: nothing stays open, and no display is needed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure
