"""``[[visual]]``: what links look like, in and out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from manipula.errors import DescriptionError
from manipula.formats.appearance import Looks, written_path
from manipula.formats.toml import parts
from manipula.formats.toml.fields import Fields
from manipula.robot.appearance import NUMBERS, Visual, VisualDraft, check_shape_count, placed
from manipula.robot.robot import Robot


def read_visuals(root: Fields, robot: Robot) -> Robot:
    """The robot with the shapes of a file; mesh files that are not there are reported.

    Raises:
        DescriptionError: an unknown link, a number or a word that no shape has.
    """
    tables = root.tables("visual")
    check_shape_count(len(tables))
    looks = Looks(root.document.folder, root.document.package_dirs)
    shapes: list[Visual] = []
    for table in tables:
        draft = _draft(table)
        frame = _frame(table, robot, draft.link)
        if draft.kind == "mesh":
            draft.file = looks.mesh(draft.file)
        shape = placed(draft, frame.link, frame.pose)
        if draft.kind != "mesh" or draft.file:
            shapes.append(shape)
    if not tables:
        return robot
    shown = replace(robot, appearance=tuple(shapes), notes=(*robot.notes, *looks.notes()))
    only_here = [name for name in shown.parameters if name not in robot.parameters]
    if not only_here:
        return shown
    known = root.document.values
    lost = [name for name in only_here if name not in known]
    if lost:
        raise root.error(f"The parameter '{lost[0]}' is free and stands in shapes alone, which have numbers.", "visual")
    return shown.with_parameters(**{name: known[name] for name in only_here})


def _draft(table: Fields) -> VisualDraft:
    kind = table.choice("kind", NUMBERS)
    link, file, colour = table.required_text("link"), table.text("file"), table.scalars("colour")
    size = table.scalars("size") if isinstance(table.raw("size"), list) else [table.scalar("size")]
    if kind == "mesh" and size == [None]:
        size = [1.0, 1.0, 1.0]
    if size == [None] or size is None:
        raise table.missing("size")
    if (kind == "mesh") != (file is not None):
        raise table.error("A mesh has a file, and nothing else has.", "file") if file else table.missing("file")
    if colour is not None and len(colour) == 3:
        colour = [*colour, 1.0]
    pose = parts.pose(table)
    table.close()
    return VisualDraft(link, kind, tuple(size), pose, colour, file or "", field=table.path)


def _frame(table: Fields, robot: Robot, link: str):
    try:
        return robot.frame(link)
    except DescriptionError as error:
        raise table.document.located(error, table.where("link")) from None


def visual_lines(shape: Visual, link: str, folder: Path | None) -> list[str]:
    """One shape as lines of TOML; a mesh file inside ``folder`` by its way from there."""
    from manipula.formats.toml.writer import pose_lines, string, vector_text

    lines = ["[[visual]]", f"link = {string(link)}", f'kind = "{shape.kind}"', f"size = {vector_text(shape.size)}"]
    if shape.file:
        lines.append(f"file = {string(written_path(shape.file, folder))}")
    lines += pose_lines(shape.pose)
    return lines if shape.colour is None else [*lines, f"colour = {vector_text(shape.colour)}"]
