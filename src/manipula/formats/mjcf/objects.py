"""Bodies that float beside an arm on a fixed base, with no joint of their own (a cube on a table): they are left out, and told."""

from __future__ import annotations

from manipula.errors import printable
from manipula.robot.drafts import FrameDraft, JointDraft, LinkDraft
from manipula.robot.selection import Selection

FIXED_MOCAP = "body '{}' is a mocap body: here it is fixed."
MOCAP = "{} to a mocap body is a command, not a joint; it is not read."


def leave_objects(
    links: list[LinkDraft], joints: list[JointDraft], frames: list[FrameDraft], selection: Selection, notes: list[str]
) -> None:
    """Take floating objects out of the drafts, in place; those that the selection names stay, and so does a robot that is nothing else."""
    if not any(j.kind in ("revolute", "prismatic") for j in joints):
        return
    named = {*(name for name, _ in selection.lock), *selection.drop, *(selection.chain or ())}
    for free in [j for j in joints if j.kind == "free"]:
        beyond = {free.child}
        for j in joints:
            if j.parent in beyond:
                beyond.add(j.child)
        inside = [j for j in joints if j.child in beyond]
        here = {f.name for f in frames if f.link in beyond}
        if any(j.moves for j in inside if j is not free) or named & {free.name, *beyond, *here}:
            continue
        joints[:] = [j for j in joints if j not in inside]
        links[:] = [link for link in links if link.name not in beyond]
        frames[:] = [f for f in frames if f.link not in beyond]
        notes.append(f"body '{printable(free.child, 60)}' floats freely beside the arm; it is left out.")
