"""Programmed motions: how well the constraints are kept, the forces they take, and the coordinates of the tip."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.reports.plots.base import Panels, plot
from manipula.reports.plots.energy import time_axis
from manipula.reports.plots.steady import natural_size, steady
from manipula.reports.source import columns_of, decimated
from manipula.reports.theme import joint_colour, plain
from manipula.simulation.result import Result

INTERVALS = 300
FLOOR = 1e-15  # residuals below this are rounding, and drawn here


def constraint_names(result: Result) -> list[str]:
    """One name per constraint of a programmed motion."""
    names = [str(name) for name in result.meta.get("equations") or result.meta.get("constraints", ())]
    count = result.arrays["residual"].shape[-1] if "residual" in result.arrays else len(names)
    return names if len(names) == count else [f"constraint {k + 1}" for k in range(count)]


@plot("residual", "residual of every constraint of a programmed motion", needs=("residual",))
def residual(result: Result, axes: list[Any]) -> None:
    """Largest |Φ(q, t)| within each of at most 300 intervals, on a logarithmic scale."""
    ax = axes[0]
    values = np.abs(np.asarray(result.arrays["residual"], float))
    starts = decimated(len(values), INTERVALS)
    largest = np.fmax.reduceat(values, starts, axis=0)
    for k, name in enumerate(constraint_names(result)):
        ax.plot(
            result.t[starts],
            np.maximum(largest[:, k], FLOOR),
            color=joint_colour(k),
            linewidth=1.1,
            label=plain(name, 44),
        )
    ax.set_yscale("log")
    ax.set_ylim(0.5 * FLOOR, max(1e-9, 3.0 * float(np.nanmax(largest, initial=0.0))))
    time_axis(ax, "Residual of the constraints", "|Φ|")
    ax.legend(loc="best")


@plot("multipliers", "multipliers and the torques of the constraints", Panels(2, 1, width=7.4, height=2.5),
      needs=("multipliers", "reaction"))  # fmt: skip
def multipliers(result: Result, axes: list[Any]) -> None:
    """The multiplier of each constraint; below, the joint torques Aᵀμ that keep the arm on the constraints."""
    from manipula.reports.plots.joints import draw_signal, shared_legend

    values = np.asarray(result.arrays["multipliers"], float)
    for k, name in enumerate(constraint_names(result)[: values.shape[-1]]):
        axes[0].plot(result.t, values[:, k], color=joint_colour(k), label=plain(name, 44))
    time_axis(axes[0], "Multipliers of the constraints", "μ")
    steady(axes[0], natural_size(result, "tau"))
    axes[0].legend(loc="best")
    draw_signal(result, axes[1], "reaction")
    shared_legend(result, axes[1])


@plot("height", "height of the tip over time", needs=("tip",))
def height(result: Result, axes: list[Any]) -> None:
    """z(t) of the tip, as the programmed-motion paper prints it."""
    z = np.asarray(result.arrays["tip"], float)[:, 2]
    axes[0].plot(result.t, z, color=joint_colour(0), label="z")
    steady(axes[0], natural_size(result, "tip"))
    time_axis(axes[0], "Height of the tip", "z [m]")


@plot("bristles", "bristle deflections of dynamic friction laws (Dahl, LuGre)", needs=("bristles",))
def bristles(result: Result, axes: list[Any]) -> None:
    """z of the friction models over time."""
    values = np.asarray(result.arrays["bristles"], float)
    columns = columns_of(result, "bristles")
    for k, (name, joint, _) in enumerate(columns):
        axes[0].plot(result.t, values[:, k], color=joint_colour(k if joint is None else joint), label=name)
    steady(axes[0], max(float(np.nanmax(np.abs(values), initial=0.0)), 1e-9))
    units = " or ".join(dict.fromkeys(unit for *_, unit in columns))
    time_axis(axes[0], "Bristle deflection", f"z [{units}]")
    axes[0].legend(loc="best")
