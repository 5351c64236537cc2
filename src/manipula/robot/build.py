"""From drafts of links and joints (any order, fixed ones included) to a Robot: graph checks, merging, frames.

Every reader of a format ends here, so that each check exists once. Nothing here recurses: a chain of 5000 links and
a cycle of 5000 links are both handled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from manipula.algebra.arguments import LARGEST
from manipula.algebra.inertia import Moments, central
from manipula.algebra.linear import array
from manipula.algebra.pose import IDENTITY, Pose, mat3, plain, vec3
from manipula.algebra.symbols import is_symbolic
from manipula.errors import DescriptionError, printable, unknown_name
from manipula.robot.checks import (
    MAX_LINKS as MAX_LINKS,
)
from manipula.robot.checks import (
    check_body,
    check_budget,
    check_gravity,
    check_name,
    check_number,
    check_payload,
    check_pose,
)
from manipula.robot.drives.base import Drive
from manipula.robot.drives.gear import geared
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.joint import Joint
from manipula.robot.limits import UNLIMITED, Limits
from manipula.robot.link import NO_INERTIA, ZERO3, Frame, Link, Payload
from manipula.robot.robot import STANDARD_GRAVITY, Robot

SHORTEST_AXIS = 1e-6


@dataclass
class LinkDraft:
    """A link as a file states it; ``line`` and ``field`` are for messages."""

    name: str
    mass: Any = 0.0
    com: Any = ZERO3
    inertia: Any = NO_INERTIA  # 3×3 about the centre of mass, link axes
    described: bool = True
    line: int | None = None
    field: str | None = None


@dataclass
class JointDraft:
    """A joint as a file states it. ``origin`` is X_PJ in the parent's frame, ``frame`` is X_JL (see Link.frame)."""

    name: str
    kind: str  # "revolute", "prismatic" or "fixed"
    parent: str
    child: str
    origin: Pose = IDENTITY
    axis: Any = (0.0, 0.0, 1.0)
    frame: Pose = IDENTITY
    limits: Limits = UNLIMITED
    rotor_inertia: Any = 0.0
    gear_ratio: Any = 1.0
    friction: FrictionLaw | None = None
    drive: Drive | None = None
    line: int | None = None
    field: str | None = None


@dataclass
class FrameDraft:
    """A named frame fixed to a link."""

    name: str
    link: str
    pose: Pose = IDENTITY
    line: int | None = None
    field: str | None = None


def build_robot(
    name: str,
    links: Sequence[LinkDraft],
    joints: Sequence[JointDraft],
    *,
    frames: Sequence[FrameDraft] = (),
    gravity: Any = STANDARD_GRAVITY,
    base: Any = IDENTITY,
    tool: Any = IDENTITY,
    tip: str | None = None,
    payload: Payload | None = None,
    notes: Sequence[str] = (),
    file: str | None = None,
) -> Robot:
    """Check the drafts, sort the tree, merge fixed joints (inertia transported, names kept as frames).

    Raises:
        DescriptionError: with file, line and field of the culprit.
    """
    try:
        check_budget(len(links))
        _check_names(links, joints, frames)
        root, order = _sorted_tree(links, joints)
        return _assemble(name, links, root, order, frames, gravity, base, tool, tip, payload, notes)
    except DescriptionError as error:
        raise error.at(file=file) from None


def _check_names(links: Sequence[LinkDraft], joints: Sequence[JointDraft], frames: Sequence[FrameDraft]) -> None:
    for kind, drafts in (("link", links), ("joint", joints), ("frame", frames)):
        seen: set[str] = set()
        for d in drafts:
            check_name(kind, d.name, line=d.line, field=d.field)
            if d.name in seen:
                raise DescriptionError(f"Two {kind}s are named '{printable(d.name)}'.", line=d.line, field=d.field)
            seen.add(d.name)


