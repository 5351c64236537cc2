"""Forces and depths of contacts."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.reports.plots.base import Panels, plot
from manipula.reports.plots.energy import time_axis
from manipula.reports.plots.steady import steady
from manipula.reports.source import columns_of
from manipula.reports.theme import joint_line
from manipula.simulation.result import Result

PANELS = (("contact_force", "Normal force of contacts", "F"), ("penetration", "Penetration, from zero", "δ"))


@plot(
    "contact",
    "normal force and penetration of every contact",
    Panels(2, 1, width=7.4, height=2.5),
    needs=("contact_force", "penetration"),
)
def contact(result: Result, axes: list[Any]) -> None:
    """Forces above, depths below (zero while nothing touches)."""
    for ax, (name, title, symbol) in zip(axes, PANELS):
        values = np.maximum(np.asarray(result.arrays[name], float), 0.0)
        columns = columns_of(result, name)
        for k, (label, _, _) in enumerate(columns):
            ax.plot(result.t, values[:, k], label=label, **joint_line(k))
        steady(ax, max(float(np.nanmax(values, initial=0.0)), 1e-9))
        time_axis(ax, title, f"{symbol} [{' or '.join(dict.fromkeys(unit for *_, unit in columns))}]")
    axes[0].legend(loc="best")
