"""``<transmission>`` of a URDF file: the gear ratio and the rotor's inertia of joints that have one motor of their own."""

from __future__ import annotations

from manipula.errors import DescriptionError, printable
from manipula.formats.robot_draft import RobotDraft
from manipula.formats.xml.reader import Element
from manipula.robot.build import JointDraft

WORDS = {  # field of the joint: the elements that state it, in ROS 1, ROS 2 and Drake
    "gear_ratio": ("mechanicalReduction", "mechanical_reduction", "drake:gear_ratio"),
    "rotor_inertia": ("rotorInertia", "rotor_inertia", "drake:rotor_inertia"),
}
USUAL = {"gear_ratio": 1.0, "rotor_inertia": 0.0}


def read_transmissions(root: Element, draft: RobotDraft) -> None:
    """Reduction and rotor of simple transmissions (one joint, one actuator) are the joint's; others are reported."""
    by_name = {j.name: j for j in draft.joints}
    for transmission in root.all("transmission"):
        ends, motors = list(transmission.all("joint")), list(transmission.all("actuator"))
        strange = [e.attributes.get("name", "") for e in ends if e.attributes.get("name") not in by_name]
        if strange:
            name = printable(strange[0], 60)
            draft.notes.append(f"{transmission.label} is not read: there is no joint '{name}' in this file.")
            continue
        simple = len(ends) == 1 and len(motors) == 1
        for field, tags in WORDS.items():
            stated = [e for part in (*motors, *ends, transmission) for tag in tags for e in part.all(tag)]
            values = _values(stated, transmission, draft.notes)
            if simple and len(values) == 1:
                _set(by_name[ends[0].get("name")], field, values.pop(), stated[0])
            elif values - {USUAL[field]}:
                what = "reductions are" if field == "gear_ratio" else "rotors are"
                draft.notes.append(f"{transmission.label} couples several joints or actuators; its {what} not read.")


def _values(stated: list[Element], transmission: Element, notes: list[str]) -> set[float]:
    """The numbers of these elements, as text or as ``value``; a word in place of a number is reported and not read."""
    values: set[float] = set()
    for e in stated:
        text = e.attributes.get("value", e.text)
        try:
            values.add(Element(e.tag, {"value": text}, e.line).number("value"))
        except DescriptionError:
            notes.append(
                f"{transmission.label}, line {e.line}: <{e.tag}> is '{printable(text.strip(), 40)}', no number; it is not read.")  # fmt: skip
    return values


def _set(joint: JointDraft, field: str, value: float, where: Element) -> None:
    if field == "gear_ratio" and value == 0.0:
        where.fail("A mechanical reduction must not be 0.")
    stated = getattr(joint, field)
    if stated not in (USUAL[field], value):
        what = "reduction" if field == "gear_ratio" else "rotor inertia"
        where.fail(
            f"The {what} is {value:g}, but the {field.replace('_', ' ')} of joint '{printable(joint.name, 60)}' is stated as "
            f"{stated:g}.")  # fmt: skip
    setattr(joint, field, value)
