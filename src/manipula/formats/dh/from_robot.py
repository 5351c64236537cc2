"""The DH form of any serial chain of revolute and prismatic joints.

Frames are placed by common normals of consecutive joint axes at q = 0; what the convention cannot express goes into a
base and a tool transform. Masses, centres of mass and inertias are transported into the new frames.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manipula.algebra.pose import Pose, rotation_x, rotation_z, translation
from manipula.algebra.value import Value
from manipula.errors import DescriptionError, printable
from manipula.formats.dh.rows import Convention, check_convention, from_dh
from manipula.robot.coupled_joint import parents_first, refuse_couplings
from manipula.robot.robot import Robot

PARALLEL = 1e-13  # [rad] a tilt below this is rounding
FAR = 10.0  # parallel axes are joined where the last normal stood, unless it stood this many times farther than they are apart
KEPT = 1e-12  # of the largest torque: what a table may cost
LOST = 6e-16  # of the largest torque, for inertias seen from as far away as the arm is long; grows with the square of the distance
SAME = 1e-14  # entries of two poses that are one
TOUCHING = 1e-10  # axes nearer than this [m] count as intersecting


@dataclass(frozen=True, eq=False, repr=False)
class DhTable(Value):
    """Rows in the form ``from_dh`` takes, with base and tool as 4×4 arrays.

    Attributes:
        tool: pose of the tip in the last row's frame, all that ``from_dh`` needs.
        frames: named frames (name, row, 4×4 in that row's frame). tip: the one of them that is the tip, "" when there is no
            tip, ``None`` when it is given by ``tool`` alone. tip_tool: pose of the tool in the frame ``tip``.
    """

    convention: Convention
    rows: Sequence[Mapping[str, Any]]
    base: np.ndarray
    tool: np.ndarray
    gravity: tuple[float, float, float]
    name: str = "robot"
    base_name: str = "base"
    payload: Any = None
    frames: Sequence[tuple[str, int, np.ndarray]] = ()
    notes: Sequence[str] = ()
    tip: str | None = None
    tip_tool: np.ndarray | None = None

    @property
    def tool_at_tip(self) -> np.ndarray:
        """Pose of the tool in the frame that ``tip`` names, or in the last row's frame."""
        return self.tool if self.tip_tool is None else self.tip_tool

    def to_robot(self) -> Robot:
        """The robot these rows describe, with its named frames."""
        robot = from_dh(self.rows, self.convention, self.gravity, self.base, self.tool_at_tip, name=self.name,
                        base_name=self.base_name, payload=self.payload, frames=self.frames)  # fmt: skip
        return robot if self.tip is None else robot.replace(tip=self.tip or None)


def to_dh(robot: Robot, convention: Convention) -> DhTable:
    """DH rows, base and tool that give the same kinematics and dynamics as ``robot``.

    Names of links stand for the frames of their rows. The frames of the last link keep their names and places, so that the same
    one can be chosen as the tip before and after; its own frame too, and then the row is called ``…_row``.

    Raises:
        DescriptionError: for a tree (a DH table is a chain), for a tip that is not on the last link (the table ends
            there), while parameters are still symbolic, or for axes so nearly parallel that the table would be wrong by more
            than 1e-12: the common normal of axes tilted by 1e-6 rad lies a thousand kilometres away for each metre between them.
    """
    check_convention(convention)
    robot, couplings = _free_chain(robot)
    if not robot.is_chain or robot.n == 0:
        raise DescriptionError(f"Robot '{robot.name}' is not a serial chain; a DH table describes one.")
    robot = robot.numeric
    if robot.tip is not None and robot.tip_frame.link != robot.n - 1:
        raise DescriptionError(
            f"The tip of robot '{robot.name}' is not on its last link '{robot.links[-1].name}', where a DH table ends; "
            f"choose another: robot.replace(tip='{robot.links[-1].name}')."
        )
    joints_at_zero, links_at_zero = _poses_at_zero(robot)
    place = _standard_rows if convention == "standard" else _modified_rows
    base, geometry = place(robot, joints_at_zero)
    rows, frame = [], base
    frames_at_zero = [base]
    for joint, link, (a, alpha, d, theta), X_WL in zip(robot.joints, robot.links, geometry, links_at_zero):
        frame = frame @ _row_pose(a, alpha, d, theta, convention)
        frames_at_zero.append(frame)
        X_FL = frame.inverse() @ X_WL
        com, inertia = X_FL.apply(link.com), X_FL.R @ np.array(link.inertia) @ X_FL.R.T
        row = {"a": a, "alpha": alpha, "d": d, "theta": theta, "joint": joint.kind, "name": joint.name, "link": link.name,
               "limits": joint.limits, "rotor_inertia": joint.rotor_inertia, "gear_ratio": joint.gear_ratio,
               "friction": joint.friction, "drive": joint.drive}  # fmt: skip
        if link.described:
            symmetric = (inertia + inertia.T) / 2
            row |= {"mass": link.mass, "com": [float(v) for v in com], "inertia": symmetric.astype(float).tolist()}
        if link.balance is not None:
            at = X_FL.apply(link.balance.com)
            row["balance"] = {"mass": float(link.balance.mass), "com": [float(v) for v in at]}
        rows.append(row | couplings.get(joint.name, {}))
    X_FL = frames_at_zero[-1].inverse() @ links_at_zero[-1]
    named = {link.name for link in robot.links} | {robot.base_link.name}
    kept = [
        (f.name, f.link + 1, (frames_at_zero[f.link + 1].inverse() @ _frame_at_zero(robot, f, links_at_zero)).matrix())
        for f in robot.frames
        if f.name not in named
    ]
    tip, tip_tool = ("" if robot.tip is None else None), None
    if kept and robot.tip is not None:
        tip, tip_tool = robot.tip, robot.tool.matrix()
        last = robot.links[-1].name
        # by an earlier conversion
        of_row = last != robot.tip and last.removesuffix("_row") in (name for name, _, _ in kept)
        if not of_row and np.abs(X_FL.matrix() - np.eye(4)).max() > SAME:
            kept.append((last, robot.n, X_FL.matrix()))
            rows[-1]["link"] = _unused(f"{last}_row", named | set(robot.frame_names))
    tool = np.eye(4) if robot.tip is None else (X_FL @ robot.tip_frame.pose).matrix()
    return DhTable(convention, rows, base.matrix(), tool, robot.gravity, robot.name, robot.base_link.name, robot.payload,
                   kept, tip=tip, tip_tool=tip_tool)  # fmt: skip


def _free_chain(robot: Robot) -> tuple[Robot, dict[str, dict[str, Any]]]:
    """The chain with every joint on its own, and the entries of rows that couple them again.

    Raises:
        DescriptionError: coupled joints beside the chain, as the fingers of a gripper.
    """
    if not robot.followers:
        return robot, {}
    order = parents_first(robot)
    place = {-1: -1} | {number: i for i, number in enumerate(order)}
    if any(place[robot.moving_joints[i].parent] != k - 1 for k, i in enumerate(order)):
        refuse_couplings(robot, "A DH table has one joint after the other, and no place beside them for")
    free = replace(
        robot,
        joints=tuple(replace(robot.moving_joints[i], parent=k - 1) for k, i in enumerate(order)),
        links=tuple(robot.bodies[i] for i in order),
        frames=tuple(replace(f, link=place[f.link]) for f in robot.frames),
        appearance=(),
        followers=(),
        postures=(),
    )
    return free, {
        f.name: {"follows": robot.joints[f.leader].name, "ratio": f.ratio, "offset": f.offset} for f in robot.followers
    }


def _unused(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    return name


def _frame_at_zero(robot: Robot, f: Any, links_at_zero: list[Pose]) -> Pose:
    return (links_at_zero[f.link] if f.link >= 0 else robot.base) @ f.pose


def _poses_at_zero(robot: Robot) -> tuple[list[Pose], list[Pose]]:
    """Joint frames (before motion) and link frames at q = 0, in the outermost frame."""
    joints, links, pose = [], [], robot.base
    for joint, link in zip(robot.joints, robot.links):
        joints.append(pose @ joint.placement)
        pose = joints[-1] @ link.frame
        links.append(pose)
    return joints, links


def _row_pose(a: float, alpha: float, d: float, theta: float, convention: Convention) -> Pose:
    z_part = rotation_z(theta) @ translation(0.0, 0.0, d)
    x_part = translation(a, 0.0, 0.0) @ rotation_x(alpha)
    return z_part @ x_part if convention == "standard" else x_part @ z_part


@dataclass(frozen=True)
class _Line:
    """A joint axis at q = 0: a point and a unit direction."""

    point: np.ndarray
    direction: np.ndarray
    joint: str


def _lines(robot: Robot, poses: list[Pose]) -> list[_Line]:
    return [_Line(X.p, X.R @ np.array(j.axis), printable(j.name, 40)) for X, j in zip(poses, robot.joints)]


def _size(lines: list[_Line]) -> float:
    """How long the arm is, from joint to joint; one metre at least, as torques are compared with one newton metre."""
    return max(1.0, sum(float(np.linalg.norm(b.point - a.point)) for a, b in zip(lines, lines[1:])))


def _normal(first: _Line, second: _Line, origin: np.ndarray, x_before: np.ndarray,
            size: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Feet of the common normal on both lines and its direction (unit, perpendicular to both)."""
    z1, z2 = first.direction, second.direction
    normal = np.cross(z1, z2)
    sine = float(np.linalg.norm(normal))
    gap = second.point - first.point
    if sine < PARALLEL:
        along = float(np.dot(origin - first.point, z1))
        reach = float(np.linalg.norm(gap))
        if abs(along) > FAR * max(1.0, reach):  # a tilt too small to see would still part the axes out there
            along = 0.0
        foot1 = first.point + z1 * along
        offset = gap - z1 * float(np.dot(gap, z1))
        distance = float(np.linalg.norm(offset))
        foot2 = foot1 + offset
        x = offset / distance if distance > TOUCHING else _perpendicular(x_before, z1)
        return foot1, foot2 if distance > TOUCHING else foot1, x
    x = normal / sine
    # gap = t1 z1 + s x − t2 z2, solved by projections
    t1 = float(np.dot(np.cross(gap, z2), normal)) / sine**2
    t2 = float(np.dot(np.cross(gap, z1), normal)) / sine**2
    far = max(abs(t1), abs(t2))
    if LOST * (far / size) ** 2 > KEPT:
        raise DescriptionError(
            f"The axes of joints '{first.joint}' and '{second.joint}' are {sine:.2g} rad from parallel: their common normal lies "
            f"{far:.3g} m away, and a DH table would be wrong by about {LOST * (far / size) ** 2:.0e} of the torques ({KEPT:g} is "
            "kept). Is an angle of the description rounded? Make the axes parallel, or keep the tree of links and joints.")  # fmt: skip
    foot1, foot2 = first.point + t1 * z1, second.point + t2 * z2
    if float(np.dot(gap, x)) < -TOUCHING or (abs(float(np.dot(gap, x))) <= TOUCHING and float(np.dot(x, x_before)) < 0):
        x = -x
    return foot1, foot2, x


def _perpendicular(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The unit vector nearest to ``x`` that is perpendicular to ``z``."""
    v = x - z * float(np.dot(x, z))
    if np.linalg.norm(v) < 1e-6:
        v = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    return v / np.linalg.norm(v)


def _angle(v: np.ndarray, w: np.ndarray, about: np.ndarray) -> float:
    """Angle from ``v`` to ``w`` about an axis perpendicular to both."""
    return math.atan2(float(np.dot(np.cross(v, w), about)), float(np.dot(v, w)))


def _first_frame(poses: list[Pose], line: _Line) -> tuple[Pose, np.ndarray]:
    x = _perpendicular(poses[0].R[:, 0].astype(float), line.direction)
    R = np.column_stack([x, np.cross(line.direction, x), line.direction])
    return Pose.of(R, line.point), x


def _standard_rows(robot: Robot, poses: list[Pose]) -> tuple[Pose, list[tuple[float, ...]]]:
    lines = _lines(robot, poses)
    base, x = _first_frame(poses, lines[0])
    origin, rows = base.p, []
    for now, after in zip(lines, lines[1:]):
        foot1, foot2, normal = _normal(now, after, origin, x, _size(lines))
        theta, d = _angle(x, normal, now.direction), float(np.dot(foot1 - origin, now.direction))
        a, alpha = float(np.dot(foot2 - foot1, normal)), _angle(now.direction, after.direction, normal)
        rows.append((a, alpha, d, theta))
        origin, x = foot2, normal
    return base, [*rows, (0.0, 0.0, 0.0, 0.0)]


def _modified_rows(robot: Robot, poses: list[Pose]) -> tuple[Pose, list[tuple[float, ...]]]:
    lines = _lines(robot, poses)
    base, x = _first_frame(poses, lines[0])
    origin, rows = base.p, []
    a = alpha = 0.0
    for now, after in zip(lines, lines[1:]):
        foot1, foot2, normal = _normal(now, after, origin, x, _size(lines))
        rows.append((a, alpha, float(np.dot(foot1 - origin, now.direction)), _angle(x, normal, now.direction)))
        a, alpha = float(np.dot(foot2 - foot1, normal)), _angle(now.direction, after.direction, normal)
        origin, x = foot2, normal
    return base, [*rows, (a, alpha, 0.0, 0.0)]
