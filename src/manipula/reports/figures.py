"""``plot(result, kind)`` on axes or on a new figure, and figures in files."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from manipula.errors import unknown_name
from manipula.formats.whole_file import file_path, whole_file
from manipula.reports.plots import find_plot
from manipula.reports.theme import themed

FORMATS = (".png", ".svg", ".pdf")


def plot(
    result: Any, kind: str = "joints", ax: Any = None, *, path: str | os.PathLike[str] | None = None, **options: Any
) -> Any:
    """Draw one kind of plot (see ``manipula.reports.plots.PLOTS``).

    Args:
        result: a Result, or a sequence of them for kinds that compare.
        ax: axes to draw on, as many as the plot has panels; a new figure when omitted, which a notebook shows.
        path: also write the figure, ``.png``, ``.svg`` or ``.pdf``; whole or not at all.

    Returns:
        The axes: one, or an array of them.
    """
    axes = find_plot(kind)(result, ax=ax, **options)
    first = axes if not hasattr(axes, "__len__") else axes[0]
    if path is not None:
        save_figure(first, path)
    if ax is None:
        _show_in_notebook(first)
    return axes


def _show_in_notebook(ax: Any) -> None:
    """Show a figure below the cell that drew it; a terminal and a script show nothing, as they do without a display."""
    python = sys.modules.get("IPython")
    session = None if python is None else python.get_ipython()
    if session is None or not hasattr(session, "kernel"):
        return
    from io import BytesIO

    made = BytesIO()
    with themed():
        ax.get_figure().savefig(made, format="png", metadata={"Software": None})
    python.display.display({"image/png": made.getvalue(), "text/plain": "figure"}, raw=True)  # pyright: ignore[reportOptionalMemberAccess]


def save_figure(ax: Any, path: str | os.PathLike[str]) -> Path:
    """Write the figure that an axes belongs to; the same figure gives the same bytes."""
    target = file_path(path)
    if target.suffix.lower() not in FORMATS:
        raise unknown_name("format of figures", target.suffix, FORMATS, file=str(path))
    figure = ax.get_figure()
    blank = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}[target.suffix.lower()]
    with themed(), whole_file(target) as part:
        figure.savefig(part, metadata=blank)
    return target
