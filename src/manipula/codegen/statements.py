"""From the operation list of a graph to statements of a language.

Every value that is used more than once gets a name (the graph shares common parts by construction); a value that is used
once is written where it is used while the line stays short. Parentheses keep the order of operations exactly as it is in
the graph, so that results differ only by the mathematical library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from manipula.codegen.base import PARAMETERS, Language, ParameterField, Routine, RoutineVariable, SourceProgram
from manipula.errors import CompileError
from manipula.native.lowering.passes import use_counts
from manipula.native.tracing.graph import Operation
from manipula.native.tracing.tables import BakedArray

LONGEST_LINE = 96
COMPARISON, SUM, PRODUCT, SIGN, ATOM = range(5)  # how tightly a text binds
_LEVEL = {"add": SUM, "sub": SUM, "mul": PRODUCT, "div": PRODUCT}
_SYMBOL = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
CONDITIONS = frozenset({"lt", "le", "eq", "ne", "and", "or", "not"})  # codes whose value is a truth value
_LEFT_OUT = frozenset({"loop", "pick", "param", "length"})


@dataclass
class Statements:
    """Lines that compute a routine, the texts of its outputs, and what they need besides."""

    lines: list[str] = field(default_factory=list)
    outputs: dict[str, list[str]] = field(default_factory=dict)
    tables: dict[str, Any] = field(default_factory=dict)  # name → BakedArray
    codes: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)  # names of the arguments that are used
    reads_parameters: bool = False


def statements(
    language: Language, routine: Routine, fields: tuple[ParameterField, ...], tables: dict[int, str]
) -> Statements:
    """The body of a routine; ``tables`` collects the names of constant arrays over a whole program."""
    return _StatementWriter(language, routine, fields, tables).run()


class ProgramBodies:
    """The bodies of all routines of a program, with one name per constant array."""

    def __init__(self, language: Language, program: SourceProgram) -> None:
        names: dict[int, str] = {}
        self.routines = [(r, statements(language, r, program.fields, names)) for r in program.routines]
        self.codes = set[str]().union(*(body.codes for _, body in self.routines))
        found = {name: array for _, body in self.routines for name, array in body.tables.items()}
        self.tables = [language.table(name, array.numbers) for name, array in found.items()]

    def helpers(self, texts: Mapping[str, str]) -> list[str]:
        """Of helper functions by the code of an operation, those that are used."""
        return [text for code, text in texts.items() if code in self.codes]


class _StatementWriter:
    def __init__(
        self, language: Language, routine: Routine, fields: tuple[ParameterField, ...], tables: dict[int, str]
    ) -> None:
        self.language, self.graph, self.fields = language, routine.graph, fields
        self.arguments: dict[str, RoutineVariable] = {a.key: a for a in routine.arguments}
        self.table_names = tables
        self.uses = use_counts(self.graph)
        self.texts: dict[int, tuple[str, int]] = {}
        self.out = Statements()
        self.named: set[str] = set()
        self._refuse()

    def _refuse(self) -> None:
        graph = self.graph
        for op in graph.operations:
            source = op.data[0] if op.code in ("locate", "gather") else None
            if op.code in _LEFT_OUT or (source is not None and not isinstance(source, BakedArray)):
                what = "a table with run-time data" if source is not None or op.code == "length" else "a loop"
                raise CompileError(
                    f"'{graph.name}' contains {what}; source code is written for straight-line functions only. Export "
                    "the step function of the loop instead, or use the compiled kernel."
                )

    def run(self) -> Statements:
        for n in self.graph.body:
            self.operation(n, self.graph.operations[n])
        self.out.outputs = {k: [self.texts[v][0] for v in values] for k, values in self.graph.output_values.items()}
        return self.out

    def operation(self, n: int, op: Operation) -> None:
        text, level = self.text(op)
        keep = op.code != "const"
        if op.code == "input":
            keep = self.language.keep_inputs and self.uses[n] > 1 and op.data[0] != PARAMETERS
        elif keep:
            keep = self.uses[n] > 1 or len(text) > LONGEST_LINE
        if keep:
            name = self.name(op)
            self.out.lines.append(self.language.let(name, text, op.code in CONDITIONS))
            text, level = name, ATOM
        self.texts[n] = (text, level)

    def name(self, op: Operation) -> str:
        """``sin3`` and ``cos3`` for the functions of q[2]; ``t17`` for the rest."""
        stem = f"t{len(self.named) + 1}"
        if op.code in ("sin", "cos"):
            inner = self.graph.operations[op.args[0]]
            if inner.code == "input" and inner.data[0] == "q" and f"{op.code}{inner.data[1] + 1}" not in self.named:
                stem = f"{op.code}{inner.data[1] + 1}"
        self.named.add(stem)
        return stem

    def text(self, op: Operation) -> tuple[str, int]:
        code, args, data = op
        language = self.language
        if code == "const":
            text = language.literal(data)
            return text, (SIGN if text.startswith("-") else ATOM)
        if code == "input":
            return self.input(*data)
        self.out.codes.add(code)
        if code in _LEVEL:
            return self.arithmetic(code, *args)
        if code == "neg":
            return f"-{self.operand(args[0], SIGN + 1)}", SIGN
        if code == "locate":
            return language.locate(self.table(data[0]), data[0].rows, self.texts[args[0]][0]), ATOM
        if code == "gather":
            return language.gather(self.table(data[0]), data[0].columns, self.operand(args[0], ATOM), data[1]), ATOM
        template = language.calls[code]
        if code in CONDITIONS:
            return template.format(*[self.operand(a, SUM) for a in args]), COMPARISON
        least = ATOM if code in ("fma", "fms", "fnma") else COMPARISON
        return template.format(*[self.operand(a, least) for a in args]), ATOM

    def input(self, key: str, k: int) -> tuple[str, int]:
        if key == PARAMETERS:
            self.out.reads_parameters = True
            return self.language.field(self.fields[k]), ATOM
        self.out.read.add(self.arguments[key].name)
        return self.language.entry(self.arguments[key], k), ATOM

    def table(self, source: BakedArray) -> str:
        name = self.table_names.setdefault(id(source), f"table{len(self.table_names) + 1}")
        self.out.tables[name] = source
        return name

    def operand(self, v: int, least: int) -> str:
        text, level = self.texts[v]
        return text if level >= least else f"({text})"

    def arithmetic(self, code: str, a: int, b: int) -> tuple[str, int]:
        """``a ∘ b``; adding a negative number is written as a subtraction, which is the same operation."""
        level = _LEVEL[code]
        if code == "add":
            for x, y in ((a, b), (b, a)):
                c = self.graph.operations[y]
                if c.code == "const" and c.data < 0.0:
                    return f"{self.operand(x, SUM)} - {self.language.literal(-c.data)}", SUM
        return f"{self.operand(a, level)} {_SYMBOL[code]} {self.operand(b, level + 1)}", level
