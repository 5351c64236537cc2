"""The path of the tip with postures of the arm: in the plane for planar arms, in space otherwise."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from manipula.errors import DescriptionError
from manipula.parts.field import Choice, Text, Whole
from manipula.reports.key_numbers import is_tip_error
from manipula.reports.plots.base import Panels, plot
from manipula.reports.plots.steady import natural_size, steady
from manipula.reports.skeleton import Skeleton, skeleton
from manipula.reports.source import decimated, finite_until, needed_robot, robot_of
from manipula.reports.theme import MUTED, TARGET, TRACE, joint_colour, plain
from manipula.simulation.point_motion import ORIGIN, point_of_text
from manipula.simulation.result import Result

POSTURES = 7
FRAMES = 400
ZOOMS = (1.12, 1.0, 0.92, 0.84, 0.76)  # of a view in space
MARGIN = 0.02  # of a figure, around labels


def skeleton_of(result: Result, most: int = FRAMES) -> tuple[np.ndarray, Skeleton]:
    """Indices of the samples used, and the skeleton at them."""
    index = decimated(finite_until(result), most)
    return index, skeleton(needed_robot(result), result.arrays["q"][index])


def _has_robot(result: Result) -> str | None:
    return None if robot_of(result) is not None else "The result does not say which robot moved."


def _panels(result: Result) -> Panels:
    _, bones = skeleton_of(result, 50)
    return Panels(width=7.4, height=5.4, spatial=bones.plane() is None)


def draw_arm(ax: Any, bones: Skeleton, k: int, view: Any, strength: float = 1.0) -> list[Any]:
    """The arm at sample k: links as thick lines in the colour of the joint that moves them, joints as dots."""
    made = []
    for a, b, joint in bones.lines + bones.slides:
        colour = MUTED if joint < 0 else joint_colour(joint)
        pair = bones.points[k, [a, b]]
        made += ax.plot(
            *view(pair),
            color=colour,
            linewidth=2.0 + 2.0 * strength,
            alpha=0.25 + 0.75 * strength,
            solid_capstyle="round",
        )
    for i, slides in enumerate(bones.prismatic):
        made += ax.plot(*view(bones.joints[k, i : i + 1]), marker="s" if slides else "o", markersize=3 + 3 * strength,
                        color=joint_colour(i), markeredgecolor="white", markeredgewidth=0.8, alpha=0.25 + 0.75 * strength)  # fmt: skip
    return made


def view_of(bones: Skeleton, ax: Any) -> Any:
    """The function from points (k, 3) to what ``ax.plot`` takes: two coordinates in a plane, three in space."""
    if hasattr(ax, "get_zlim"):
        return lambda p: tuple(np.asarray(p).T)
    plane = list(bones.plane() or (0, 1))
    return lambda p: tuple(np.asarray(p)[..., plane].T)


def frame_axes(ax: Any, bones: Skeleton, extra: np.ndarray | None = None) -> None:
    """Equal scales, labels with units, room for the whole motion."""
    cloud = bones.points.reshape(-1, 3)
    if extra is not None and len(extra):
        cloud = np.concatenate([cloud, extra])
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    pad = 0.06 * max(float((high - low).max()), 1e-9)
    if hasattr(ax, "get_zlim"):
        span = np.maximum(high - low, 0.15 * max(float((high - low).max()), 1e-9)) + 2 * pad
        middle = (low + high) / 2
        for set_limit, m, s in zip((ax.set_xlim, ax.set_ylim, ax.set_zlim), middle, span):
            set_limit(m - s / 2, m + s / 2)
        ax.set_xlabel("x [m]")
        ax.set_ylabel("y [m]")
        ax.set_zlabel("z [m]")
        ax.view_init(elev=24, azim=-58)
        ax.locator_params(nbins=4)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        _as_large_as_fits(ax, span)
        return
    a, b = bones.plane() or (0, 1)
    ax.set_aspect("equal", adjustable="datalim")
    ax.update_datalim([(low[a] - pad, low[b] - pad), (high[a] + pad, high[b] + pad)])
    ax.autoscale_view()
    ax.set_xlabel(f"{'xyz'[a]} [m]")
    ax.set_ylabel(f"{'xyz'[b]} [m]")


def _as_large_as_fits(ax: Any, span: np.ndarray) -> None:
    """The largest view in space whose labels are inside the figure; its layout knows nothing of them."""
    figure = ax.figure.canvas.figure  # also of an axes in a part of it
    inside = figure.bbox.padded(-MARGIN * figure.bbox.height)
    for zoom in ZOOMS:
        ax.set_box_aspect(span, zoom=zoom)
        for _ in range(2):  # the first one lays out
            figure.draw_without_rendering()
        boxes = [axis.label.get_window_extent() for axis in (ax.xaxis, ax.yaxis, ax.zaxis)]  # the outermost of all
        if all(inside.contains(*corner) for box in boxes for corner in (box.min, box.max)):
            return


def target_of(result: Result) -> np.ndarray | None:
    """The path the tip was asked to follow, (S, 3), when it was asked for one."""
    target = result.arrays.get("target")
    if target is None or target.ndim != 2 or not is_tip_error(result):
        return None
    return target[np.isfinite(target).all(axis=-1)]


@plot("tip", "path of the tip with postures of the arm", _panels, needs=("q",), fits=_has_robot)
def tip(
    result: Result,
    axes: list[Any],
    postures: Annotated[int, Whole("postures of the arm that are drawn", least=0, most=1000)] = POSTURES,
) -> None:
    """Postures from faint to full; the path of the tip; the target dashed."""
    ax = axes[0]
    _, bones = skeleton_of(result)
    view = view_of(bones, ax)
    chosen = decimated(len(bones.points), max(2, postures))
    for rank, k in enumerate(chosen):
        draw_arm(ax, bones, int(k), view, strength=((rank + 1) / len(chosen)) ** 1.6)
    target = target_of(result)
    if target is not None:
        ax.plot(*view(target), color=TARGET, linestyle=(0, (4, 3)), linewidth=1.2, label="target")
    if bones.tip is not None:
        path = bones.points[:, bones.tip]
        ax.plot(*view(path), color=TRACE, linewidth=1.6, label="tip", zorder=5)
        ax.plot(*view(path[:1]), marker="o", markersize=5, markerfacecolor="none", markeredgecolor=TRACE, zorder=6)
        ax.plot(*view(path[-1:]), marker="o", markersize=5, color=TRACE, zorder=6)
    ax.set_title(f"Path of the tip of {plain(result.meta.get('robot', 'the arm'), 40)}", loc="left")
    frame_axes(ax, bones, target)
    if target is not None:
        ax.legend(loc="best")


@plot("tip-time", "coordinates of the tip over time, with the target", needs=("tip",))
def tip_time(result: Result, axes: list[Any]) -> None:
    """x, y and z of the tip; target dashed."""
    _coordinates(axes[0], result, "tip", "Position of the tip", "p [m]", target_of(result))


def _coordinates(ax: Any, result: Result, signal: str, title: str, label: str, target: np.ndarray | None) -> None:
    values = np.asarray(result.arrays[signal], float)
    for k, name in enumerate("xyz"):
        ax.plot(result.t, values[:, k], color=joint_colour(k), label=name)
        if target is not None and len(target) == len(result.t):
            ax.plot(result.t, target[:, k], color=TARGET, linestyle=(0, (4, 3)), linewidth=1.0)
    ax.set(title=title, xlabel="t [s]", ylabel=label)
    ax.margins(x=0.0)
    steady(ax, natural_size(result, "tip"))
    ax.legend(loc="best", ncols=3)


@plot(
    "point",
    "position and speed of any point of the arm over time",
    Panels(1, 2),
    needs=("q", "qd", "qdd"),
    fits=_has_robot,
)
def point(
    result: Result,
    axes: list[Any],
    signal: Annotated[str, Text("the point: a frame, or a place on a link, link3@0.1,0,0")] = "tip",
) -> None:
    """Left: x, y and z. Right: the speed."""
    where = point_of_text(signal)
    moved = result.point_motion(point=where) if where[1] != ORIGIN else result.point_motion(where[0])
    for k, name in enumerate("xyz"):
        axes[0].plot(result.t, moved.position[:, k], color=joint_colour(k), label=name)
    axes[0].legend(loc="best", ncols=3)
    axes[1].plot(result.t, np.linalg.norm(moved.velocity, axis=1), color=TRACE)
    for ax, title, label in zip(axes, (f"Position of {plain(signal)}", "Speed"), ("p [m]", "|v| [m/s]")):
        ax.set(title=title, xlabel="t [s]", ylabel=label)
        ax.margins(x=0.0)


@plot("offset", "offset of the reference that gives way to the measured force", needs=("admittance_offset",))
def offset(result: Result, axes: list[Any]) -> None:
    """x, y and z of ξ."""
    _coordinates(axes[0], result, "admittance_offset", "Offset of the reference", "ξ [m]", None)


def _tip_moves(result: Result) -> str | None:
    from manipula.analysis.manipulability import rows_of

    said = _has_robot(result)
    if said is not None:
        return said
    robot = needed_robot(result)
    if robot.tip is None:
        return "The robot has no tip."
    try:
        rows_of(robot, "position", "tip")
    except DescriptionError as error:  # it lies on the axis of every joint before it
        return str(error)
    return None


@plot("manipulability", "manipulability and condition of the Jacobian along the path", Panels(2, 1, width=7.4, height=2.4),
      needs=("q",), fits=_tip_moves)  # fmt: skip
def manipulability(
    result: Result,
    axes: list[Any],
    part: Annotated[str, Choice("rows of the Jacobian", "position", "orientation", "pose")] = "position",
) -> None:
    """Manipulability and inverse condition number (1 is best, 0 singular) over time; see ``analysis.manipulability``.

    Args:
        part: "position", "orientation" or "pose".
    """
    from manipula.analysis.manipulability import manipulability as measure

    index = decimated(finite_until(result), 600)
    found = measure(needed_robot(result), result.arrays["q"][index], part)
    count = found.singular_values.shape[-1]
    unit = "w [m" + {1: "", 2: "²", 3: "³"}.get(count, "") + "]" if part == "position" else "w"
    for ax, values, title, label in (
        (axes[0], found.manipulability, "Manipulability", unit),
        (axes[1], 1.0 / found.condition, "Inverse condition number", "σ min / σ max"),
    ):
        ax.plot(result.t[index], values, color=joint_colour(0), label=title.lower())
        ax.set_title(title)
        ax.set_ylabel(label)
        ax.set_xlabel("t [s]")
        ax.set_ylim(bottom=0.0)
        ax.margins(x=0.0)
