"""MATLAB and Octave: one function per file, one state per call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import numpy as np

from manipula.codegen.base import PARAMETERS, SEPARATE, Language, Routine, RoutineVariable, SourceProgram
from manipula.codegen.statements import Statements, statements

_HELPERS = {
    "sign": "function y = sign_of(x)\n  y = x;\n  if x > 0, y = 1; end\n  if x < 0, y = -1; end\nend\n",
    "minimum": "function y = least(a, b)\n  if a < b || isnan(a), y = a; else, y = b; end\nend\n",
    "maximum": "function y = largest(a, b)\n  if a > b || isnan(a), y = a; else, y = b; end\nend\n",
    "select": "function y = pick(c, a, b)\n  if c, y = a; else, y = b; end\nend\n",
    "real": "function y = real_only(y)\n  if ~isreal(y), y = NaN; end\nend\n",
    "locate": """function low = locate(breaks, rows, x)
  low = 0;
  high = rows - 1;
  while high - low > 1
    middle = floor((low + high) / 2);
    if x >= breaks(middle + 1), low = middle; else, high = middle; end
  end
end
""",
}
_SAME = ("floor", "abs", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "exp")
_MAY_BE_COMPLEX = ("sqrt", "asin", "acos", "log")


class Matlab(Language):
    """Vectors come in either orientation and leave as columns."""

    name = "matlab"
    comment = "%"
    statement = "  {0} = {1};"
    infinite = ("Inf", "-Inf", "NaN")
    calls: ClassVar[Mapping[str, str]] = {
        **{code: f"{code}({{0}})" for code in _SAME},
        **{code: f"real_only({code}({{0}}))" for code in _MAY_BE_COMPLEX},
        "pow": "real_only(power({0}, {1}))", "atan2": "atan2({0}, {1})", "sign": "sign_of({0})",
        "minimum": "least({0}, {1})", "maximum": "largest({0}, {1})", "select": "pick({0}, {1}, {2})",
        "lt": "{0} < {1}", "le": "{0} <= {1}", "eq": "{0} == {1}", "ne": "{0} ~= {1}",
        "and": "{0} && {1}", "or": "{0} || {1}", "not": "~{0}",
        **SEPARATE,
    }  # fmt: skip

    def entry(self, value: RoutineVariable, k: int) -> str:
        return f"{value.name}{_index(value.shape, k)}" if value.shape else value.name

    def table(self, name: str, numbers: np.ndarray) -> str:
        return f"  {name} = [{self.row(numbers)}];"

    def gather(self, table: str, columns: int, row: str, column: int) -> str:
        return f"{table}({row} * {columns} + {column + 1})"

    def locate(self, table: str, rows: int, x: str) -> str:
        return f"locate({table}, {rows}, {x})"

    def row(self, numbers: Iterable[float] | np.ndarray) -> str:
        """Numbers of a row vector, continued over lines."""
        return self.numbers(numbers, ", ...\n    ")

    # ------------------------------------------------------------------ files
    def files(self, program: SourceProgram) -> dict[str, str]:
        x = program.prefix
        out = {f"{x}_{r.name}.m": self.routine(program, r) for r in program.routines}
        if program.fields:
            out[f"{x}_parameters.m"] = self.parameters(program)
        out[f"{x}_test.m"] = self.test(program)
        return out

    def parameters(self, program: SourceProgram) -> str:
        free = program.fields[0].value is None
        out = [f"function p = {program.prefix}_parameters()"]
        out += self.comments([
            f"{program.prefix}_parameters: {'fill in every NaN' if free else 'the numbers of the robot'}.",
            *program.header,
        ])  # fmt: skip
        out += [
            f"  p.{f.name} = {'NaN' if f.value is None else self.literal(f.value)}; % {f.meaning}"
            for f in program.fields
        ]
        return "\n".join([*out, "end"]) + "\n"

    def routine(self, program: SourceProgram, r: Routine) -> str:
        body = statements(self, r, program.fields, {})
        arguments = [*(["p"] if r.uses_parameters else []), *[v.name for v in r.arguments]]
        results = [v.name for v in r.results]
        left = results[0] if len(results) == 1 else f"[{', '.join(results)}]"
        name = f"{program.prefix}_{r.name}"
        out = [f"function {left} = {name}({', '.join(arguments)})"]
        described = [v.described for v in (*r.arguments, *r.results)]
        if r.uses_parameters:
            described.insert(0, f"p: struct as {program.prefix}_parameters returns it")
        out += self.comments([f"{name}: {r.summary}.", *described, f"Operations: {r.operations()}.", *program.header])
        out += [self.table(k, source.numbers) for k, source in body.tables.items()]
        out += body.lines
        for v in r.results:
            out += self.result(v, body)
        return "\n".join([*out, "end", "", *self.helpers(body)])

    def result(self, v: RoutineVariable, body: Statements) -> list[str]:
        texts = body.outputs[v.key]
        if not v.shape:
            return [f"  {v.name} = {texts[0]};"]
        out = [f"  {v.name} = zeros({', '.join(map(str, v.shape if len(v.shape) > 1 else (*v.shape, 1)))});"]
        return out + [f"  {v.name}{_index(v.shape, k)} = {text};" for k, text in enumerate(texts) if text != "0.0"]

    def helpers(self, body: Statements) -> list[str]:
        used = set(body.codes)
        if used & {*_MAY_BE_COMPLEX, "pow"}:
            used.add("real")
        return [text for code, text in _HELPERS.items() if code in used]

    def test(self, program: SourceProgram) -> str:
        x = program.prefix
        out = [f"function {x}_test()", *self.comments([f"{x}_test: compares every function with stored numbers."])]
        for r in program.routines:
            for sample in r.samples:
                call = []
                if r.uses_parameters:
                    values = zip(program.fields, sample.inputs[PARAMETERS].tolist())
                    out += [f"  p.{f.name} = {self.literal(value)};" for f, value in values]
                    call.append("p")
                for v in r.arguments:
                    out.append(f"  {v.name} = {self.array(v, sample.inputs[v.key])};")
                    call.append(v.name)
                found = [v.name for v in r.results]
                out.append(f"  [{', '.join(found)}] = {x}_{r.name}({', '.join(call)});")
                for v in r.results:
                    expected = self.array(v, sample.outputs[v.key])
                    out.append(f"  check('{r.name} {v.name}', {v.name}, {expected}, {r.tolerance!r});")
        out += ["  disp('all agree');", "end", "", "function check(name, found, expected, tolerance)",
                "  worst = max(abs(found(:) - expected(:)));", "  scale = max([abs(expected(:)); 1e-300]);",
                "  if any(isnan(found(:))) || ~(worst <= tolerance * scale)",
                "    error('%s differs by %g of %g', name, worst, scale);", "  end", "end"]  # fmt: skip
        return "\n".join(out) + "\n"

    def array(self, value: RoutineVariable, flat: np.ndarray) -> str:
        """Numbers given row by row as an array of the value's shape."""
        if not value.shape:
            return self.literal(float(flat[0]))
        shape = value.shape if len(value.shape) > 1 else (*value.shape, 1)
        columns = np.asarray(flat).reshape(shape).ravel(order="F")  # reshape fills column by column
        return f"reshape([{self.row(columns)}], [{', '.join(map(str, shape))}])"


def _index(shape: tuple[int, ...], k: int) -> str:
    return "(" + ", ".join(str(i + 1) for i in np.unravel_index(k, shape)) + ")"
