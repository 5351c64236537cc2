"""Any Robot → our TOML, in the ``[[link]]``/``[[joint]]`` form, such that reading it gives an equal Robot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from manipula.algebra import rotation
from manipula.algebra.pose import IDENTITY, Pose
from manipula.algebra.symbols import is_symbolic
from manipula.errors import DescriptionError, printable
from manipula.formats.formula_text import formula_text
from manipula.robot.joint import Joint
from manipula.robot.link import NO_INERTIA, ZERO3, Link, Payload
from manipula.robot.robot import Robot

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def to_toml(robot: Robot) -> str:
    """The text of a file; floats are written so that they read back exactly, formulas as formulas."""
    blocks = [_header(robot)]
    for title, pose in (("base", robot.base), ("tool", robot.tool)):
        if pose != IDENTITY:
            blocks.append([f"[{title}]", *_pose_lines(pose)])
    if robot.payload is not None:
        blocks.append(["[payload]", *_body_lines(robot.payload)])
    blocks.append(["[[link]]", *_link_lines(robot.base_link)])
    names = [link.name for link in robot.links]
    for joint, link in zip(robot.joints, robot.links):
        parent = names[joint.parent] if joint.parent >= 0 else robot.base_link.name
        blocks.append(["[[joint]]", *_joint_lines(joint, link, parent)])
        blocks.append(["[[link]]", *_link_lines(link)])
    own = {robot.base_link.name, *names}
    for frame in robot.frames:
        if frame.name not in own:
            link = names[frame.link] if frame.link >= 0 else robot.base_link.name
            blocks.append(
                ["[[frame]]", f"name = {_text(frame.name)}", f"link = {_text(link)}", *_pose_lines(frame.pose)]
            )
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _header(robot: Robot) -> list[str]:
    lines = ["format = 1", f"name = {_text(robot.name)}"]
    rest = []
    for note in robot.notes:
        title, _, text = note.partition(": ")
        if title in ("Description", "Source") and text and not any(x.startswith(f"{title.lower()} =") for x in lines):
            lines.append(f"{title.lower()} = {_text(text)}")
        else:
            rest.append(note)
    if rest:
        lines.append(f"notes = [{', '.join(_text(n) for n in rest)}]")
    lines.append(f"gravity = {_vector(robot.gravity)}")
    lines.append(f"tip = {_text(robot.tip or '')}")
    return lines


def _link_lines(link: Link) -> list[str]:
    lines = [f"name = {_text(link.name)}"]
    silent = link.mass == 0 and link.com == ZERO3 and link.inertia == NO_INERTIA
    if link.described or not silent:
        lines += _body_lines(link)
    if not link.described and not silent:
        lines.append("described = false")
    return lines


def _body_lines(body: Link | Payload) -> list[str]:
    lines = [f"mass = {_number(body.mass)}"]
    if body.com != ZERO3:
        lines.append(f"com = {_vector(body.com)}")
    I = body.inertia
    if NO_INERTIA != I:
        symmetric = all(I[a][b] == I[b][a] for a, b in ((0, 1), (0, 2), (1, 2)))
        six = (I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2])
        lines.append(f"inertia = {_vector(six) if symmetric else _rows(I)}")
    return lines


def _joint_lines(joint: Joint, link: Link, parent: str) -> list[str]:
    lines = [f"name = {_text(joint.name)}", f'type = "{joint.kind}"', f"parent = {_text(parent)}",
             f"child = {_text(link.name)}"]  # fmt: skip
    for key, pose in (("origin", joint.placement), ("link_frame", link.frame)):
        if pose != IDENTITY:
            lines.append(f"{key} = {{ {', '.join(_pose_lines(pose))} }}")
    if joint.axis != (0.0, 0.0, 1.0):
        lines.append(f"axis = {_vector(joint.axis)}")
    limits = {k: getattr(joint.limits, k) for k in ("lower", "upper", "velocity", "acceleration", "jerk", "effort")}
    stated = [f"{k} = {_number(v)}" for k, v in limits.items() if v is not None]
    if stated:
        lines.append(f"limits = {{ {', '.join(stated)} }}")
    for key, value, default in (("rotor_inertia", joint.rotor_inertia, 0.0), ("gear_ratio", joint.gear_ratio, 1.0)):
        if value != default:
            lines.append(f"{key} = {_number(value)}")
    for key, part in (("friction", joint.friction), ("drive", joint.drive)):
        if part is not None:
            entries = (f"{k} = {_plain(v)}" for k, v in part.to_dict().items() if v is not None)
            lines.append(f"{key} = {{ {', '.join(entries)} }}")
    return lines


def _pose_lines(pose: Pose) -> list[str]:
    """``xyz`` and ``rpy``; the whole matrix when roll, pitch and yaw would not give it back to the last bit."""
    lines = [f"xyz = {_vector(pose.translation)}"] if pose.translation != ZERO3 else []
    if pose.rotation != IDENTITY.rotation:
        rpy = _exact_rpy(pose)
        lines.append(f"rotation = {_rows(pose.rotation)}" if rpy is None else f"rpy = {_vector(rpy)}")
    return lines


def _exact_rpy(pose: Pose) -> tuple[float, float, float] | None:
    if any(is_symbolic(v) for row in pose.rotation for v in row):
        return None
    roll, pitch, yaw = (angle + 0.0 for angle in rotation.to_rpy(np.asarray(pose.R, float)))  # no -0.0
    rpy = (roll, pitch, yaw)
    return rpy if Pose.of(rotation.from_rpy(*rpy)).rotation == pose.rotation else None


def _rows(matrix: Any) -> str:
    return "[" + ", ".join(_vector(row) for row in matrix) + "]"


def _vector(values: Any) -> str:
    return "[" + ", ".join(_number(v) for v in values) + "]"


def _number(value: Any) -> str:
    if is_symbolic(value):
        return f'"{formula_text(value)}"'
    number = float(value)
    if not math.isfinite(number):
        raise DescriptionError(f"The number {printable(value)} cannot be written: a description holds finite numbers.")
    return repr(number)


def _text(value: str) -> str:
    body = "".join(_ESCAPES.get(c) or (c if c.isprintable() else f"\\U{ord(c):08X}") for c in value)
    return f'"{body}"'


def _plain(value: Any) -> str:
    """A parameter of a friction law or drive."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (tuple, list)):
        return _vector(value)
    if callable(value) and not is_symbolic(value):
        raise DescriptionError("A Python function cannot be written to a file; give it as a formula in t.")
    return _number(value)
