"""Joints of an MJCF file: hinges and slides, what resists and limits them; free and ball joints are kept with the reason of their refusal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from manipula.algebra import rotation
from manipula.algebra.pose import Pose, translation
from manipula.errors import printable
from manipula.formats.mjcf.settings import Settings
from manipula.formats.xml.reader import Element
from manipula.formats.xml.words import dissipation
from manipula.robot import Limits
from manipula.robot.build import JointDraft
from manipula.robot.drafts import SHORTEST_AXIS
from manipula.robot.drives import Spring

KINDS = ("hinge", "slide", "free", "ball")
REFUSED = {
    "free": "A free joint lets the body float; this package describes manipulators on a fixed base. Hold it where the file puts it "
    "(lock={{'{0}': 0}}), leave it out (drop=['{0}']), or take the arm alone (chain=(base, tip)).",
    "ball": "A ball joint has three degrees of freedom that one number each cannot describe; hold it where the file puts it "
    "(lock={{'{0}': 0}}), leave it out (drop=['{0}']), or replace it by three hinges.",
}
SPRINGS = "springs of joints act in simulations; the torques of a given motion are those without them."


def read_joint(joint: Element, X_BF: Pose, name: str, settings: Settings, notes: list[str]) -> tuple[JointDraft, float]:
    """A joint (its class filled in) that stands in the frame F of its body, and its reference position.

    Raises:
        DescriptionError: an axis of no length, reversed or negative numbers.
    """
    place: dict[str, Any] = {"line": joint.line, "field": f"joint '{printable(name, 60)}'"}
    kind = "free" if joint.tag == "freejoint" else joint.choice("type", KINDS, "hinge")
    if kind in REFUSED:
        return JointDraft(name, kind, "", "", refusal=REFUSED[kind].format(printable(name, 60)), **place), 0.0
    hinge, settings = kind == "hinge", settings.of(joint)
    axis = np.array(joint.numbers("axis", 3, (0.0, 0.0, 1.0)))
    length = float(np.linalg.norm(axis))
    if length < SHORTEST_AXIS:
        joint.fail(f"The axis of joint '{printable(name, 60)}' is zero.", "axis")
    axis = X_BF.R @ (axis / length if abs(length - 1.0) > 1e-15 else axis)
    anchor = X_BF.apply(joint.numbers("pos", 3, (0.0, 0.0, 0.0))) if hinge else np.zeros(3)
    ref = joint.number("ref", 0.0)
    ref = settings.angle(ref) if hinge else ref
    origin = translation(*anchor)
    if ref:
        unit = [float(v) for v in axis]
        origin = origin @ (Pose.of(rotation.about_axis(unit, -ref)) if hinge else translation(*(-ref * axis)))
    draft = JointDraft(name, "revolute" if hinge else "prismatic", "", "", origin, axis, **place)
    draft.frame = translation(*(-anchor))
    draft.limits = _limits(joint, hinge, settings)
    draft.rotor_inertia = joint.number("armature", 0.0)
    damping = joint.numbers("damping", range(1, 6), (0.0,))
    dry = joint.number("frictionloss", 0.0)
    if damping[0] < 0 or dry < 0:
        joint.fail("Damping and friction must not be negative: they would feed energy into the joint.")
    if any(damping[1:]):
        notes.append(f"joint '{printable(name, 60)}': damping beyond the linear term left out.")
    draft.friction = dissipation(damping[0] * settings.damper, dry * settings.dry)
    if settings.spring:
        _add_spring(draft, joint, hinge, settings, notes)
    return draft, ref


def _add_spring(draft: JointDraft, joint: Element, hinge: bool, settings: Settings, notes: list[str]) -> None:
    """τ = −k (q − springref): a drive, which acts in simulations."""
    if all(v > 0 for v in joint.numbers("springdamper", 2, (0.0, 0.0))):
        draft.refusal = (
            "MuJoCo computes the spring and the damping of this joint from springdamper and the mass matrix of the whole file; state "
            "stiffness and damping themselves, as in model.jnt_stiffness and model.dof_damping."
        )
    stiffness, *higher = joint.numbers("stiffness", range(1, 6), (0.0,))
    if any(higher):
        joint.fail("A spring beyond the linear term is not modelled.", "stiffness")
    if stiffness < 0:
        joint.fail(f"The stiffness must not be negative, found {stiffness:g}.", "stiffness")
    rest = joint.number("springref", 0.0)
    if stiffness > 0:
        draft.drive = Spring(stiffness, settings.angle(rest) if hinge else rest)
        notes.append(SPRINGS)


def _limits(joint: Element, hinge: bool, settings: Settings) -> Limits:
    given: dict[str, float] = {}
    limited = joint.choice("limited", ("true", "false", "auto"), "auto")
    if limited == "auto":
        if "range" in joint.attributes and not settings.autolimits:
            joint.fail("With autolimits off a range needs limited='true' or 'false'.", "range")
        limited = "true" if "range" in joint.attributes else "false"
    if limited == "true":
        low, high = joint.numbers("range", 2, largest=math.inf)
        if (low, high) != (0.0, 0.0):  # MuJoCo: both zero means that no range is given
            given["lower"], given["upper"] = (settings.angle(v) if hinge else v for v in (low, high))
    if joint.choice("actuatorfrclimited", ("true", "false", "auto"), "auto") != "false":
        low, high = joint.numbers("actuatorfrcrange", 2, (0.0, 0.0), largest=math.inf)
        if (low, high) != (0.0, 0.0):
            given["effort"] = max(abs(low), abs(high))
    return Limits(**given)
