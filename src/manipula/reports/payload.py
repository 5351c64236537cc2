"""What the page's player is fed with: frames of the moving arm, thinned and rounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.reports.plots.tip import target_of
from manipula.reports.skeleton import skeleton
from manipula.reports.source import decimated, finite_until, names_of, robot_of, unit_of
from manipula.reports.svg import rounded
from manipula.simulation.result import Result

FRAMES = 600  # the player draws between them
MOST_JOINTS = 60
FINE = 1e-5  # of the arm's size: positions are rounded to this


def frames_of(result: Result) -> np.ndarray:
    """Indices of the samples that become frames."""
    return decimated(finite_until(result), FRAMES)


def arm_of(result: Result, index: np.ndarray) -> dict[str, Any] | None:
    """Points, lines and axes of the arm at those samples; None when the robot is unknown."""
    robot = robot_of(result)
    if robot is None or robot.n > MOST_JOINTS:
        return None
    bones = skeleton(robot, result.arrays["q"][index])
    if not np.isfinite(bones.points).all():
        return None
    places = max(0, int(np.ceil(-np.log10(FINE * bones.size))))
    fixed = lambda values, digits: np.round(np.asarray(values, float), digits).tolist()  # noqa: E731
    target = target_of(result)
    if target is not None:
        target = target[decimated(len(target), 300)]
    cloud = bones.points.reshape(-1, 3)
    plane = bones.plane()
    return {
        "points": fixed(bones.points.reshape(len(index), -1), places), "axes": fixed(bones.axes.reshape(len(index), -1), 3),
        "lines": bones.lines, "slides": bones.slides, "prismatic": bones.prismatic, "tip": bones.tip,
        "plane": None if plane is None else list(plane), "base": fixed(bones.points[0, 0], places),
        "target": None if target is None else fixed(target, places), "low": fixed(cloud.min(axis=0), places),
        "high": fixed(cloud.max(axis=0), places), "centre": fixed(bones.centre, places), "size": bones.size,
    }  # fmt: skip


def payload(result: Result, index: np.ndarray, charts: dict[str, Any]) -> dict[str, Any]:
    """Everything the script reads."""
    names = names_of(result)
    return {
        "t": rounded(result.t[index], 8), "names": [name[:60] for name in names],
        "units": [unit_of(result, "q", i) for i in range(len(names))], "q": rounded(result.arrays["q"][index]),
        "arm": arm_of(result, index), "charts": charts,
    }  # fmt: skip
