"""What ``to_mjcf`` says in ``<custom>``, taken back: base, tool, payload, tip, and the words of ``xml/words`` per joint."""

from __future__ import annotations

from typing import NoReturn
from urllib.parse import unquote

import numpy as np

from manipula.algebra.inertia import inertia_from_six
from manipula.algebra.pose import Pose, mat3, vec3
from manipula.algebra.rotation import COMPUTED_ROTATION_ERROR, rotation_error
from manipula.errors import printable, unknown_name
from manipula.formats.robot_draft import RobotDraft
from manipula.formats.xml.reader import Element
from manipula.formats.xml.words import apply_words
from manipula.robot import Payload
from manipula.robot.build import JointDraft, check_name

PREFIX = "manipula."
JOINT = "manipula.joint."
LINK = "manipula.link."  # the link without mass that a joint moves, where a body has several: name and pose in the body
BODY = "manipula.body."  # Ixx Iyy Izz Ixy Ixz Iyz that were meant, where MuJoCo demands moments above zero
WORDS = ("tip", "base", "base_name", "tool", "payload", "order")
_SMALLEST = 2e-15
_SAME = 1e-12  # relative: rotor and gear in the words against the armature of the joint


def restore(draft: RobotDraft, root: Element) -> None:
    """Read the ``<text>`` elements whose name starts with ``manipula.``."""
    said: dict[str, Element] = {}
    by_name = {j.name: j for j in draft.joints if j.kind != "fixed"}
    for custom in root.all("custom"):
        for text in custom.all("text"):
            name = text.attributes.get("name", "")
            if name.startswith(JOINT):
                _joint_words(text, by_name, name[len(JOINT) :])
            elif name.startswith(LINK):
                _link_name(draft, text, by_name, name[len(LINK) :])
            elif name.startswith(BODY):
                _meant_inertia(draft, text, name[len(BODY) :])
            elif name.startswith(PREFIX):
                word = name[len(PREFIX) :]
                if word not in WORDS:
                    raise unknown_name("word", word, WORDS, line=text.line, field="text.name")
                said[word] = text
    if "payload" in said:
        link, _ = draft.take_leaf(said["payload"].get("data")) or _broken(said["payload"])
        draft.payload = Payload(link.mass, vec3(link.com), mat3(link.inertia))
    if "tool" in said:
        v = said["tool"].numbers("data", 12)
        draft.tool = Pose.of((v[0:3], v[3:6], v[6:9]), v[9:])
        if rotation_error(draft.tool.R) > COMPUTED_ROTATION_ERROR:
            said["tool"].fail("The first nine numbers are not a rotation.", "data")
    if "base" in said:
        _base(draft, said["base"], said["base_name"].get("data") if "base_name" in said else None)
    if "tip" in said:
        draft.tip = said["tip"].get("data")
    if "order" in said:
        _order(draft, said["order"])


def states_base(root: Element) -> bool:
    """Is a body named as the robot's base? Then the world is no part of the robot, and a frame may have its name."""
    texts = [text.attributes.get("name") for custom in root.all("custom") for text in custom.all("text")]
    return f"{PREFIX}base" in texts


def _joint_words(text: Element, joints: dict[str, JointDraft], name: str) -> None:
    if name not in joints:
        raise unknown_name("joint", name, joints, line=text.line, field="text.name")
    parts = text.get("data").split()
    if len(parts) % 2:
        text.fail("Words and values must come in pairs.", "data")
    draft = joints[name]
    words = dict(zip(parts[::2], parts[1::2]))
    if "unlimited" in words:
        words["unlimited"] = words["unlimited"].replace(",", " ")
    armature = draft.rotor_inertia * draft.gear_ratio**2
    stated = draft.rotor_inertia, draft.gear_ratio
    draft.rotor_inertia, draft.gear_ratio = 0.0, 1.0
    apply_words(draft, words, line=text.line, field=f"joint '{printable(name, 60)}'")
    if abs(draft.rotor_inertia * draft.gear_ratio**2 - armature) > _SAME * abs(armature):
        draft.rotor_inertia, draft.gear_ratio = stated  # the armature was edited since: it is what MuJoCo computes with


def _link_name(draft: RobotDraft, text: Element, joints: dict[str, JointDraft], name: str) -> None:
    if name not in joints:
        raise unknown_name("joint", name, joints, line=text.line, field="text.name")
    word, *numbers = text.get("data").split() or [""]
    old, new = joints[name].child, check_name("link", unquote(word), line=text.line, field="text.data")
    v = Element("text", {"data": " ".join(numbers)}, text.line).numbers("data", 12)
    X_BL = Pose.of((v[0:3], v[3:6], v[6:9]), v[9:])
    link = next(x for x in draft.links if x.name == old)
    taken = new != old and any(x.name == new for x in (*draft.links, *draft.frames))
    below = [j for j in draft.joints if j.parent == old]
    if link.described or taken or len(below) != 1 or rotation_error(X_BL.R) > COMPUTED_ROTATION_ERROR:
        _broken(text)
    link.name = joints[name].child = below[0].parent = new
    joints[name].frame = joints[name].frame @ X_BL
    below[0].origin = X_BL.inverse() @ below[0].origin


def _meant_inertia(draft: RobotDraft, text: Element, name: str) -> None:
    link = draft.link(name)
    if link is None:
        raise unknown_name("body", name, [x.name for x in draft.links], line=text.line, field="text.name")
    meant, stated = inertia_from_six(*text.numbers("data", 6)), np.array(link.inertia, float)
    # else it was edited since, and counts
    if np.abs(meant - stated).max() <= max(_SAME * np.abs(stated).max(), _SMALLEST):
        link.inertia = meant


def _base(draft: RobotDraft, text: Element, rename: str | None) -> None:
    """The named body is the robot's base: the world above it becomes the frame of gravity."""
    name = text.get("data")
    weld = next((j for j in draft.joints if j.child == name), None)
    world = draft.links[0].name
    alone = sum(j.parent == world for j in draft.joints) == 1 and not any(f.link == world for f in draft.frames)
    if weld is None or weld.kind != "fixed" or weld.parent != world or not alone:
        _broken(text)
    draft.base = weld.origin
    draft.joints.remove(weld)
    draft.links.pop(0)
    if rename is not None:
        next(x for x in draft.links if x.name == name).name = rename
        for j in draft.joints:
            j.parent = rename if j.parent == name else j.parent
        for f in draft.frames:
            f.link = rename if f.link == name else f.link


def _order(draft: RobotDraft, text: Element) -> None:
    """The joints in the robot's own order, by their places in the file (which goes branch by branch)."""
    moving = [j for j in draft.joints if j.kind != "fixed"]
    places = text.get("data").split()
    if sorted(places) != sorted(map(str, range(len(moving)))):
        _broken(text)
    draft.joints = [*(moving[int(p)] for p in places), *(j for j in draft.joints if j.kind == "fixed")]


def _broken(text: Element) -> NoReturn:
    name = printable(text.attributes.get("data", ""), 60)
    text.fail(f"'{name}' cannot be taken for that: the bodies around it have been changed.", "data")
