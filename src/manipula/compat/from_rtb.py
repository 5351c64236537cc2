"""A robot of the Robotics Toolbox in memory → Robot. The toolbox itself is not imported: its objects say everything."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from manipula.algebra.pose import IDENTITY, Pose
from manipula.errors import DescriptionError, printable
from manipula.formats.dh import from_dh
from manipula.formats.xml.words import dissipation
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot.build import JointDraft, LinkDraft, build_robot
from manipula.robot.friction import Asymmetric, FrictionLaw
from manipula.robot.limits import Limits
from manipula.robot.robot import Robot

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
SAME = 1e-6  # of the largest torque, between the toolbox's gravity load and ours


def from_rtb(robot: Any) -> Robot:
    """The robot that a ``DHRobot`` or an ``ERobot`` (``Robot``) of the toolbox describes.

    Kinematics, bodies, motors, friction (referred from the motor to the joint, as the toolbox does), limits, base, tool and gravity.
    Releases of the toolbox differ in the sign of ``robot.gravity``; which one is meant is asked of ``robot.gravload``.

    Raises:
        DescriptionError: not such an object, or what it holds cannot be a robot.
    """
    links = list(getattr(robot, "links", None) or [])
    if not links or not all(hasattr(link, "isrevolute") or hasattr(link, "sigma") for link in links):
        raise DescriptionError(f"A DHRobot or ERobot of the toolbox is needed, found {type(robot).__name__}.")
    made = _from_rows(robot, links) if hasattr(links[0], "alpha") else _from_tree(robot, links)
    return _with_gravity(made, robot)


def _from_rows(robot: Any, links: list[Any]) -> Robot:
    convention = "modified" if any(link.mdh for link in links) else "standard"
    if convention == "modified" and not all(link.mdh for link in links):
        raise DescriptionError("Some links are in standard and some in modified DH; a robot is in one of them.")
    rows = []
    for i, link in enumerate(links):
        slides = bool(link.sigma)
        rows.append({
            "a": link.a, "alpha": link.alpha, "d": link.offset if slides else link.d,
            "theta": link.theta if slides else link.offset, "joint": "prismatic" if slides else "revolute",
            "mass": link.m, "com": link.r, "inertia": link.I, "link": _name(link, i),
            "limits": _limits(link), "rotor_inertia": link.Jm, "gear_ratio": link.G or 1.0, "friction": _friction(link),
        })  # fmt: skip
    made = from_dh(rows, convention, (0.0, 0.0, 0.0), _pose(robot.base), _pose(robot.tool), name=_robot_name(robot))
    turned = tuple(
        dataclasses.replace(j, axis=(0.0, 0.0, -1.0)) if link.isflip else j for j, link in zip(made.joints, links)
    )
    return made.replace(joints=turned)


def _from_tree(robot: Any, links: list[Any]) -> Robot:
    names = {id(link): _name(link, i) for i, link in enumerate(links)}
    drafts, joints, notes = [], [], []
    root = next((link for link in links if link.parent is None), None)
    if root is None or root.isjoint:
        drafts.append(LinkDraft("base" if "base" not in names.values() else "base_0", described=False))
    for i, link in enumerate(links):
        name = names[id(link)]
        described = bool(link.m or np.any(link.I))
        drafts.append(LinkDraft(name, link.m, link.r, link.I, described=described))
        if link.parent is None and not link.isjoint:
            continue
        parent = drafts[0].name if link.parent is None else names.get(id(link.parent))
        if parent is None:
            raise DescriptionError("Its parent is no link of this robot.", field=f"link '{printable(name)}'")
        joint = JointDraft(
            str(getattr(link, "_joint_name", None) or f"joint{i + 1}"), "fixed", parent, name,
            origin=_pose(link.Ts), field=f"link '{printable(name)}'",
        )  # fmt: skip
        if link.isjoint:
            _moving(joint, link)
        joints.append(joint)
    ends = [names[id(link)] for link in getattr(robot, "ee_links", ()) if id(link) in names]
    for gripper in getattr(robot, "grippers", None) or ():
        notes.append(
            f"The gripper '{printable(gripper.name)}' is an object of its own there and no part of this robot."
        )
    made = build_robot(
        _robot_name(robot), drafts, joints, gravity=(0.0, 0.0, 0.0), base=_pose(robot.base), tool=_pose(robot.tool),
        tip=ends[0] if len(ends) == 1 else None, notes=notes,
    )  # fmt: skip
    order = [link.jindex for link in links if link.isjoint]
    if None not in order and order != sorted(order):
        notes = [*made.notes, f"The order of q is {', '.join(made.joint_names)}; the toolbox has another."]
    return made.replace(notes=tuple(notes))


def _moving(joint: JointDraft, link: Any) -> None:
    kind = str(link.v.axis)  # "Rz", "tx"
    if kind[-1] not in AXES or kind[0] not in "Rt":
        raise DescriptionError(
            f"The joint axis '{printable(kind)}' is none of Rx, Ry, Rz, tx, ty, tz.", field=joint.field
        )
    axis = np.array(AXES[kind[-1]])
    joint.kind = "revolute" if kind[0] == "R" else "prismatic"
    joint.axis = -axis if link.isflip else axis
    joint.limits = _limits(link)
    joint.rotor_inertia, joint.gear_ratio = link.Jm, link.G or 1.0
    joint.friction = _friction(link)


def _with_gravity(made: Robot, robot: Any) -> Robot:
    """Gravity as the acceleration of free fall: the sign with which the toolbox's own gravity load comes out."""
    gravity = np.asarray(robot.gravity, float).ravel()
    down = made.replace(gravity=tuple(gravity))
    load = getattr(robot, "gravload", None)
    if not gravity.any() or load is None or not down.is_numeric or not any(link.mass for link in down.links):
        return down
    q = 0.3 + 0.17 * np.arange(made.n)
    try:
        theirs = np.ravel(np.asarray(load(q), float))
    except Exception:  # somebody else's code
        theirs = np.full(made.n, np.nan)
    ours = np.array(inverse_dynamics(down, q, np.zeros(made.n), np.zeros(made.n)), float)
    for sign in (1.0, -1.0):
        if np.abs(theirs - sign * ours).max(initial=0.0) <= SAME * max(1.0, np.abs(ours).max(initial=0.0)):
            return down if sign > 0 else made.replace(gravity=tuple(-gravity))
    note = "The toolbox's gravload gives other torques than this robot; its gravity is taken as the acceleration of free fall."
    return down.replace(notes=(*down.notes, note))


def _friction(link: Any) -> FrictionLaw | None:
    """``G² B q̇ + |G| Tc`` with Tc for each direction, as ``link.friction`` of the toolbox computes it (with the other sign)."""
    gear = abs(link.G or 1.0)
    viscous = [gear * gear * float(b) for b in np.ravel(link.B)]
    dry = [gear * abs(float(c)) for c in np.ravel(link.Tc)]
    if dry[0] != dry[-1] or viscous[0] != viscous[-1]:
        return Asymmetric(dry[0], dry[-1], viscous[0], viscous[-1])
    return dissipation(viscous[0], dry[0])


def _limits(link: Any) -> Limits:
    if link.qlim is None:
        return Limits()
    lower, upper = np.ravel(link.qlim)
    return Limits(float(lower), float(upper))


def _pose(T: Any) -> Pose:
    if T is None:
        return IDENTITY
    pose = Pose.from_matrix(T)
    return IDENTITY if pose.is_identity else pose


def _name(link: Any, i: int) -> str:
    return str(link.name) if getattr(link, "name", None) else f"link{i + 1}"


def _robot_name(robot: Any) -> str:
    return str(getattr(robot, "name", "") or "robot")
