"""The same XML written differently: order of attributes and sections, white space, comments, number formats, junk.

Every variant is legal and means the same robot, so a reader must accept it and give the same dynamics.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as tree
from collections.abc import Callable, Sequence

import numpy as np

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_WORDS = (
    "name",
    "link",
    "joint",
    "tip",
    "base",
    "tool",
    "payload",
    "type",
    "data",
    "model",
    "unlimited",
    "friction",
    "drive",
)


def vary(
    text: str, rng: np.random.Generator, shuffle: Callable[[tree.Element, np.random.Generator], None]
) -> str | bytes:
    """``text`` in another dress; ``shuffle`` reorders and adds what the format leaves free."""
    root = tree.fromstring(text)
    shuffle(root, rng)
    body = _write(root, rng, 0)
    head = ["", '<?xml version="1.0"?>', "<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\n<!-- a -->"][
        rng.integers(3)
    ]
    written = head + body + ("\n<!-- end -->\n" if rng.random() < 0.3 else "")
    if rng.random() < 0.15:
        return b"\xef\xbb\xbf" + written.encode()
    if rng.random() < 0.1:
        return ('<?xml version="1.0" encoding="UTF-16"?>' + body).encode("utf-16")
    return written


def _write(element: tree.Element, rng: np.random.Generator, depth: int) -> str:
    attributes = list(element.attrib.items())
    rng.shuffle(attributes)
    quote = "'" if rng.random() < 0.3 else '"'
    said = "".join(
        f"{_space(rng)}{k}{_maybe(rng)}={_maybe(rng)}{quote}{_value(k, v, rng)}{quote}" for k, v in attributes
    )
    if not len(element) and not (element.text or "").strip() and rng.random() < 0.7:
        return f"<{element.tag}{said}{_maybe(rng)}/>"
    inside = "".join(_gap(rng) + _write(child, rng, depth + 1) for child in element) + _gap(rng)
    return f"<{element.tag}{said}{_maybe(rng)}>{(element.text or '').strip()}{inside}</{element.tag}{_maybe(rng)}>"


def _value(key: str, value: str, rng: np.random.Generator) -> str:
    if key in _WORDS or not _NUMBER.match(value):
        safe = value.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&#39;").replace('"', "&quot;")
        return f"&#x{ord(safe[0]):x};{safe[1:]}" if rng.random() < 0.1 and safe[0].isalnum() else safe
    numbers = [_number(float(word), rng) for word in value.split()]
    blank = [" ", "  ", "\t", "\n "][rng.integers(4)]
    return _maybe(rng) + blank.join(numbers) + _maybe(rng)


def _number(x: float, rng: np.random.Generator) -> str:
    """Formats that read back to the same bits."""
    forms = [repr(x), f"{x:.17e}", f"{x:.20g}", f"{x:.17E}"]
    if x.is_integer() and abs(x) < 1e6:
        forms += [str(int(x)), f"{int(x)}.", f"{int(x)}.000", f"{x:+.1f}", f"00{int(x)}" if x >= 0 else f"-00{-int(x)}"]
    return forms[rng.integers(len(forms))]


def _space(rng: np.random.Generator) -> str:
    return [" ", "  ", "\n\t", "\r\n "][rng.integers(4)]


def _maybe(rng: np.random.Generator) -> str:
    return " " if rng.random() < 0.2 else ""


def _gap(rng: np.random.Generator) -> str:
    return ["", "\n", "  ", "<!-- <link> & nothing -->", "\r\n\t"][rng.integers(5)]


def mix(items: Sequence[tree.Element], rng: np.random.Generator) -> list[tree.Element]:
    return [items[k] for k in rng.permutation(len(items))]


def shuffle_urdf(root: tree.Element, rng: np.random.Generator) -> None:
    """Any order of sections and of what is inside joints; visuals, materials, gazebo and transmissions added."""
    extras = [
        '<material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>',
        '<gazebo reference="link1"><material>Gazebo/Grey</material></gazebo>',
        '<transmission name="t"><type>x</type><joint name="joint1"/><actuator name="m"/></transmission>',
        '<ros2_control name="c" type="system"><hardware/></ros2_control>',
    ]
    sections = list(root)
    sections += [tree.fromstring(e) for e in extras if rng.random() < 0.3]
    for s in list(root):
        if s.tag in ("link", "joint", "inertial"):
            s[:] = mix(list(s), rng)
        if s.tag == "link" and rng.random() < 0.5:
            s.append(tree.fromstring(
                '<visual name="v"><origin xyz="0 0 1"/><geometry><mesh filename="package://arm/meshes/a.stl" scale="1 1 1"/>'
                "</geometry></visual>"))  # fmt: skip
            s.append(tree.fromstring('<collision><geometry><box size="1 2 3"/></geometry></collision>'))
        for joint in [s] if s.tag == "joint" else []:
            axis = joint.find("axis")
            if axis is not None and axis.get("xyz") == "1 0 0" and rng.random() < 0.5:
                joint.remove(axis)  # x is the default
            if rng.random() < 0.2:
                joint.append(tree.fromstring('<safety_controller k_velocity="1" soft_lower_limit="0"/>'))
            if joint.find("origin") is None and rng.random() < 0.5:
                joint.append(tree.fromstring("<origin/>"))
    root[:] = mix(sections, rng)


def shuffle_mjcf(root: tree.Element, rng: np.random.Generator) -> None:
    """Any order of sections; angles in degrees or radians, visual geoms without mass, cameras, lights, frames."""
    for body in list(root.iter("body")):
        if rng.random() < 0.3:
            body.insert(0, tree.fromstring('<geom type="box" size="1 1 1" mass="0"/>'))
        if rng.random() < 0.2 and body.find("inertial") is not None:
            body.append(tree.fromstring('<geom type="capsule" fromto="0 0 0 1 0 0" size="0.1"/>'))
        if rng.random() < 0.2:
            body.append(tree.fromstring('<light pos="0 0 3"/>'))
        for joint in body.findall("joint"):
            if joint.get("type") == "hinge" and rng.random() < 0.5:
                del joint.attrib["type"]  # hinge is the default
            if joint.get("axis") == "0 0 1" and rng.random() < 0.5:
                del joint.attrib["axis"]
    if rng.random() < 0.5:
        root.append(tree.fromstring('<visual><global azimuth="120"/></visual>'))
    if rng.random() < 0.5:
        root.append(tree.fromstring('<asset><mesh name="m" file="meshes/a.stl"/></asset>'))
    if rng.random() < 0.5:
        root.append(
            tree.fromstring('<default><geom contype="0"/><default class="visual"><geom group="2"/></default></default>')
        )
    root[:] = mix(list(root), rng)
