"""What is written (a :class:`SourceProgram`) and what a language is.

To add a language: inherit from :class:`Language`, fill in its table of calls and its texts, add one line to the registry
in ``__init__.py``. The registry enrols it in the tests of this folder.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from manipula.native.tracing.graph import Graph

PARAMETERS = "parameters"
"""Name of the graph's input that holds the fields of the argument struct."""
TOLERANCE = 1e-11
"""Of generated self-tests, relative to the largest stored number of an output: other compilers, other math libraries."""


@dataclass(frozen=True)
class RoutineVariable:
    """An argument or a result of a generated function: ``key`` in the graph, ``name`` in the source."""

    key: str
    name: str
    shape: tuple[int, ...]
    meaning: str = ""

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    @property
    def described(self) -> str:
        """A line for people: name, meaning and shape."""
        return f"{self.name}: {self.meaning or 'number'}, {' x '.join(map(str, self.shape)) or 'one number'}"


@dataclass(frozen=True)
class ParameterField:
    """A number of the argument struct; ``value`` is ``None`` when the robot leaves it free."""

    name: str
    meaning: str
    value: float | None


@dataclass(frozen=True)
class Sample:
    """Stored numbers: flat inputs and the flat outputs they must give."""

    inputs: Mapping[str, np.ndarray]
    outputs: Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Routine:
    """One function to write. ``arguments`` leaves out the struct; ``uses_parameters`` says whether there is one."""

    name: str
    summary: str
    graph: Graph
    arguments: tuple[RoutineVariable, ...]
    results: tuple[RoutineVariable, ...]
    samples: tuple[Sample, ...]
    uses_parameters: bool
    tolerance: float = TOLERANCE  # of its self-test

    def operations(self) -> str:
        """``12 additions, 20 multiplications, 4 trigonometric …``"""
        count = self.graph.operation_count()
        words = (("add", "additions"), ("mul", "multiplications"), ("div", "divisions"), ("sqrt", "square roots"),
                 ("trig", "trigonometric"), ("neg", "changes of sign"), ("other", "others"))  # fmt: skip
        return ", ".join(f"{count[k]} {w}" for k, w in words if count[k]) or "none"


@dataclass(frozen=True, eq=False)
class SourceProgram:
    """Everything one export writes. All names and comments are safe already."""

    prefix: str
    header: tuple[str, ...]
    fields: tuple[ParameterField, ...]
    parameters: np.ndarray  # values of the fields in the stored numbers
    routines: tuple[Routine, ...]


COMPARISONS = {"lt": "{0} < {1}", "le": "{0} <= {1}", "eq": "{0} == {1}", "ne": "{0} != {1}"}
FUSED = {"fma": "fma({0}, {1}, {2})", "fms": "fma({0}, {1}, -{2})", "fnma": "fma(-{0}, {1}, {2})"}
SEPARATE = {"fma": "({0} * {1} + {2})", "fms": "({0} * {1} - {2})", "fnma": "({2} - {0} * {1})"}


class Language(ABC):
    """How operations, statements and files look in one language."""

    name: ClassVar[str]
    calls: ClassVar[Mapping[str, str]]  # code of an operation → template over its arguments
    comment: ClassVar[str] = "#"
    statement: ClassVar[str] = "    {0} = {1}"  # names a value
    infinite: ClassVar[tuple[str, str, str]]  # +inf, -inf, nan
    keep_inputs: ClassVar[bool] = False  # give an entry of an input a name of its own when it is used more than once

    def literal(self, x: float) -> str:
        """A double that reads back as the same bits (17 digits when they are needed)."""
        if x != x:
            return self.infinite[2]
        if x in (float("inf"), float("-inf")):
            return self.infinite[0] if x > 0 else self.infinite[1]
        return repr(float(x))

    def entry(self, value: RoutineVariable, k: int) -> str:
        """Entry ``k`` (C order) of an argument."""
        return f"{value.name}[{k}]" if value.shape else value.name

    def field(self, field: ParameterField) -> str:
        """A field of the argument struct."""
        return f"p.{field.name}"

    def let(self, name: str, text: str, truth: bool) -> str:
        """A statement that names a value; ``truth`` when it is a truth value."""
        return self.statement.format(name, text)

    @abstractmethod
    def table(self, name: str, numbers: np.ndarray) -> str:
        """A constant array."""

    def gather(self, table: str, columns: int, row: str, column: int) -> str:
        """An entry of a constant array of ``columns`` numbers per row; ``row`` is a whole number held in a double."""
        return f"{table}[{row} * {columns} + {column}]"

    def locate(self, table: str, rows: int, x: str) -> str:
        """The row of the sorted array that holds ``x``, as a double."""
        return f"locate({table}, {x})"

    @abstractmethod
    def files(self, program: SourceProgram) -> dict[str, str]:
        """Text of every file by its name."""

    def numbers(self, values: Any, row: str = ",\n        ") -> str:
        """Numbers in lines of six, separated by commas; ``row`` stands between lines."""
        texts = [self.literal(x) for x in np.asarray(values, float).ravel().tolist()]
        return row.join(", ".join(texts[k : k + 6]) for k in range(0, len(texts), 6))

    def comments(self, lines: Any, indent: str = "") -> list[str]:
        """Lines of comment."""
        return [f"{indent}{self.comment} {line}".rstrip() for line in lines]
