"""Our own format: a robot in a TOML file that a person can write. ``docs/formats.md`` describes it with examples.

One file holds one of three forms: ``[[link]]`` and ``[[joint]]`` (any tree), ``[dh]`` (a table of rows) or ``[planar]``
(an n-R arm in the vertical plane). The header is common: name, gravity, base, tool, tip, payload, parameters.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from manipula.algebra.pose import vec3
from manipula.errors import DescriptionError, ShapeError
from manipula.formats.dh.rows import CONVENTIONS, from_dh
from manipula.formats.guard import read_text
from manipula.formats.planar import PLANAR_GRAVITY, planar
from manipula.formats.toml import parts
from manipula.formats.toml.fields import Document, Fields, radians
from manipula.formats.toml.visuals import read_visuals
from manipula.robot.build import FrameDraft, JointDraft, LinkDraft, build_robot, check_budget, check_name
from manipula.robot.parameter_values import needed
from manipula.robot.robot import STANDARD_GRAVITY, Robot
from manipula.robot.select_built import selected
from manipula.robot.selection import EVERYTHING, Selection

FORMAT = 1
FORMS = ("link", "dh", "planar")
KINDS = ("revolute", "prismatic", "fixed")


def from_toml(
    text_or_path: str | os.PathLike[str],
    *,
    file: str | None = None,
    symbolic: bool = False,
    selection: Selection = EVERYTHING,
) -> Robot:
    """A robot from TOML text or from a file.

    Args:
        text_or_path: a path, or the text itself (recognised by a line break or an equals sign).
        file: name for messages when ``text_or_path`` is text.
        symbolic: names in ``[parameters]`` stay free in the robot; their numbers stand in ``robot.values``.
        selection: what of the robot is wanted, beside what the file itself says.

    Raises:
        DescriptionError: with file, line and field; nothing else.
    """
    if isinstance(text_or_path, str) and ("\n" in text_or_path or "=" in text_or_path):
        return robot_from(Document(text_or_path, file, symbolic), selection)
    document = Document(read_text(Path(text_or_path)), os.fspath(text_or_path), symbolic)
    document.folder = Path(text_or_path).parent
    return robot_from(document, selection)


def robot_from(document: Document, selection: Selection = EVERYTHING) -> Robot:
    """The robot that a parsed document describes, as far as it is selected."""
    try:
        robot = _robot(document, selection)
        return _with_values(robot, document) if document.symbolic else robot
    except ShapeError as error:
        raise DescriptionError(str(error), file=document.file) from None
    except DescriptionError as error:
        if error.line is None:
            raise document.located(error) from None
        raise error.at(file=document.file) from None


def _robot(document: Document, wanted: Selection) -> Robot:
    root = document.fields()
    document.declare(root)
    form = root.either(*FORMS)
    if form is None:
        problem = "No robot is described: give [[link]] and [[joint]], or [dh] with rows, or [planar]."
        raise next(
            (e for e in (root.missing(f, problem) for f in FORMS) if "Did you" in e.problem), root.error(problem)
        )
    version = root.raw("format", FORMAT)
    if version != FORMAT or isinstance(version, bool):
        raise root.error(f"Format {version!r} is not known; this version reads format {FORMAT}.", "format")
    header = _header(root, form)
    stated: list[JointDraft] = []
    if form == "link":
        robot, stated = _tree(root, header)
    else:
        robot = (_dh if form == "dh" else _planar)(root, header)
    robot = _postures(root, robot)
    robot = read_visuals(root, robot)
    selection = selection_of(root)
    root.close()
    document.check_parameters()
    return selected(selected(robot, selection, stated), wanted, stated, document.file)


def _with_values(robot: Robot, document: Document) -> Robot:
    """The robot whose parameters stayed free, with the numbers that the file gives them."""
    values = document.values
    if not robot.parameters:
        raise DescriptionError(
            "Nothing stays symbolic: no number of this robot is a formula with names of [parameters]."
        )
    return replace(robot, **needed(robot.parameters, tuple(values.items()), tuple(document.definitions.items())))


def _header(root: Fields, form: str) -> dict[str, Any]:
    """What the three forms have in common."""
    notes = root.raw("notes", [])
    if not isinstance(notes, list) or not all(isinstance(n, str) for n in notes):
        raise root.error("Notes are a list of texts.", "notes")
    told = [f"{title}: {text}" for title in ("Description", "Source") if (text := root.text(title.lower()))]
    base, tool = parts.base_and_tool(root)
    gravity = root.scalars("gravity", 3)
    carried = root.raw("payload")
    return {
        "name": check_name("robot", root.text("name", "robot"), field="name"),
        "gravity": vec3(gravity) if gravity else PLANAR_GRAVITY if form == "planar" else STANDARD_GRAVITY,
        "base": base,
        "tool": tool,
        "payload": root.read("payload", parts.payload) if carried is None or isinstance(carried, dict) else
        parts.payload(Fields(root.document, {"mass": carried}, "payload")),
        "notes": (*told, *notes),
    }  # fmt: skip


def _tree(root: Fields, header: dict[str, Any]) -> tuple[Robot, list[JointDraft]]:
    links, joints = root.tables("link"), root.tables("joint")
    check_budget(len(links), field="link")
    link_drafts = []
    for table in links:
        described = parts.body(table)
        link_drafts.append(LinkDraft(table.required_text("name"), **described, field=table.path,
                                     described=table.flag("described", bool(described)), balance=parts.balance(table),
                                     between=table.flag("between", False)))  # fmt: skip
        table.close()
    joint_drafts = [_joint(table) for table in joints]
    frames, described = [], root.tables("frame")
    check_budget(0, len(described), field="frame")
    for table in described:
        frames.append(FrameDraft(table.required_text("name"), table.required_text("link"), parts.pose(table),
                                 field=table.path))  # fmt: skip
        table.close()
    tip = root.text("tip")
    robot = build_robot(links=link_drafts, joints=joint_drafts, frames=frames, tip=tip or None, **header)
    return _with_tip(robot, tip), joint_drafts


def _postures(root: Fields, robot: Robot) -> Robot:
    """``[postures]``: named lists with one position per joint."""
    table = root.table("postures")
    if table is None:
        return robot
    found = []
    for name in table.names():
        key = name.removesuffix("_deg")
        values = table.scalars(name, robot.n) or []
        turning = [j.is_revolute and name.endswith("_deg") for j in robot.joints]
        found.append((check_name("posture", key, field=table.where(name)),
                      tuple(radians(v) if turn else v for v, turn in zip(values, turning))))  # fmt: skip
    table.close()
    return replace(robot, postures=tuple(found))


def selection_of(root: Fields) -> Selection:
    """``lock = { finger = 0.02 }``, ``drop = ["hand"]``, ``chain = ["base_link", "tool0"]``: what of the robot below is wanted."""
    return Selection.of(
        root.read("lock", lambda t: {name: t.scalar(name) for name in t.names()}), root.raw("drop"), root.raw("chain")
    )


def _with_tip(robot: Robot, tip: str | None, **changes: Any) -> Robot:
    """The robot with the tip that the file names; an empty name means that there is none."""
    return robot.replace(**changes, **({} if tip is None else {"tip": tip or None}))


def _joint(table: Fields) -> JointDraft:
    kind = table.choice("type", KINDS)
    axis = None if kind == "fixed" else table.scalars("axis", 3)
    draft = JointDraft(
        name=table.required_text("name"), kind=kind, parent=table.required_text("parent"),
        child=table.required_text("child"), origin=table.read("origin", parts.pose, parts.IDENTITY),
        axis=axis or (0.0, 0.0, 1.0), frame=table.read("link_frame", parts.pose, parts.IDENTITY),
        field=table.path, **({} if kind == "fixed" else parts.drivetrain(table, kind == "prismatic")),
    )  # fmt: skip
    if kind == "prismatic":
        parts.refuse_degrees(table)
    if kind != "fixed":
        draft = replace(draft, **parts.coupling(table))
    table.close()
    return draft


def _dh(root: Fields, header: dict[str, Any]) -> Robot:
    table = root.table("dh")
    assert table is not None
    convention = table.choice("convention", CONVENTIONS)
    base_name = table.text("base_link", "base")
    rows = table.tables("rows")
    check_budget(len(rows), field="dh.rows")
    mappings = []
    for i, row in enumerate(rows):
        kind = row.choice("joint", ("revolute", "prismatic"), "revolute")
        angles = {key: row.angle(key, 0.0) for key in ("alpha", "theta")}
        lengths = {key: row.scalar(key, 0.0) for key in ("a", "d")}
        mappings.append({
            **angles, **lengths, **parts.body(row), **parts.drivetrain(row, kind == "prismatic"), "joint": kind,
            "balance": parts.balance(row), **parts.coupling(row),
            "name": row.text("name", f"joint{i + 1}"), "link": row.text("link", f"link{i + 1}"),
        })  # fmt: skip
        row.close()
    frames, placed = [], table.tables("frame")
    check_budget(0, len(placed), field="dh.frame")
    for f in placed:
        frames.append((f.required_text("name"), _row_number(f, len(rows)), parts.pose(f).matrix()))
        f.close()
    table.close()
    notes = header.pop("notes")
    try:
        robot = from_dh(mappings, convention, frames=frames, base_name=base_name, **header)  # pyright: ignore[reportArgumentType]
        return _with_tip(robot, root.text("tip"), notes=notes)
    except DescriptionError as error:
        raise _as_in_the_file(error, root.document, table.path) from None


def _row_number(frame: Fields, rows: int) -> int:
    row = frame.raw("row", rows)
    if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row <= rows:
        raise frame.error(f"'row' is a whole number from 0 (the base) to {rows}.", "row")
    return row


def _as_in_the_file(error: DescriptionError, document: Document, path: str) -> DescriptionError:
    """ "row 3.mass" of ``from_dh`` is ``dh.rows[2].mass`` of the file, in its line."""
    found = re.match(r"row (\d+)(.*)", error.field or "", re.DOTALL)
    if found is None:
        return error
    row = document.place(f"{path}.rows[{int(found[1]) - 1}]")
    error.field = f"{row['field']}{found[2]}"
    return error.at(line=row["line"])


def _planar(root: Fields, header: dict[str, Any]) -> Robot:
    table = root.table("planar")
    assert table is not None
    lists = {key: table.scalars(key) for key in ("lengths", "masses", "com", "inertia")}
    for key in ("lengths", "masses"):
        if lists[key] is None:
            raise table.missing(key)
    damping = table.scalars("damping") if isinstance(table.raw("damping"), list) else table.scalar("damping")
    limits = []
    for t in table.tables("limits"):
        limits.append(parts.limits(t))
        t.close()
    table.close()
    name, gravity, carried = header["name"], header["gravity"], header["payload"]
    try:
        robot = planar(lists["lengths"], lists["masses"], lists["com"], lists["inertia"], carried or 0.0, damping,  # pyright: ignore[reportArgumentType]
                       gravity=gravity, name=name)  # fmt: skip
    except DescriptionError as error:
        listed = (error.field or "").partition("[")[0] in lists
        raise root.document.located(error, f"planar.{error.field}" if listed else "planar") from None
    if limits:
        if len(limits) != robot.n:
            raise table.error(f"{robot.n} limits are needed, one per joint; found {len(limits)}.", "limits")
        robot = robot.replace(joints=tuple(replace(j, limits=l) for j, l in zip(robot.joints, limits)))
    return _with_tip(robot, root.text("tip"), base=header["base"], tool=header["tool"], notes=header["notes"])
