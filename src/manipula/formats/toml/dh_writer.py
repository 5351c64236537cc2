"""A DH table → our TOML in the ``[dh]`` form, such that reading it gives the robot of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.algebra.pose import IDENTITY, Pose, vec3
from manipula.formats.dh.from_robot import DhTable
from manipula.formats.toml.writer import (
    balance_lines,
    body_lines,
    coupling_lines,
    drivetrain_lines,
    number_text,
    pose_lines,
    string,
    vector_text,
)
from manipula.robot.link import ZERO3, Balance, Link


def dh_to_toml(table: DhTable) -> str:
    """The text of a file with base, rows, named frames and tool."""
    head = ["format = 1", f"name = {string(table.name)}", f"gravity = {vector_text(table.gravity)}"]
    if table.tip is not None:
        head.append(f"tip = {string(table.tip)}")
    if table.notes:
        head.append(f"notes = [{', '.join(string(n) for n in table.notes)}]")
    blocks = [head]
    for title, matrix in (("base", table.base), ("tool", table.tool_at_tip)):
        pose = Pose.from_matrix(matrix)
        if pose != IDENTITY:
            blocks.append([f"[{title}]", *pose_lines(pose)])
    if table.payload is not None:
        blocks.append(["[payload]", *body_lines(table.payload)])
    head = ["[dh]", f'convention = "{table.convention}"']
    if table.base_name != "base":
        head.append(f"base_link = {string(table.base_name)}")
    blocks.append(head)
    blocks += [["[[dh.rows]]", *_row_lines(row)] for row in table.rows]
    for name, row, matrix in table.frames:
        pose = Pose.from_matrix(matrix)
        blocks.append(["[[dh.frame]]", f"name = {string(name)}", f"row = {row}", *pose_lines(pose)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _balance(row: Mapping[str, Any]) -> Balance | None:
    given = row.get("balance")
    return Balance(given["mass"], vec3(given.get("com", ZERO3))) if isinstance(given, Mapping) else given


def _row_lines(row: Mapping[str, Any]) -> list[str]:
    lines = [f"{key} = {string(row[key])}" for key in ("name", "link") if key in row]
    if row.get("joint", "revolute") != "revolute":
        lines.append(f"joint = {string(row['joint'])}")
    lines += [f"{key} = {number_text(row[key])}" for key in ("a", "alpha", "d", "theta") if row.get(key, 0.0) != 0]
    if any(row.get(key) is not None for key in ("mass", "com", "inertia")):
        tensor = np.asarray(row.get("inertia", np.zeros((3, 3))), dtype=object)
        rows = tuple(tuple(r) for r in tensor)
        lines += body_lines(Link("row", row.get("mass", 0.0), tuple(row.get("com", (0.0, 0.0, 0.0))), rows))  # pyright: ignore[reportArgumentType]
    if row.get("follows") is not None:
        lines += coupling_lines(row["follows"], row.get("ratio", 1.0), row.get("offset", 0.0))
    return lines + balance_lines(_balance(row)) + drivetrain_lines(row)
