"""Robot → URDF.

Everything that moves is written so that any URDF program computes the same dynamics and finds the same frames: link
frames that do not sit in their joint become a link of their own on a fixed joint, named frames become massless links,
base, tool and payload become links, coupled joints ``<mimic>``. What URDF has no words for (gravity, rotor inertia, gear ratio,
acceleration and jerk limits, friction laws, postures) goes into ``<manipula>`` elements, which other programs pass over and ``from_urdf`` reads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from manipula.algebra.pose import IDENTITY, Pose
from manipula.formats.urdf.origins import write_origin
from manipula.formats.urdf.shapes import Shapes
from manipula.formats.xml.names import Names, refuse_balance, refuse_symbols
from manipula.formats.xml.words import NO_LIMIT, damping_and_dry, words_of
from manipula.formats.xml.writer import XmlWriter
from manipula.robot import Joint, Link, Robot
from manipula.robot.coupled_joint import CoupledJoint, parents_first
from manipula.robot.link import NO_INERTIA
from manipula.robot.robot import STANDARD_GRAVITY

VERSION = "1"
_ON_AXIS = 1e-15


def to_urdf(robot: Robot, folder: Path | None = None) -> str:
    """URDF text of a numeric robot.

    Args:
        folder: where the file will lie; mesh files inside are named by their way from there.

    Raises:
        DescriptionError: parameters are still free, or two frames share a name.
    """
    refuse_symbols(robot, "URDF")
    refuse_balance(robot, "URDF")
    return _UrdfWriter(robot, folder).text()


def _folded(joint: Joint, link: Link) -> tuple[Pose, np.ndarray] | None:
    """Origin and axis of a joint that sits in the link's own frame, or ``None`` when the frame is off the axis.

    With X_JL = (R, p): ``motion(u, q) X_JL = X_JL motion(Rᵀu, q)`` holds for a slide always, for a turn when p lies on
    the axis.
    """
    u, p = np.array(joint.axis, float), link.frame.p
    if joint.is_revolute and np.abs(np.cross(u, p)).max() > _ON_AXIS * max(1.0, float(np.abs(p).max())):
        return None
    if link.frame.is_identity:
        return joint.placement, u
    return joint.placement @ link.frame, link.frame.R.T @ u


class _UrdfWriter:
    def __init__(self, robot: Robot, folder: Path | None) -> None:
        self.robot = robot
        self.shapes = Shapes(robot, folder)
        self.names = Names(robot)
        self.xml = XmlWriter()
        self.welds = Names(robot, joints=True)
        self.own = {link.name for link in robot.bodies} | {robot.base_link.name}

    def text(self) -> str:
        robot, xml = self.robot, self.xml
        frames = [f for f in robot.frames if f.name not in self.own]
        root = self.names.fresh("world") if not robot.base.is_identity else None
        tool = self.names.fresh("tool") if not robot.tool.is_identity else None
        carried = self.names.fresh("payload") if robot.payload is not None else None
        bodies, joints = robot.bodies, robot.moving_joints
        placed = [_folded(j, link) for j, link in zip(joints, bodies)]
        centred = [self.names.fresh(f"{x.name}_joint") if f is None else None for x, f in zip(bodies, placed)]
        xml.open("robot", name=robot.name)
        self._extension(root, tool, carried, [name for name in centred if name is not None])
        if root is not None:
            xml.leaf("link", name=root)
            self._weld(root, robot.base_link.name, robot.base)
        self._link(robot.base_link, -1)
        for i in parents_first(robot):
            joint, link, fold, centre = joints[i], bodies[i], placed[i], centred[i]
            leader = robot.followers[i - robot.n] if i >= robot.n else None
            parent = bodies[joint.parent].name if joint.parent >= 0 else robot.base_link.name
            if fold is None:
                assert centre is not None
                xml.leaf("link", name=centre)
                self._joint(joint, parent, centre, joint.placement, joint.axis, leader)
                self._weld(centre, link.name, link.frame)
            else:
                self._joint(joint, parent, link.name, *fold, leader)
            self._link(link, i)
        for f in frames:
            xml.leaf("link", name=f.name)
            self._weld(bodies[f.link].name if f.link >= 0 else robot.base_link.name, f.name, f.pose)
        if tool is not None or carried is not None:
            tip = robot.tip_frame  # says how to name a tip when there is none
            holder = bodies[tip.link].name if tip.link >= 0 else robot.base_link.name
            end, pose = (robot.tip, IDENTITY) if robot.tip is not None else (holder, tip.pose)
            if tool is not None:
                xml.leaf("link", name=tool)
                self._weld(str(end), tool, robot.tool)
                end = tool
            if carried is not None and robot.payload is not None:
                body = robot.payload
                self._link(Link(carried, body.mass, body.com, body.inertia))
                self._weld(str(end), carried, pose)
        xml.close("robot")
        return xml.text()

    def _extension(self, root: str | None, tool: str | None, carried: str | None, centred: list[str]) -> None:
        robot, xml = self.robot, self.xml
        gravity = None if robot.gravity == STANDARD_GRAVITY else robot.gravity
        said: dict[str, Any] = {
            "gravity": gravity, "tip": robot.tip, "base": root, "tool": tool, "payload": carried,
        }  # fmt: skip
        if not centred and not robot.postures and not self.shapes.own:
            xml.leaf("manipula", version=VERSION, **said)
            return
        xml.open("manipula", version=VERSION, **said)
        for name in centred:
            xml.leaf("frame", link=name)
        for name, q in robot.postures:
            xml.leaf("posture", name=name, q=q)
        self.shapes.write_own(xml)
        xml.close("manipula")

    def _origin(self, pose: Pose) -> None:
        write_origin(self.xml, pose)

    def _link(self, link: Link, number: int | None = None) -> None:
        xml = self.xml
        shown = self.shapes.of.get(number, [])
        silent = link.mass == 0 and link.inertia == NO_INERTIA and not link.described
        if silent and not shown:
            xml.leaf("link", name=link.name)
            return
        xml.open("link", name=link.name)
        for shape in shown:
            self.shapes.write(xml, shape)
        if not silent:
            self._inertial(link)
        xml.close("link")

    def _inertial(self, link: Link) -> None:
        xml = self.xml
        xml.open("inertial")
        if any(link.com):
            xml.leaf("origin", xyz=link.com, rpy=(0.0, 0.0, 0.0))
        xml.leaf("mass", value=link.mass)
        (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = link.inertia
        xml.leaf("inertia", ixx=ixx, ixy=ixy, ixz=ixz, iyy=iyy, iyz=iyz, izz=izz)
        xml.close("inertial")

    def _weld(self, parent: str, child: str, pose: Pose) -> None:
        xml = self.xml
        xml.open("joint", name=self.welds.fresh(f"{child}_fixed"), type="fixed")
        self._origin(pose)
        xml.leaf("parent", link=parent)
        xml.leaf("child", link=child)
        xml.close("joint")

    def _joint(
        self, joint: Joint, parent: str, child: str, origin: Pose, axis: Any, coupled: CoupledJoint | None
    ) -> None:
        xml, limits = self.xml, joint.limits
        stated = {name: getattr(limits, name) for name in ("lower", "upper", "effort", "velocity")}
        free = joint.is_revolute and limits.lower is None and limits.upper is None
        kind = "continuous" if free else joint.kind
        xml.open("joint", name=joint.name, type=kind)
        self._origin(origin)
        xml.leaf("parent", link=parent)
        xml.leaf("child", link=child)
        xml.leaf("axis", xyz=axis)
        missing = [name for name, value in stated.items() if value is None]
        if free:
            missing = [name for name in missing if name not in ("lower", "upper")]
            del stated["lower"], stated["upper"]
        if not (free and len(missing) == 2):
            for name in missing:
                stated[name] = -NO_LIMIT if name == "lower" else NO_LIMIT
            xml.leaf("limit", **stated)
        else:
            missing = []
        damping, dry = damping_and_dry(joint.friction)
        if damping is not None or dry is not None:
            xml.leaf("dynamics", damping=damping, friction=dry)
        if coupled is not None:
            leader = self.robot.joints[coupled.leader].name
            xml.leaf("mimic", joint=leader, multiplier=coupled.ratio, offset=coupled.offset)
        words = words_of(joint, said=("velocity",))
        if missing:
            words["unlimited"] = " ".join(missing)
        if words:
            xml.leaf("manipula", **words)
        xml.close("joint")
