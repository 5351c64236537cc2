"""Tracking error, power and energy of a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.reports.key_numbers import ROUNDING, energy_size, error_groups
from manipula.reports.plots.base import Panels, plot
from manipula.reports.plots.joints import draw_signal, shared_legend
from manipula.reports.plots.steady import NOISE, largest, natural_size, steady
from manipula.reports.plots.tip import target_of
from manipula.reports.source import joint_count, names_of, prismatic
from manipula.reports.theme import INK, MUTED, RULE, joint_colour, joint_line, plain
from manipula.simulation.result import Result

ENERGY_LINES = (("kinetic", "kinetic", 0), ("potential", "potential", 1), ("energy", "total", 7), ("work_drives", "work of the drives", 2),
                ("work_friction", "lost to friction", 4), ("work_external", "external work", 3),
                ("work_constraints", "work of the constraints", 5), ("work_contact", "work of contacts", 6), ("work_base", "work of the base", 5))  # fmt: skip


def time_axis(ax: Any, title: str, unit: str) -> None:
    """Title, unit and time axis of a panel."""
    ax.set_title(title)
    ax.set_ylabel(unit)
    ax.set_xlabel("t [s]")
    ax.margins(x=0.0)


def error_names(result: Result) -> tuple[tuple[str, ...], str]:
    """Names and unit of the components of the tracking error: of the tip, or of the joints."""
    if target_of(result) is not None:
        return ("x", "y", "z"), "m"
    return names_of(result), "rad or m" if "prismatic" in result.meta.get("joint_kinds", ()) else "rad"


@plot("error", "tracking error: norm and components", Panels(2, 1, width=7.4, height=2.5), needs=("error",))
def error(result: Result, axes: list[Any]) -> None:
    """Norm of target minus actual on a logarithmic scale above, components below."""
    e = np.asarray(result.arrays["error"], float)
    names, unit = error_names(result)
    size = natural_size(result, "tip" if unit == "m" else "q", all(prismatic(result)))
    groups = error_groups(result)
    tops = []
    for k, (words, _, norm) in enumerate(groups):
        axes[0].plot(result.t, norm, color=INK if k == 0 else MUTED, label=words if len(groups) > 1 else "norm")
        tops.append(norm[np.isfinite(norm) & (norm > 0)])
    positive = np.concatenate(tops)
    if len(positive) and positive.max() > max(30 * positive.min(), NOISE * size):
        axes[0].set_yscale("log")
        axes[0].set_ylim(bottom=max(float(positive.min()), 1e-12 * float(positive.max())) * 0.7)
    time_axis(axes[0], "Tracking error, norm", " or ".join(f"|e| [{u}]" for _, u, _ in groups))
    if len(groups) > 1:
        axes[0].legend(loc="best")
    for k in range(e.shape[-1]):
        axes[1].plot(result.t, e[:, k], label=plain(names[k]), **joint_line(k))
    time_axis(axes[1], "Tracking error, target minus actual", f"e [{unit}]")
    for ax in axes[:2]:
        steady(ax, size)
    if 1 < e.shape[-1] <= 12:
        axes[1].legend(loc="best", ncols=1 if e.shape[-1] < 4 else 2)


@plot("power", "mechanical power of every joint and its sum", needs=("power",))
def power(result: Result, axes: list[Any]) -> None:
    """tau · qd of each joint, and the sum of all of them."""
    draw_signal(result, axes[0], "power", title="Mechanical power")
    if joint_count(result) > 1:
        total = np.asarray(result.arrays["power"], float).sum(axis=-1)
        axes[0].plot(result.t, total, color=INK, linewidth=1.0, linestyle=(0, (2, 1.5)), label="sum")
    shared_legend(result, axes[0])


@plot("energy", "kinetic, potential and total energy, work, and the audit of their balance",
      lambda r: Panels(2 if "audit" in r.arrays else 1, 1, width=7.4, height=2.6), needs=("kinetic", "potential"))  # fmt: skip
def energy(result: Result, axes: list[Any]) -> None:
    """Energies and works since the start; the audit (work in − work out − stored) below, zero for an exact run."""
    ax = axes[0]
    for name, label, colour in ENERGY_LINES:
        values = result.arrays.get(name)
        if values is not None and largest(values) > ROUNDING * energy_size(result):
            ax.plot(
                result.t, values, color=joint_colour(colour), label=label, linewidth=2.0 if name == "energy" else 1.3
            )
    time_axis(ax, "Energy and work", "E [J]")
    ax.axhline(0.0, color=RULE, linewidth=0.9, zorder=0)
    steady(ax, max(energy_size(result), 1e-12), ROUNDING)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="best", ncols=2)
    if len(axes) > 1:
        axes[1].plot(result.t, result.arrays["audit"], color=MUTED, label="audit")
        time_axis(axes[1], "Energy audit: work in − work out − stored", "ΔE [J]")
        steady(axes[1], energy_size(result), ROUNDING)
        axes[1].ticklabel_format(axis="y", style="sci", scilimits=(-3, 4))