def _sorted_tree(
    links: Sequence[LinkDraft], joints: Sequence[JointDraft]
) -> tuple[LinkDraft, list[tuple[JointDraft, LinkDraft]]]:
    """Root and joints with parents before children, in the order of the file as far as that allows."""
    by_name = {link.name: link for link in links}
    if not links:
        raise DescriptionError("No link is described; a robot needs at least one.")
    parent_of: dict[str, JointDraft] = {}
    children: dict[str, list[JointDraft]] = {}
    for j in joints:
        for end, link in (("parent", j.parent), ("child", j.child)):
            if link not in by_name:
                raise unknown_name(
                    f"link (the {end} of joint '{printable(j.name)}')", link, by_name, line=j.line, field=j.field
                )
        if j.child in parent_of:
            raise DescriptionError(
                f"Link '{printable(j.child)}' has two parents, by the joints '{printable(parent_of[j.child].name)}' and "
                f"'{printable(j.name)}'; a manipulator is a tree.", line=j.line, field=j.field)  # fmt: skip
        parent_of[j.child] = j
        children.setdefault(j.parent, []).append(j)
    roots = [link for link in links if link.name not in parent_of]
    if not roots:
        raise DescriptionError("Every link has a parent, so the joints form a cycle and there is no root.")
    if len(roots) > 1:
        shown = ", ".join(f"'{printable(r.name)}'" for r in roots[:5])
        raise DescriptionError(
            f"{len(roots)} links have no parent ({shown}); exactly one root is needed.", line=roots[1].line
        )
    reached = {roots[0].name}
    for j in joints:  # the order of the file is the order of q whenever parents come before children in it
        if j.parent not in reached:
            break
        reached.add(j.child)
    else:
        if len(joints) + 1 == len(links):
            return roots[0], [(j, by_name[j.child]) for j in joints]
    order: list[tuple[JointDraft, LinkDraft]] = []
    stack = list(reversed(children.get(roots[0].name, [])))
    while stack:
        j = stack.pop()
        order.append((j, by_name[j.child]))
        stack.extend(reversed(children.get(j.child, [])))
    if len(order) + 1 != len(links):
        reached = {roots[0].name, *(link.name for _, link in order)}
        lost = next(link for link in links if link.name not in reached)
        raise DescriptionError(f"Link '{printable(lost.name)}' is part of a cycle of joints.", line=lost.line)
    return roots[0], order


def _assemble(name: str, links: Sequence[LinkDraft], root: LinkDraft, order: list[tuple[JointDraft, LinkDraft]],
              frame_drafts: Sequence[FrameDraft], gravity: Any, base: Any, tool: Any, tip: str | None,
              payload: Payload | None, notes: Sequence[str]) -> Robot:  # fmt: skip
    place: dict[str, tuple[int, Pose]] = {root.name: (-1, IDENTITY)}
    bodies: list[list[tuple[Pose, LinkDraft]]] = []
    base_bodies: list[tuple[Pose, LinkDraft]] = [(IDENTITY, root)]
    moving: list[tuple[JointDraft, LinkDraft, int, Pose]] = []
    for j, link in order:
        index, pose = place[j.parent]
        if j.kind == "fixed":
            place[link.name] = (index, pose @ j.origin @ j.frame)
            (bodies[index] if index >= 0 else base_bodies).append((place[link.name][1], link))
            continue
        if j.kind not in ("revolute", "prismatic"):
            raise unknown_name("joint type", j.kind, ("revolute", "prismatic", "fixed"), line=j.line, field=j.field)
        place[link.name] = (len(moving), IDENTITY)
        moving.append((j, link, index, pose @ j.origin))
        bodies.append([(IDENTITY, link)])
    robot_links = tuple(_merged(link, bodies[i], j.frame) for i, (j, link, _, _) in enumerate(moving))
    robot_joints = tuple(_joint(j, parent, placement) for j, _, parent, placement in moving)
    own = {root.name, *(link.name for _, link, _, _ in moving)}
    frames = [Frame(n, *place[n]) for n in sorted(place, key=lambda n: n not in own)]  # stable: moving links first
    for f in frame_drafts:
        if f.name in place:
            raise DescriptionError(f"Two frames are named '{printable(f.name)}'.", line=f.line, field=f.field)
        if f.link not in place:
            raise unknown_name("link", f.link, place, line=f.line, field=f.field)
        index, pose = place[f.link]
        check_pose(f.pose, f"The frame '{printable(f.name)}'", line=f.line, field=f.field)
        frames.append(Frame(f.name, index, pose @ f.pose))
    if tip is None and "tip" in (f.name for f in frames):
        tip = "tip"
    elif tip is None:
        with_children = {j.parent for j, _ in order}
        leaves = [link.name for link in links if link.name not in with_children]
        tip = leaves[0] if len(leaves) == 1 and moving else None
    elif tip not in {f.name for f in frames}:
        raise unknown_name("frame", tip, [f.name for f in frames], field="tip")
    gravity = check_gravity(gravity)
    check_payload(payload)
    base = check_pose(Pose.from_matrix(base), "The base", field="base")
    tool = check_pose(Pose.from_matrix(tool), "The tool", field="tool")
    return Robot(name=check_name("robot", name), links=robot_links, joints=robot_joints, frames=tuple(frames), tip=tip,
                 base=base, tool=tool, gravity=gravity, payload=payload,
                 base_link=_merged(root, base_bodies, IDENTITY), notes=tuple(notes))  # fmt: skip


