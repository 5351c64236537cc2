r"""Can these masses and inertias belong to rigid bodies?

A body is a density ρ ≥ 0. Its second-moment matrix :math:`\Sigma = \int r r^T \rho\,dV` about the centre of mass is
positive semidefinite, and its inertia is :math:`I = \mathrm{tr}(\Sigma)\,1 - \Sigma`. Hence I is positive semidefinite
and its principal moments obey the triangle rule :math:`I_1 + I_2 \ge I_3`, and nothing more is required
[Traversaro2016, physical consistency].
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from manipula.robot.doctor_rules.finding import Finding
from manipula.robot.doctor_rules.zero_posture import ZeroPosture, number, numeric
from manipula.robot.link import NO_INERTIA, Link
from manipula.robot.robot import Robot

SLACK = 1e-6  # relative to the largest principal moment: published tensors are printed with six or seven digits
LONGEST_GYRATION = 3.0  # times the reach of the arm


def _without_weight(link: Link) -> str:
    """That a stated centre of mass has no effect."""
    return ", so that its centre of mass has no effect" if any(not numeric(x) or x != 0 for x in link.com) else ""


def masses(robot: Robot) -> Iterator[Finding]:
    """Negative, zero or missing masses, and joints that move nothing."""
    silent = [link.name for link in robot.links if not link.described]
    if robot.links and all(numeric(link.mass) and link.mass == 0 for link in robot.links) and robot.payload is None:
        yield Finding(
            "warning",
            "inertial.none",
            robot.name,
            "No link has a mass: this model has kinematics but no dynamics.",
            silent,
            "Give mass, com and inertia before torques are computed.",
        )
        return
    between = [link.name for link in robot.links if link.between]
    if between:
        yield Finding(
            "info",
            "inertial.between",
            robot.name,
            f"Without mass because they stand between two joints of one body: {', '.join(between[:8])}.",
            between,
        )
    for link in robot.links:
        if link.between and link.mass == 0:
            continue
        if not link.described:
            yield Finding(
                "warning",
                "inertial.missing",
                link.name,
                f"Nothing is said about the mass of '{link.name}'; it is taken as 0.",
                advice="State mass, com and inertia, or mass = 0 if it is really part of another link.",
            )
        elif numeric(link.mass) and link.mass < 0:
            yield Finding(
                "error", "mass.negative", link.name, f"The mass of '{link.name}' is {number(link.mass)} kg.", link.mass
            )
        elif numeric(link.mass) and link.mass == 0:
            yield Finding(
                "warning",
                "mass.zero",
                link.name,
                f"The mass of '{link.name}' is 0{_without_weight(link)}.",
                0.0,
                "Published tables sometimes leave out what does not matter; check that this is such a case.",
            )
    yield from _idle_joints(robot)


def _idle_joints(robot: Robot) -> Iterator[Finding]:
    """A joint that moves neither mass nor inertia nor rotor makes the mass matrix singular."""
    moves = [not numeric(j.rotor_inertia, j.gear_ratio) or j.armature > 0 for j in robot.joints]
    carries = [
        not numeric(link.mass, link.inertia) or link.mass > 0 or link.inertia != NO_INERTIA for link in robot.links
    ]
    if robot.payload is not None and robot.tip is not None and robot.tip_frame.link >= 0:
        carries[robot.tip_frame.link] = True
    for i in reversed(range(robot.n)):
        if carries[i] and robot.joints[i].parent >= 0:
            carries[robot.joints[i].parent] = True
    for joint, free, loaded in zip(robot.joints, moves, carries):
        if not free and not loaded:
            yield Finding(
                "error",
                "joint.idle",
                joint.name,
                f"Joint '{joint.name}' moves neither mass nor inertia nor rotor: the mass matrix is singular.",
                advice="Describe the links it carries, or its rotor_inertia.",
            )


def tensors(robot: Robot) -> Iterator[Finding]:
    """Positive semidefinite, and the triangle rule; with a relative slack for printed digits."""
    bodies: list[tuple[str, object]] = [(link.name, link.inertia) for link in robot.links]
    if robot.payload is not None:
        bodies.append(("payload", robot.payload.inertia))
    for name, inertia in bodies:
        if not numeric(inertia) or inertia == NO_INERTIA:
            continue
        tensor = np.asarray(inertia, float)
        if is_of_a_body(tensor):
            continue
        moments = np.linalg.eigvalsh(tensor).tolist()
        shown = ", ".join(number(m) for m in moments)
        if moments[0] < -SLACK * max(abs(moments[0]), moments[2]):
            yield Finding(
                "error",
                "inertia.negative",
                name,
                f"The inertia of '{name}' is not positive definite: its principal moments are {shown} kg·m².",
                moments,
                "Check signs of Ixy, Ixz, Iyz (tensor entries, not products).",
            )
        else:
            yield Finding(
                "warning",
                "inertia.triangle",
                name,
                f"No body has the principal moments {shown} kg·m² of '{name}': two "
                "of them must add up to at least the third.",
                moments,
                "Is it given about the centre of mass? Some tables list only the entry that matters.",
                "error",
            )


def is_of_a_body(inertia: np.ndarray) -> bool:
    """Is this tensor that of some body, within ``SLACK``?"""
    low, middle, high = np.linalg.eigvalsh(np.asarray(inertia, float))
    return bool(low >= -SLACK * max(abs(low), high) and low + middle >= high * (1.0 - SLACK))


def placeholders(robot: Robot) -> Iterator[Finding]:
    """Numbers that somebody typed to make a tool accept the file."""
    described = [link for link in robot.links if link.described and numeric(link.mass, link.com, link.inertia)]
    for link in described:
        if np.array_equal(np.asarray(link.inertia, float), np.eye(3)):
            yield Finding(
                "warning",
                "placeholder.identity",
                link.name,
                f"The inertia of '{link.name}' is the identity matrix, which looks like a placeholder.",
                advice="Measure, compute or identify it.",
            )
        elif link.mass > 0 and link.inertia == NO_INERTIA:
            yield Finding("info", "inertia.point", link.name, f"'{link.name}' is a point mass: its inertia is 0.")
    values = {link.mass for link in described}
    if len(described) >= 3 and len(described) == robot.n and len(values) == 1 and values != {0.0}:
        alike = len({(link.com, link.inertia) for link in described}) == 1
        yield Finding(
            "info" if alike else "warning",
            "placeholder.mass",
            robot.name,
            f"Every link has the same mass, {number(described[0].mass)} kg"
            + (", and all links are alike." if alike else ", though the links differ; this looks like a placeholder."),
            described[0].mass,
            "" if alike else "Weigh the links.",
        )


def extents(robot: Robot) -> Iterator[Finding]:
    """Centre of mass far outside the link; radius of gyration longer than the arm."""
    if not _geometry_known(robot):
        return
    posture = ZeroPosture(robot)
    for i, link in enumerate(robot.links):
        if link.mass == 0:
            continue
        points = [*posture.ends(i), posture.foot(i)]
        size = max(float(np.linalg.norm(p - q)) for p in points for q in points) + posture.stroke(i)
        off = min(_distance(np.asarray(link.com, float), p, q) for p in points for q in points)
        if size > 0 and off > max(size, 0.25 * posture.reach) and off > 0.05:  # a last link may have no known length
            yield Finding(
                "warning",
                "com.far",
                link.name,
                f"The centre of mass of '{link.name}' lies {number(off)} m outside the "
                f"link, which is {number(size)} m long.",
                off,
                "Check its unit, its sign and the frame in which it is given.",
            )
        yield from _gyration(link, posture.reach)


def _gyration(link: Link, reach: float) -> Iterator[Finding]:
    if link.mass <= 0 or reach <= 0:
        return
    length = float(np.sqrt(max(np.abs(np.linalg.eigvalsh(np.asarray(link.inertia, float))).max(), 0.0) / link.mass))
    if length > LONGEST_GYRATION * reach:
        yield Finding(
            "warning",
            "inertia.large",
            link.name,
            f"The inertia of '{link.name}' is that of its mass spread {number(length)} m "
            f"wide, while the arm is {number(reach)} m long.",
            length,
            "Is the inertia in kg·mm² or g·cm² instead of kg·m²?",
        )


def _distance(point: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """From a point to the segment a–b."""
    ab = b - a
    length = float(ab @ ab)
    t = 0.0 if length == 0 else float(np.clip((point - a) @ ab / length, 0.0, 1.0))
    return float(np.linalg.norm(point - a - t * ab))


def _geometry_known(robot: Robot) -> bool:
    return bool(robot.n) and robot.is_numeric
