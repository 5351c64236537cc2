"""Julia: one module, generic in the number type (automatic differentiation goes through), in place or allocating."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from manipula.codegen.base import COMPARISONS, FUSED, PARAMETERS, Language, Routine, RoutineVariable, SourceProgram
from manipula.codegen.names import RESERVED
from manipula.codegen.statements import ProgramBodies, Statements

_HELPERS = {
    "sqrt": "real_sqrt(x) = x < 0 ? oftype(float(x), NaN) : sqrt(x)",
    "log": "real_log(x) = x < 0 ? oftype(float(x), NaN) : log(x)",
    "asin": "real_asin(x) = abs(x) > 1 ? oftype(float(x), NaN) : asin(x)",
    "acos": "real_acos(x) = abs(x) > 1 ? oftype(float(x), NaN) : acos(x)",
    "pow": "real_power(a, b) = a < 0 && !isinteger(b) ? oftype(float(a), NaN) : a^b",
    "locate": "locate(breaks, x) = clamp(searchsortedlast(breaks, x), 1, length(breaks) - 1) - 1",
}
_SAME = ("floor", "abs", "sign", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "exp")


class Julia(Language):
    """Arrays in, arrays out; ``f!(results..., arguments...)`` writes into arrays that exist."""

    name = "julia"
    infinite = ("Inf", "-Inf", "NaN")
    calls: ClassVar[Mapping[str, str]] = {
        **{code: f"{code}({{0}})" for code in _SAME},
        **{code: f"real_{code}({{0}})" for code in ("sqrt", "log", "asin", "acos")},
        "pow": "real_power({0}, {1})", "atan2": "atan({0}, {1})", "minimum": "min({0}, {1})", "maximum": "max({0}, {1})",
        "select": "ifelse({0}, {1}, {2})",
        **COMPARISONS,
        "and": "{0} & {1}", "or": "{0} | {1}", "not": "!{0}",
        **FUSED,
    }  # fmt: skip

    def entry(self, value: RoutineVariable, k: int) -> str:
        return f"{value.name}{_index(value.shape, k)}" if value.shape else value.name

    def table(self, name: str, numbers: np.ndarray) -> str:
        return f"const {name} = [{self.numbers(numbers)}]"

    def gather(self, table: str, columns: int, row: str, column: int) -> str:
        return f"{table}[{row} * {columns} + {column + 1}]"

    # ------------------------------------------------------------------ files
    def files(self, program: SourceProgram) -> dict[str, str]:
        x = program.prefix
        return {f"{x}.jl": self.module(program), f"{x}_test.jl": self.test(program)}

    def module(self, program: SourceProgram) -> str:
        bodies = ProgramBodies(self, program)
        out = [*self.comments(program.header), f"module {_module(program)}", ""]
        out += self.parameters(program)
        out += [*bodies.helpers(_HELPERS), *bodies.tables]
        for r, body in bodies.routines:
            out += ["", *self.routine(r, body)]
        return "\n".join([*out, "", "end"]) + "\n"

    def parameters(self, program: SourceProgram) -> list[str]:
        fields = program.fields
        if not fields:
            return []
        out = ["struct Parameters{N<:Real}", *[f"    {f.name}::N  # {f.meaning}" for f in fields], "end", ""]
        names = ", ".join(f.name for f in fields)
        out += ["number_of(::Parameters{N}) where {N} = N"]
        out += [f"Parameters(; {names}) = Parameters(promote({names})...)", ""]
        if fields[0].value is not None:
            out += [f"const default_parameters = Parameters({self.numbers([f.value for f in fields])})", ""]
        return out

    def routine(self, r: Routine, body: Statements) -> list[str]:
        arguments = [*(["p"] if r.uses_parameters else []), *[v.name for v in r.arguments]]
        described = [v.described for v in (*r.arguments, *r.results)]
        out = self.comments([f"{r.name}: {r.summary}.", *described, f"Operations: {r.operations()}."])
        arrays = [v for v in r.results if v.shape]
        inside = len(arrays) == len(r.results)
        results = ", ".join(v.name for v in r.results)
        made = [f"{v.name} = zeros(number, {', '.join(map(str, v.shape))})" for v in arrays]
        types = [f"eltype({v.name})" if v.shape else f"typeof({v.name})" for v in r.arguments]
        types += ["number_of(p)"] if r.uses_parameters else []
        kind = f"number = float(promote_type({', '.join(types)}))"
        computed = list(body.lines)
        for v in r.results:
            texts = body.outputs[v.key]
            computed += [f"    {v.name}{_index(v.shape, k)} = {t}" for k, t in enumerate(texts)] if v.shape else [
                f"    {v.name} = {texts[0]}"]  # fmt: skip
        if not inside:
            setup = [f"    {line}" for line in ([kind, *made] if arrays else [])]
            return [
                *out,
                f"function {r.name}({', '.join(arguments)})",
                *setup,
                *computed,
                f"    return {results}",
                "end",
            ]
        every = ", ".join([*[v.name for v in r.results], *arguments])
        out += [f"function {r.name}!({every})", *computed, f"    return {results}", "end", ""]
        out += [f"function {r.name}({', '.join(arguments)})", f"    {kind}", *[f"    {line}" for line in made]]
        return [*out, f"    return {r.name}!({every})", "end"]

    def test(self, program: SourceProgram) -> str:
        x = _module(program)
        out = [*self.comments([f"Compares {x} with stored numbers."]), "using Test", f'include("{program.prefix}.jl")', "",
               "check(found, expected, tolerance) = maximum(abs.(vec(collect(found)) .- vec(expected)); init=0.0) <=",
               "    tolerance * max(maximum(abs.(expected); init=0.0), 1e-300)", "", f'@testset "{x}" begin']  # fmt: skip
        for r in program.routines:
            for sample in r.samples:
                call = []
                if r.uses_parameters:
                    call.append(f"{x}.Parameters({self.numbers(sample.inputs[PARAMETERS])})")
                call += [self.array(v, sample.inputs[v.key]) for v in r.arguments]
                out.append(f"    found = {x}.{r.name}({', '.join(call)})")
                for j, v in enumerate(r.results):
                    one = "found" if len(r.results) == 1 else f"found[{j + 1}]"
                    expected = self.array(v, sample.outputs[v.key])
                    out.append(f"    @test check({one}, {expected if v.shape else f'[{expected}]'}, {r.tolerance!r})")
        return "\n".join([*out, "end"]) + "\n"

    def array(self, value: RoutineVariable, flat: np.ndarray) -> str:
        """Numbers given row by row as an array of the value's shape."""
        if not value.shape:
            return self.literal(float(flat[0]))
        columns = np.asarray(flat).reshape(value.shape).ravel(order="F")
        vector = f"[{self.numbers(columns)}]"
        return vector if len(value.shape) == 1 else f"reshape({vector}, {', '.join(map(str, value.shape))})"


def _module(program: SourceProgram) -> str:
    """``my_arm`` → ``MyArm``; never the name of a function inside it, which Julia would refuse."""
    name = "".join(part[:1].upper() + part[1:] for part in program.prefix.split("_"))
    clash = name.lower() in RESERVED or any(r.name == name for r in program.routines)
    return f"{name}Module" if clash else name


def _index(shape: tuple[int, ...], k: int) -> str:
    return "[" + ", ".join(str(i + 1) for i in np.unravel_index(k, shape)) + "]"
