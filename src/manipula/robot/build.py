"""From drafts of links and joints (any order, fixed ones included) to a Robot: graph checks, merging, frames.

Every reader of a format ends here, so that each check exists once. Nothing here recurses: a chain of 2000 links and
a cycle of 2000 links are both handled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manipula.algebra.arguments import LARGEST
from manipula.algebra.inertia import Moments, central
from manipula.algebra.linear import array
from manipula.algebra.pose import IDENTITY, Pose, mat3, plain, vec3
from manipula.algebra.symbols import is_symbolic
from manipula.errors import DescriptionError, printable, unknown_name
from manipula.robot.appearance import VisualDraft, check_shape_count, placed
from manipula.robot.checks import MAX_LINKS as MAX_LINKS
from manipula.robot.checks import (
    check_balance,
    check_body,
    check_budget,
    check_gear,
    check_gravity,
    check_limits,
    check_name,
    check_number,
    check_pose,
    checked_payload,
)
from manipula.robot.coupled_joint import CoupledJoint
from manipula.robot.coupling import resolve
from manipula.robot.drafts import FrameDraft, JointDraft, LinkDraft, unit_axis
from manipula.robot.drives.base import Drive
from manipula.robot.drives.gear import geared
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.joint import Joint
from manipula.robot.link import Balance, Frame, Link, Payload
from manipula.robot.robot import STANDARD_GRAVITY, Robot
from manipula.robot.selection import EVERYTHING, Selection, select

SAME_POSITION = 1e-6  # [rad or m] of what files print with six digits


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
    postures: Mapping[str, Mapping[str, Any]] | None = None,
    shapes: Sequence[VisualDraft] = (),
    notes: Sequence[str] = (),
    selection: Selection = EVERYTHING,
    file: str | None = None,
) -> Robot:
    """Check the drafts, sort the tree, select, couple, merge fixed joints (inertia transported, names kept as frames).

    Args:
        postures: named positions, by joint; joints that are not named stand at zero.
        shapes: what the links look like; shapes on links that are left out go with them.
        selection: what to hold still and what to leave out (``selection.py``).

    Raises:
        DescriptionError: with file, line and field of the culprit.
    """
    told = list(notes)
    try:
        check_budget(len(links), len(frames))
        _check_names(links, joints, frames)
        root, order = _sorted_tree(links, joints)
        if selection:
            chosen = select(selection, root, order, frames)
            links, frames, told = chosen.links, chosen.frames, told + chosen.notes
            root, order = _sorted_tree(links, chosen.joints)
            tip = tip if chosen.tip is None or tip is not None else chosen.tip
            gravity = _turned(check_gravity(gravity), Pose.from_matrix(base), chosen.turned)
            if chosen.turned is not None:
                told.append(
                    f"gravity is given in the axes of '{printable(root.name, 60)}', which is the base now; joints above it stand at zero."
                )
        coupled = resolve([j for j, _ in order], told)
        order = [(j, link) for j, (_, link) in zip(coupled, order)]
        return _assemble(
            name,
            root,
            order,
            frames,
            gravity,
            base,
            tool,
            tip,
            payload,
            postures or {},
            shapes,
            list(dict.fromkeys(told)),
        )
    except DescriptionError as error:
        raise error.at(file=file) from None


def _turned(gravity: Any, base: Pose, R: Any) -> Any:
    """Gravity for a base that stands elsewhere on the robot, turned by R against the old one: the arm feels the same."""
    return gravity if R is None else vec3(base.R @ R.T @ base.R.T @ array(gravity))


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


def _assemble(name: str, root: LinkDraft, order: list[tuple[JointDraft, LinkDraft]],
              frame_drafts: Sequence[FrameDraft], gravity: Any, base: Any, tool: Any, tip: str | None,
              payload: Payload | None, postures: Mapping[str, Mapping[str, Any]], shapes: Sequence[VisualDraft],
              notes: Sequence[str]) -> Robot:  # fmt: skip
    driving = [j for j, _ in order if j.moves and j.follows is None]
    index_of = {
        j.child: i for i, j in enumerate([*driving, *(j for j, _ in order if j.moves and j.follows is not None)])
    }
    place: dict[str, tuple[int, Pose]] = {root.name: (-1, IDENTITY)}
    bodies: list[list[tuple[Pose, LinkDraft]]] = [[] for _ in index_of]
    base_bodies: list[tuple[Pose, LinkDraft]] = [(IDENTITY, root)]
    moving: list[tuple[JointDraft, LinkDraft, int, Pose]] = []
    for j, link in order:
        index, pose = place[j.parent]
        if j.kind == "fixed":
            place[link.name] = (index, pose @ j.origin @ j.frame)
            (bodies[index] if index >= 0 else base_bodies).append((place[link.name][1], link))
            continue
        if j.refusal is not None:
            raise DescriptionError(j.refusal, **j.place())
        if j.kind not in ("revolute", "prismatic"):
            raise unknown_name("joint type", j.kind, ("revolute", "prismatic", "fixed"), **j.place())
        place[link.name] = (index_of[link.name], IDENTITY)
        moving.append((j, link, index, pose @ j.origin))
        bodies[index_of[link.name]].append((IDENTITY, link))
    moving.sort(key=lambda row: index_of[row[1].name])
    robot_links = tuple(_merged(link, bodies[i], j.frame) for i, (j, link, _, _) in enumerate(moving))
    robot_joints = tuple(_joint(j, parent, placement) for j, _, parent, placement in moving)
    n = len(driving)
    number = {j.name: i for i, j in enumerate(driving)}
    followers = tuple(
        CoupledJoint(joint, link, number[j.follows or ""], plain(j.ratio), plain(j.offset))
        for joint, link, (j, _, _, _) in zip(robot_joints[n:], robot_links[n:], moving[n:])
    )
    bent = _bent(postures, [j for j, _, _, _ in moving[n:]])
    body = {root.name: -1} | index_of
    # stable: moving links first
    frames = [Frame(n, *place[n]) for n in sorted(place, key=lambda n: body.get(n, len(body)))]
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
        tip = _last_leaf(order, place)
    elif tip not in {f.name for f in frames}:
        raise unknown_name("frame", tip, [f.name for f in frames], field="tip")
    gravity = check_gravity(gravity)
    payload = checked_payload(payload)
    check_shape_count(len(shapes))
    looks = tuple(placed(s, *place[s.link]) for s in shapes if s.link in place)
    base = check_pose(Pose.from_matrix(base), "The base", field="base")
    tool = check_pose(Pose.from_matrix(tool), "The tool", field="tool")
    return Robot(name=check_name("robot", name), links=robot_links[:n], joints=robot_joints[:n], frames=tuple(frames), tip=tip,
                 base=base, tool=tool, gravity=gravity, payload=payload, followers=followers,
                 base_link=_merged(root, base_bodies, IDENTITY), postures=_postures(postures, number),
                 appearance=looks, notes=(*notes, *bent))  # fmt: skip


def _last_leaf(order: list[tuple[JointDraft, LinkDraft]], place: Mapping[str, tuple[int, Pose]]) -> str | None:
    """The only link that nothing hangs on and that moves with the last joint; ``None`` where several could be meant."""
    with_children = {j.parent for j, _ in order}
    carrying = {place[j.parent][0] for j, _ in order if j.moves}
    leaves = [n for n, (body, _) in place.items() if n not in with_children and body >= 0 and body not in carrying]
    return leaves[0] if len(leaves) == 1 else None


def _postures(
    given: Mapping[str, Mapping[str, Any]], number: Mapping[str, int]
) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """Positions in the order of q; joints that were held, left out or follow another have none of their own."""
    found = []
    for name, positions in given.items():
        check_name("posture", name, field="postures")
        q: list[Any] = [0.0] * len(number)
        for joint, value in positions.items():
            if joint in number:
                what = f"The position of joint '{printable(joint)}'"
                q[number[joint]] = check_number(value, what, largest=LARGEST, field=f"postures.{name}")
        found.append((name, tuple(q)))
    return tuple(found)


def _bent(given: Mapping[str, Mapping[str, Any]], followers: Sequence[JointDraft]) -> list[str]:
    """Notes about postures that put a follower elsewhere than its leader does."""
    told = []
    for name, positions in given.items():
        for j in followers:
            at = j.offset + j.ratio * positions.get(j.follows or "", 0.0)
            stated = positions.get(j.name, at)
            if not is_symbolic(at - stated) and abs(at - stated) > SAME_POSITION * max(1.0, abs(at)):
                told.append(
                    f"posture '{printable(name, 60)}' puts joint '{printable(j.name, 60)}' at {stated:.6g}; it follows "
                    f"'{printable(str(j.follows), 60)}' and stands at {at:.6g}."
                )
    return told


def _merged(link: LinkDraft, parts: list[tuple[Pose, LinkDraft]], frame: Pose) -> Link:
    """One Link from a moving link and everything fixed to it, about the moving link's frame."""
    for _, part in parts:
        check_body(
            part.mass, part.com, part.inertia, f"link '{printable(part.name)}'", line=part.line, field=part.field
        )
        check_balance(part.balance, f"link '{printable(part.name)}'", line=part.line, field=part.field)
    if len(parts) == 1:
        mass, com, inertia = plain(link.mass), vec3(link.com), mat3(link.inertia)
        return Link(link.name, mass, com, inertia, frame, link.described, link.balance, link.between)
    total: Moments | None = None
    for pose, part in parts:
        body = Link(part.name, plain(part.mass), vec3(part.com), mat3(part.inertia)).moments().seen_from(pose.R, pose.p)
        total = body if total is None else total + body
    assert total is not None
    mass, com, inertia = central(total)
    symmetric = (array(inertia) + array(inertia).T) / 2
    check_body(
        mass,
        com,
        symmetric,
        f"link '{printable(link.name)}' with what is fixed to it",
        line=link.line,
        field=link.field,
    )
    described = any(part.described for _, part in parts)
    return Link(link.name, plain(mass), vec3(com), mat3(symmetric), frame, described, _balance(link, parts))


