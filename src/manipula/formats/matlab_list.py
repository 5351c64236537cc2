"""Bracketed lists as MATLAB writes them: ``[0 0 0; 0 m1*a1^2/12 0]``."""

from __future__ import annotations

from collections.abc import Iterator

from manipula.errors import DescriptionError, printable


def split_fields(line: str) -> list[str]:
    """The comma-separated fields of a line; commas inside brackets or parentheses do not separate."""
    fields, depth, start = [], 0, 0
    for at, c in enumerate(line):
        if c in "[(":
            depth += 1
        elif c in "])":
            depth -= 1
            if depth < 0:
                raise DescriptionError(f"Column {at + 1}: '{c}' was never opened.")
        elif c == "," and depth == 0:
            fields.append(line[start:at].strip())
            start = at + 1
    if depth:
        raise DescriptionError("A bracket is opened but not closed.")
    return [*fields, line[start:].strip()]


def bracket_rows(text: str) -> list[list[str]]:
    """Rows of the entries of ``[… ; …]``."""
    inner = text.strip()
    if not (inner.startswith("[") and inner.endswith("]")):
        raise DescriptionError(f"A list in brackets such as [0; -9.81; 0] is needed, found '{printable(text, 40)}'.")
    inner = inner[1:-1]
    if "[" in inner or "]" in inner:
        raise DescriptionError(f"Brackets within brackets are not read: '{printable(text, 40)}'.")
    return [list(_entries(row)) for row in inner.split(";") if row.strip()]


def _entries(row: str) -> Iterator[str]:
    """Entries separated by commas or blanks, by MATLAB's rule: ``a -b`` is two, ``a - b`` and ``a-b`` are one."""
    entry, depth, row = "", 0, " ".join(row.split())
    for at, c in enumerate(row):
        depth += (c == "(") - (c == ")")
        if depth == 0 and (c == "," or (c.isspace() and _ends_entry(row, at))):
            if entry.strip():
                yield entry.strip()
            elif c == ",":
                raise DescriptionError(f"An entry is missing in '{printable(row.strip(), 40)}'.")
            entry = ""
        else:
            entry += c
    if entry.strip():
        yield entry.strip()


def _ends_entry(row: str, at: int) -> bool:
    before, after = row[:at].rstrip(), row[at:].lstrip()
    if not before or not after or before[-1] in "+-*/^(,":
        return False
    if after[0] in "+-":
        return not after[1:2].isspace()
    return after[0] not in "*/^),"
