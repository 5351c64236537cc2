"""Calls of the mathematical library, several arguments in one call.

The library gives the same bits for one argument and for four or eight side by side, and a call with four costs little
more than a call with one. So sines, exponentials … whose arguments are known at the same time share a call: seven joint
angles of one state are two calls, and four states of seven joints are four.
"""

from __future__ import annotations

from manipula.native.llvm.graph_text import MATH, Function
from manipula.native.llvm.target import processor
from manipula.native.mathlib.functions import symbol

SIDE_BY_SIDE = {1: 4, 4: 8, 8: 8}
"""Doubles that one call should take, by the width of the code around it; code for one state takes eight where a register holds them."""

FORWARD = 12
"""Operations that are written before their turn so that one more argument can share a call."""

NOT_SIMPLE = MATH | {"loop", "pick", "gather", "locate", "length"}


class Calls:
    """The calls that one list of operations needs."""

    def __init__(self, f: Function, body: list[int]) -> None:
        self.f = f
        operations, partners = f.module.graph.operations, f.module.partners
        silent = ("const", "input", "param")
        self.pending = {n for n in body if operations[n].code not in silent and n not in f.done}
        self.waiting: dict[str, list[int]] = {}
        for n in body:
            code = operations[n].code
            if n in partners:
                if code == "sin":
                    self.waiting.setdefault("sincos", []).append(n)
            else:
                self.waiting.setdefault(code, []).append(n)

    def write(self, n: int) -> None:
        """Write the call of operation ``n`` together with others that can be computed now."""
        f = self.f
        if n in f.names:
            return
        operations, width = f.module.graph.operations, f.module.width
        code = operations[n].code
        partner = f.module.partners.get(n)
        if partner is not None:
            code = "sincos"
            n = n if operations[n].code == "sin" else partner
        queue = self.waiting.get(code, [])
        most = SIDE_BY_SIDE[width] if width > 1 else processor().width
        limit = most // width
        group = [n]
        for m in queue:
            if len(group) == limit:
                break
            if m != n and m not in f.names and self._brought_forward(m):
                group.append(m)
        taken = set(group)
        self.waiting[code] = [m for m in queue if m not in taken]
        wide = next(w for w in (width, SIDE_BY_SIDE[width], most) if w >= len(group) * width)
        self._call(code, group, wide)

    def _brought_forward(self, m: int) -> bool:
        """Can the arguments of operation ``m`` be at hand now? A few operations that stand further on are written for it."""
        operations = self.f.module.graph.operations
        missing: set[int] = set()
        todo = list(operations[m].args)
        while todo:
            a = todo.pop()
            if a in self.pending and a not in missing:
                if operations[a].code in NOT_SIMPLE or len(missing) == FORWARD:
                    return False
                missing.add(a)
                todo.extend(operations[a].args)
        for a in sorted(missing):  # numbers grow from arguments to results
            self.f.operation(a, operations[a])
        self.pending -= missing
        return True

    def _call(self, code: str, group: list[int], wide: int) -> None:
        f = self.f
        module = f.module
        operations, partners = module.graph.operations, module.partners
        module.math.add((code, wide))
        kind = "double" if wide == 1 else f"<{wide} x double>"
        arguments = []
        for place in range(len(operations[group[0]].args)):
            parts = [f.get(operations[m].args[place]) for m in group]
            arguments.append(self._joined(parts, wide))
        given = ", ".join(f"{kind} {a}" for a in arguments)
        called = symbol(code, wide)
        if code == "sincos":
            both = f.let(f"call {{{kind}, {kind}}} {called}({given})")
            sines = self._parts(f.let(f"extractvalue {{{kind}, {kind}}} {both}, 0"), len(group), wide)
            cosines = self._parts(f.let(f"extractvalue {{{kind}, {kind}}} {both}, 1"), len(group), wide)
            for m, sine, cosine in zip(group, sines, cosines):
                f.set(m, sine)
                f.set(partners[m], cosine)
                self.pending -= {m, partners[m]}
            return
        for m, value in zip(group, self._parts(f.let(f"call {kind} {called}({given})"), len(group), wide)):
            f.set(m, value)
            self.pending.discard(m)

    def _joined(self, parts: list[str], wide: int) -> str:
        """Arguments side by side; places left over repeat the first."""
        f, width = self.f, self.f.module.width
        if wide == width:
            return parts[0]
        parts = parts + [parts[0]] * (wide // width - len(parts))
        if width == 1:
            vector = "poison"
            for k, part in enumerate(parts):
                vector = f.let(f"insertelement <{wide} x double> {vector}, double {part}, i32 {k}")
            return vector
        picks = ", ".join(f"i32 {k}" for k in range(wide))
        kind = f"<{width} x double>"
        return f.let(f"shufflevector {kind} {parts[0]}, {kind} {parts[1]}, <{wide} x i32> <{picks}>")

    def _parts(self, vector: str, count: int, wide: int) -> list[str]:
        f, width = self.f, self.f.module.width
        if wide == width:
            return [vector]
        if width == 1:
            return [f.let(f"extractelement <{wide} x double> {vector}, i32 {k}") for k in range(count)]
        found = []
        for k in range(count):
            picks = ", ".join(f"i32 {k * width + j}" for j in range(width))
            kind = f"<{wide} x double>"
            found.append(f.let(f"shufflevector {kind} {vector}, {kind} poison, <{width} x i32> <{picks}>"))
        return found
