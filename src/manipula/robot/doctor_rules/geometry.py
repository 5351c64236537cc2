"""Sizes, units of length, angles given in degrees, and what kind of frames the description uses."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from manipula.algebra.pose import IDENTITY, Pose
from manipula.robot.doctor_rules.finding import Finding
from manipula.robot.doctor_rules.zero_posture import ZeroPosture, number
from manipula.robot.robot import Robot

LONGEST_ARM = 50.0  # m; longer arms exist only as mistakes of unit
EXACT = 1e-9
USUAL_DEGREES = (30.0, 45.0, 60.0, 90.0, 120.0, 135.0, 180.0, 270.0)


def size(robot: Robot) -> Iterator[Finding]:
    """Total mass and reach, and lengths that look like millimetres."""
    if not robot.is_numeric or not robot.n:
        return
    total = sum(link.mass for link in robot.links)
    carried = "" if robot.payload is None else f", and carries {number(robot.payload.mass)} kg"
    if total > 0:
        yield Finding("info", "mass.total", robot.name, f"The moving links weigh {number(total)} kg{carried}.", total)
    reach = ZeroPosture(robot).reach
    yield Finding(
        "info", "reach", robot.name, f"Stretched out it reaches at most {number(reach)} m from its first joint.", reach
    )
    if reach > LONGEST_ARM:
        yield Finding(
            "warning",
            "units.millimetres",
            robot.name,
            f"A reach of {number(reach)} m looks like millimetres.",
            reach,
            "Lengths are in metres.",
        )
    for link in robot.links:
        off = float(np.linalg.norm(np.asarray(link.com, float)))
        if off > LONGEST_ARM:
            yield Finding(
                "warning",
                "units.millimetres",
                link.name,
                f"The centre of mass of '{link.name}' is {number(off)} m from its frame, which looks like millimetres.",
                off,
                "Lengths are in metres.",
            )


def angles(robot: Robot) -> Iterator[Finding]:
    """A rotation by 90 *radians*: somebody wrote degrees where radians were meant."""
    if not robot.is_numeric:
        return
    for joint, link in zip(robot.joints, robot.links):
        for pose in (joint.placement, link.frame):
            meant = _degrees_behind(pose)
            if meant is not None:
                yield Finding(
                    "warning",
                    "units.degrees",
                    joint.name,
                    f"The frame of '{joint.name}' is turned by {number(meant)} rad, which looks like degrees.",
                    meant,
                    "Angles are in radians; TOML has alpha_deg, theta_deg, rpy_deg.",
                )
                break


def _degrees_behind(pose: Pose) -> float | None:
    R = np.asarray(pose.R, float)
    angle = math.acos(min(1.0, max(-1.0, (np.trace(R) - 1.0) / 2.0)))
    for degrees in USUAL_DEGREES:
        folded = math.remainder(degrees, 2.0 * math.pi)
        if abs(abs(folded) - angle) < EXACT:
            return degrees
    return None


def convention(robot: Robot) -> Iterator[Finding]:
    """Which DH convention the frames follow, and whether the centres of mass fit it.

    In standard DH the frame sits at the far end of the link, so the centre of mass lies on the side of the link's own
    joint (``com`` points against ``a``); in modified DH the frame sits in the joint and the centre of mass lies towards the next.
    """
    if not robot.is_numeric or not robot.n or not robot.is_chain:
        return
    form = _form(robot)
    if form is None:
        yield Finding(
            "info",
            "dh.form",
            robot.name,
            "The frames follow neither DH convention as they stand (to_dh converts them).",
        )
        return
    yield Finding("info", "dh.form", robot.name, f"The frames follow the {form} DH convention.", form)
    against = along = 0
    for i, link in enumerate(robot.links):
        if link.mass == 0:
            continue
        if form == "standard":
            body = link.frame.inverse().p  # from the frame back to the link's own joint
        else:
            nexts = [j.placement.p for j in robot.joints if j.parent == i]
            body = nexts[0] if nexts else np.zeros(3)
        com, body = np.asarray(link.com, float), np.asarray(body, float)
        along += bool(com @ body > 1e-6 * float(body @ body)) and bool(body @ body > 0)
        against += bool(com @ body < -0.1 * float(body @ body)) and bool(body @ body > 0)
    other = "modified" if form == "standard" else "standard"
    if against > along:
        yield Finding(
            "warning",
            "dh.com",
            robot.name,
            f"The centres of mass of {against} links point away from their links: they look "
            f"as if measured for {other} DH (or from the other end), while the frames are {form} DH.",
            against,
            f"Give com in the frames of the {form} convention, or change the convention.",
        )


def _form(robot: Robot) -> str | None:
    axes_z = all(j.axis == (0.0, 0.0, 1.0) for j in robot.joints)
    if not axes_z:
        return None
    if all(_is_rz_tz(j.placement) and _is_tx_rx(link.frame) for j, link in zip(robot.joints, robot.links)):
        return "standard"
    if all(link.frame == IDENTITY and _is_modified(j.placement) for j, link in zip(robot.joints, robot.links)):
        return "modified"
    return None


def _is_rz_tz(X: Pose) -> bool:
    R, p = np.asarray(X.R, float), np.asarray(X.p, float)
    return bool(abs(R[2, 2] - 1.0) < EXACT and np.hypot(p[0], p[1]) < EXACT)


def _is_tx_rx(X: Pose) -> bool:
    R, p = np.asarray(X.R, float), np.asarray(X.p, float)
    return bool(abs(R[0, 0] - 1.0) < EXACT and np.hypot(p[1], p[2]) < EXACT)


def _is_modified(X: Pose) -> bool:
    r"""Is this :math:`R_x T_x R_z T_z`? Its rotation has no entry (1, 3), and p − a e_x is along its z axis."""
    R, p = np.asarray(X.R, float), np.asarray(X.p, float)
    along = p - np.array([p[0], 0.0, 0.0])
    return bool(abs(R[0, 2]) < EXACT and np.linalg.norm(np.cross(along, R[:, 2])) < EXACT)
