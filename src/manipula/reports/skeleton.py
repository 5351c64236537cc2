"""Where the parts of an arm are, sample by sample: the points and lines that every drawing of it is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manipula.model import Model
from manipula.robot.robot import Robot

FLAT = 1e-6  # of the reach: an arm that stays this near a plane is drawn in it
SAME_POINT = 1e-9  # of the reach: two points this near each other are one


@dataclass(frozen=True)
class Skeleton:
    """Points (S, k, 3) that move and what they are joined to.

    Attributes:
        points: positions in the outer frame [m]. Point 0 is the base, point 1 + i the moving side of joint i.
        lines: (from, to, joint) index triples; ``joint`` moves that line, -1 for the unmoving base.
        slides: (from, to, joint): the part of a prismatic joint that grows and shrinks.
        axes: (S, n, 3) directions of the joint axes.
        prismatic: which joints slide.
        tip: index of the tip's point, or None.
    """

    points: np.ndarray
    lines: tuple[tuple[int, int, int], ...]
    slides: tuple[tuple[int, int, int], ...]
    axes: np.ndarray
    prismatic: tuple[bool, ...]
    tip: int | None

    @property
    def joints(self) -> np.ndarray:
        """Positions of the joints, (S, n, 3)."""
        return self.points[:, 1 : 1 + len(self.prismatic)]

    @property
    def centre(self) -> np.ndarray:
        low, high = self.points.min(axis=(0, 1)), self.points.max(axis=(0, 1))
        return (low + high) / 2

    @property
    def size(self) -> float:
        """Largest extent over the whole motion [m]; 1 for an arm that is a point."""
        spread = float(np.ptp(self.points.reshape(-1, 3), axis=0).max())
        return spread if spread > 0.0 else 1.0

    def plane(self) -> tuple[int, int] | None:
        """Indices of the two coordinates in which the arm moves, when it never leaves a plane parallel to them.

        Every point stays at one height above that plane (parallel links may lie above each other).
        """
        tolerance = FLAT * self.size
        for normal in (2, 1, 0):
            heights = self.points[..., normal]
            straight = np.abs(np.delete(self.axes, normal, axis=-1)).max(initial=0.0) < FLAT
            if np.ptp(heights, axis=0).max(initial=0.0) <= tolerance and straight and not any(self.prismatic):
                return ((0, 1), (0, 2), (1, 2))[2 - normal]
        for normal in (2, 1, 0):
            if np.ptp(self.points[..., normal]) <= tolerance:
                return ((0, 1), (0, 2), (1, 2))[2 - normal]
        return None


def skeleton(robot: Robot, q: np.ndarray) -> Skeleton:
    """The skeleton of ``robot`` at postures q (S, n).

    A joint stands at the origin of its placement in the parent's link; its moving side is there too, or ``axis · q``
    further on for a prismatic joint. A link reaches from there to the joints it carries, and to the tip.
    """
    q = np.ascontiguousarray(q, float)
    S, n = len(q), len(robot.bodies)
    coupled = [f.offset + f.ratio * q[:, f.leader] for f in robot.followers]
    q = np.stack([*q.T, *coupled], axis=1)  # one position per body
    poses = Model(robot).poses(q[:, : robot.n], tuple(link.name for link in robot.bodies))
    base = np.broadcast_to(np.asarray(robot.base.matrix(), float), (S, 4, 4))
    points: list[np.ndarray] = [base[:, :3, 3]]
    axes = np.zeros((S, n, 3))
    fixed: list[np.ndarray] = []
    for i, joint in enumerate(robot.moving_joints):
        parent = base if joint.parent < 0 else poses[:, joint.parent]
        X = parent @ np.asarray(joint.placement.matrix(), float)
        axes[:, i] = X[:, :3, :3] @ np.asarray(joint.axis, float)
        fixed.append(X[:, :3, 3])
        points.append(X[:, :3, 3] + (0.0 if joint.is_revolute else 1.0) * axes[:, i] * q[:, i, None])
    lines: list[tuple[int, int, int]] = []
    slides: list[tuple[int, int, int]] = []
    for i, joint in enumerate(robot.moving_joints):
        start = joint.parent + 1
        if joint.is_revolute:
            lines.append((start, i + 1, joint.parent))
            continue
        points.append(fixed[i])
        lines.append((start, len(points) - 1, joint.parent))
        slides.append((len(points) - 1, i + 1, i))
    tip: int | None = None
    if robot.tip is not None:
        frame = robot.tip_frame
        holder = base if frame.link < 0 else poses[:, frame.link]
        points.append((holder @ np.asarray(frame.pose.matrix(), float))[:, :3, 3])
        tip = len(points) - 1
        lines.append((frame.link + 1, tip, frame.link))
    for i in set(range(n)) - {
        j.parent for j in robot.moving_joints
    }:  # leaves that do not carry the tip end at their link frame
        if robot.tip is None or robot.tip_frame.link != i:
            points.append(poses[:, i, :3, 3])
            lines.append((i + 1, len(points) - 1, i))
    placed = np.stack(points, axis=1)
    scale = SAME_POINT * max(float(np.ptp(placed.reshape(-1, 3), axis=0).max()), 1e-12)
    long = lambda a, b: np.abs(placed[:, a] - placed[:, b]).max() > scale  # noqa: E731
    return Skeleton(placed, tuple(x for x in lines if long(x[0], x[1])), tuple(slides), axes,
                    tuple(not j.is_revolute for j in robot.moving_joints), tip)  # fmt: skip
