"""JavaScript: one ES module for browsers and Node, without ``eval``, without allocation where results are handed in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from manipula.codegen.base import PARAMETERS, SEPARATE, Language, Routine, SourceProgram
from manipula.codegen.statements import ProgramBodies, Statements

_HELPERS = {
    "sign": "const sign_of = (x) => (x > 0 ? 1 : x < 0 ? -1 : x !== x ? x : 0);",
    "minimum": "const least = (a, b) => (a < b || a !== a ? a : b);",
    "maximum": "const largest = (a, b) => (a > b || a !== a ? a : b);",
    "pow": """function power(a, b) {
    if (a === 1 || (a === -1 && (b === Infinity || b === -Infinity))) return 1;
    return Math.pow(a, b);
}""",
    "locate": """function locate(breaks, x) {
    let low = 0, high = breaks.length - 1;
    while (high - low > 1) {
        const middle = low + ((high - low) >> 1);
        if (x >= breaks[middle]) low = middle;
        else high = middle;
    }
    return low;
}""",
}
_SAME = ("sqrt", "abs", "floor", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log")


class JavaScript(Language):
    """Arrays of any kind in, `Float64Array` out, matrices flat, row by row; arrays handed in after the arguments are filled in place."""

    name = "javascript"
    comment = "//"
    statement = "    const {0} = {1};"
    infinite = ("Infinity", "-Infinity", "NaN")
    calls: ClassVar[Mapping[str, str]] = {
        **{code: f"Math.{code}({{0}})" for code in _SAME},
        "sign": "sign_of({0})", "atan2": "Math.atan2({0}, {1})", "pow": "power({0}, {1})",
        "minimum": "least({0}, {1})", "maximum": "largest({0}, {1})", "select": "({0} ? {1} : {2})",
        "lt": "{0} < {1}", "le": "{0} <= {1}", "eq": "{0} === {1}", "ne": "{0} !== {1}",
        "and": "{0} && {1}", "or": "{0} || {1}", "not": "!{0}",
        **SEPARATE,
    }  # fmt: skip

    def table(self, name: str, numbers: np.ndarray) -> str:
        return f"const {name} = {self.array(numbers)};"

    def array(self, numbers: np.ndarray) -> str:
        """A typed array."""
        return f"Float64Array.of({self.numbers(numbers)})"

    # ------------------------------------------------------------------ files
    def files(self, program: SourceProgram) -> dict[str, str]:
        x = program.prefix
        return {f"{x}.mjs": self.module(program), f"{x}_test.mjs": self.test(program)}

    def module(self, program: SourceProgram) -> str:
        bodies = ProgramBodies(self, program)
        out = [*self.comments(program.header), ""]
        if program.fields and program.fields[0].value is not None:
            out += ["export const default_parameters = Object.freeze({"]
            out += [f"    {f.name}: {self.literal(float(f.value or 0.0))}, // {f.meaning}" for f in program.fields]
            out += ["});", ""]
        elif program.fields:
            out += [*self.comments(["The fields of p:", *(f"{f.name}: {f.meaning}" for f in program.fields)]), ""]
        out += [*bodies.helpers(_HELPERS), *bodies.tables]
        for r, body in bodies.routines:
            out += ["", *self.routine(r, body)]
        return "\n".join(out) + "\n"

    def routine(self, r: Routine, body: Statements) -> list[str]:
        described = [v.described for v in (*r.arguments, *r.results)]
        out = self.comments([f"{r.name}: {r.summary}.", *described, f"Operations: {r.operations()}."])
        arguments = [*(["p"] if r.uses_parameters else []), *[v.name for v in r.arguments]]
        filled = [f"{v.name} = new Float64Array({v.size})" for v in r.results if v.shape]
        out.append(f"export function {r.name}({', '.join([*arguments, *filled])}) {{")
        out += body.lines
        for v in r.results:
            texts = body.outputs[v.key]
            if v.shape:
                out += [f"    {v.name}[{k}] = {text};" for k, text in enumerate(texts)]
            else:
                out.append(f"    const {v.name} = {texts[0]};")
        names = ", ".join(v.name for v in r.results)
        return [*out, f"    return {names if len(r.results) == 1 else f'[{names}]'};", "}"]

    def test(self, program: SourceProgram) -> str:
        x = program.prefix
        out = [*self.comments([f"Compares {x} with stored numbers: node {x}_test.mjs"]), f'import * as written from "./{x}.mjs";', "",
               "function check(name, found, expected, tolerance) {", "    const all = typeof found === \"number\" ? [found] : found;",
               "    let scale = 1e-300, worst = 0;", "    expected.forEach((value, k) => {",
               "        const gap = Math.abs(all[k] - value);", "        scale = Math.max(scale, Math.abs(value));",
               "        worst = gap <= worst ? worst : gap; // what is no number stays", "    });",
               "    if (all.length !== expected.length || !(worst <= tolerance * scale)) {",
               '        throw new Error(name + " differs by " + worst + " of " + scale);', "    }", "}", ""]  # fmt: skip
        for r in program.routines:
            for sample in r.samples:
                call = [self.array(sample.inputs[v.key]) if v.shape else self.literal(float(sample.inputs[v.key][0]))
                        for v in r.arguments]  # fmt: skip
                if r.uses_parameters:
                    fields = zip(program.fields, sample.inputs[PARAMETERS])
                    call.insert(0, "{" + ", ".join(f"{f.name}: {self.literal(float(v))}" for f, v in fields) + "}")
                out += ["{", f"    const found = written.{r.name}({', '.join(call)});"]
                for j, v in enumerate(r.results):
                    one = "found" if len(r.results) == 1 else f"found[{j}]"
                    expected = f"[{self.numbers(sample.outputs[v.key])}]"
                    out.append(f'    check("{r.name} {v.name}", {one}, {expected}, {r.tolerance!r});')
                out.append("}")
        return "\n".join([*out, 'console.log("all agree");']) + "\n"
