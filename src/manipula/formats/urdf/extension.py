"""Base, tool, payload, gravity, postures and link frames off their joint, restored from ``<manipula>`` in a URDF file.

``to_urdf`` writes them as ordinary links on fixed joints, so that every program computes the same dynamics, and says in
``<manipula>`` which of those links stand for what. Here they are taken back out.
"""

from __future__ import annotations

from typing import NoReturn

from manipula.algebra.pose import mat3, vec3
from manipula.errors import printable
from manipula.formats.robot_draft import RobotDraft
from manipula.formats.xml.reader import Element
from manipula.robot import Payload
from manipula.robot.build import JointDraft, LinkDraft
from manipula.robot.robot import STANDARD_GRAVITY

WORDS = ("version", "gravity", "tip", "base", "tool", "payload", "frames")


def restore(draft: RobotDraft, extension: Element) -> None:
    """Take the links that stand for base, tool, payload and joint frames out of the draft again."""
    extension.expect(WORDS)
    draft.gravity = extension.numbers("gravity", 3, STANDARD_GRAVITY)
    draft.tip = extension.attributes.get("tip")
    payload = extension.attributes.get("payload")
    if payload is not None:
        link, joint = _leaf(draft, extension, "payload", payload)
        draft.payload = Payload(link.mass, vec3(link.com), mat3(link.inertia))
        if not joint.origin.is_identity:
            _broken(extension, "payload", payload)
    tool = extension.attributes.get("tool")
    if tool is not None:
        link, joint = _leaf(draft, extension, "tool", tool)
        draft.tool, draft.tip = joint.origin, joint.parent
        if link.described:
            _broken(extension, "tool", tool)
    base = extension.attributes.get("base")
    if base is not None:
        _take_base(draft, extension, base)
    _take_joint_frames(draft, extension)
    driving = [j.name for j in draft.joints if j.moves and j.follows is None]
    for posture in extension.all("posture"):
        posture.expect(("name", "q"))
        q = posture.numbers("q", len(driving)) if driving else ()
        draft.postures[posture.get("name")] = dict(zip(driving, q))


def _leaf(draft: RobotDraft, extension: Element, word: str, name: str) -> tuple[LinkDraft, JointDraft]:
    return draft.take_leaf(name) or _broken(extension, word, name)


def _take_base(draft: RobotDraft, extension: Element, name: str) -> None:
    link = draft.link(name)
    below = [j for j in draft.joints if j.parent == name]
    hung = any(j.child == name for j in draft.joints)
    if link is None or link.described or hung or len(below) != 1 or below[0].kind != "fixed":
        _broken(extension, "base", name)
    draft.base = below[0].origin
    draft.links.remove(link)
    draft.joints.remove(below[0])


def _take_joint_frames(draft: RobotDraft, extension: Element) -> None:
    """``frames="a b"``: the links whose only child is the link proper, off the joint by X_JL."""
    names = [e.get("link") for e in extension.all("frame")]
    if not names:
        return
    by_child = {j.child: j for j in draft.joints}
    below: dict[str, list[JointDraft]] = {}
    for j in draft.joints:
        below.setdefault(j.parent, []).append(j)
    links = {x.name: x for x in draft.links}
    gone: set[str] = set()
    for name in names:
        moving, weld = by_child.get(name), below.get(name, [])
        usable = moving is not None and moving.kind != "fixed" and len(weld) == 1 and weld[0].kind == "fixed"
        if name in gone or not usable or name not in links or links[name].described:
            _broken(extension, "frame", name)
        assert moving is not None
        moving.child, moving.frame = weld[0].child, weld[0].origin
        gone |= {name, weld[0].name}
    draft.joints = [j for j in draft.joints if not (j.kind == "fixed" and j.name in gone)]
    draft.links = [x for x in draft.links if x.name not in gone]


def _broken(extension: Element, word: str, name: str) -> NoReturn:
    extension.fail(f"'{printable(name, 60)}' cannot stand for the {word}: the links around it have been changed.", word)
