"""A plot as a still picture inside a page: where no viewer was built, and for kinds of plots that the viewer does not draw."""

from __future__ import annotations

import base64
import io
from typing import Any

from manipula.reports.page import text
from manipula.reports.plots import PLOTS
from manipula.reports.theme import themed

NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


def picture(kind: str, of: Any) -> str:
    """The plot as HTML; it stands on paper, also in a dark page."""
    axes = PLOTS[kind](of)
    figure = (axes if not hasattr(axes, "__len__") else axes[0]).get_figure()
    return still(figure, f"chart-{kind}", PLOTS[kind].summary)


def still(figure: Any, name: str, label: str) -> str:
    """A figure as HTML."""
    out = io.BytesIO()
    with themed():
        figure.savefig(out, format="svg", metadata=NO_METADATA)
    coded = base64.b64encode(out.getvalue()).decode()
    return f'<figure class="card still" id="{name}"><img alt="{text(label)}" src="data:image/svg+xml;base64,{coded}"></figure>'
