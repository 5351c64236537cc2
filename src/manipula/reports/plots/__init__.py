"""Every kind of plot by name. A new one: write it in a file of this folder and add a line to ``PLOTS``.

===========  ====================================================================================
``base``     what a plot is: a function of a result and axes, its panels and the signals it reads
``joints``   position, velocity, acceleration and torque of the joints over time
``energy``   tracking error, power and energy
``tip``      the path of the tip with postures of the arm
``contact``  normal forces and depths of contacts
``program``  residuals and forces of constraints of a programmed motion
``compare``  several results in one figure, and the runs of a batch
``maps``     workspace and manipulability in sections
``steady``   axes that do not magnify rounding errors
===========  ====================================================================================
"""

from __future__ import annotations

from typing import Any

from manipula.errors import unknown_name
from manipula.reports.plots.base import Panels, Plot
from manipula.reports.plots.compare import compare, ensemble, friction, spectrum
from manipula.reports.plots.contact import contact
from manipula.reports.plots.energy import energy, error, power
from manipula.reports.plots.joints import (
    acceleration,
    each,
    friction_torque,
    jerk,
    joints,
    observed_torque,
    phase,
    position,
    torque,
    velocity,
)
from manipula.reports.plots.maps import draw_workspace, manipulability_map, workspace
from manipula.reports.plots.program import bristles, height, multipliers, residual
from manipula.reports.plots.tip import manipulability, offset, point, tip, tip_time

PLOTS: dict[str, Plot] = {
    p.name: p
    for p in (
        joints, position, velocity, acceleration, jerk, torque, friction_torque, observed_torque, each, phase, tip, tip_time, point, offset,
        error, power, energy,
        contact, manipulability, workspace, manipulability_map, spectrum, residual, multipliers, height, bristles, compare, friction, ensemble,
    )
}  # fmt: skip


def find_plot(name: str) -> Plot:
    """The plot of that name."""
    if name not in PLOTS:
        raise unknown_name("kind of plot", name, PLOTS, field="kind")
    return PLOTS[name]


def drawable(result: Any) -> list[Plot]:
    """The plots that this result (or sequence of results) has the signals for."""
    return [p for p in PLOTS.values() if p.missing(result) is None]


__all__ = ["PLOTS", "Panels", "Plot", "draw_workspace", "drawable", "find_plot"]