def _merged(link: LinkDraft, parts: list[tuple[Pose, LinkDraft]], frame: Pose) -> Link:
    """One Link from a moving link and everything fixed to it, about the moving link's frame."""
    for _, part in parts:
        check_body(
            part.mass, part.com, part.inertia, f"link '{printable(part.name)}'", line=part.line, field=part.field
        )
    if len(parts) == 1:
        mass, com, inertia = plain(link.mass), vec3(link.com), mat3(link.inertia)
        return Link(link.name, mass, com, inertia, frame, link.described)
    total: Moments | None = None
    for pose, part in parts:
        body = Link(part.name, plain(part.mass), vec3(part.com), mat3(part.inertia)).moments().seen_from(pose.R, pose.p)
        total = body if total is None else total + body
    assert total is not None
    mass, com, inertia = central(total)
    symmetric = (array(inertia) + array(inertia).T) / 2
    return Link(link.name, plain(mass), vec3(com), mat3(symmetric), frame, any(part.described for _, part in parts))


def _joint(j: JointDraft, parent: int, placement: Pose) -> Joint:
    here: dict[str, Any] = {"line": j.line, "field": j.field}
    axis = vec3(j.axis)
    if not any(is_symbolic(v) for v in axis):
        for v in axis:
            check_number(v, f"The axis of joint '{printable(j.name)}'", **here)
        length = math.hypot(*axis)
        if length < SHORTEST_AXIS:
            raise DescriptionError(f"The axis of joint '{printable(j.name)}' is zero.", **here)
        if abs(length - 1.0) > 1e-15:
            axis = vec3([v / length for v in axis])
    check_pose(placement, f"The origin of joint '{printable(j.name)}'", **here)
    check_pose(j.frame, f"The link frame at joint '{printable(j.name)}'", **here)
    _check_limits(j)
    for what, part, kind in (("friction", j.friction, FrictionLaw), ("drive", j.drive, Drive)):
        if part is not None and not isinstance(part, kind):
            raise DescriptionError(
                f"The {what} of joint '{printable(j.name)}' must be a {kind.__name__}, found {type(part).__name__}.",
                **here,
            )
    geared(j.drive, j, **here)
    return Joint(
        name=j.name, kind=j.kind, parent=parent, placement=placement, axis=axis, limits=j.limits,  # pyright: ignore[reportArgumentType]
        rotor_inertia=check_number(j.rotor_inertia, f"The rotor inertia of joint '{printable(j.name)}'", at_least=0.0, largest=LARGEST, **here),
        gear_ratio=check_number(j.gear_ratio, f"The gear ratio of joint '{printable(j.name)}'", largest=LARGEST, **here),
        friction=j.friction, drive=j.drive,
    )  # fmt: skip


def _check_limits(j: JointDraft) -> None:
    here: dict[str, Any] = {"line": j.line, "field": j.field}
    lim = j.limits
    for what in ("lower", "upper", "velocity", "acceleration", "jerk", "effort"):
        value = getattr(lim, what)
        if value is not None:
            least = None if what in ("lower", "upper") else 0.0
            check_number(value, f"The {what} limit of joint '{printable(j.name)}'", at_least=least, **here)
    if lim.lower is None or lim.upper is None or is_symbolic(lim.lower) or is_symbolic(lim.upper):
        return
    if lim.lower > lim.upper:
        raise DescriptionError(
            f"The limits of joint '{printable(j.name)}' are reversed: lower {lim.lower:g} > upper {lim.upper:g}.",
            **here,
        )
