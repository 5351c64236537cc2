"""Robot → MJCF.

A joint may stand anywhere in its body, so every link frame is written as it is: with X_JL = (R, p) the body stands at
``placement · X_JL``, its joint at −Rᵀp with the axis Rᵀu. Named frames become sites, the payload a body of its own.
Links without mass between joints give their joints to the next body, see ``bodies``; what MuJoCo would refuse is refused
here. Coupled joints become equalities, postures keyframes. What MJCF has no words for goes into ``<custom>`` texts.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import numpy as np

from manipula.algebra import rotation
from manipula.algebra.pose import IDENTITY, Pose
from manipula.errors import DescriptionError, printable
from manipula.formats.mjcf.bodies import MjcfBody, bodies, written_inertia
from manipula.formats.mjcf.extension import BODY, JOINT, LINK, PREFIX
from manipula.formats.mjcf.shapes import write_geom
from manipula.formats.xml.names import Names, refuse_symbols
from manipula.formats.xml.words import NO_LIMIT, damping_and_dry, words_of
from manipula.formats.xml.writer import XmlWriter
from manipula.robot import Frame, Joint, Link, Robot
from manipula.robot.coupled_joint import parents_first
from manipula.robot.drives import Spring
from manipula.robot.link import NO_INERTIA

_SAME_PLACE = 1e-12  # [m, or of the distance]: a balance so near to the centre of mass acts there

WORLD = "world"


def to_mjcf(robot: Robot) -> str:
    """MJCF text of a numeric robot.

    Raises:
        DescriptionError: parameters are still free, a link moves without mass, or no body has its moments.
    """
    refuse_symbols(robot, "MJCF")
    return _MjcfWriter(robot).text()


class _MjcfWriter:
    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.xml = XmlWriter()
        names = Names(robot)
        if any(link.name == WORLD for link in robot.bodies):
            raise DescriptionError("In MJCF 'world' is the ground, and no body can have its name; rename that link.")
        self.plain_world = robot.base_link.name == WORLD and robot.base.is_identity and not robot.base_link.described
        names.used.add(WORLD)
        self.base = robot.base_link.name if robot.base_link.name != WORLD else names.fresh("base")
        self.payload = names.fresh("payload") if robot.payload is not None else None
        self.bodies = bodies(robot)
        self.order = self._depth_first()
        self.inertias = {link.name: written_inertia(link, link.name) for link in (robot.base_link, *robot.bodies)}
        own = {robot.base_link.name, *(link.name for link in robot.bodies)}
        self.frames: dict[int, list[Frame]] = {}
        for f in robot.frames:
            if f.name not in own:
                self.frames.setdefault(f.link, []).append(f)

    def text(self) -> str:
        robot, xml = self.robot, self.xml
        xml.open("mujoco", model=robot.name)
        xml.leaf("compiler", angle="radian", autolimits="true")
        xml.leaf("option", gravity=robot.gravity)
        self._custom()
        xml.open("worldbody")
        if not self.plain_world:
            xml.open("body", name=self.base, **_where(robot.base))
            self._inertial(robot.base_link)
        self._attached(-1)
        todo: list[MjcfBody | None] = list(reversed(self.bodies.get(-1, [])))
        while todo:  # None closes a body
            body = todo.pop()
            if body is None:
                xml.close("body")
                continue
            link = robot.bodies[body.link]
            xml.open("body", name=link.name, **_where(body.placement), gravcomp=_share(link))
            self._inertial(link)
            for i, X_BJ, _ in body.joints:
                self._joint(robot.moving_joints[i], X_BJ)
            self._attached(body.link)
            todo.append(None)
            todo.extend(reversed(self.bodies.get(body.link, [])))
        if not self.plain_world:
            xml.close("body")
        xml.close("worldbody")
        carrying = {-1, *(body.link for group in self.bodies.values() for body in group)}
        lost = sum(shape.link not in carrying for shape in robot.appearance)
        if lost:
            xml.comment(f"{lost} shapes of links without mass between joints are not written")
        self._couplings()
        self._postures()
        xml.close("mujoco")
        return xml.text()

    def _custom(self) -> None:
        robot = self.robot
        said: dict[str, Any] = {}
        if robot.tip is not None:
            said[f"{PREFIX}tip"] = robot.tip
        if not self.plain_world:
            said[f"{PREFIX}base"] = self.base
            if self.base != robot.base_link.name:
                said[f"{PREFIX}base_name"] = robot.base_link.name
        if not robot.tool.is_identity:
            said[f"{PREFIX}tool"] = [*(v for row in robot.tool.rotation for v in row), *robot.tool.translation]
        if self.payload is not None:
            said[f"{PREFIX}payload"] = self.payload
        n, order = robot.n, self.order
        if [i for i in order if i < n] != sorted(i for i in order if i < n) or [i for i in order if i >= n] != sorted(
            order
        )[n:]:
            said[f"{PREFIX}order"] = " ".join(str(order.index(i)) for i in parents_first(robot))
        for name, written in self.inertias.items():
            if not written.exact and not (name == robot.base_link.name and self.plain_world):
                link = next(x for x in (robot.base_link, *robot.bodies) if x.name == name)
                said[BODY + (self.base if link is robot.base_link else name)] = _six(link.inertia)
        for group in self.bodies.values():
            for i, _, X_BL in (j for body in group for j in body.joints[:-1]):
                numbers = [*(v for row in X_BL.rotation for v in row), *X_BL.translation]
                said[LINK + robot.moving_joints[i].name] = " ".join(
                    [quote(robot.bodies[i].name), *(repr(float(v)) for v in numbers)]
                )
        for joint in robot.moving_joints:
            words = words_of(joint)
            if type(joint.drive) is Spring:  # stiffness and springref say it
                words = {word: value for word, value in words.items() if word.partition(".")[0] != "drive"}
            missing = [n for n in ("lower", "upper") if getattr(joint.limits, n) is None]
            if len(missing) == 1:
                words["unlimited"] = missing[0]
            elif _zero_range(joint):
                words |= {"lower": "0", "upper": "0"}
            if joint.limits.effort == 0:
                words["effort"] = "0"
            if words:
                said[JOINT + joint.name] = " ".join(f"{word} {value}" for word, value in words.items())
        if said:
            self.xml.open("custom")
            for name, data in said.items():
                self.xml.leaf("text", name=name, data=data)
            self.xml.close("custom")

    def _depth_first(self) -> list[int]:
        order: list[int] = []
        todo = list(reversed(self.bodies.get(-1, [])))
        while todo:
            body = todo.pop()
            order += [i for i, _, _ in body.joints]
            todo.extend(reversed(self.bodies.get(body.link, [])))
        return order

    def _couplings(self) -> None:
        robot, xml = self.robot, self.xml
        if robot.followers:
            xml.open("equality")
            for f in robot.followers:
                leader = robot.joints[f.leader].name
                xml.leaf("joint", joint1=f.name, joint2=leader, polycoef=(f.offset, f.ratio, 0.0, 0.0, 0.0))
            xml.close("equality")

    def _postures(self) -> None:
        robot, xml = self.robot, self.xml
        if robot.postures:
            xml.open("keyframe")
            for name, q in robot.postures:
                full = [*q, *(f.offset + f.ratio * q[f.leader] for f in robot.followers)]
                xml.leaf("key", name=name, qpos=[full[i] for i in self.order])
            xml.close("keyframe")

    def _inertial(self, link: Link) -> None:
        if link.mass == 0 and link.inertia == NO_INERTIA and not link.described:
            return
        written = self.inertias.get(link.name) or written_inertia(link, link.name)
        ixx, iyy, izz, ixy, ixz, iyz = _six(written.tensor)
        off = any((ixy, ixz, iyz))
        self.xml.leaf(
            "inertial",
            pos=link.com,
            quat=None if written.R is None else rotation.to_quaternion_wxyz(written.R),
            mass=link.mass,
            diaginertia=None if off else (ixx, iyy, izz),
            fullinertia=(ixx, iyy, izz, ixy, ixz, iyz) if off else None,
        )

    def _joint(self, joint: Joint, X_BJ: Pose) -> None:
        limits = joint.limits
        bounded = (limits.lower is not None or limits.upper is not None) and not _zero_range(joint)
        lower = -NO_LIMIT if limits.lower is None else limits.lower
        upper = NO_LIMIT if limits.upper is None else limits.upper
        armature = joint.armature
        damping, dry = damping_and_dry(joint.friction)
        self.xml.leaf(
            "joint",
            name=joint.name,
            type="hinge" if joint.is_revolute else "slide",
            pos=X_BJ.translation if any(X_BJ.translation) and joint.is_revolute else None,
            axis=X_BJ.R @ np.array(joint.axis, float),
            range=(lower, upper) if bounded else None,
            armature=armature if armature else None,
            damping=damping,
            frictionloss=dry,
            stiffness=joint.drive.stiffness if type(joint.drive) is Spring else None,
            springref=joint.drive.rest if type(joint.drive) is Spring and joint.drive.rest else None,
            actuatorfrcrange=(-limits.effort, limits.effort) if limits.effort else None,
        )

    def _attached(self, index: int) -> None:
        """Sites of a link's named frames, and the payload where the tip is."""
        robot, xml = self.robot, self.xml
        for f in self.frames.get(index, []):
            xml.leaf("site", name=f.name, **_where(f.pose))
        for k, shape in enumerate(robot.appearance):
            if shape.link == index:
                write_geom(xml, shape, f"{PREFIX}shape{k}", _where(shape.pose))
        if robot.payload is not None and robot.tip_frame.link == index:
            body = robot.payload
            xml.open("body", name=self.payload, **_where(robot.tip_frame.pose))
            self._inertial(Link(str(self.payload), body.mass, body.com, body.inertia))
            xml.close("body")


