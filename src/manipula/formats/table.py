"""The 13-column text table of a serial arm: one line per link, standard DH, numbers or symbols.

``a, alpha, d, theta, mass, inertia, com, q, qd, qdd, flag, gravity, n`` — comma separated; ``inertia`` is a bracketed 3×3
about the centre of mass in link axes, ``com`` a bracketed 4×1 (x; y; z; 1) in the link frame, ``flag`` 1 for revolute and
0 for prismatic, ``gravity`` a bracketed 3×1 acceleration and ``n`` the number of joints, both in the first line and 0
after it. ``q`` repeats ``theta`` (revolute) or ``d`` (prismatic). The layout is that of Abdelsatar's generic Lagrange
program; ``^`` is a power. ``%`` starts a comment; what the columns have no place for stands in comments that start with ``%!``
(:mod:`manipula.formats.table_extension`).
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from manipula.algebra.arguments import LARGEST
from manipula.algebra.expression import Work, scalar
from manipula.algebra.symbols import free_names, is_symbolic
from manipula.errors import BudgetError, DescriptionError, printable
from manipula.formats.dh import from_dh, to_dh
from manipula.formats.matlab_list import bracket_rows, split_fields
from manipula.formats.table_extension import read_extension, write_extension
from manipula.robot.build import MAX_LINKS
from manipula.robot.robot import Robot

COLUMNS = ("a", "alpha", "d", "theta", "mass", "inertia", "com", "q", "qd", "qdd", "flag", "gravity", "n")
LONGEST_LINE = 40_000
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def from_table(text_or_path: str | os.PathLike[str], *, file: str | None = None, name: str | None = None) -> Robot:
    """A robot from the text of a table or from a file.

    Args:
        text_or_path: a path, or the text itself (recognised by a line break or a comma).
        file: name for messages when ``text_or_path`` is text.
        name: name of the robot; the file's stem when omitted.

    Raises:
        DescriptionError: with file, line and column name; nothing else.
    """
    if isinstance(text_or_path, str) and ("\n" in text_or_path or "," in text_or_path):
        text = text_or_path
    else:
        from manipula.formats.guard import read_text

        text, file = read_text(Path(text_or_path)), os.fspath(text_or_path)
    stem = Path(file).stem if file else "table"
    try:
        return _robot(text, name or (stem if stem.isprintable() and stem else "table"))
    except DescriptionError as error:
        raise error.at(file=file) from None


def variable_names(file: str | os.PathLike[str]) -> list[tuple[str, str, str]]:
    """Names of the joint variable, rate and acceleration of every line of a file: columns 8 to 10, ``th1, th1d, th1dd``."""
    from manipula.formats.guard import read_text

    path = Path(file)
    if path.suffix.lower() != ".txt":
        raise DescriptionError("Only a 13-column text table names its variables.", file=os.fspath(file), field="names")
    try:
        rows = [_cells(line) for _, line in _lines(read_text(path))]
    except DescriptionError as error:
        raise error.at(file=os.fspath(file)) from None
    return [(row["q"], row["qd"], row["qdd"]) for row in rows]


def _robot(text: str, name: str) -> Robot:
    lines = _lines(text)
    rows: list[dict[str, Any]] = []
    gravity: Any = None
    names: set[str] = set()
    work = Work()
    for k, (number, line) in enumerate(lines):
        try:
            cells = _cells(line)
            for column in ("q", "qd", "qdd"):
                _register(cells[column], column, names)
            if k == 0:
                gravity = _vector(cells["gravity"], 3, "gravity", work)
                _check_count(cells["n"], len(lines))
            rows.append(_row(cells, work))
            if k > 0 and any(cells[c] not in ("", "0") for c in ("gravity", "n")):
                raise DescriptionError("Gravity and n stand in the first line; later lines have 0.", field="gravity")
        except DescriptionError as error:
            raise error.at(line=number) from None
    _check_free(rows, gravity, names, [number for number, _ in lines])
    more = read_extension(text, len(rows))
    rows = [row | extra for row, extra in zip(rows, more.pop("joints", None) or [{}] * len(rows))]
    changes = {"notes": more.pop("notes", ())}
    if (tip := more.pop("tip", None)) is not None:
        changes["tip"] = tip or None
    if more:  # the column has gravity in the base frame
        gravity = list(more["base"].R @ np.array(gravity, dtype=object))
    try:
        return from_dh(rows, "standard", gravity, name=name, **more).replace(**changes)
    except DescriptionError as error:
        row = (error.field or "").removeprefix("row ").split(".")[0]
        raise error.at(line=lines[int(row) - 1][0] if row.isdigit() else None) from None


def _lines(text: str) -> list[tuple[int, str]]:
    if text.count("\n") > 16 * MAX_LINKS or len(text) > 16 * 2**20:
        raise BudgetError(f"More lines than a table of {MAX_LINKS} links has.")
    lines = [(i + 1, body) for i, line in enumerate(text.removeprefix("\ufeff").split("\n"))
             if (body := line.partition("%")[0].strip())]  # fmt: skip
    if not lines:
        raise DescriptionError("The table is empty; one line per link with 13 comma-separated fields is needed.")
    if len(lines) > MAX_LINKS:
        raise BudgetError(f"{len(lines)} lines are more than the {MAX_LINKS} links that one robot may have.")
    return lines


def _cells(line: str) -> dict[str, str]:
    if len(line) > LONGEST_LINE:
        raise BudgetError(f"A line has at most {LONGEST_LINE} characters, found {len(line)}.")
    fields = split_fields(line)
    if len(fields) != len(COLUMNS):
        raise DescriptionError(f"{len(COLUMNS)} fields are needed ({', '.join(COLUMNS)}); found {len(fields)}.")
    return dict(zip(COLUMNS, fields))


def _row(cells: dict[str, str], work: Work) -> dict[str, Any]:
    flags = {"1": "revolute", "0": "prismatic"}
    if cells["flag"] not in flags:
        raise DescriptionError(
            f"The joint flag is 1 (revolute) or 0 (prismatic), found '{printable(cells['flag'], 20)}'.", field="flag"
        )
    kind = flags[cells["flag"]]
    row: dict[str, Any] = {"joint": kind, "name": cells["q"]}
    for column in ("a", "alpha", "d", "theta", "mass"):
        row[column] = _scalar(cells[column], column, work)
    variable = "theta" if kind == "revolute" else "d"
    row[variable] = _offset(row[variable], cells["q"], variable, kind)
    row["inertia"] = _matrix(cells["inertia"], work)
    x, y, z, *one = _vector(cells["com"], 4, "com", work)
    if one != [1.0]:
        raise DescriptionError("The centre of mass is [x; y; z; 1]; its fourth entry must be 1.", field="com")
    row["com"] = (x, y, z)
    return row


def _offset(value: Any, variable: str, column: str, kind: str) -> Any:
    """What stands beside the joint variable: ``th1 + pi/2`` → π/2."""
    import sympy

    q = sympy.Symbol(variable)
    if not is_symbolic(value) or q not in value.free_symbols:
        raise DescriptionError(
            f"A {kind} joint moves {column}, so {column} must contain its variable '{variable}' "
            f"(for instance '{variable} + 0.5').", field=column)  # fmt: skip
    rest = sympy.expand(value - q)
    if q in rest.free_symbols:
        raise DescriptionError(f"{column} must be '{variable}' plus a constant.", field=column)
    return rest if rest.free_symbols else float(rest)


def _register(cell: str, column: str, names: set[str]) -> None:
    if not _NAME.fullmatch(cell):
        raise DescriptionError(f"A variable name such as th1 is needed, found '{printable(cell, 30)}'.", field=column)
    if cell in names:
        raise DescriptionError(f"The variable '{cell}' appears twice in the columns q, qd, qdd.", field=column)
    names.add(cell)


def _check_free(rows: list[dict[str, Any]], gravity: Any, names: set[str], numbers: list[int]) -> None:
    """Joint variables may not appear in constants."""
    for row, line in zip(rows, numbers):
        for column, value in row.items():
            entries = value.ravel().tolist() if isinstance(value, np.ndarray) else value
            for free in free_names(entries):
                if free in names:
                    raise DescriptionError(
                        f"'{free}' is a joint variable; it cannot stand here.", field=column, line=line
                    )
    for free in free_names(list(gravity)):
        if free in names:
            raise DescriptionError(
                f"'{free}' is a joint variable; it cannot stand here.", field="gravity", line=numbers[0]
            )


def _check_count(cell: str, rows: int) -> None:
    if not cell.isascii() or not cell.isdigit() or len(cell) > 9 or int(cell) != rows:
        raise DescriptionError(
            f"n says '{printable(cell, 20)}' joints, but the table has {rows} line{'s' * (rows != 1)}.", field="n"
        )


def _scalar(cell: str, column: str, work: Work) -> Any:
    try:
        value = scalar(cell, work=work)
    except DescriptionError as error:
        error.field = f"{column}, {error.field}" if error.field else column
        raise error.at() from None
    if isinstance(value, float) and abs(value) > LARGEST:
        raise DescriptionError(f"At most {LARGEST:g} in size is allowed, found {value:g}.", field=column)
    return value


def _vector(cell: str, count: int, column: str, work: Work) -> list[Any]:
    try:
        rows = bracket_rows(cell)
    except DescriptionError as error:
        raise error.at(field=column) from None
    entries = [entry for row in rows for entry in row]
    if len(entries) != count or (len(rows) not in (1, count)):
        raise DescriptionError(f"{count} entries are needed, found {len(entries)}.", field=column)
    return [_scalar(entry, column, work) for entry in entries]


def _matrix(cell: str, work: Work) -> np.ndarray:
    try:
        rows = bracket_rows(cell)
    except DescriptionError as error:
        raise error.at(field="inertia") from None
    if [len(row) for row in rows] != [3, 3, 3]:
        raise DescriptionError(
            f"3 rows of 3 entries are needed, found rows of {[len(r) for r in rows][:6]}.", field="inertia"
        )
    out = np.empty((3, 3), dtype=object)
    for i, j in np.ndindex(3, 3):
        out[i, j] = _scalar(rows[i][j], "inertia", work)
    return out


def to_table(robot: Robot) -> str:
    """The table of a numeric serial arm, with the same equations of motion.

    The columns have no place for limits, friction, drives, named frames, a tool, nor for where the base stands: they are kept in
    comments that :func:`from_table` reads, and gravity is turned into the base frame.

    Raises:
        DescriptionError: for a tree, for free parameters, and for a payload or rotor inertia, without which the columns would
            give other torques.
    """
    dh = to_dh(robot, "standard")
    if robot.payload is not None or any(j.armature != 0 for j in robot.joints):
        raise DescriptionError("The 13-column table has no place for a payload or rotor inertia.", field=robot.name)
    if robot.followers or any(link.balance is not None for link in robot.links):
        what = "joints that follow others" if robot.followers else "weight that something else carries"
        raise DescriptionError(f"The 13-column table has no place for {what}.", field=robot.name)
    named = all(_NAME.fullmatch(n) for n in robot.joint_names)
    names = list(robot.joint_names) if named else [f"q{i + 1}" for i in range(robot.n)]
    lines = [f"% {printable(robot.name)}: {', '.join(COLUMNS)}"]
    lines += write_extension(robot, dh, names)
    g = np.asarray(dh.base, float)[:3, :3].T @ np.asarray(dh.gravity, float)
    for i, row in enumerate(dh.rows):
        q = names[i]
        moving = "theta" if row["joint"] == "revolute" else "d"
        cells = {k: repr(float(row[k])) for k in ("a", "alpha", "d", "theta")}
        cells[moving] = (
            q if row[moving] == 0 else f"{q} + {row[moving]!r}" if row[moving] > 0 else f"{q} - {-row[moving]!r}"
        )
        tensor = np.asarray(row.get("inertia", np.zeros((3, 3))), float)
        lines.append(",".join([
            *cells.values(), repr(float(row.get("mass", 0.0))),
            "[" + "; ".join(" ".join(repr(float(v)) for v in r) for r in tensor) + "]",
            "[" + "; ".join(repr(float(v)) for v in (*row.get("com", (0.0, 0.0, 0.0)), 1.0)) + "]",
            q, f"{q}_d", f"{q}_dd", "1" if moving == "theta" else "0",
            "[" + "; ".join(repr(float(v)) for v in g) + "]" if i == 0 else "0", str(robot.n) if i == 0 else "0",
        ]))  # fmt: skip
    return "\n".join(lines) + "\n"
