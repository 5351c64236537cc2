"""``<origin>`` of URDF, in and out."""

from __future__ import annotations

from manipula.algebra import rotation
from manipula.algebra.pose import IDENTITY, Pose
from manipula.formats.xml.reader import Element
from manipula.formats.xml.writer import XmlWriter


def origin_of(element: Element) -> Pose:
    """X of an optional ``<origin xyz rpy>`` (or ``quat_xyzw``, URDF 1.2) inside an element."""
    origin = element.one("origin")
    if origin is None:
        return IDENTITY
    origin.expect(("xyz", "rpy", "quat_xyzw"))
    xyz = origin.numbers("xyz", 3, (0.0, 0.0, 0.0))
    if "quat_xyzw" in origin.attributes:
        if "rpy" in origin.attributes:
            origin.fail("Give either rpy or quat_xyzw, not both.")
        x, y, z, w = origin.numbers("quat_xyzw", 4)
        if x * x + y * y + z * z + w * w < 1e-12:
            origin.fail("The quaternion is zero.", "quat_xyzw")
        return Pose.of(rotation.from_quaternion_wxyz((w, x, y, z)), xyz)
    return Pose.of(rotation.from_rpy(*origin.numbers("rpy", 3, (0.0, 0.0, 0.0))), xyz)


def write_origin(xml: XmlWriter, pose: Pose) -> None:
    """``<origin>`` of a pose, unless it is the identity."""
    if not pose.is_identity:
        turned = pose.rotation != IDENTITY.rotation
        xml.leaf("origin", xyz=pose.translation, rpy=rotation.to_rpy(pose.R) if turned else (0.0, 0.0, 0.0))
