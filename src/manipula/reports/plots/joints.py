"""Signals of the joints over time: position, velocity, acceleration and torque, as the papers print them."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.reports.plots.base import Panels, joint_grid, plot
from manipula.reports.source import names_of, prismatic, robot_of, unit_of
from manipula.reports.theme import BAD, RULE, joint_colour, joint_line, plain
from manipula.simulation.result import Result

TITLES = {"q": "Position", "qd": "Velocity", "qdd": "Acceleration", "tau": "Torque", "command": "Commanded torque",
          "friction": "Friction torque", "power": "Power", "reaction": "Torque of the program", "applied": "Drive torque",
          "outside": "Outside torque"}  # fmt: skip
SYMBOLS = {"power": "P", "reaction": "Aᵀμ", "applied": "tau", "command": "tau", "friction": "tau_f"}
FOUR = ("q", "qd", "qdd", "tau")


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
    if other is not None:
        other.set_ylabel(
            f"{symbol} of {', '.join(_sliding(names, slides))} [{unit_of(result, signal, slides.index(True))}]"
        )
        other.grid(False)
        other.margins(x=0.0)


def _sliding(names: tuple[str, ...], slides: tuple[bool, ...]) -> list[str]:
    return [plain(name, 14) for name, s in zip(names, slides) if s]


def shared_legend(axes: list[Any], result: Result, ax: Any) -> None:
    """One legend for panels that show the same joints."""
    from matplotlib.lines import Line2D

    names = names_of(result)
    if 1 < len(names) <= 16:
        handles = [Line2D([], [], label=plain(name), **joint_line(i)) for i, name in enumerate(names)]
        ax.legend(handles=handles, loc="best", ncols=1 if len(names) <= 4 else 2)


@plot("joints", "position, velocity, acceleration and torque of every joint", Panels(2, 2), needs=("q", "qd"))
def joints(result: Result, axes: list[Any], legend: bool = True) -> None:
    """Four panels; a signal that was not recorded leaves its panel empty."""
    for ax, signal in zip(axes, FOUR):
        if signal in result.arrays:
            draw_signal(result, ax, signal)
    if legend:
        shared_legend(axes, result, axes[0])


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
        shared_legend(axes, result, axes[0])

    return one


position = _single("q", "position", "positions of the joints")
velocity = _single("qd", "velocity", "velocities of the joints")
acceleration = _single("qdd", "acceleration", "accelerations of the joints")
torque = _single("tau", "torque", "torques and forces of the joints")
friction_torque = _single("friction", "friction-torque", "friction torques of the joints")


@plot("each", "one panel a joint: position against its limits", joint_grid, needs=("q",))
def each(result: Result, axes: list[Any]) -> None:
    """Position of each joint with its limits as dashed lines."""
    robot, names = robot_of(result), names_of(result)
    for i, ax in enumerate(axes[: len(names)]):
        ax.plot(result.t, result.arrays["q"][:, i], color=joint_colour(i))
        ax.set_title(plain(names[i]))
        ax.set_ylabel(f"q [{unit_of(result, 'q', i)}]")
        ax.set_xlabel("t [s]")
        ax.margins(x=0.0)
        if robot is not None:
            for limit in robot.position_limits[i]:
                if np.isfinite(float(limit)):
                    ax.axhline(float(limit), color=BAD, linestyle=(0, (4, 3)), linewidth=0.9)


@plot("phase", "phase planes: velocity over position, one panel a joint", joint_grid, needs=("q", "qd"))
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


__all__ = [
    "acceleration",
    "draw_signal",
    "each",
    "friction_torque",
    "joints",
    "phase",
    "position",
    "torque",
    "velocity",
]
