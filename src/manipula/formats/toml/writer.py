"""Any Robot → our TOML, in the ``[[link]]``/``[[joint]]`` form, such that reading it gives an equal Robot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from manipula.algebra import rotation
from manipula.algebra.pose import IDENTITY, Pose
from manipula.algebra.symbols import is_symbolic
from manipula.errors import DescriptionError, printable
from manipula.formats.toml.formula_text import formula_text
from manipula.formats.toml.visuals import visual_lines
from manipula.robot.coupled_joint import parents_first
from manipula.robot.drives import KIND as DRIVES
from manipula.robot.friction import KIND as FRICTION
from manipula.robot.joint import Joint
from manipula.robot.link import NO_INERTIA, ZERO3, Balance, Link, Payload
from manipula.robot.robot import Robot

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def to_toml(robot: Robot, folder: Path | None = None) -> str:
    """The text of a file; floats are written so that they read back exactly, formulas as formulas.

    Parameters that have a value are written with it, and read back free by ``from_toml(…, symbolic=True)``.

    Args:
        folder: where the file will lie; mesh files inside are named by their way from there.
    """
    blocks = [_header(robot)]
    if robot.values:
        formulas = {name: f'"{text}"' for name, text in robot.definitions}
        lines = (f"{name} = {formulas.get(name) or number_text(value)}" for name, value in robot.values)
        blocks.append(["[parameters]", *lines])
    for title, pose in (("base", robot.base), ("tool", robot.tool)):
        if pose != IDENTITY:
            blocks.append([f"[{title}]", *pose_lines(pose)])
    if robot.payload is not None:
        blocks.append(["[payload]", *body_lines(robot.payload)])
    if robot.postures:
        blocks.append(["[postures]", *(f"{string(name)} = {vector_text(q)}" for name, q in robot.postures)])
    blocks.append(["[[link]]", *_link_lines(robot.base_link)])
    names = [link.name for link in robot.bodies]
    for i in parents_first(robot):
        joint, link = robot.moving_joints[i], robot.bodies[i]
        parent = names[joint.parent] if joint.parent >= 0 else robot.base_link.name
        led = []
        if i >= robot.n:
            f = robot.followers[i - robot.n]
            led = coupling_lines(robot.joints[f.leader].name, f.ratio, f.offset)
        blocks.append(["[[joint]]", *_joint_lines(joint, link, parent), *led])
        blocks.append(["[[link]]", *_link_lines(link)])
    own = {robot.base_link.name, *names}
    for frame in robot.frames:
        if frame.name not in own:
            link = names[frame.link] if frame.link >= 0 else robot.base_link.name
            blocks.append(
                ["[[frame]]", f"name = {string(frame.name)}", f"link = {string(link)}", *pose_lines(frame.pose)]
            )
    for shape in robot.appearance:
        link = names[shape.link] if shape.link >= 0 else robot.base_link.name
        blocks.append(visual_lines(shape, link, folder))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def coupling_lines(leader: str, ratio: Any, offset: Any) -> list[str]:
    """Which joint another one follows, as lines of TOML."""
    lines = [f"follows = {string(leader)}"]
    lines += [f"ratio = {number_text(ratio)}"] if ratio != 1 else []
    return lines + ([f"offset = {number_text(offset)}"] if offset != 0 else [])


def _header(robot: Robot) -> list[str]:
    lines = ["format = 1", f"name = {string(robot.name)}"]
    rest = []
    for note in robot.notes:
        title, _, text = note.partition(": ")
        if title in ("Description", "Source") and text and not any(x.startswith(f"{title.lower()} =") for x in lines):
            lines.append(f"{title.lower()} = {string(text)}")
        else:
            rest.append(note)
    if rest:
        lines.append(f"notes = [{', '.join(string(n) for n in rest)}]")
    known = dict(robot.values)
    free = [name for name in robot.parameters if name not in known]
    if free:
        lines.append(f"free = [{', '.join(string(n) for n in free)}]")
    lines.append(f"gravity = {vector_text(robot.gravity)}")
    lines.append(f"tip = {string(robot.tip or '')}")
    return lines


def _link_lines(link: Link) -> list[str]:
    lines = [f"name = {string(link.name)}"]
    silent = link.mass == 0 and link.com == ZERO3 and link.inertia == NO_INERTIA
    if link.described or not silent:
        lines += body_lines(link)
    if not link.described and not silent:
        lines.append("described = false")
    if link.between:
        lines.append("between = true")
    return lines + balance_lines(link.balance)


def balance_lines(balance: Balance | None) -> list[str]:
    """Weight that something else carries, as a line of TOML."""
    if balance is None:
        return []
    com = "" if balance.com == ZERO3 else f", com = {vector_text(balance.com)}"
    return [f"balance = {{ mass = {number_text(balance.mass)}{com} }}"]


def body_lines(body: Link | Payload) -> list[str]:
    """Mass, centre of mass and inertia as lines of TOML."""
    lines = [f"mass = {number_text(body.mass)}"]
    if body.com != ZERO3:
        lines.append(f"com = {vector_text(body.com)}")
    I = body.inertia
    if NO_INERTIA != I:
        symmetric = all(I[a][b] == I[b][a] for a, b in ((0, 1), (0, 2), (1, 2)))
        six = (I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2])
        lines.append(f"inertia = {vector_text(six) if symmetric else _rows(I)}")
    return lines


def _joint_lines(joint: Joint, link: Link, parent: str) -> list[str]:
    lines = [f"name = {string(joint.name)}", f'type = "{joint.kind}"', f"parent = {string(parent)}",
             f"child = {string(link.name)}"]  # fmt: skip
    for key, pose in (("origin", joint.placement), ("link_frame", link.frame)):
        if pose != IDENTITY:
            lines.append(f"{key} = {{ {', '.join(pose_lines(pose))} }}")
    if joint.axis != (0.0, 0.0, 1.0):
        lines.append(f"axis = {vector_text(joint.axis)}")
    return lines + drivetrain_lines(vars(joint))


def drivetrain_lines(part: Mapping[str, Any]) -> list[str]:
    """What drives and resists a joint, from the fields of a Joint or the entries of a DH row."""
    lines = []
    limits = part.get("limits")
    stated = [
        f"{k} = {number_text(v)}" for k, v in (vars(limits) if limits is not None else {}).items() if v is not None
    ]
    if stated:
        lines.append(f"limits = {{ {', '.join(stated)} }}")
    for key, default in (("rotor_inertia", 0.0), ("gear_ratio", 1.0)):
        if part.get(key, default) != default:
            lines.append(f"{key} = {number_text(part[key])}")
    for key in ("friction", "drive"):
        if part.get(key) is not None:
            {"friction": FRICTION, "drive": DRIVES}[key].check_registered(part[key], field=key)
            entries = (f"{k} = {_plain(v)}" for k, v in part[key].to_dict().items() if v is not None)
            lines.append(f"{key} = {{ {', '.join(entries)} }}")
    return lines


def pose_lines(pose: Pose) -> list[str]:
    """``xyz`` and ``rpy``; the whole matrix when roll, pitch and yaw would not give it back to the last bit."""
    lines = [f"xyz = {vector_text(pose.translation)}"] if pose.translation != ZERO3 else []
    if pose.rotation != IDENTITY.rotation:
        rpy = _exact_rpy(pose)
        lines.append(f"rotation = {_rows(pose.rotation)}" if rpy is None else f"rpy = {vector_text(rpy)}")
    return lines


def _exact_rpy(pose: Pose) -> tuple[float, float, float] | None:
    if any(is_symbolic(v) for row in pose.rotation for v in row):
        return None
    roll, pitch, yaw = (angle + 0.0 for angle in rotation.to_rpy(np.asarray(pose.R, float)))  # no -0.0
    rpy = (roll, pitch, yaw)
    return rpy if Pose.of(rotation.from_rpy(*rpy)).rotation == pose.rotation else None


def _rows(matrix: Any) -> str:
    return "[" + ", ".join(vector_text(row) for row in matrix) + "]"


def vector_text(values: Any) -> str:
    """A list of numbers as TOML."""
    return "[" + ", ".join(number_text(v) for v in values) + "]"


def number_text(value: Any) -> str:
    """A number as TOML that reads back equal; an expression as a formula in quotes."""
    if is_symbolic(value):
        return f'"{formula_text(value)}"'
    number = float(value)
    if not math.isfinite(number):
        raise DescriptionError(f"The number {printable(value)} cannot be written: a description holds finite numbers.")
    return repr(number)


def string(value: str) -> str:
    """A TOML string with everything escaped that is not printable."""
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise DescriptionError(f"'{printable(value, 60)}' holds half a surrogate pair, which no file can hold.")
    body = "".join(_ESCAPES.get(c) or (c if c.isprintable() else f"\\U{ord(c):08X}") for c in value)
    return f'"{body}"'


def _plain(value: Any) -> str:
    """A parameter of a friction law or drive."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return string(value)
    if isinstance(value, (tuple, list)):
        return vector_text(value)
    if callable(value) and not is_symbolic(value):
        raise DescriptionError("A Python function cannot be written to a file; give it as a formula in t.")
    return number_text(value)
