"""What the 13 columns have no place for, in comments of the table that only we read.

Lines that start with ``%!`` are one TOML text with the words of our TOML format: ``base_link``, ``tip``, ``notes``, ``[base]``, ``[tool]``,
``[[joint]]`` (one per line of the table: ``name``, ``link``, ``limits``, ``gear_ratio``, ``friction``, ``drive``) and
``[[frame]]`` (``name``, ``row``, a pose). For every other program they are comments.
"""

from __future__ import annotations

from typing import Any

from manipula.algebra.pose import IDENTITY, Pose
from manipula.errors import DescriptionError
from manipula.formats.dh.from_robot import DhTable
from manipula.formats.toml import parts
from manipula.formats.toml.fields import Document
from manipula.formats.toml.writer import drivetrain_lines, pose_lines, string
from manipula.robot.robot import Robot

MARK = "%!"


def write_extension(robot: Robot, table: DhTable, names: list[str]) -> list[str]:
    """The comment lines for a robot and its DH rows; ``names`` are those that the table itself gives to the joints."""
    head = [] if table.base_name == "base" else [f"base_link = {string(table.base_name)}"]
    if robot.notes:
        head.append(f"notes = [{', '.join(string(n) for n in robot.notes)}]")
    if table.tip is not None:
        head.append(f"tip = {string(table.tip)}")
    blocks = [head]
    for title, matrix in (("base", table.base), ("tool", table.tool_at_tip)):
        if (pose := Pose.from_matrix(matrix)) != IDENTITY:
            blocks.append([f"[{title}]", *pose_lines(pose)])
    joints = []
    for i, (row, name) in enumerate(zip(table.rows, names)):
        lines = [] if row["name"] == name else [f"name = {string(row['name'])}"]
        lines += [] if row["link"] == f"link{i + 1}" else [f"link = {string(row['link'])}"]
        joints.append(["[[joint]]", *lines, *drivetrain_lines(row)])
    if any(len(lines) > 1 for lines in joints):
        blocks += joints
    for name, row, matrix in table.frames:
        blocks.append(["[[frame]]", f"name = {string(name)}", f"row = {row}", *pose_lines(Pose.from_matrix(matrix))])
    return [f"{MARK} {line}" for block in blocks for line in block]


def read_extension(text: str, rows: int) -> dict[str, Any]:
    """``base_name``, ``tip``, ``notes``, ``base``, ``tool``, ``joints`` (entries of DH rows), ``frames``; empty when there are no such lines.

    Raises:
        DescriptionError: with line and field.
    """
    lines = [line.strip() for line in text.split("\n")]
    if not any(line.startswith(MARK) for line in lines):
        return {}
    document = Document("\n".join(line.removeprefix(MARK) if line.startswith(MARK) else "" for line in lines))
    try:
        return _extension(document, rows)
    except DescriptionError as error:
        raise error if error.line is not None else document.located(error) from None


def _extension(document: Document, rows: int) -> dict[str, Any]:
    root = document.fields()
    notes = root.raw("notes", [])
    if not isinstance(notes, list) or not all(isinstance(n, str) for n in notes):
        raise root.error("Notes are a list of texts.", "notes")
    base, tool = parts.base_and_tool(root)
    joints, frames = [], []
    for table in root.tables("joint"):
        named = {key: text for key in ("name", "link") if (text := table.text(key)) is not None}
        joints.append({**named, **parts.drivetrain(table)})
        table.close()
    if joints and len(joints) != rows:
        raise root.error(f"One [[joint]] per line of the table is needed, {rows} in all; found {len(joints)}.", "joint")
    for table in root.tables("frame"):
        frames.append((table.required_text("name"), table.raw("row", rows), parts.pose(table).matrix()))
        table.close()
    found = {"base_name": root.text("base_link", "base"), "tip": root.text("tip"), "notes": tuple(notes), "base": base, "tool": tool,
             "joints": joints, "frames": frames}  # fmt: skip
    root.close()
    return found
