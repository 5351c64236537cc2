"""Results as CSV: one row per sample, one column per number (``t,q_elbow,…``), and the header in the last column of the first row.

So ``pandas.read_csv("run.csv")`` reads it without options; the column ``manipula`` is empty except for the first row.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from manipula.errors import BudgetError, DescriptionError
from manipula.simulation.result import Result
from manipula.simulation.stored import legacy
from manipula.simulation.stored.content import MAX_HEADER, Header, check_size, closed, is_legacy, opened, parsed, sealed
from manipula.simulation.stored.flat import Filled, rows_of, single

OLD = "# manipula "
ROWS = 256  # that are put together


def write(result: Result, path: Path) -> None:
    """Write a result into a CSV file."""
    single(result)
    text = sealed(result)
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(_first_line(parsed(text)["columns"]))
        end = f',"{text.replace(chr(34), chr(34) * 2)}"\n'
        for block in rows_of(result, ROWS):
            for row in block.tolist():
                stream.write(",".join(map(repr, row)) + end)
                end = ",\n"


def _first_line(columns: list[str]) -> str:
    return ",".join([*(_cell(name) for name in columns), "manipula"]) + "\n"


def _cell(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"') or name != name.strip() else name


def read(path: Path, budget: int) -> Result:
    """The result in a CSV file; one of more than ``budget`` numbers is refused."""
    with path.open(encoding="utf-8", newline="\n") as stream:
        first = _line(stream)
        if first.startswith(OLD):
            return _read_old(first[len(OLD) :], stream, path, budget)
        second = _line(stream)
        numbers, quote, cell = second.partition(',"')
        if not quote or not cell.endswith('"\n'):
            raise DescriptionError("This is not a result of manipula: the last column of its first row is no header.")
        text = cell[:-2].replace('""', '"')
        entries = parsed(text)
        if is_legacy(entries):
            raise DescriptionError("The file has no format number: it is damaged.")
        header = opened(text, entries, budget)
        if first != _first_line(header.columns):
            raise DescriptionError(
                "The file was changed after it was written: its columns are not those of its header."
            )
        if 2 * header.samples * len(header.columns) > path.stat().st_size:
            raise DescriptionError("The file is damaged: it is too short for the rows it says.")
        return closed(header, _filled(header, numbers, stream))


def _filled(header: Header, first: str, stream: IO[str]) -> dict[str, np.ndarray]:
    columns, found = len(header.columns), Filled(header)
    block = np.empty((ROWS, columns))
    row = 0
    for line in _rows(first, stream):
        cells = line.split(",")
        if len(cells) != columns:
            raise DescriptionError(
                "The file is damaged: a row has another number of columns.", line=found.rows + row + 2
            )
        block[row] = [float(cell) for cell in cells]
        row += 1
        if row == ROWS:
            found.put(block)
            row = 0
    found.put(block[:row])
    return found.done()


def _rows(first: str, stream: IO[str]) -> Iterator[str]:
    yield first
    while line := _line(stream):
        if not line.endswith(",\n"):
            raise DescriptionError("The file is damaged: a row does not end as it should.")
        yield line[:-2]


def _line(stream: IO[str]) -> str:
    line = stream.readline(2 * MAX_HEADER)
    if len(line) == 2 * MAX_HEADER:
        raise BudgetError(f"A line has more than {2 * MAX_HEADER} letters.")
    return line


def _read_old(text: str, stream: IO[str], path: Path, budget: int) -> Result:
    entries = parsed(text)
    if not is_legacy(entries):
        raise DescriptionError("The file is damaged: its header is not where this format has it.")
    names = _line(stream).strip().split(",")
    lines = 0
    with path.open("rb") as raw:
        while block := raw.read(1 << 20):
            lines += block.count(b"\n")
    check_size({"rows": (max(lines, 1), len(names))}, budget)
    if (lines - 1) * (2 * len(names) - 1) > path.stat().st_size:
        raise DescriptionError("The file is damaged: its rows are too short for its columns.")
    rows = np.empty((max(lines - 1, 0), len(names)))
    count = 0
    while line := _line(stream):
        cells = line.split(",")
        if len(cells) != len(names) or count == len(rows):
            raise DescriptionError("The file is damaged: a row has another number of columns.", line=count + 3)
        rows[count] = [float(cell) for cell in cells]
        count += 1
    return legacy.from_columns(entries, names, list(rows[:count].T))
