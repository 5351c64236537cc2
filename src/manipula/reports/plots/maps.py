"""Maps of the workspace: where the tip can be, and how well it can move there, in sections through the tip's path."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from manipula.analysis.workspace import WorkspaceMap, bounding_box
from manipula.analysis.workspace import workspace as map_workspace
from manipula.errors import DescriptionError, unknown_name
from manipula.model import Model
from manipula.parts.field import Whole
from manipula.reports.plots.base import Panels, plot
from manipula.reports.source import needed_robot, robot_of
from manipula.reports.theme import INK, PAGE_COLOURS, TRACE, new_figure, themed
from manipula.simulation.result import Result

QUANTITIES = ("reachable", "manipulability", "dexterity")
CELLS = 48
Cells = Annotated[int, Whole("cells along an axis of the map", least=2, most=1000)]
POSTURES = 10  # compared in every cell; the best one counts
MARGIN = 0.04  # of the box, so that the border of the workspace is inside the map


def section_map(
    found: WorkspaceMap, quantity: str, normal: int, at: float | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cell centres along the two axes of a section and the values there (NaN outside the workspace), shape (first, second)."""
    values = found.reachable.astype(float) if quantity == "reachable" else getattr(found, quantity)
    if values is None:
        raise DescriptionError(f"The map holds no {quantity}; ask workspace() for it (postures=, orientations=).")
    level = 0 if at is None else int(np.argmin(np.abs(found.axes[normal] - at)))
    a, b = (k for k in range(3) if k != normal)
    inside = np.take(found.reachable, level, axis=normal)
    return found.axes[a], found.axes[b], np.where(inside, np.take(values, level, axis=normal), np.nan)


def draw_workspace(found: WorkspaceMap, ax: Any = None, *, quantity: str = "reachable", normal: int | None = None,
                   at: float | None = None) -> Any:  # fmt: skip
    """A section of a workspace map.

    Args:
        ax: axes to draw on; a new figure when omitted.
        quantity: "reachable", "manipulability" or "dexterity".
        normal: axis that the section is square to (0, 1, 2); the one with a single cell, else z.
        at: where along that axis [m]; its first cell when omitted.
    """
    if quantity not in QUANTITIES:
        raise unknown_name("quantity of a workspace map", quantity, QUANTITIES, field="quantity")
    if normal is None:
        normal = next((k for k in (2, 1, 0) if len(found.axes[k]) == 1), 2)
    first, second, values = section_map(found, quantity, normal, at)
    with themed():
        from matplotlib.colors import LinearSegmentedColormap

        ax = new_figure(5.6, 4.6).add_subplot() if ax is None else ax
        accent = PAGE_COLOURS["accent"][0]
        if quantity == "reachable":
            shade = LinearSegmentedColormap.from_list("reach", ["#cfe3ec", "#cfe3ec"])
        else:
            shade = LinearSegmentedColormap.from_list("how well", ["#f1e7c8", "#7fb8a8", accent, "#0b2c4a"])
        if len(first) > 1 and len(second) > 1 and np.isfinite(values).any():
            mesh = ax.pcolormesh(
                first, second, np.ma.masked_invalid(values.T), cmap=shade, shading="nearest", rasterized=True
            )
            if quantity != "reachable":
                ax.get_figure().colorbar(mesh, ax=ax, label=quantity, shrink=0.85)
        a, b = (k for k in range(3) if k != normal)
        ax.set_xlabel(f"{'xyz'[a]} [m]")
        ax.set_ylabel(f"{'xyz'[b]} [m]")
        ax.set_aspect("equal", adjustable="box")
    return ax


def _normals(result: Result) -> list[int]:
    """Sections to draw: the plane of a planar arm, else level and upright through the tip's path."""
    box = bounding_box(Model(needed_robot(result)))
    flat = [k for k in (2, 1, 0) if box[k, 1] - box[k, 0] < 1e-9]
    return flat[:1] if flat else [2, 1]


def _has_tip(result: Result) -> str | None:
    robot = robot_of(result)
    if robot is None:
        return "The result does not say which robot moved."
    return None if robot.tip is not None else "The robot has no tip."


def _panels(result: Result) -> Panels:
    count = len(_normals(result))
    return Panels(1, count, width=5.2 if count == 2 else 6.4, height=4.6)


def _sections(result: Result, axes: list[Any], quantity: str, cells: int) -> None:
    model = Model(needed_robot(result))
    box = bounding_box(model)
    size = box[:, 1] - box[:, 0]
    box = box + np.outer(MARGIN * size, (-1.0, 1.0))
    tip = np.asarray(result.arrays["tip"], float)
    tip = tip[np.isfinite(tip).all(axis=-1)]
    for ax, normal in zip(axes, _normals(result)):
        level = float(tip[:, normal].mean())
        thin = box.copy()
        thin[normal] = level
        found = map_workspace(model, cells, thin, postures=POSTURES if quantity == "manipulability" else 0)
        draw_workspace(found, ax, quantity=quantity, normal=normal)
        a, b = (k for k in range(3) if k != normal)
        ax.plot(tip[:, a], tip[:, b], color=TRACE, linewidth=1.4)
        what = "Workspace" if quantity == "reachable" else "Manipulability"
        ax.set_title(f"{what} at {'xyz'[normal]} = {level:.3g} m", color=INK)


@plot("workspace", "where the tip can be, with its path, in sections", _panels, needs=("q", "tip"), fits=_has_tip)
def workspace(result: Result, axes: list[Any], cells: Cells = CELLS) -> None:
    """Reachable cells (decided by inverse kinematics, limits kept), in sections through the middle of the tip's path."""
    _sections(result, axes, "reachable", cells)


@plot(
    "manipulability-map",
    "how well the tip can move where it can be, in sections",
    _panels,
    needs=("q", "tip"),
    fits=_has_tip,
)
def manipulability_map(result: Result, axes: list[Any], cells: Cells = CELLS) -> None:
    """Manipulability of the best of a few postures in every cell."""
    _sections(result, axes, "manipulability", cells)
