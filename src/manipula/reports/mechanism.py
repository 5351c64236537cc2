"""A robot as the page draws it: joints and links in numbers, from which the page finds every posture itself.

X_WL = X_WP · placement · motion(axis, q) · frame, link after link, as ``web/src/kinematics.ts`` computes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra.pose import Pose
from manipula.reports.packed import Packer
from manipula.reports.scene import surfaces_of
from manipula.reports.skeleton import Skeleton
from manipula.robot.robot import Robot

MOST_JOINTS = 60
FURTHEST = 1e15  # m from the origin: graphics compute in 4 bytes, and square
TRIANGLES = 12_000  # of the appearance: a page stays small enough to be mailed


def can_be_drawn(bones: Skeleton) -> bool:
    """Are all places numbers that graphics can hold?"""
    return bool(np.abs(bones.points).max(initial=0.0) <= FURTHEST)  # False for NaN


def _matrix(pose: Pose) -> list[float]:
    """The upper three rows of X, row after row."""
    return np.asarray(pose.matrix(), float)[:3].reshape(-1).tolist()


def mechanism_of(robot: Robot, bones: Skeleton, packer: Packer) -> dict[str, Any]:
    """Bodies, joints, inertias, appearance and the room that a motion takes."""
    bodies = [
        {
            "name": link.name[:60], "parent": joint.parent, "slides": not joint.is_revolute, "axis": [float(x) for x in joint.axis],
            "placement": _matrix(joint.placement), "frame": _matrix(link.frame), "inertia": _ellipsoid(link),
        }
        for joint, link in zip(robot.moving_joints, robot.bodies)
    ]  # fmt: skip
    followers = [{"leader": f.leader, "ratio": float(f.ratio), "offset": float(f.offset)} for f in robot.followers]
    tip = None if robot.tip is None else {"body": robot.tip_frame.link, "pose": _matrix(robot.tip_frame.pose)}
    surfaces, notes = surfaces_of(robot, TRIANGLES)
    plane = bones.plane()
    cloud = bones.points.reshape(-1, 3)
    return {
        "name": robot.name[:60], "joints": robot.n, "bodies": bodies, "followers": followers, "base": _matrix(robot.base), "tip": tip,
        "surfaces": [
            {"body": s.link, "corners": packer.add(s.vertices), "faces": packer.add(s.faces, "u4" if len(s.vertices) > 65535 else "u2"),
             "colour": [round(float(c), 4) for c in s.colour]}
            for s in surfaces
        ],
        "notes": list(notes), "plane": None if plane is None else list(plane),
        "low": cloud.min(axis=0).tolist(), "high": cloud.max(axis=0).tolist(), "size": bones.size,
    }  # fmt: skip


def _ellipsoid(link: Any) -> dict[str, Any] | None:
    """The solid ellipsoid that has the mass and the inertia of a link: half axes √(5 (I₁ + I₂ + I₃ − 2 Iᵢ) / 2m)."""
    mass, inertia = float(link.mass), np.asarray(link.inertia, float)
    if not mass > 0.0 or not np.isfinite(inertia).all():
        return None
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0.0:
        axes[:, 2] *= -1.0
    half = np.sqrt(np.maximum(2.5 * (moments.sum() - 2.0 * moments) / mass, 0.0))
    return {"mass": mass, "com": [float(x) for x in link.com], "axes": axes.reshape(-1).tolist(), "half": half.tolist()}
