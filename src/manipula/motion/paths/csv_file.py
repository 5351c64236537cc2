"""A path through the points of a CSV file."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from manipula.algebra.arguments import choice, flag, number
from manipula.algebra.grammar import SIGNED_DECIMAL
from manipula.errors import BudgetError, DescriptionError, printable, unknown_name
from manipula.formats.guard import read_text
from manipula.motion.paths.base import Path
from manipula.motion.paths.checks import MAX_POINTS
from manipula.motion.paths.fields import Blend, Closed, Ends, Interpolation, Space, Spacing
from manipula.motion.paths.joint import joint
from manipula.motion.paths.polyline import polyline
from manipula.motion.paths.primitive import primitive
from manipula.motion.paths.spline import spline
from manipula.parts.field import File, Text, Texts

MAX_BYTES = 4_000_000
AXES = ("x", "y", "z")
TIMES = ("t", "time", "timestamp", "stamp", "secs", "seconds")
UNITS = ("m", "rad")  # of the columns, where they state one
_UNIT = re.compile(r"[ _]*[\[(]([^\])]*)[\])]$|[ _](mm|cm|um|deg)$")  # x [mm], x_mm
_JOINT = re.compile(r"(?:q|joint)_?(\d{1,4})")


@primitive
def from_csv(
    source: Annotated[str, File("a CSV file, or its text", example="x,y,z\n0.4,0.1,0.2\n0.3,0.2,0.2\n0.2,0.2,0.2\n")],
    *,
    columns: Annotated[
        Sequence[Any] | None, Texts("names or positions (from 0) of the coordinates; none: all columns")
    ] = None,
    interpolation: Interpolation = "spline",
    space: Space = "task",
    ends: Ends = "natural",
    spacing: Spacing = "chord",
    closed: Closed = False,
    blend: Blend = 0.0,
    delimiter: Annotated[str, Text("between the columns")] = ",",
) -> Path:
    """Points read from a CSV file (or its text, when ``source`` has more than one line).

    The first line may hold names: x, y, z (or q1, q2, … of joints) stand in any order, times are refused, and so are other units than metres
    and radians. Empty lines and lines starting with ``#`` are skipped.

    Args:
        columns: names or positions (from 0) of the coordinates, in this order; all columns by default, those named x, y, z in that one.
        interpolation, ends, spacing, closed, blend: as in ``spline`` and ``polyline``.
        space: ``"joint"`` makes a joint-space path with one coordinate a column.
    """
    name, text = csv_text(source)
    header, rows = read_named_rows(text, name, delimiter, columns)
    try:
        if columns is None and header is not None:
            rows = _in_order_of_names(header, rows, choice(space, "space", ("task", "joint")))
        path = _through(rows, interpolation, space, ends, spacing, closed, blend)
    except DescriptionError as error:
        raise error.at(file=name) from None
    if name is not None:
        path.read = {"source": text if "\n" in text else f"{text}\n"}
    return path


def _in_order_of_names(header: list[str], rows: np.ndarray, space: str) -> np.ndarray:
    """The columns as their names say; those of other names as they stand.

    Raises:
        DescriptionError: the names say that something else stands there than the coordinates in metres or radians.
    """
    names = [_UNIT.sub("", name).lower() for name in header]
    say = "name the coordinates: columns = ['x', 'y']" if space == "task" else "name the joints: columns = ['q1', 'q2']"
    for name, bare in zip(header, names):
        unit = name[len(bare) :].strip(" _[]()")
        if bare in TIMES:
            raise DescriptionError(
                f"A path has no times, and the column '{printable(name, 30)}' holds them; {say}.", field="columns"
            )
        if unit and unit not in UNITS:
            raise DescriptionError(
                f"Coordinates are in metres and radians, and the column '{printable(name, 30)}' is in another unit.",
                field="columns",
            )
    known = [bare for bare in names if (bare in AXES if space == "task" else _JOINT.fullmatch(bare))]
    if not known:
        return rows
    wanted = sorted(known, key=lambda bare: (int(_JOINT.fullmatch(bare)[1]) if space == "joint" else 0, bare))  # pyright: ignore[reportOptionalSubscript]
    least = AXES[: len(names)] if space == "task" else wanted
    if (
        len(names) != rows.shape[1]
        or len(set(known)) < len(known)
        or len(known) < len(names)
        or tuple(wanted) != tuple(least)
    ):
        order = "x, y or x, y, z" if space == "task" else "q1, q2, …"
        raise DescriptionError(
            f"The columns are {order}, in any order, once each; found {', '.join(printable(name, 30) for name in header)}. To take some of "
            f"them, {say}.", field="columns",
        )  # fmt: skip
    return rows[:, [names.index(bare) for bare in wanted]]


def _through(
    rows: np.ndarray, interpolation: Any, space: Any, ends: Any, spacing: Any, closed: bool, blend: float
) -> Path:
    if choice(space, "space", ("task", "joint")) == "joint":
        return joint(rows, interpolation=interpolation, ends=ends, spacing=spacing, closed=closed, blend=blend)
    if choice(interpolation, "interpolation", ("polyline", "spline")) == "polyline":
        return polyline(rows, closed, blend=blend)
    if number(blend, "blend") != 0.0:
        raise DescriptionError(
            "'blend' rounds the corners of interpolation='polyline'; a spline has none.", field="blend"
        )
    return spline(rows, ends="periodic" if flag(closed, "closed") else ends, spacing=spacing)


def csv_text(source: Any) -> tuple[str | None, str]:
    """The name of a file (none for a text of several lines) and its content."""
    text = os.fspath(source) if isinstance(source, os.PathLike) else source
    if not isinstance(text, str):
        raise DescriptionError(f"'source' is the name of a file or its text; found {type(source).__name__}.")
    if "\n" in text:
        if len(text) > MAX_BYTES:
            raise BudgetError(f"The text of points has {len(text)} characters; at most {MAX_BYTES} are allowed.")
        return None, text
    return text, read_text(text, MAX_BYTES)


def in_time(
    names: Sequence[str] | None, rows: np.ndarray, wanted: Sequence[str], file: str | None = None
) -> np.ndarray:
    """The columns t and ``wanted`` in this order: by the names in the first line, in any order; without such a line as they stand.

    Raises:
        DescriptionError: the names are others, or one is there twice.
    """
    if names is None:
        return rows
    called = ["t" if name in ("t", "time") else name for name in names]
    order = ["t", *wanted]
    if sorted(called) != sorted(order) or len(set(order)) < len(order) or rows.shape[1] != len(order):
        raise DescriptionError(
            f"The columns are t (or time), {', '.join(map(printable, wanted))}, in any order, once each; found "
            f"{', '.join(printable(name, 30) for name in names)}. A table without a line of names has them in this order.",
            file=file,
        )
    return rows[:, [called.index(name) for name in order]]


def read_named_rows(
    text: str, file: str | None, delimiter: str, columns: Sequence[Any] | None
) -> tuple[list[str] | None, np.ndarray]:
    """The names in the first line, where it holds names, and the chosen columns as floats, (points, coordinates)."""
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '\r\n" \0':
        raise DescriptionError(
            f"'delimiter' must be one character, no quote and no blank; found '{printable(delimiter)}'.", file=file
        )
    header: list[str] | None = None
    rows: list[list[float]] = []
    picked: list[int] | None = None
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    try:
        for cells in reader:
            if not cells or cells[0].startswith("#") or all(not cell.strip() for cell in cells):
                continue
            if header is None and not rows and any(_float(cell) is None for cell in cells):
                header = [cell.strip() for cell in cells]
                continue
            if picked is None:
                picked = _positions(columns, header, len(cells), file)
            if len(rows) >= MAX_POINTS:
                raise BudgetError(f"More than {MAX_POINTS} points.", file=file, line=reader.line_num)
            rows.append([_cell(cells, i, file, reader.line_num) for i in picked])
    except csv.Error as error:
        raise DescriptionError(f"Not a CSV table: {error}.", file=file, line=reader.line_num) from None
    if not rows:
        raise DescriptionError("There are no points in the table.", file=file)
    return header, np.array(rows)


def _float(cell: str) -> float | None:
    """The number in a cell, by our own grammar of decimals; ``None`` for a word."""
    text = cell.strip()
    return float(text) if SIGNED_DECIMAL.fullmatch(text) else None


def _cell(cells: list[str], i: int, file: str | None, line: int) -> float:
    if i >= len(cells):
        raise DescriptionError(f"Column {i} is missing; the line has {len(cells)} columns.", file=file, line=line)
    found = _float(cells[i])
    if found is None or not math.isfinite(found):
        raise DescriptionError(
            f"'{printable(cells[i], 30)}' in column {i} must be a finite number.", file=file, line=line
        )
    return found


def _positions(columns: Sequence[Any] | None, header: list[str] | None, width: int, file: str | None) -> list[int]:
    if columns is None:
        return list(range(width))
    if isinstance(columns, str) or not isinstance(columns, Sequence) or not columns:
        raise DescriptionError(
            f"'columns' is a list of names or positions; found {printable(repr(columns), 40)}.", file=file
        )
    out = []
    for column in columns:
        if isinstance(column, str):
            if header is None or column not in header:
                raise unknown_name("column", column, header or [], file=file)
            out.append(header.index(column))
        elif isinstance(column, int) and not isinstance(column, bool) and 0 <= column < width:
            out.append(column)
        else:
            raise DescriptionError(f"Column {column!r} does not exist; the table has 0 to {width - 1}.", file=file)
    return out
