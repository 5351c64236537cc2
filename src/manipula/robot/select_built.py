"""Joints held still and branches left out of a robot that is built: back to drafts, and built again without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from manipula.algebra.pose import IDENTITY
from manipula.errors import DescriptionError, printable
from manipula.robot.appearance import VisualDraft
from manipula.robot.build import build_robot
from manipula.robot.coupled_joint import parents_first
from manipula.robot.drafts import FrameDraft, JointDraft, LinkDraft
from manipula.robot.robot import Robot
from manipula.robot.selection import Selection


def drafts_of(robot: Robot) -> tuple[list[LinkDraft], list[JointDraft], list[FrameDraft]]:
    """The links, joints and frames from which ``build_robot`` makes an equal robot."""
    names = [link.name for link in robot.bodies]
    links = [
        LinkDraft(x.name, x.mass, x.com, x.inertia, x.described, x.balance, x.between)
        for x in (robot.base_link, *robot.bodies)
    ]
    joints = [
        JointDraft(
            j.name, j.kind, names[j.parent] if j.parent >= 0 else robot.base_link.name, link.name, j.placement, j.axis, link.frame,
            j.limits, j.rotor_inertia, j.gear_ratio, j.friction, j.drive,
        )
        for j, link in zip(robot.moving_joints, robot.bodies)
    ]  # fmt: skip
    for draft, f in zip(joints[robot.n :], robot.followers):
        draft.follows, draft.ratio, draft.offset = robot.joints[f.leader].name, f.ratio, f.offset
    joints = [joints[i] for i in parents_first(robot)]
    own = {robot.base_link.name, *names}
    frames = [
        FrameDraft(f.name, names[f.link] if f.link >= 0 else robot.base_link.name, f.pose)
        for f in robot.frames
        if f.name not in own
    ]
    return links, joints, frames


def selected(robot: Robot, selection: Selection, stated: Sequence[JointDraft] = (), file: str | None = None) -> Robot:
    """The robot with joints held still and branches left out; see ``selection.py``.

    Args:
        stated: the joints as the file states them; without them a leader cannot be parted from its followers, whose friction, springs
            and ranges are in its own.
        file: the source that is being read, for messages.

    Raises:
        DescriptionError: what cannot be selected, or a payload whose place is left out.
    """
    if not selection:
        return robot
    links, joints, frames = drafts_of(robot)
    by_name = {j.name: j for j in stated}
    joints = [
        replace(j, limits=own.limits, friction=own.friction, drive=own.drive) if (own := by_name.get(j.name)) else j
        for j in joints
    ]
    postures = {name: dict(zip(robot.joint_names, q)) for name, q in robot.postures}
    tip, payload, tool = robot.tip, robot.payload, robot.tool
    names = [robot.base_link.name, *(link.name for link in robot.bodies)]
    shapes = [VisualDraft(names[s.link + 1], s.kind, s.size, s.pose, s.colour, s.file) for s in robot.appearance]
    found = build_robot(
        robot.name, links, joints, frames=frames, shapes=shapes, gravity=robot.gravity, base=robot.base, tool=IDENTITY, postures=postures,
        notes=robot.notes, selection=selection, file=file)  # fmt: skip
    for f in (f for f in robot.followers if f.link.name not in found.frame_names):
        leader = robot.joints[f.leader].name
        if leader in found.joint_names and f.name not in by_name:
            raise DescriptionError(
                f"Joint '{printable(f.name)}' follows '{printable(leader)}', which has its friction and its range in its own since the robot "
                f"was built: leave both out, or hold both (lock={{'{printable(leader)}': …}}).",
                file=file, field="drop" if selection.drop else "chain")  # fmt: skip
        gone = f"joint '{printable(f.name, 60)}'"
        found = found.replace(notes=tuple(note for note in found.notes if not note.startswith(gone)))
    if tip is not None and tip in found.frame_names and selection.chain is None:
        found = found.replace(tip=tip, tool=tool, payload=payload)
    elif tip is not None and found.tip == tip:
        found = found.replace(tool=tool, payload=payload)
    elif payload is not None:
        raise DescriptionError(
            f"The payload sits at '{printable(str(tip))}', which is left out or no longer the tip; take it off first: "
            "robot.replace(payload=None).", file=file, field="payload")  # fmt: skip
    elif tool != IDENTITY:
        found = found.replace(
            notes=(*found.notes, f"the tool at '{printable(str(tip), 60)}' is left out: the tip is another or gone.")
        )
    following = {f.name for f in found.followers}
    gone = tuple(f"joint '{printable(f.name, 60)}'" for f in robot.followers if f.name not in following)
    stale = {note for note in robot.notes if note.startswith(gone)} if gone else set()
    return found.replace(notes=tuple(n for n in found.notes if n not in stale)) if stale else found