def _balance(link: LinkDraft, parts: list[tuple[Pose, LinkDraft]]) -> Balance | None:
    """What is carried of the weight of a link and of everything fixed to it: forces of one direction, added up."""
    carried = [(pose, part.balance) for pose, part in parts if part.balance is not None]
    if not carried:
        return None
    mass: Any = 0.0
    first = np.zeros(3)
    for pose, balance in carried:
        m, h, _ = balance.moments()
        mass, first = mass + m, first + pose.R @ h + m * array(pose.p)
    if mass == 0 and any(x != 0 for x in first):
        raise DescriptionError(
            f"What is carried of the weight of '{printable(link.name)}' and of the links fixed to it is a couple and no force, which is not modelled.",
            line=link.line,
            field=link.field,
        )
    return None if mass == 0 else Balance(plain(mass), vec3(first / mass))


def _joint(j: JointDraft, parent: int, placement: Pose) -> Joint:
    here = j.place()
    axis = unit_axis(j)
    check_pose(placement, f"The origin of joint '{printable(j.name)}'", **here)
    check_pose(j.frame, f"The link frame at joint '{printable(j.name)}'", **here)
    check_limits(j.limits, j.name, **here)
    for what, part, kind in (("friction", j.friction, FrictionLaw), ("drive", j.drive, Drive)):
        if part is not None and not isinstance(part, kind):
            raise DescriptionError(
                f"The {what} of joint '{printable(j.name)}' must be a {kind.__name__}, found {type(part).__name__}.",
                **here,
            )
    why = "" if j.friction is None else j.friction.unfit(j.kind == "revolute")
    if why:
        raise DescriptionError(f"Joint '{printable(j.name)}': {why}", **here)
    geared(j.drive, j, **here)
    return Joint(
        name=j.name, kind=j.kind, parent=parent, placement=placement, axis=axis, limits=j.limits,  # pyright: ignore[reportArgumentType]
        **check_gear(j, **here),
        friction=j.friction, drive=j.drive,
    )  # fmt: skip
