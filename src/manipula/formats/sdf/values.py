"""Texts of SDF's elements as numbers, flags, names and poses. SDF says in texts what URDF says in attributes."""

from __future__ import annotations

import math

from manipula.algebra import rotation
from manipula.algebra.arguments import LARGEST
from manipula.algebra.pose import IDENTITY, Pose
from manipula.formats.xml.reader import Element

LONGEST = 900  # letters of a text; the reader keeps 1000
FLAGS = {"1": True, "true": True, "0": False, "false": False}


def text_of(element: Element) -> str:
    """The text of an element, refused where it is longer than any value."""
    if len(element.text) > LONGEST:
        element.fail(f"A value of more than {LONGEST} characters.")
    return element.text.strip()


def name_in(element: Element, tag: str) -> str:
    """The text of a child that must be there."""
    child = element.need(tag)
    return text_of(child) or child.fail(f"<{tag}> in {element.label} is empty.")


def numbers_of(element: Element, count: int, *, largest: float = LARGEST) -> tuple[float, ...]:
    """``count`` decimal numbers in the text of an element."""
    return Element(element.tag, {"text": text_of(element)}, element.line).numbers("text", count, largest=largest)


def number_in(element: Element, tag: str, default: float, *, largest: float = LARGEST) -> float:
    """The number in the text of a child; the format's default where there is none."""
    child = element.one(tag)
    return default if child is None else numbers_of(child, 1, largest=largest)[0]


def limit_in(element: Element, tag: str) -> float | None:
    """A limit; ``None`` where it is left out, infinite, or so large (1e16) that SDF means none."""
    child = element.one(tag)
    if child is None:
        return None
    text = text_of(child).lower()
    if text.lstrip("+-") in ("inf", "infinity"):
        value = -math.inf if text.startswith("-") else math.inf
    else:
        value = numbers_of(child, 1, largest=math.inf)[0]
    if abs(value) < 1e16:
        return value
    if (tag, value > 0.0) in (("lower", True), ("upper", False)):
        child.fail(f"The limits are reversed: no position is beyond {value:g} on this side.", tag)
    return None


def flag_in(element: Element, tag: str, default: bool = False) -> bool:
    """A child that says true or false."""
    child = element.one(tag)
    return default if child is None else flag(child, text_of(child))


def flag(element: Element, text: str, attribute: str | None = None) -> bool:
    """``text`` as true or false."""
    word = text.strip().lower()
    return FLAGS[word] if word in FLAGS else element.fail("true, false, 1 or 0 is needed.", attribute)


def pose_of(pose: Element | None) -> Pose:
    """X of ``<pose>``: x y z roll pitch yaw, in degrees or with a quaternion where its attributes say so."""
    if pose is None:
        return IDENTITY
    pose.expect(("relative_to", "degrees", "rotation_format", "frame"))
    if pose.attributes.get("frame"):
        pose.fail("The attribute 'frame' has no agreed meaning; SDF 1.7 and later have 'relative_to'.", "frame")
    form = pose.choice("rotation_format", ("euler_rpy", "quat_xyzw"), "euler_rpy")
    degrees = flag(pose, pose.get("degrees", "false"), "degrees")
    if not text_of(pose):
        return IDENTITY
    if form == "quat_xyzw":
        if degrees:
            pose.fail("A quaternion has no degrees.", "degrees")
        *xyz, qx, qy, qz, qw = numbers_of(pose, 7)
        if math.hypot(qx, qy, qz, qw) < 1e-6:
            pose.fail("The quaternion is zero.")
        return Pose.of(rotation.from_quaternion_wxyz((qw, qx, qy, qz)), xyz)
    *xyz, roll, pitch, yaw = numbers_of(pose, 6)
    angles = [math.radians(a) if degrees else a for a in (roll, pitch, yaw)]
    return Pose.of(rotation.from_rpy(*angles) if any(angles) else None, xyz)
