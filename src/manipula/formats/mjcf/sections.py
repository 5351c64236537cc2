"""The sections of an MJCF file beside the bodies: what they would add to the dynamics, refused or taken over."""

from __future__ import annotations

import math

from manipula.errors import DescriptionError, nearest, printable
from manipula.formats.guard import check_reference
from manipula.formats.mjcf.settings import ACTUATORS, Defaults, Settings
from manipula.formats.xml.reader import Element
from manipula.formats.xml.words import damping_and_dry, dissipation
from manipula.robot.build import JointDraft

_KNOWN = (
    "compiler", "option", "size", "statistic", "visual", "default", "extension", "custom", "asset", "worldbody",
    "deformable", "contact", "tendon", "equality", "actuator", "sensor", "keyframe",
)  # fmt: skip


def check_sections(root: Element, defaults: Defaults, notes: list[str]) -> None:
    """Refuse includes, loop closures and springs in tendons; note what is left out."""
    _refuse_includes(root)
    for section in root.children:
        if section.tag not in _KNOWN:
            close = nearest(section.tag, _KNOWN)
            section.fail(
                f"Unknown section <{printable(section.tag)}>." + (f" Did you mean <{close}>?" if close else "")
            )
    for equality in root.all("equality"):
        for constraint in equality.children:
            if defaults.filled(constraint, None).attributes.get("active", "true") != "false":
                constraint.fail(
                    f"The equality constraint <{printable(constraint.tag)}> couples joints or closes a loop; that is not "
                    "modelled. Remove it, or set active='false'.")  # fmt: skip
    for tendons in root.all("tendon"):
        for tendon in tendons.children:
            full = Element(tendon.tag, _tendon_defaults(defaults, tendon) | tendon.attributes, tendon.line)
            if any(full.numbers(name, range(1, 6), (0.0,))[0] != 0 for name in ("stiffness", "armature")):
                tendon.fail("A tendon with stiffness or armature pulls at the joints; that is not modelled.")
            notes.append("tendons are not read.")
    for asset in root.all("asset"):
        for item in asset.children:
            for attribute, value in item.attributes.items():
                if attribute.startswith("file"):
                    _check_file(item, attribute, value)
    notes[:] = list(dict.fromkeys(notes))


def _tendon_defaults(defaults: Defaults, tendon: Element) -> dict[str, str]:
    name = defaults.check(tendon, "class") or "main"
    return defaults.classes[name].get("tendon", {})


def _refuse_includes(root: Element) -> None:
    todo = [root]
    while todo:
        element = todo.pop()
        if element.tag == "include":
            _check_file(element, "file", element.attributes.get("file", "?"))
            element.fail(
                "Included files are not opened. Let MuJoCo join them into one file: "
                "mujoco.mj_saveLastXML('arm.xml', model).")  # fmt: skip
        todo.extend(element.children)


def _check_file(item: Element, attribute: str, value: str) -> None:
    try:
        check_reference(value)
    except DescriptionError as error:
        raise error.at(line=item.line, field=f"{item.tag}.{attribute}") from None


def motors(root: Element, defaults: Defaults, settings: Settings, joints: list[JointDraft]) -> None:
    """What an actuator adds to its joint: ``gear² · armature``, ``gear² · damping`` and a limit of force."""
    by_name = {j.name: j for j in joints if j.kind != "fixed"}
    for section in root.all("actuator"):
        for actuator in section.children:
            if actuator.tag not in ACTUATORS:
                actuator.fail(f"Unknown actuator <{printable(actuator.tag)}>.")
            _motor(defaults.filled(actuator, None), settings, by_name)


def _motor(motor: Element, settings: Settings, joints: dict[str, JointDraft]) -> None:
    rotor = motor.number("armature", 0.0)
    damping = motor.numbers("damping", range(1, 6), (0.0,))[0]
    joint = joints.get(motor.attributes.get("joint", motor.attributes.get("jointinparent", "")))
    gear = motor.numbers("gear", range(1, 7), (1.0,))[0]
    if joint is None:
        if rotor or damping:
            motor.fail("The armature or damping of an actuator that drives no hinge or slide is not modelled.")
        return
    if rotor < 0 or damping < 0:
        motor.fail("Armature and damping must not be negative.")
    if rotor:
        if joint.rotor_inertia == 0.0:
            joint.rotor_inertia, joint.gear_ratio = rotor, gear
        else:
            joint.rotor_inertia = joint.rotor_inertia * joint.gear_ratio**2 + rotor * gear**2
            joint.gear_ratio = 1.0
    if damping:
        already, dry = damping_and_dry(joint.friction)
        joint.friction = dissipation((already or 0.0) + gear * gear * damping, dry or 0.0)
    limited = motor.choice("forcelimited", ("true", "false", "auto"), "auto")
    low, high = motor.numbers("forcerange", 2, (0.0, 0.0), largest=math.inf)
    stated = (low, high) != (0.0, 0.0)
    if stated and low > high:
        motor.fail(f"The range is reversed: {low:g} > {high:g}.", "forcerange")
    if joint.limits.effort is None and stated and (limited == "true" or (limited == "auto" and settings.autolimits)):
        joint.limits = type(joint.limits)(
            joint.limits.lower, joint.limits.upper, effort=abs(gear) * max(abs(low), abs(high))
        )
