"""C99: one header, one source, one test program. No allocation, no state, only the standard mathematical library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import numpy as np

from manipula.codegen.base import COMPARISONS, FUSED, PARAMETERS, Language, ParameterField, Routine, SourceProgram
from manipula.codegen.statements import ProgramBodies, Statements

_HELPERS = {
    "sign": "static double sign_of(double x)\n{\n    return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : x);\n}\n",
    "minimum": "static double least(double a, double b)\n{\n    return (a < b || a != a) ? a : b;\n}\n",
    "maximum": "static double largest(double a, double b)\n{\n    return (a > b || a != a) ? a : b;\n}\n",
    "locate": """static double locate(const double *breaks, int rows, double x)
{
    int low = 0, high = rows - 1;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (x >= breaks[middle]) low = middle;
        else high = middle;
    }
    return (double)low;
}
""",
}
_UNARY = ("sqrt", "floor", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log")


class C(Language):
    """Matrices are flat, row by row; the last arguments are the results."""

    name = "c"
    comment = " *"
    infinite = ("INFINITY", "-INFINITY", "NAN")
    calls: ClassVar[Mapping[str, str]] = {
        **{code: f"{code}({{0}})" for code in _UNARY},
        "abs": "fabs({0})", "sign": "sign_of({0})", "atan2": "atan2({0}, {1})", "pow": "pow({0}, {1})",
        "minimum": "least({0}, {1})", "maximum": "largest({0}, {1})", "select": "({0} ? {1} : {2})",
        **COMPARISONS,
        "and": "{0} && {1}", "or": "{0} || {1}", "not": "!{0}",
        **FUSED,
    }  # fmt: skip

    def field(self, field: ParameterField) -> str:
        return f"p->{field.name}"

    def let(self, name: str, text: str, truth: bool) -> str:
        return f"    const {'int' if truth else 'double'} {name} = {text};"

    def table(self, name: str, numbers: np.ndarray) -> str:
        return f"static const double {name}[{numbers.size}] = {{{self.numbers(numbers)}}};"

    def gather(self, table: str, columns: int, row: str, column: int) -> str:
        return f"{table}[(int)({row}) * {columns} + {column}]"

    def locate(self, table: str, rows: int, x: str) -> str:
        return f"locate({table}, {rows}, {x})"

    # ------------------------------------------------------------------ files
    def files(self, program: SourceProgram) -> dict[str, str]:
        x = program.prefix
        return {f"{x}.h": self.header(program), f"{x}.c": self.source(program), f"{x}_test.c": self.test(program)}

    def block(self, lines: Iterable[str]) -> str:
        return "\n".join(["/*", *[f" * {line}".rstrip() for line in lines], " */"])

    def header(self, program: SourceProgram) -> str:
        x = program.prefix
        guard = f"{x.upper()}_H_INCLUDED"
        out = [self.block(program.header), f"#ifndef {guard}", f"#define {guard}", "",
               "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]  # fmt: skip
        if program.fields:
            out.append(f"typedef struct {x}_parameters {{")
            out += [f"    double {f.name}; /* {f.meaning} */" for f in program.fields]
            out += [f"}} {x}_parameters;", ""]
            if program.fields[0].value is not None:
                out += ["/* The robot's own numbers. */", f"extern const {x}_parameters {x}_default_parameters;", ""]
        for r in program.routines:
            described = [v.described for v in (*r.arguments, *r.results)]
            text = [f"{r.name}: {r.summary}.", *described, f"Operations: {r.operations()}."]
            out += [self.block(text), f"{self.prototype(program, r)};", ""]
        out += ["#ifdef __cplusplus", "}", "#endif", "", "#endif"]
        return "\n".join(out) + "\n"

    def prototype(self, program: SourceProgram, r: Routine) -> str:
        x = program.prefix
        parts = [f"const {x}_parameters *p"] if r.uses_parameters else []
        parts += [f"const double {v.name}[{v.size}]" if v.shape else f"double {v.name}" for v in r.arguments]
        parts += [f"double {v.name}[{max(v.size, 1)}]" for v in r.results]
        return f"void {x}_{r.name}({', '.join(parts)})"

    def source(self, program: SourceProgram) -> str:
        x = program.prefix
        bodies = ProgramBodies(self, program)
        out = [self.block(program.header), f'#include "{x}.h"', "", "#include <math.h>", ""]
        out += bodies.helpers(_HELPERS)
        for table in bodies.tables:
            out += [table, ""]
        if program.fields and program.fields[0].value is not None:
            out += [f"const {x}_parameters {x}_default_parameters = {{"]
            out += [f"    {self.literal(float(f.value or 0.0))}, /* {f.name} */" for f in program.fields]
            out += ["};", ""]
        for r, body in bodies.routines:
            out += [self.prototype(program, r), "{", *self.body(r, body), "}", ""]
        return "\n".join(out)

    def body(self, r: Routine, body: Statements) -> list[str]:
        unused = [v.name for v in r.arguments if v.name not in body.read]
        if r.uses_parameters and not body.reads_parameters:
            unused.append("p")
        out = [f"    (void){name};" for name in unused] + body.lines
        for v in r.results:
            out += [f"    {v.name}[{k}] = {text};" for k, text in enumerate(body.outputs[v.key])]
        return out

    def test(self, program: SourceProgram) -> str:
        """A program that compares every function with stored numbers and says how many differ."""
        x = program.prefix
        out = [self.block([f"Compares {x} with stored numbers; the exit status is 0 when all agree."]),
               f'#include "{x}.h"', "", "#include <math.h>", "#include <stdio.h>", "", "static int failures = 0;", "",
               "static void check(const char *name, const double *found, const double *expected, int n, double tolerance)", "{",
               "    double scale = 1e-300, worst = 0.0;", "    int i;",
               "    for (i = 0; i < n; ++i) {", "        const double e = fabs(found[i] - expected[i]);",
               "        if (fabs(expected[i]) > scale) scale = fabs(expected[i]);",
               "        if (e != e || e > worst) worst = e;", "    }",
               "    if (!(worst <= tolerance * scale)) {", "        ++failures;",
               '        printf("%s differs by %g of %g\\n", name, worst, scale);', "    }", "}", ""]  # fmt: skip
        for r in program.routines:
            for k, sample in enumerate(r.samples, start=1):
                out += [f"static void test_{r.name}_{k}(void)", "{"]
                call = []
                if r.uses_parameters:
                    out.append(f"    const {x}_parameters p = {{{self.numbers(sample.inputs[PARAMETERS])}}};")
                    call.append("&p")
                for v in r.arguments:
                    numbers = self.numbers(sample.inputs[v.key])
                    out.append(f"    const double {v.name}{f'[{v.size}]' if v.shape else ''} = "
                               f"{f'{{{numbers}}}' if v.shape else numbers};")  # fmt: skip
                    call.append(v.name)
                for j, v in enumerate(r.results):
                    size = max(v.size, 1)
                    out.append(
                        f"    static const double expected_{j}[{size}] = {{{self.numbers(sample.outputs[v.key])}}};"
                    )
                    out.append(f"    double {v.name}[{size}];")
                    call.append(v.name)
                out.append(f"    {x}_{r.name}({', '.join(call)});")
                out += [
                    f'    check("{r.name} {v.name}", {v.name}, expected_{j}, {v.size}, {r.tolerance!r});'
                    for j, v in enumerate(r.results)
                ]
                out += ["}", ""]
        out += ["int main(void)", "{"]
        out += [f"    test_{r.name}_{k}();" for r in program.routines for k in range(1, len(r.samples) + 1)]
        out += ['    printf("%d failures\\n", failures);', "    return failures != 0;", "}"]
        return "\n".join(out) + "\n"
