"""The arm at q = 0: where every joint, link and centre of mass stands. Numeric robots only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manipula.algebra.inertia import Moments
from manipula.algebra.pose import Pose
from manipula.algebra.symbols import is_symbolic
from manipula.lazy import cached_property
from manipula.robot.link import Link
from manipula.robot.robot import Robot


def numeric(*values: object) -> bool:
    """Are all these fields (nested tuples allowed) plain numbers?"""
    return not any(is_symbolic(v) for v in _flat(values))


def _flat(values: object) -> list[object]:
    return [x for v in values for x in _flat(v)] if isinstance(values, (tuple, list)) else [values]


def number(value: float) -> str:
    """Four digits, no trailing noise: ``12.34``, ``0.0001``, ``0``."""
    text = f"{value + 0.0:.4g}"
    return "0" if text in ("-0", "0") else text


@dataclass(frozen=True)
class ZeroPosture:
    """Poses at q = 0 in the frame in which gravity is given."""

    robot: Robot

    @cached_property
    def _poses(self) -> tuple[list[Pose], list[Pose]]:
        joints: list[Pose] = []
        links: list[Pose] = []
        for joint, link in zip(self.robot.joints, self.robot.links):
            parent = links[joint.parent] if joint.parent >= 0 else self.robot.base
            joints.append(parent @ joint.placement)
            links.append(joints[-1] @ link.frame)
        return joints, links

    @property
    def joints(self) -> list[Pose]:
        return self._poses[0]

    @property
    def links(self) -> list[Pose]:
        return self._poses[1]

    @cached_property
    def weights(self) -> list[Moments]:
        """Mass and first moment of everything whose weight joint i carries, payload included."""
        robot = self.robot
        total = [_weight(link).seen_from(X.R, X.p) for link, X in zip(robot.links, self.links)]
        if robot.payload is not None and robot.tip is not None and robot.tip_frame.link >= 0:
            X = self.links[robot.tip_frame.link] @ robot.tip_frame.pose
            total[robot.tip_frame.link] = total[robot.tip_frame.link] + robot.payload.moments().seen_from(X.R, X.p)
        for i in reversed(range(robot.n)):
            if robot.joints[i].parent >= 0:
                total[robot.joints[i].parent] = total[robot.joints[i].parent] + total[i]
        return total

    def ends(self, i: int) -> list[np.ndarray]:
        """Points of link i in its own frame: its joint, the joints it carries, the frames fixed to it."""
        robot = self.robot
        points = [robot.links[i].frame.inverse().p]
        points += [j.placement.p for j in robot.joints if j.parent == i]
        points += [f.pose.p for f in robot.frames if f.link == i and not f.pose.is_identity]
        if robot.tip is not None and robot.tip_frame.link == i:
            points.append(robot.tip_frame.pose.p)
        return [np.asarray(p, float) for p in points]

    def foot(self, i: int) -> np.ndarray:
        """Where the axis of joint i passes the parent's frame, in the frame of link i: DH slides frames along axes."""
        joint = self.robot.joints[i]
        u = np.asarray(joint.axis, float)
        along = float(u @ np.asarray(joint.placement.inverse().p, float))
        return np.asarray(self.robot.links[i].frame.inverse().apply(along * u), float)

    def stroke(self, i: int) -> float:
        """How far a prismatic joint slides [m]; 0 for a revolute one or when no limits are stated."""
        joint = self.robot.joints[i]
        bounds = [b for b in (joint.limits.lower, joint.limits.upper) if b is not None and numeric(b)]
        return 0.0 if joint.is_revolute else max((abs(b) for b in bounds), default=0.0)

    @cached_property
    def reach(self) -> float:
        """Length of the arm stretched out from its first joint [m]: an upper bound for every pose."""
        robot = self.robot
        far = [0.0] * robot.n
        best = 0.0
        for i, joint in enumerate(robot.joints):
            before = (
                0.0
                if joint.parent < 0
                else far[joint.parent]
                + float(np.linalg.norm(joint.placement.p - robot.links[joint.parent].frame.inverse().p))
            )
            far[i] = before + self.stroke(i)
            here = robot.links[i].frame.inverse().p
            tips = [float(np.linalg.norm(p - here)) for p in self.ends(i)]
            tips.append(float(np.linalg.norm(here)))
            best = max(best, far[i] + max(tips))
        return best


def _weight(link: Link) -> Moments:
    """What gravity acts on and nothing else carries."""
    own = link.moments()
    if link.balance is None:
        return own
    m, h, _ = link.balance.moments()
    return Moments(own.mass - m, own.first - h, own.second)
