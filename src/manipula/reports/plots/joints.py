"""Signals of the joints over time: position, velocity, acceleration and torque, as the papers print them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from manipula.parts.field import Flag
from manipula.reports.plots.base import Panels, joint_grid, plot
from manipula.reports.plots.steady import natural_size, steady
from manipula.reports.source import names_of, prismatic, unit_of
from manipula.reports.theme import BAD, FAIR, RULE, joint_colour, joint_line, plain
from manipula.simulation.limit_checks import SIGNALS, SLACK
from manipula.simulation.recorded import limits_of
from manipula.simulation.result import Result
from manipula.simulation.stated_limits import limit_of

TITLES = {"q": "Position", "qd": "Velocity", "qdd": "Acceleration", "tau": "Torque", "command": "Commanded torque",
          "friction": "Friction torque", "power": "Power", "reaction": "Torque of the constraints", "applied": "Drive torque",
          "external": "External torque", "observed_torque": "Observed external torque", "jerk": "Jerk"}  # fmt: skip
SYMBOLS = {
    "power": "P",
    "reaction": "Aᵀμ",
    "applied": "tau",
    "command": "tau",
    "friction": "tau_f",
    "observed_torque": "r",
}
FOUR = ("q", "qd", "qdd", "tau")
LIMITED = {signal: quantity for quantity, signal in SIGNALS.items()} | {"jerk": "jerk"}
MOST_JUMPS = 200


def draw_signal(result: Result, ax: Any, signal: str, *, title: str | None = None) -> None:
    """One signal of all joints in one panel; sliding joints on a second scale when there are both kinds."""
    values = np.asarray(result.arrays[signal], float)
    slides, names = prismatic(result), names_of(result)
    mixed = any(slides) and not all(slides) and signal != "power"
    other = ax.twinx() if mixed else None
    kind = TITLES.get(signal, signal)
    if mixed and signal in ("tau", "command", "friction", "applied", "reaction"):
        kind = kind.replace("orque", "orque and force")
    for i in range(values.shape[-1]):
        onto = other if other is not None and slides[i] else ax
        onto.plot(result.t, values[:, i], label=plain(names[i]), **joint_line(i))
    ax.set_title(title or (kind.replace("Torque", "Force") if all(slides) else kind))
    turning = next((i for i, s in enumerate(slides) if not s), 0)
    symbol = SYMBOLS.get(signal, signal)
    ax.set_ylabel(f"{symbol} [{unit_of(result, signal, turning)}]")
    ax.set_xlabel("t [s]")
    ax.margins(x=0.0)
    ax.axhline(0.0, color=RULE, linewidth=0.9, zorder=0)
    steady(ax, natural_size(result, signal, all(slides)))
    if other is not None:
        sliding = ", ".join(plain(name, 14) for name, s in zip(names, slides) if s)
        other.set_ylabel(f"{symbol} of {sliding} [{unit_of(result, signal, slides.index(True))}]")
        other.grid(False)
        other.margins(x=0.0)
        steady(other, natural_size(result, signal, True))
    draw_limits(result, [other if other is not None and s else ax for s in slides], signal)


def shared_legend(result: Result, ax: Any) -> None:
    """One legend for panels that show the same joints."""
    from matplotlib.lines import Line2D

    names = names_of(result)
    if 1 < len(names) <= 16:
        handles = [Line2D([], [], label=plain(name), **joint_line(i)) for i, name in enumerate(names)]
        ax.legend(handles=handles, loc="best", ncols=1 if len(names) <= 4 else 2)


@plot("joints", "position, velocity, acceleration and torque of every joint", Panels(2, 2), needs=("q", "qd"))
def joints(result: Result, axes: list[Any], legend: Annotated[bool, Flag("name the joints")] = True) -> None:
    """Four panels; a signal that was not recorded leaves its panel empty."""
    for ax, signal in zip(axes, FOUR):
        if signal in result.arrays:
            draw_signal(result, ax, signal)
    if legend:
        shared_legend(result, axes[0])


def _moves(signal: str) -> Any:
    """Friction that is zero throughout is nothing to look at; other signals may be zero."""

    def fits(result: Result) -> str | None:
        values = np.asarray(result.arrays[signal], float)
        return (
            None
            if signal != "friction" or np.nanmax(np.abs(values), initial=0.0) > 0.0
            else "There is no friction in this run."
        )

    return fits


def _single(signal: str, name: str, summary: str) -> Any:
    @plot(name, summary, needs=(signal,), fits=_moves(signal))
    def one(result: Result, axes: list[Any]) -> None:
        draw_signal(result, axes[0], signal)
        shared_legend(result, axes[0])

    return one


position = _single("q", "position", "positions of the joints")
velocity = _single("qd", "velocity", "velocities of the joints")
acceleration = _single("qdd", "acceleration", "accelerations of the joints")
torque = _single("tau", "torque", "torques and forces of the joints")
observed_torque = _single(
    "observed_torque", "observed-torque", "external torques as the controller's observer sees them"
)
friction_torque = _single("friction", "friction-torque", "friction torques of the joints")


def draw_limits(result: Result, axes: list[Any], signal: str) -> None:
    """Limits of the joints as dashed lines where they are near, and in amber what lies beyond them.

    Args:
        axes: one for every joint.
    """
    quantity = LIMITED.get(signal)
    limits = limits_of(result).get(quantity) if quantity else None
    if not limits or len(limits) != len(axes):
        return
    values = np.asarray(result.arrays[signal], float)
    spans = {id(ax): ax.get_ylim() for ax in axes}
    shown = dict(spans)  # without any limit
    drawn: set[tuple[int, float]] = set()
    shaded: set[tuple[int, float, float]] = set()
    common = len({str(v) for v in limits}) == 1
    for i, (ax, stated) in enumerate(zip(axes, limits)):
        limit = limit_of(stated)
        if limit is None:
            continue
        low, high = limit if isinstance(limit, tuple) else (-limit, limit)
        bottom, top = shown[id(ax)]
        room = 0.35 * (top - bottom)
        for edge, sign in ((low, -1.0), (high, 1.0)):
            if not np.isfinite(edge) or not bottom - room <= edge <= top + room:
                continue
            if (id(ax), edge) not in drawn:
                colour = BAD if common else joint_colour(i)
                ax.axhline(edge, color=colour, linestyle=(0, (4, 3)), linewidth=0.9, zorder=1.5)
                drawn.add((id(ax), edge))
            beyond = sign * (values[..., i] - edge) > SLACK * max(abs(edge), 1e-300)
            if beyond.any() and values.ndim == 2:
                ax.fill_between(result.t, edge, values[:, i], where=beyond, interpolate=True, color=FAIR, alpha=0.35, linewidth=0, zorder=1)  # fmt: skip
            if beyond.any() and (id(ax), edge, sign) not in shaded:
                shaded.add((id(ax), edge, sign))
                end = top + room if sign > 0 else bottom - room
                ax.axhspan(edge, end, color=FAIR, alpha=0.07, linewidth=0, zorder=0)
            margin = 0.03 * (top - bottom)
            span = spans[id(ax)] = min(spans[id(ax)][0], edge - margin), max(spans[id(ax)][1], edge + margin)
            ax.set_ylim(*span)


@plot("jerk", "jerk of the joints, from the flow of the run", needs=("q", "qd", "qdd"))
def jerk(result: Result, axes: list[Any]) -> None:
    """Third derivative of the joints; instants at which an acceleration jumps, and the jerk is infinite, as dotted lines."""
    found = result.jerk()
    finite = np.where(np.isfinite(found.values), found.values, np.nan)
    draw_signal(replace(result, arrays={**result.arrays, "jerk": finite}), axes[0], "jerk")
    for when in sorted({t for _, _, t in found.jumps})[:MOST_JUMPS]:
        axes[0].axvline(when, color=FAIR, linewidth=0.9, linestyle=(0, (1.5, 1.5)), zorder=1.5)
    if found.remark:
        axes[0].text(
            0.01, 0.98, plain(found.remark, 110), transform=axes[0].transAxes, va="top", fontsize=7, color=FAIR
        )
    shared_legend(result, axes[0])


@plot("each", "one panel per joint: position against its limits", joint_grid, needs=("q",))
def each(result: Result, axes: list[Any]) -> None:
    """Position of each joint with its limits as dashed lines."""
    slides, names = prismatic(result), names_of(result)
    for i, ax in enumerate(axes[: len(names)]):
        ax.plot(result.t, result.arrays["q"][:, i], color=joint_colour(i))
        ax.set_title(plain(names[i]))
        ax.set_ylabel(f"q [{unit_of(result, 'q', i)}]")
        ax.set_xlabel("t [s]")
        ax.margins(x=0.0)
        steady(ax, natural_size(result, "q", slides[i]))
    draw_limits(result, axes[: len(names)], "q")


@plot("phase", "phase planes: velocity over position, one panel per joint", joint_grid, needs=("q", "qd"))
def phase(result: Result, axes: list[Any]) -> None:
    """Each joint's path in its phase plane, from the open circle to the full one."""
    names = names_of(result)
    for i, ax in enumerate(axes[: len(names)]):
        q, qd = result.arrays["q"][:, i], result.arrays["qd"][:, i]
        good = np.flatnonzero(np.isfinite(q) & np.isfinite(qd))
        ax.plot(q, qd, color=joint_colour(i))
        for at, face in ((good[0], "none"), (good[-1], joint_colour(i))):
            ax.plot([q[at]], [qd[at]], marker="o", markersize=5, markerfacecolor=face, markeredgecolor=joint_colour(i))
        ax.set_title(plain(names[i]))
        ax.set_xlabel(f"q [{unit_of(result, 'q', i)}]")
        ax.set_ylabel(f"qd [{unit_of(result, 'qd', i)}]")
        steady(ax, natural_size(result, "qd", prismatic(result)[i]))
        steady(ax, natural_size(result, "q", prismatic(result)[i]), axis="x")


__all__ = [
    "acceleration",
    "draw_signal",
    "each",
    "friction_torque",
    "jerk",
    "joints",
    "phase",
    "position",
    "torque",
    "velocity",
]
