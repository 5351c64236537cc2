"""Rust: one module of plain functions on fixed-size arrays, with its tests inside. No allocation, no unsafe code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from manipula.codegen.base import COMPARISONS, PARAMETERS, Language, Routine, RoutineVariable, SourceProgram
from manipula.codegen.statements import ProgramBodies, Statements


def _choice(head: str, test: str) -> str:
    return f"fn {head} -> f64 {{\n    if {test} {{\n        a\n    }} else {{\n        b\n    }}\n}}\n"


_HELPERS = {
    "sign": """fn sign_of(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x
    }
}
""",
    "minimum": _choice("least(a: f64, b: f64)", "a < b || a.is_nan()"),
    "maximum": _choice("largest(a: f64, b: f64)", "a > b || a.is_nan()"),
    "select": _choice("pick(c: bool, a: f64, b: f64)", "c"),
    "locate": """fn locate(breaks: &[f64], x: f64) -> f64 {
    (breaks.partition_point(|b| *b <= x).clamp(1, breaks.len() - 1) - 1) as f64
}
""",
}
_SAME = ("sqrt", "abs", "floor", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp")


class Rust(Language):
    """Vectors are ``[f64; n]``, matrices ``[[f64; columns]; rows]``."""

    name = "rust"
    comment = "//"
    statement = "    let {0} = {1};"
    infinite = ("f64::INFINITY", "f64::NEG_INFINITY", "f64::NAN")
    calls: ClassVar[Mapping[str, str]] = {
        **{code: f"f64::{code}({{0}})" for code in _SAME},
        "log": "f64::ln({0})", "sign": "sign_of({0})", "atan2": "f64::atan2({0}, {1})", "pow": "f64::powf({0}, {1})",
        "minimum": "least({0}, {1})", "maximum": "largest({0}, {1})", "select": "pick({0}, {1}, {2})",
        **COMPARISONS,
        "and": "{0} && {1}", "or": "{0} || {1}", "not": "!{0}",
        "fma": "f64::mul_add({0}, {1}, {2})", "fms": "f64::mul_add({0}, {1}, -{2})", "fnma": "f64::mul_add(-{0}, {1}, {2})",
    }  # fmt: skip

    def entry(self, value: RoutineVariable, k: int) -> str:
        return value.name + "".join(f"[{i}]" for i in np.unravel_index(k, value.shape)) if value.shape else value.name

    def table(self, name: str, numbers: np.ndarray) -> str:
        return f"const {name.upper()}: [f64; {numbers.size}] = [{self.numbers(numbers)}];"

    def gather(self, table: str, columns: int, row: str, column: int) -> str:
        return f"{table.upper()}[({row} as usize) * {columns} + {column}]"

    def locate(self, table: str, rows: int, x: str) -> str:
        return f"locate(&{table.upper()}, {x})"

    # ------------------------------------------------------------------ files
    def files(self, program: SourceProgram) -> dict[str, str]:
        bodies = ProgramBodies(self, program)
        out = [f"//! {line}" for line in program.header]
        out += ["#![allow(non_snake_case)]", "#![allow(clippy::all)]", ""]
        if program.fields:
            out += [f"/// {program.header[-2]}", "#[derive(Clone, Copy, Debug, PartialEq)]", "pub struct Parameters {"]
            for f in program.fields:
                out += [f"    /// {f.meaning}", f"    pub {f.name}: f64,"]
            out += ["}", ""]
            if program.fields[0].value is not None:
                out += ["/// The robot's own numbers.", "pub const DEFAULT_PARAMETERS: Parameters = Parameters {"]
                out += [f"    {f.name}: {self.literal(float(f.value or 0.0))}," for f in program.fields]
                out += ["};", ""]
        out += bodies.helpers(_HELPERS)
        for table in bodies.tables:
            out += [table, ""]
        for r, body in bodies.routines:
            out += [*self.routine(r, body), ""]
        return {f"{program.prefix}.rs": "\n".join([*out, *self.tests(program)]) + "\n"}

    def routine(self, r: Routine, body: Statements) -> list[str]:
        arguments = ["p: &Parameters"] if r.uses_parameters else []
        arguments += [f"{v.name}: {'&' if v.shape else ''}{_type(v.shape)}" for v in r.arguments]
        types = [_type(v.shape) for v in r.results]
        returned = types[0] if len(types) == 1 else f"({', '.join(types)})"
        described = [f"* `{v.name}`: {v.meaning or 'number'}" for v in r.arguments]
        result = "Returns " + ", ".join(f"`{v.name}` ({v.meaning or 'number'})" for v in r.results)
        out = [
            f"/// {line}"
            for line in (f"{r.summary}.", "", *described, "", result, "", f"Operations: {r.operations()}.")
        ]
        out = [line.rstrip() for line in out]
        out.append(f"pub fn {r.name}({', '.join(arguments)}) -> {returned} {{")
        unused = [v.name for v in r.arguments if v.name not in body.read]
        if r.uses_parameters and not body.reads_parameters:
            unused.append("p")
        out += [f"    let _ = {name};" for name in unused] + body.lines
        values = [_nested(body.outputs[v.key], v.shape) for v in r.results]
        return [*out, f"    {values[0]}" if len(values) == 1 else f"    ({', '.join(values)})", "}"]

    def tests(self, program: SourceProgram) -> list[str]:
        if not any(r.samples for r in program.routines):
            return []
        out = ["#[cfg(test)]", "mod tests {", "    fn check(name: &str, found: &[f64], expected: &[f64], tolerance: f64) {",
               "        let scale = expected.iter().fold(1e-300_f64, |m, x| f64::max(m, x.abs()));",
               "        assert_eq!(found.len(), expected.len());",
               "        for (a, b) in found.iter().zip(expected) {",
               '            assert!((a - b).abs() <= tolerance * scale, "{name} gave {a} instead of {b}");',
               "        }", "    }"]  # fmt: skip
        for r in program.routines:
            for k, sample in enumerate(r.samples, start=1):
                out += ["", "    #[test]", f"    fn {r.name}_{k}() {{"]
                call = []
                if r.uses_parameters:
                    values = zip(program.fields, sample.inputs[PARAMETERS].tolist())
                    inside = ", ".join(f"{f.name}: {self.literal(value)}" for f, value in values)
                    out.append(f"        let p = super::Parameters {{ {inside} }};")
                    call.append("&p")
                for v in r.arguments:
                    texts = [self.literal(x) for x in sample.inputs[v.key].tolist()]
                    call.append(f"&{_nested(texts, v.shape)}" if v.shape else texts[0])
                out.append(f"        let found = super::{r.name}({', '.join(call)});")
                for j, v in enumerate(r.results):
                    one = "found" if len(r.results) == 1 else f"found.{j}"
                    flat = f"&[{one}]" if not v.shape else f"&{one}" + ".concat()" * (len(v.shape) - 1)
                    expected = self.numbers(sample.outputs[v.key], ",\n            ")
                    out.append(f'        check("{r.name} {v.name}", {flat}, &[{expected}], {r.tolerance!r});')
                out.append("    }")
        return [*out, "}"]


def _type(shape: Sequence[int]) -> str:
    return f"[{_type(shape[1:])}; {shape[0]}]" if shape else "f64"


def _nested(texts: Sequence[str], shape: Sequence[int]) -> str:
    """Texts in C order as nested array expressions, one row per line."""
    if not shape:
        return texts[0]
    if len(shape) == 1:
        return "[" + ", ".join(texts) + "]"
    step = len(texts) // shape[0] if shape[0] else 0
    rows = [_nested(texts[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]
    return "[\n        " + ",\n        ".join(rows) + ",\n    ]"
