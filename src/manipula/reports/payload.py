"""What the page's player is fed with: frames of the moving arm, thinned and rounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.model import Model
from manipula.reports.plots.tip import target_of
from manipula.reports.scene import surfaces_of
from manipula.reports.skeleton import skeleton
from manipula.reports.source import decimated, finite_until, names_of, robot_of, unit_of
from manipula.reports.svg import rounded
from manipula.robot.robot import Robot
from manipula.simulation.result import Result

FRAMES = 600  # the player draws between them
MOST_JOINTS = 60
TRIANGLES = 4000  # of the appearance: a page draws them one by one
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
        "look": look_of(robot, result.arrays["q"][index], places),
    }  # fmt: skip


def look_of(robot: Robot, q: np.ndarray, places: int) -> dict[str, Any] | None:
    """The robot's appearance: surfaces in the frames of their bodies, and per sample and body p, x and y of X_WB; None without one."""
    surfaces, notes = surfaces_of(robot, TRIANGLES)
    if not surfaces:
        return None
    links = sorted({s.link for s in surfaces})
    moving = [robot.bodies[i].name for i in links if i >= 0]
    X = Model(robot).poses(q, tuple(moving)) if moving else np.zeros((len(q), 0, 4, 4))
    if len(moving) < len(links):
        base = np.broadcast_to(np.asarray(robot.base.matrix(), float), (len(q), 1, 4, 4))
        X = np.concatenate([base, X], axis=1)  # −1 comes first
    poses = np.concatenate(
        [np.round(X[..., :3, 3], places), np.round(X[..., :3, 0], 4), np.round(X[..., :3, 1], 4)], axis=-1
    )
    rows = [
        {"body": links.index(s.link), "corners": np.round(s.vertices, places).reshape(-1).tolist(), "faces": s.faces.reshape(-1).tolist(),
         "colour": "#" + "".join(f"{round(255 * c):02x}" for c in s.colour[:3]), "opacity": s.colour[3],
         "reach": round(float(np.linalg.norm(s.vertices, axis=1).max(initial=0.0)), places)}
        for s in surfaces
    ]  # fmt: skip
    return {"surfaces": rows, "poses": poses.reshape(len(q), -1).tolist(), "notes": list(notes)}


def payload(result: Result, index: np.ndarray, charts: dict[str, Any]) -> dict[str, Any]:
    """Everything the script reads."""
    names = names_of(result)
    return {
        "t": rounded(result.t[index], 8), "names": [name[:60] for name in names],
        "units": [unit_of(result, "q", i) for i in range(len(names))], "q": rounded(result.arrays["q"][index]),
        "arm": arm_of(result, index), "charts": charts,
    }  # fmt: skip
