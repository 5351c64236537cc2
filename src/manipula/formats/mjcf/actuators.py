"""Actuators of an MJCF file: what they add to their joint, and how much torque they can give it.

An actuator with the gear G adds ``G² · armature`` and ``G² · damping`` to its joint. Its force F acts as the torque ``G · F``, so a range of
F is a limit of ``|G| · max|F|``; for a plain motor F is the control, and the range of the control counts too. Several
actuators on one joint add up. One that pulls a fixed tendon whose joints are all coupled to one drives that one, by the sum of coefficient times
ratio. Torques of this package act at the joints: the laws of servos (position, velocity, …) are
told in the notes, and a controller takes their place.
"""

from __future__ import annotations

import dataclasses
import math

from manipula.errors import printable, unknown_name
from manipula.formats.mjcf.couplings import lever
from manipula.formats.mjcf.equalities import FixedTendons
from manipula.formats.mjcf.settings import Defaults, Settings
from manipula.formats.robot_draft import RobotDraft
from manipula.formats.xml.reader import Element
from manipula.formats.xml.words import damping_and_dry, dissipation
from manipula.robot.build import JointDraft


def driven_joints(root: Element) -> list[str]:
    """The names of the joints that an actuator drives, in the order of the file."""
    motors = [motor.attributes for section in root.all("actuator") for motor in section.children]
    return list(dict.fromkeys(m[word] for m in motors for word in ("joint", "jointinparent") if word in m))


def read_actuators(
    root: Element, defaults: Defaults, settings: Settings, draft: RobotDraft, tendons: FixedTendons
) -> None:
    """Fill rotors, damping and limits of effort of the joints; note what an actuator does beside that."""
    joints = {j.name: j for j in draft.joints}
    efforts: dict[str, float] = {}
    counts: dict[str, int] = {}
    for section in root.all("actuator"):
        for stated in section.children:
            motor = defaults.filled(stated, None, "actuator")
            joint, lever = _driven(motor, joints), 1.0
            if joint is None and "tendon" in motor.attributes:
                joint, lever = _pulled(motor, joints, tendons)
            if joint is None:
                counts["elsewhere"] = counts.get("elsewhere", 0) + 1
                continue
            if not _is_motor(motor):
                counts[motor.tag] = counts.get(motor.tag, 0) + 1
            gear = motor.numbers("gear", range(1, 7), (1.0,))[0]
            if "tendon" not in motor.attributes:
                joint.driven = True
                _add_rotor(motor, joint, gear, settings)
            bound = abs(gear * lever) * min(_bounds(motor, settings, draft.notes), default=math.inf)
            efforts[joint.name] = efforts.get(joint.name, 0.0) + bound
    for name, effort in efforts.items():
        limits = joints[name].limits
        if effort < (math.inf if limits.effort is None else limits.effort):
            joints[name].limits = dataclasses.replace(limits, effort=effort)
    elsewhere = counts.pop("elsewhere", 0)
    if elsewhere:
        draft.notes.append(f"{elsewhere} actuator(s) that drive no joint directly are not read.")
    for tag, count in counts.items():
        draft.notes.append(
            f"{count} <{printable(tag)}> actuator(s): their control law is not read; torques act at the joints."
        )


def _pulled(motor: Element, joints: dict[str, JointDraft], tendons: FixedTendons) -> tuple[JointDraft | None, float]:
    name = motor.get("tendon")
    if name not in tendons:
        raise unknown_name("tendon", name, tendons, file=motor.file, line=motor.line, field=f"{motor.tag}.tendon")
    return lever(tendons[name] or (), joints)


def _driven(motor: Element, joints: dict[str, JointDraft]) -> JointDraft | None:
    """The joint that an actuator drives; ``None`` when it drives a tendon, a site or a body."""
    name = motor.attributes.get("joint", motor.attributes.get("jointinparent"))
    if name is not None:
        if name not in joints:
            raise unknown_name("joint", name, joints, file=motor.file, line=motor.line, field=f"{motor.tag}.joint")
        return joints[name]
    if any(motor.numbers(word, range(1, 6), (0.0,))[0] for word in ("armature", "damping")):
        motor.fail("The armature or damping of an actuator that drives no hinge or slide is not modelled.")
    return None


def _is_motor(motor: Element, *filters: str) -> bool:
    """Is its force a constant times its control, but for one of these filters?"""
    plain = {"gaintype": ("fixed",), "biastype": ("none",), "dyntype": ("none", *filters)}
    general = motor.tag == "general" and all(motor.get(word, usual[0]) in usual for word, usual in plain.items())
    return motor.tag == "motor" or general


def _bounds(motor: Element, settings: Settings, notes: list[str]) -> list[float]:
    """Upper bounds of the magnitude of its force."""
    gain = abs(motor.numbers("gainprm", range(1, 11), (1.0,))[0]) if motor.tag == "general" else 1.0
    ranges = [("forcelimited", "forcerange", 1.0)]
    if _is_motor(motor, "filter", "filterexact") and settings.clampctrl:  # what is filtered stays in its range
        ranges.append(("ctrllimited", "ctrlrange", gain))
    bounds = []
    for switch, word, scale in ranges:
        limited = motor.choice(switch, ("true", "false", "auto"), "auto")
        low, high = motor.numbers(word, 2, (0.0, 0.0), largest=math.inf)
        stated = (low, high) != (0.0, 0.0)
        if stated and low > high:
            motor.fail(f"The range is reversed: {low:g} > {high:g}.", word)
        if stated and (limited == "true" or (limited == "auto" and settings.of(motor).autolimits)):
            bounds.append(scale * max(abs(low), abs(high)))
            if low != -high:
                notes.append(
                    f"{motor.label}: {word} {low:g} {high:g} is not symmetric; its larger end is taken for both."
                )
    return bounds


def _add_rotor(motor: Element, joint: JointDraft, gear: float, settings: Settings) -> None:
    rotor = motor.number("armature", 0.0)
    damping, *higher = motor.numbers("damping", range(1, 6), (0.0,))
    if rotor < 0 or damping < 0:
        motor.fail("Armature and damping must not be negative.")
    if any(higher):
        motor.fail("Damping beyond the linear term is not modelled.", "damping")
    if rotor:
        if joint.rotor_inertia == 0.0:
            joint.rotor_inertia, joint.gear_ratio = rotor, gear
        else:
            joint.rotor_inertia = joint.rotor_inertia * joint.gear_ratio**2 + rotor * gear**2
            joint.gear_ratio = 1.0
    if damping and settings.damper:
        already, dry = damping_and_dry(joint.friction)
        joint.friction = dissipation((already or 0.0) + gear * gear * damping, dry or 0.0)
