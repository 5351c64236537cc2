"""LLVM text of what a loop computes ahead: all its turns side by side, before it begins (``lowering/ahead.py``).

The values stand in memory of the call, one lane for each turn. In code for several states they hold for all of them only if what they were made
from is the same in all; the loop looks, and where it is not every turn computes them for its states as it would have done.
"""

from __future__ import annotations

import copy
from typing import Any

from manipula.native.llvm.graph_text import Function, Module, is_condition
from manipula.native.lowering.ahead import Ahead


class Turns:
    """What one loop takes from before it."""

    def __init__(self, f: Function, plan: Ahead, block: Any) -> None:
        """Write the computation of all turns; ``block`` writes operations."""
        self.f, self.plan, self.block = f, plan, block
        self.lanes = 4 if plan.turns <= 4 else 8
        self.place = f.memory(len(plan.kept) * self.lanes)
        graph = f.module.graph
        given = [
            v
            for v in plan.needed
            if graph.operations[v].code == "input" and graph.operations[v].data[0] in graph.shared
        ]
        varying = [v for v in plan.needed if v not in given] if f.module.width > 1 else []
        self.same = self._agree(varying)
        if not self.same:
            self._all()
            return
        side, on = f.label("together"), f.label("on")
        f.do(f"br i1 {self.same}, label %{side}, label %{on}")
        f.start(side)
        saved = f.scope()
        self._all()
        f.leave(saved)
        f.do(f"br label %{on}")
        f.start(on)

    def _agree(self, varying: list[int]) -> str:
        """One bit: is each of these values the same in all states, bit by bit? Nothing where there are none."""
        f, W = self.f, self.f.module.width
        agreed = ""
        for v in varying:
            name, kind = f.get(v), "i64"
            if is_condition(f.module.graph.operations[v]):
                bits, kind = name, "i1"
            else:
                bits = f.let(f"bitcast {f.module.T} {name} to <{W} x i64>")
            first = f.splat(f.lane(bits, 0, kind), kind)
            equal = f.let(f"icmp eq <{W} x {kind}> {bits}, {first}")
            agreed = equal if not agreed else f.let(f"and <{W} x i1> {agreed}, {equal}")
        if not agreed:
            return ""
        return f.let(f"icmp eq i{W} {f.let(f'bitcast <{W} x i1> {agreed} to i{W}')}, -1")

    def _all(self) -> None:
        """All turns side by side, and what the loop asks for into memory."""
        f, plan, L = self.f, self.plan, self.lanes
        operations = f.module.graph.operations
        scalars = {v: f.lane(f.get(v), 0, "i1" if is_condition(operations[v]) else "double") for v in plan.needed}
        before = f.module, f.names, f.rows, f.load, f.defined, f.mask
        f.module, f.rows, f.defined, f.mask = _side_by_side(f.module, L), {}, None, None
        turns = ", ".join(f"double {float(min(k, plan.turns - 1))!r}" for k in range(L))
        f.names = {plan.number: f"<{turns}>"}
        f.load = lambda f, v: f.splat(scalars[v], "i1" if is_condition(operations[v]) else "double")
        self.block(f, plan.members)
        for k, v in enumerate(plan.kept):
            place = f.let(f"getelementptr double, ptr {self.place}, i64 {k * L}")
            f.do(f"store {f.module.T} {f.get(v)}, ptr {place}, align 8")
        f.module, f.names, f.rows, f.load, f.defined, f.mask = before

    def take(self, turn: str) -> None:
        """Inside the loop: bring the values of turn number ``turn`` to hand."""
        f, plan = self.f, self.plan
        if not self.same:
            self._loaded(turn)
            return
        load, usual, on = f.label("load"), f.label("usual"), f.label("on")
        f.do(f"br i1 {self.same}, label %{load}, label %{usual}")
        f.start(load)
        saved = f.scope()
        self._loaded(turn)
        loaded = [f.names[v] for v in plan.kept]
        f.leave(saved)
        f.do(f"br label %{on}")
        f.start(usual)
        saved, defined = f.scope(), f.defined
        f.defined = None  # nobody outside the loop asks for these
        self.block(f, plan.members)
        own, last = [f.get(v) for v in plan.kept], f.block
        f.defined = defined
        f.leave(saved)
        f.do(f"br label %{on}")
        f.start(on)
        for v, a, b in zip(plan.kept, loaded, own):
            f.names[v] = f.let(f"phi {f.module.T} [{a}, %{load}], [{b}, %{last}]")

    def _loaded(self, turn: str) -> None:
        f = self.f
        first = f.let(f"getelementptr double, ptr {self.place}, i64 {turn}")
        for k, v in enumerate(self.plan.kept):
            place = f.let(f"getelementptr double, ptr {first}, i64 {k * self.lanes}")
            f.names[v] = f.splat(f.let(f"load double, ptr {place}, align 8"))


def _side_by_side(module: Module, lanes: int) -> Module:
    """The same module with another number of lanes; what it has collected is shared."""
    wide = copy.copy(module)
    wide.set_width(lanes)
    return wide