def _six(tensor: Any) -> tuple[float, ...]:
    return tuple(float(tensor[a][b]) for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))


def _share(link: Link) -> float | None:
    """``gravcomp``: the share of a body's weight that something else carries, at its centre of mass."""
    if link.balance is None:
        return None
    off = np.abs(np.array(link.balance.com, float) - np.array(link.com, float)).max()
    if link.mass == 0 or off > _SAME_PLACE * max(1.0, float(np.abs(np.array(link.com, float)).max())):
        raise DescriptionError(
            f"gravcomp acts at the centre of mass of a body; what is carried of link '{printable(link.name, 60)}' acts elsewhere, for which MJCF "
            "has no place (TOML has).",
            field=f"link '{printable(link.name, 60)}'")  # fmt: skip
    return float(link.balance.mass) / float(link.mass)


def _zero_range(joint: Joint) -> bool:
    """A joint locked at zero: MJCF reads the range 0 0 as no range at all."""
    return joint.limits.lower == 0 and joint.limits.upper == 0


def _where(pose: Pose) -> dict[str, Any]:
    turned = pose.rotation != IDENTITY.rotation
    return {
        "pos": pose.translation if any(pose.translation) else None,
        "quat": rotation.to_quaternion_wxyz(pose.R) if turned else None,
    }
