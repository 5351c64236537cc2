"""Rows of doubles in memory ⇄ values side by side.

W states stand in W rows of a row-major array. Column j of all of them is one ``<W x double>``: four columns of four rows
are loaded as four vectors and transposed by eight shuffles; stores go the opposite way.
"""

from __future__ import annotations

from manipula.native.llvm.graph_text import Function


def _shuffle(f: Function, kind: str, a: str, b: str, mask: tuple[int, ...]) -> str:
    picks = ", ".join(f"i32 {k}" for k in mask)
    return f.let(f"shufflevector <{kind}> {a}, <{kind}> {b}, <{len(mask)} x i32> <{picks}>")


def transpose4(f: Function, r: list[str]) -> list[str]:
    """Columns of a 4x4 block given by its rows."""
    v = "4 x double"
    t0, t1 = _shuffle(f, v, r[0], r[1], (0, 4, 2, 6)), _shuffle(f, v, r[0], r[1], (1, 5, 3, 7))
    t2, t3 = _shuffle(f, v, r[2], r[3], (0, 4, 2, 6)), _shuffle(f, v, r[2], r[3], (1, 5, 3, 7))
    return [
        _shuffle(f, v, t0, t2, (0, 1, 4, 5)),
        _shuffle(f, v, t1, t3, (0, 1, 4, 5)),
        _shuffle(f, v, t0, t2, (2, 3, 6, 7)),
        _shuffle(f, v, t1, t3, (2, 3, 6, 7)),
    ]


def address(f: Function, pointer: str, offset: int | str) -> str:
    """A pointer ``offset`` doubles further on."""
    return pointer if offset == 0 else f.let(f"getelementptr double, ptr {pointer}, i64 {offset}")


def first_column(column: int, columns: int) -> int:
    """Where the group of four columns that holds ``column`` starts; the last group overlaps the one before."""
    return min(column - column % 4, columns - 4)


def load_group(f: Function, lanes: list[str], start: int) -> list[str]:
    """Columns ``start … start+3`` of the rows at ``lanes``."""
    W = len(lanes)
    rows = [f.let(f"load <4 x double>, ptr {address(f, p, start)}, align 8") for p in lanes]
    low = transpose4(f, rows[:4])
    if W == 4:
        return low
    high = transpose4(f, rows[4:])
    return [_shuffle(f, "4 x double", a, b, tuple(range(8))) for a, b in zip(low, high)]


def load_column(f: Function, lanes: list[str], column: int) -> str:
    """One column of the rows at ``lanes``."""
    W = len(lanes)
    values = [f.let(f"load double, ptr {address(f, p, column)}, align 8") for p in lanes]
    if W == 1:
        return values[0]
    vector = "poison"
    for k, value in enumerate(values):
        vector = f.let(f"insertelement <{W} x double> {vector}, double {value}, i32 {k}")
    return vector


def load(f: Function, key: object, lanes: list[str], column: int, columns: int) -> str:
    """A column of rows of ``columns`` doubles; the group it stands in is loaded once (remembered under ``key``)."""
    if len(lanes) == 1 or columns < 4:
        found = f.rows.get((key, column))
        if found is None:
            found = f.rows[(key, column)] = load_column(f, lanes, column)
        return found
    start = first_column(column, columns)
    group = f.rows.get((key, start))
    if group is None:
        group = f.rows[(key, start)] = load_group(f, lanes, start)
    return group[column - start]


def store_group(f: Function, lanes: list[str], start: int, values: list[str]) -> None:
    """Write four columns from ``start`` on."""
    W = len(lanes)
    if W == 4:
        rows = transpose4(f, values)
    else:
        v = "8 x double"
        rows = transpose4(f, [_shuffle(f, v, x, "poison", (0, 1, 2, 3)) for x in values])
        rows += transpose4(f, [_shuffle(f, v, x, "poison", (4, 5, 6, 7)) for x in values])
    for p, row in zip(lanes, rows):
        f.do(f"store <4 x double> {row}, ptr {address(f, p, start)}, align 8")


def store_column(f: Function, lanes: list[str], column: int, value: str) -> None:
    """Write one column."""
    for k, p in enumerate(lanes):
        f.do(f"store double {f.lane(value, k)}, ptr {address(f, p, column)}, align 8")


def groups(columns: int, width: int) -> list[range]:
    """The columns that are written together: one by one, or four at a time (the last group overlaps)."""
    if width == 1 or columns < 4:
        return [range(k, k + 1) for k in range(columns)]
    return [range(k, k + 4) for k in sorted({first_column(column, columns) for column in range(columns)})]


def store(f: Function, lanes: list[str], values: list[str]) -> None:
    """Write all columns of rows."""
    for group in groups(len(values), len(lanes)):
        store_columns(f, lanes, group, [values[k] for k in group])


def store_columns(f: Function, lanes: list[str], group: range, values: list[str]) -> None:
    """Write one group of columns."""
    if len(group) == 1:
        store_column(f, lanes, group.start, values[0])
    else:
        store_group(f, lanes, group.start, values)


class EarlyStores:
    """Writes each group of columns of the outputs as soon as its last value is known, so that few stay alive."""

    def __init__(self, outputs: dict[str, list[str]], wanted: dict[str, list[int]], width: int) -> None:
        self.waiting: dict[int, list[list]] = {}  # value → groups [values missing, lanes, columns, values]
        for name, values in wanted.items():
            for columns in groups(len(values), width):
                chosen = [values[k] for k in columns]
                entry = [len(set(chosen)), outputs[name], columns, chosen]
                for v in set(chosen):
                    self.waiting.setdefault(v, []).append(entry)

    def defined(self, f: Function, v: int) -> None:
        """Value ``v`` is at hand now."""
        for entry in self.waiting.pop(v, ()):
            entry[0] -= 1
            if not entry[0]:
                _, lanes, columns, values = entry
                store_columns(f, lanes, columns, [f.get(u) for u in values])

    def finish(self, f: Function) -> None:
        """Constants and inputs that are outputs."""
        for v in list(self.waiting):
            f.get(v)
            self.defined(f, v)
