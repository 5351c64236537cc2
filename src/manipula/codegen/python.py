"""Python with NumPy: functions that broadcast over leading axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from manipula.codegen.base import COMPARISONS, PARAMETERS, SEPARATE, Language, Routine, RoutineVariable, SourceProgram
from manipula.codegen.statements import ProgramBodies, Statements

_LOCATE = '''
def _locate(breaks, x):
    """The piece of a sorted table that holds x."""
    piece = np.searchsorted(breaks, x, side="right") - 1
    return np.clip(np.where(np.isnan(x), 0, piece), 0, len(breaks) - 2)

'''
_UNARY = {"sqrt": "sqrt", "abs": "abs", "floor": "floor", "sign": "sign", "sin": "sin", "cos": "cos", "tan": "tan",
          "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
          "exp": "exp", "log": "log"}  # fmt: skip
_BINARY = {"atan2": "arctan2", "pow": "power", "minimum": "minimum", "maximum": "maximum", "and": "logical_and",
           "or": "logical_or"}  # fmt: skip


class Python(Language):
    """Arguments of shape ``(..., *shape)``; the struct is a NamedTuple whose fields may be arrays too."""

    name = "python"
    infinite = ("np.inf", "-np.inf", "np.nan")
    keep_inputs = True
    calls: ClassVar[Mapping[str, str]] = {
        **{code: f"np.{name}({{0}})" for code, name in _UNARY.items()},
        **{code: f"np.{name}({{0}}, {{1}})" for code, name in _BINARY.items()},
        "not": "np.logical_not({0})", "select": "np.where({0}, {1}, {2})",
        **COMPARISONS,
        **SEPARATE,
    }  # fmt: skip

    def entry(self, value: RoutineVariable, k: int) -> str:
        if not value.shape:
            return value.name
        return f"{value.name}[..., {', '.join(str(i) for i in np.unravel_index(k, value.shape))}]"

    def table(self, name: str, numbers: np.ndarray) -> str:
        return f"{name} = np.array([{self.numbers(numbers)}])"

    def locate(self, table: str, rows: int, x: str) -> str:
        return f"_locate({table}, {x})"

    # ------------------------------------------------------------------ files
    def files(self, program: SourceProgram) -> dict[str, str]:
        x = program.prefix
        return {f"{x}.py": self.module(program), f"{x}_test.py": self.test(program)}

    def module(self, program: SourceProgram) -> str:
        bodies = ProgramBodies(self, program)
        out = ['"""' + program.header[0], "", *program.header[1:],
               "Every function broadcasts over leading axes of its arguments.", '"""', ""]  # fmt: skip
        out += ["from typing import Any, NamedTuple", ""] if program.fields else []
        out += ["import numpy as np", "", f"__all__ = {[r.name for r in program.routines]!r}", ""]
        if program.fields:
            out += ["", "class Parameters(NamedTuple):", f'    """{program.header[-2]}"""', ""]
            for f in program.fields:
                default = "" if f.value is None else f" = {self.literal(f.value)}"
                out.append(f"    {f.name}: Any{default}  # {f.meaning}")
            out.append("")
        if "locate" in bodies.codes:
            out.append(_LOCATE)
        out += bodies.tables
        for r, body in bodies.routines:
            out += ["", *self.routine(r, body)]
        return "\n".join(out) + "\n"

    def routine(self, r: Routine, body: Statements) -> list[str]:
        arguments = [*(["p"] if r.uses_parameters else []), *[v.name for v in r.arguments]]
        out = [
            f"def {r.name}({', '.join(arguments)}):",
            f'    """{r.summary[:1].upper()}{r.summary[1:]}.',
            "",
            "    Args:",
        ]
        if r.uses_parameters:
            out.append("        p: Parameters.")
        out += [f"        {v.name}: {v.meaning or 'number'}, {_shape(v)}." for v in r.arguments]
        out += ["", "    Returns:"]
        out += [f"        {v.name}: {v.meaning or 'number'}, {_shape(v)}." for v in r.results]
        out += ["", f"    Operations: {r.operations()}.", '    """']
        out += [f"    {v.name} = np.asarray({v.name}, float)" for v in r.arguments]
        leads = [f"{v.name}.shape[:-{len(v.shape)}]" if v.shape else f"{v.name}.shape" for v in r.arguments]
        if r.uses_parameters:
            leads.append("*[np.shape(x) for x in p]")
        out.append(f"    batch = np.broadcast_shapes({', '.join(leads)})")
        out += body.lines
        for v in r.results:
            texts = body.outputs[v.key]
            out.append(f"    {v.name} = np.zeros((*batch, {', '.join(map(str, v.shape))}))" if v.shape
                       else f"    {v.name} = np.zeros(batch)")  # fmt: skip
            for k, text in enumerate(texts):
                if text != "0.0":
                    index = ", ".join(["...", *map(str, np.unravel_index(k, v.shape))])
                    out.append(f"    {v.name}[{index}] = {text}")
        returned = ", ".join(v.name if v.shape else f"{v.name}[()]" for v in r.results)
        return [*out, f"    return {returned}", ""]

    def test(self, program: SourceProgram) -> str:
        x = program.prefix
        out = [f'"""Compares {x} with stored numbers; run it, or give it to pytest."""', "", "import numpy as np", "",
               f"import {x} as written", "",
               "", "def check(name, found, expected, tolerance):", "    found, expected = np.ravel(found), np.array(expected)",
               "    scale = max(np.max(np.abs(expected), initial=0.0), 1e-300)",
               "    worst = np.max(np.abs(found - expected), initial=0.0)",
               "    assert worst <= tolerance * scale, f\"{name} differs by {worst} of {scale}\"", ""]  # fmt: skip
        for r in program.routines:
            for k, sample in enumerate(r.samples, start=1):
                out += ["", f"def test_{r.name}_{k}():"]
                call = []
                if r.uses_parameters:
                    out.append(f"    p = written.Parameters(*[{self.numbers(sample.inputs[PARAMETERS])}])")
                    call.append("p")
                for v in r.arguments:
                    numbers = self.numbers(sample.inputs[v.key])
                    out.append(f"    {v.name} = np.array([{numbers}]).reshape({v.shape!r})")
                    call.append(v.name)
                out.append(f"    found = written.{r.name}({', '.join(call)})")
                for j, v in enumerate(r.results):
                    one = "found" if len(r.results) == 1 else f"found[{j}]"
                    out.append(
                        f'    check("{r.name} {v.name}", {one}, [{self.numbers(sample.outputs[v.key])}], {r.tolerance!r})'
                    )
                out.append("")
        out += ["", 'if __name__ == "__main__":', "    for name, test in list(globals().items()):",
                '        if name.startswith("test_"):', "            test()", '    print("all agree")']  # fmt: skip
        return "\n".join(out) + "\n"


def _shape(value: RoutineVariable) -> str:
    return f"(..., {', '.join(map(str, value.shape))})" if value.shape else "(...)"
