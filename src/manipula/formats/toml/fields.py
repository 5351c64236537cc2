"""Typed fields of a TOML document, with file, line and nearest valid name in every message.

A reader asks for each key it knows and then calls :meth:`Fields.close`; a key nobody asked for is an error. Numbers may
be formulas in text; names in them are looked up in the document's ``[parameters]``, or stay symbolic: those that ``free`` lists
when the document has either, any name when it has neither.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np

from manipula.algebra.arguments import LARGEST
from manipula.algebra.bounded import tree_size
from manipula.algebra.expression import Work, parse, scalar
from manipula.algebra.grammar import SIGNED_DECIMAL
from manipula.algebra.symbols import free_names, is_symbolic, largest_number, substitute
from manipula.errors import BudgetError, DescriptionError, printable, unknown_name
from manipula.formats.toml.budget import check_size
from manipula.formats.toml.lines import line_of

MAX_FORMULAS = 15_000


def radians(degrees: Any) -> Any:
    """Degrees → radians for a number or a symbolic expression."""
    if isinstance(degrees, float):
        return math.radians(degrees)
    import sympy

    return degrees * sympy.pi / 180


class Document:
    """A parsed TOML text that knows its file, its lines and its named parameters."""

    symbolic = False  # do names that have a value stay free?
    folder: Path | None = None  # where files that the document names are looked for
    package_dirs: Sequence[Path] = ()  # where mesh files may lie as well

    def __init__(self, text: str, file: str | None = None, symbolic: bool = False) -> None:
        self.text, self.file = text.removeprefix("\ufeff"), file
        self.symbolic = symbolic
        self.values: dict[str, float] = {}  # of those
        self.definitions: dict[str, str] = {}  # formulas of those that follow from others
        self.parameters: dict[str, Any] = {}
        self.declared: dict[str, None] | None = None  # all names that formulas may use; None: any
        self.used: set[str] = set()
        self.work = Work()
        self.formulas: dict[str, float] = {}  # those of numbers alone, read so far
        self._lines: dict[str, int | None] = {}  # asked for so far
        self.root = self._parsed()

    def _parsed(self) -> dict[str, Any]:
        check_size(self.text, self.file)
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            place = _decode_line(str(error), self.text)
            raise DescriptionError(f"This is not TOML: {printable(error, 160)}.", file=self.file, line=place) from None
        except (ValueError, RecursionError, OverflowError) as error:  # absurd integers, impossible dates
            raise DescriptionError(f"This is not TOML: {printable(error, 160)}.", file=self.file) from None

    def line(self, path: str) -> int | None:
        """The line of a field, or of what is around it."""
        if path not in self._lines:
            self._lines[path] = line_of(self.text, path)
        return self._lines[path]

    def place(self, path: str) -> dict[str, Any]:
        """``file``, ``line`` and ``field`` for a message."""
        return {"file": self.file, "line": self.line(path), "field": path or None}

    def located(self, error: DescriptionError, path: str = "") -> DescriptionError:
        """The same error with file and line filled in; a field of its own (``formula '…'``) goes behind the path."""
        if error.field and path:
            error.field = path if path.endswith(error.field) else f"{path}, {error.field}"
        return error.at(file=self.file, line=self.line(path or error.field or ""), field=path or None)

    def fields(self) -> Fields:
        return Fields(self, self.root, "")

    def declare(self, root: Fields) -> None:
        """Take ``[parameters]`` and ``free``, the names that stay symbolic. A file with either of them means all its names.

        Raises:
            DescriptionError: a name that is no text, or both free and given a value.
        """
        free = root.raw("free")
        if free is not None and (not isinstance(free, list) or not all(isinstance(n, str) for n in free)):
            raise root.error('The free parameters are a list of names: free = ["m2", "l2"].', "free")
        _check_count(len(free or ()), root)
        table = root.table("parameters")
        if free is None and table is None:
            return
        values = dict.fromkeys([] if table is None else table.names())
        for name in free or ():
            check_name(root, name, "free")
            if name in values:
                raise root.error(f"The parameter '{printable(name)}' is free and has a value; choose one.", "free")
        self.declared = values | dict.fromkeys(free or ())
        if table is not None:
            self.define(table)
        if self.symbolic:
            self.values = {name: value for name, value in self.parameters.items() if isinstance(value, float)}
            self.parameters = {name: value for name, value in self.parameters.items() if name not in self.values}
            raw = {} if table is None else {name: table.raw(name) for name in self.values}
            self.definitions = {n: text for n, text in raw.items() if isinstance(text, str) and parse(text).names}

    def define(self, table: Fields) -> None:
        """Take ``[parameters]``: numbers, or formulas of other parameters in any order."""
        _check_count(len(table.names()), table)
        for key in table.names():
            check_name(table, key, key)
        given = {key: table.raw(key) for key in table.names()}
        needs = {key: [n for n in self._names(table, key) if n in given] for key in given}
        order = TopologicalSorter(needs)
        try:
            order.prepare()
        except CycleError as error:
            circle = list(dict.fromkeys(error.args[1]))
            raise DescriptionError(
                f"The parameters {', '.join(printable(k, 40) for k in circle[:5])} define each other in a circle.",
                **self.place(f"parameters.{circle[0]}"),
            ) from None
        while order.is_active():
            for key in order.get_ready():
                self.parameters[key] = table.scalar(key)
                order.done(key)

    def _names(self, table: Fields, key: str) -> tuple[str, ...]:
        """The names in a formula; what is wrong with one is reported as for every field."""
        text = table.raw(key)
        try:
            return parse(text).names if isinstance(text, str) else ()
        except DescriptionError:
            table.scalar(key)
            raise

    def scalar(self, value: Any, path: str, largest: float = LARGEST) -> Any:
        """A finite float of at most ``largest`` in size, or a SymPy expression while parameters are free."""
        if type(value) is float and abs(value) <= min(largest, LARGEST):
            return value
        if isinstance(value, str):
            try:
                number = self._number(value)
                value = self._substituted(self._formula(value)) if number is None else number
            except DescriptionError as error:
                raise self.located(error, path) from None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            if getattr(value, "free_symbols", None):
                if (most := largest_number(value)) > largest:
                    raise DescriptionError(
                        f"The formula holds the number {most:.3g}; at most {largest:g} in size.", **self.place(path)
                    )
                return value
            raise DescriptionError(
                f"A number or a formula in quotes is needed, found {_kind(value)}.", **self.place(path)
            )
        if not (abs(value) <= largest and math.isfinite(float(value) if abs(value) < 10**309 else math.inf)):
            raise DescriptionError(
                f"A finite number is needed, found {printable(value, 30)}; at most {largest:g} in size.",
                **self.place(path),
            )
        return float(value)

    def _number(self, text: str) -> float | None:
        """The value of a formula whose parameters all have numbers; SymPy is not needed for it. ``None`` where it has no finite one."""
        if SIGNED_DECIMAL.fullmatch(text.strip(" \t")):
            return None
        formula = parse(text)
        values = {name: self.parameters.get(name) for name in formula.names}
        if not values or not all(isinstance(v, float) for v in values.values()):
            return None
        self.used.update(values)
        self.work.spend(formula)
        try:
            return float(formula.evaluate(values))
        except DescriptionError:
            return None

    def _formula(self, text: str) -> Any:
        """The value of a formula; numbers are kept, since files repeat ``pi/2`` in every row."""
        value = self.formulas.get(text)
        if value is None:
            value = scalar(text, work=self.work)
            if isinstance(value, float):
                self.formulas[text] = value
            if len(self.formulas) > MAX_FORMULAS:
                raise BudgetError(f"More than {MAX_FORMULAS} different formulas; one robot needs far fewer.")
        return value

    def _substituted(self, value: Any) -> Any:
        found, known = list(free_names(value)), self.declared
        if known is not None and not known.keys() >= set(found):
            name = min(set(found) - known.keys())
            error = unknown_name("parameter", name, known)
            error.problem += f' One that stays symbolic is listed in the header: free = ["{printable(name)}"].'
            raise error.at()
        self.used.update(found)
        names = [name for name in found if name in self.parameters]
        if not names:
            return value
        if any(is_symbolic(self.parameters[name]) for name in names) or len(names) < len(value.free_symbols):
            self.work.add(tree_size(value))
        return substitute(value, self.parameters)

    def check_parameters(self) -> None:
        """Every parameter must be used by something, else its name is probably misspelt."""
        for name in self.declared or self.parameters:
            if name not in self.used:
                raise DescriptionError(
                    f"The parameter '{printable(name)}' is not used by any formula of this file.",
                    **self.place(f"parameters.{name}" if name in self.parameters else "free"),
                )


def _check_count(names: int, table: Fields) -> None:
    if names > MAX_FORMULAS:
        raise BudgetError(f"{names} names; at most {MAX_FORMULAS} are read.", **table.document.place(table.path))


def check_name(table: Fields, name: str, key: str) -> None:
    """Refuse a name that formulas cannot use, or that means something else in them."""
    try:
        found = parse(name).names
    except DescriptionError as error:
        raise table.error(f"No formula can use the name '{printable(name, 40)}'. {error.problem}", key) from None
    if tuple(found) != (name,):
        raise table.error(f"'{printable(name, 40)}' has a meaning of its own in formulas; choose another name.", key)


class Fields:
    """One table of the document."""

    def __init__(self, document: Document, table: dict[str, Any], path: str) -> None:
        self.document, self._table, self.path = document, table, path
        self._asked: dict[str, None] = {}

    def names(self) -> list[str]:
        return list(self._table)

    def has(self, key: str) -> bool:
        self._asked[key] = None
        return key in self._table

    def where(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def error(self, problem: str, key: str | None = None) -> DescriptionError:
        return DescriptionError(problem, **self.document.place(self.path if key is None else self.where(key)))

    def close(self) -> None:
        """Refuse keys that nobody asked for."""
        for key in self._table:
            if key not in self._asked:
                raise unknown_name("key", key, sorted(self._asked), **self.document.place(self.where(key)))

    def raw(self, key: str, default: Any = None) -> Any:
        return self._table[key] if self.has(key) else default

    def text(self, key: str, default: str | None = None) -> str | None:
        value = self.raw(key, default)
        if value is not None and not isinstance(value, str):
            raise self.error(f"A text in quotes is needed, found {_kind(value)}.", key)
        return value

    def required_text(self, key: str) -> str:
        value = self.text(key)
        if value is None:
            raise self.missing(key)
        return value

    def missing(self, key: str, problem: str = "") -> DescriptionError:
        """The error for a key that has to be there: a key much like it is taken for a slip of the pen."""
        problem = problem or f"The key '{key}' is missing."
        slips = [name for name in self._table if name not in self._asked]
        import difflib

        close = difflib.get_close_matches(key, slips, n=1, cutoff=0.7)
        if not close:
            return self.error(problem)
        return self.error(f"{problem} Did you mean '{key}' by '{printable(close[0], 60)}'?", close[0])

    def choice(self, key: str, allowed: Iterable[str], default: str | None = None) -> str:
        value = self.text(key, default)
        if value is None:
            raise self.missing(key, f"The key '{key}' is missing; allowed: {', '.join(allowed)}.")
        if value not in allowed:
            raise unknown_name(key, value, allowed, **self.document.place(self.where(key)))
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.raw(key, default)
        if not isinstance(value, bool):
            raise self.error(f"true or false is needed, found {_kind(value)}.", key)
        return value

    def scalar(self, key: str, default: Any = None, largest: float = LARGEST) -> Any:
        return self.document.scalar(self._table[key], self.where(key), largest) if self.has(key) else default

    def angle(self, key: str, default: Any = None, largest: float = LARGEST) -> Any:
        """Radians from ``key``, or degrees from ``key_deg``; not both."""
        if self.either(key, f"{key}_deg") == f"{key}_deg":
            return radians(self.scalar(f"{key}_deg", None, largest))
        return self.scalar(key, default, largest)

    def either(self, *keys: str) -> str | None:
        """Which one of several alternative keys is present; more than one is an error."""
        present = [key for key in keys if self.has(key)]
        if len(present) > 1:
            raise self.error(f"Give '{present[0]}' or '{present[1]}', not both.", present[1])
        return present[0] if present else None

    def scalars(self, key: str, count: int | None = None, largest: float = LARGEST) -> list[Any] | None:
        """A list of numbers or formulas, ``count`` of them."""
        if not self.has(key):
            return None
        value = self._table[key]
        if not isinstance(value, list) or (count is not None and len(value) != count):
            wanted = "A list of numbers" if count is None else f"A list of {count} numbers"
            found = f"{len(value)} entries" if isinstance(value, list) else _kind(value)
            raise self.error(f"{wanted} is needed, found {found}.", key)
        return [self.document.scalar(v, f"{self.where(key)}[{i}]", largest) for i, v in enumerate(value)]

    def matrix(self, key: str, size: int) -> np.ndarray | None:
        """A square matrix as a list of rows."""
        if not self.has(key):
            return None
        rows = self._table[key]
        if not is_matrix(rows, size):
            raise self.error(f"{size} rows of {size} numbers are needed, found {_kind(rows)}.", key)
        out = np.empty((size, size), dtype=object)
        for i, j in np.ndindex(size, size):
            out[i, j] = self.document.scalar(rows[i][j], f"{self.where(key)}[{i}][{j}]")
        return out

    def table(self, key: str, *, empty: bool = False) -> Fields | None:
        """The sub-table, which says something unless ``empty`` has a meaning there."""
        if not self.has(key):
            return None
        value = self._table[key]
        if not isinstance(value, dict):
            raise self.error(f"A table is needed ([{self.where(key)}] or {{ … }}), found {_kind(value)}.", key)
        if not value and not empty:
            raise self.error(
                f"The table '{self.where(key)}' is empty and says nothing; fill it in or leave it out.", key
            )
        return Fields(self.document, value, self.where(key))

    def tables(self, key: str) -> list[Fields]:
        value = self.raw(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise self.error(f"A list of tables is needed ([[{self.where(key)}]]), found {_kind(value)}.", key)
        return [Fields(self.document, v, f"{self.where(key)}[{i}]") for i, v in enumerate(value)]

    def read(self, key: str, reader: Callable[[Fields], Any], default: Any = None, *, empty: bool = False) -> Any:
        """``reader`` applied to a sub-table, which is closed afterwards."""
        table = self.table(key, empty=empty)
        if table is None:
            return default
        result = reader(table)
        table.close()
        return result


def is_matrix(rows: Any, size: int) -> bool:
    """Is this a list of ``size`` lists of ``size`` entries?"""
    return isinstance(rows, list) and len(rows) == size and all(isinstance(r, list) and len(r) == size for r in rows)


def _decode_line(message: str, text: str) -> int | None:
    if "at end of document" in message:
        return text.count("\n") + 1
    _, _, tail = message.partition("(at line ")
    digits = tail.partition(",")[0]
    return int(digits) if digits.isdigit() else None


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text '{printable(value, 40)}'"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "a table"
    return f"{printable(value, 40)} ({type(value).__name__})"
