"""The joint axes of a robot as lines in space at q = 0, and what they have in common.

A description (standard or modified DH, URDF, …) chooses frames; lines and the pose of the tool are all that is left of it, so that
what is recognised here does not depend on the description.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.linear import array, dot
from manipula.algebra.ops import Scalar, Vector
from manipula.ik.closed_form.subproblems import CosSin, rotate
from manipula.robot.link import TIP
from manipula.robot.robot import Robot

NEAR = 2e-3  # rad, and fraction of the reach: deviations of calibrated arms from their drawing stay below it
EXACT = 1e-11  # rounding of frames multiplied together
CLEAN = 4e-16  # components of unit vectors below this are rounding


@dataclass(frozen=True, eq=False)
class Axis:
    """A joint: the line through ``p`` along the unit vector ``h``; numbers, or traced numbers while a target moves it."""

    revolute: bool
    h: np.ndarray
    p: np.ndarray

    def flipped(self) -> Axis:
        """The joint that undoes this one for the same value."""
        return Axis(self.revolute, -self.h, self.p)

    def at(self, p: np.ndarray) -> Axis:
        """The same line with another of its points."""
        return Axis(self.revolute, self.h, p)

    def move(self, value: CosSin | Scalar, x: Vector) -> np.ndarray:
        """Where the joint takes a point."""
        if isinstance(value, CosSin):
            return array(self.p + rotate(self.h, value, array(x) - self.p))
        return array(array(x) + value * self.h)

    def undo(self, value: CosSin | Scalar, x: Vector) -> np.ndarray:
        """Where the joint took a point from."""
        return self.flipped().move(value, x)


@dataclass(frozen=True, eq=False)
class Lines:
    """All joint axes at q = 0 in the outer frame, and the pose of the chosen frame there (4×4)."""

    axes: tuple[Axis, ...]
    home: np.ndarray

    @property
    def kinds(self) -> str:
        """ "RRP", say."""
        return "".join("R" if a.revolute else "P" for a in self.axes)

    @property
    def reach(self) -> float:
        """A length of the size of the arm [m]: greatest distance between feet of neighbouring axes and the tip, 1 if all is zero."""
        points = [a.p for a in self.axes] + [self.home[:3, 3]]
        spans = [float(np.linalg.norm(b - a)) for a, b in zip(points, points[1:])]
        return max(spans) or 1.0


def lines_of(robot: Robot, frame: str = TIP) -> Lines | None:
    """The lines of a numeric serial chain, or ``None`` when some joint does not move the frame."""
    if not robot.is_numeric or not robot.is_chain or robot.n == 0:
        return None
    target = robot.frame(frame)
    if target.link != robot.n - 1:
        return None
    X = robot.base
    axes = []
    for joint, link in zip(robot.joints, robot.links):
        J = X @ joint.placement
        h = np.asarray(J.R, float) @ np.asarray(joint.axis, float)
        h = np.where(np.abs(h) < CLEAN, 0.0, h)
        axes.append(Axis(joint.is_revolute, h / np.linalg.norm(h), np.asarray(J.p, float)))
        X = J @ link.frame
    home = np.asarray((X @ target.pose).matrix(), float)
    return Lines(tuple(_with_near_points(axes, home[:3, 3])), home)


def _with_near_points(axes: list[Axis], tip: np.ndarray) -> list[Axis]:
    """Every line given by its foot of the common normal with the line before it: frames far along a line cost digits."""
    out: list[Axis] = []
    before = tip
    for a in reversed(axes):
        p = a.p + a.h * (a.h @ (before - a.p))
        out.append(a.at(np.where(np.abs(p) < 1e-17, 0.0, p)))
        before = p
    return out[::-1]


class Relations:
    """Questions about lines, answered within a tolerance; remembers the largest deviation that was overlooked."""

    def __init__(self, reach: float, tolerance: float) -> None:
        self.reach, self.tolerance = reach, tolerance
        self.deviation = 0.0

    def _within(self, value: float) -> bool:
        if value > self.tolerance:
            return False
        self.deviation = max(self.deviation, value)
        return True

    def parallel(self, *axes: Axis) -> bool:
        """Do all have the same or opposite direction?"""
        return self._within(max(float(np.linalg.norm(np.cross(a.h, b.h))) for a, b in zip(axes, axes[1:])))

    def perpendicular(self, a: Axis, b: Axis) -> bool:
        return self._within(abs(float(a.h @ b.h)))

    def meeting_point(self, *axes: Axis) -> np.ndarray | None:
        """The point common to all lines (nearest to all in the mean square), if there is one and neighbours are not parallel."""
        for a, b in zip(axes, axes[1:]):
            if float(np.linalg.norm(np.cross(a.h, b.h))) <= max(10 * self.tolerance, 1e-3):
                return None
        A = sum(np.eye(3) - np.outer(a.h, a.h) for a in axes)
        b = sum((np.eye(3) - np.outer(a.h, a.h)) @ a.p for a in axes)
        point = np.linalg.solve(A, b)
        far = max(float(np.linalg.norm(np.cross(a.h, point - a.p))) for a in axes)
        return point if self._within(far / self.reach) else None


def rank(axes: Sequence[Axis], point: np.ndarray) -> int:
    """In how many directions joints move a point, at a general posture."""
    rng = np.random.default_rng(5)
    best = 0
    for _ in range(2):
        q = rng.uniform(0.4, 1.4, len(axes))
        x = np.asarray(point, float)
        columns: list[np.ndarray] = []
        for a, value in zip(reversed(axes), q):
            columns = [rotate(a.h, _plain(value), c) if a.revolute else c for c in columns]
            columns.append(np.cross(a.h, x - a.p) if a.revolute else a.h)
            x = a.move(_plain(value) if a.revolute else value, x)
        best = max(best, int(np.linalg.matrix_rank(np.column_stack(columns), tol=1e-6)))
    return best


def _plain(angle: float) -> CosSin:
    return CosSin(float(np.cos(angle)), float(np.sin(angle)))


def inverse_motion(G: Vector) -> np.ndarray:
    """Inverse of a rigid motion, 4×4, for any scalar."""
    R, p = array([row[:3] for row in G[:3]]), array([row[3] for row in G[:3]])
    out = np.empty((4, 4), dtype=object)
    out[:3, :3] = R.T
    out[:3, 3] = [-dot(R[:, i], p) for i in range(3)]
    out[3] = [0.0, 0.0, 0.0, 1.0]
    return array(out)


def carry(G: Any, x: Vector) -> np.ndarray:
    """Where a rigid motion takes a point."""
    return array([dot(G[i][:3], x) + G[i][3] for i in range(3)])


def turn_vector(G: Any, v: Vector) -> np.ndarray:
    """Where a rigid motion turns a vector."""
    return array([dot(G[i][:3], v) for i in range(3)])
