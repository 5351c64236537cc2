"""Large graphs as several functions that pass values through a workspace.

The time LLVM needs for one function grows faster than its length. A graph that is too long for one function is cut into
segments of about :data:`~.target.SEGMENT` operations, each a function of its own; values that cross a border have a slot in the
workspace. Loops that are too long run in the calling function and call the segments of their bodies.
"""

from __future__ import annotations

from manipula.native.llvm import memory, target
from manipula.native.llvm.graph_text import Function, Module, is_condition
from manipula.native.tracing.graph import Graph, Loop, core_size

STORE = 2
"""What writing an output counts for: LLVM compares every store with those around it."""

_SILENT = frozenset({"const", "input", "param", "pick"})


def weight(graph: Graph, body: list[int]) -> int:
    """Operations in a body, with those of the loops inside it."""
    total = 0
    for n in body:
        op = graph.operations[n]
        if op.code == "loop":
            total += weight(graph, op.data.body) + weight(graph, op.data.record_body)
        if op.code not in _SILENT:
            total += 1
    return total


class Outline:
    """The plan by which a graph is cut: slots of values, functions already written."""

    def __init__(self, module: Module) -> None:
        self.module = module
        graph = module.graph
        self.users: dict[int, list[int]] = {}
        for n, op in enumerate(graph.operations):
            for a in op.args:
                self.users.setdefault(a, []).append(n)
            if op.code == "loop":
                for v in op.data.inner():
                    self.users.setdefault(v, []).append(n)
        self.places: dict[int, list[int]] = {}  # value → slots of outputs that it fills
        self.slots: dict[int, int] = {}
        self.done: set[int] = set()
        self.count = 0
        self.input_start: dict[str, int] = {}
        self.output_start: dict[str, int] = {}
        for name, shape in graph.inputs.items():
            if name not in graph.shared:
                self.input_start[name] = self._reserve(core_size(shape))
        for name, values in graph.output_values.items():
            start = self.output_start[name] = self._reserve(len(values))
            for k, v in enumerate(values):
                self.places.setdefault(v, []).append(start + k)
        self.functions = 0

    def _reserve(self, slots: int) -> int:
        self.count += slots
        return self.count - slots

    # ------------------------------------------------------------------ slots
    def pointer(self, f: Function, slot: int) -> str:
        """Where a slot stands."""
        return memory.address(f, "%workspace", slot * self.module.width)

    def slot(self, v: int) -> int:
        """The slot of a value."""
        op = self.module.graph.operations[v]
        if op.code == "input":
            return self.input_start[op.data[0]] + op.data[1]
        found = self.slots.get(v)
        if found is None:
            found = self.slots[v] = self._reserve(1)
        return found

    def load(self, f: Function, v: int) -> str:
        """Read a value from its slot (or a shared input from where it stands)."""
        from manipula.native.llvm.lookups import input_pointer

        module = self.module
        op = module.graph.operations[v]
        if op.code == "input" and op.data[0] in module.graph.shared:
            place = memory.address(f, input_pointer(f, module.input_place[op.data[0]]), op.data[1])
            return f.splat(f.let(f"load double, ptr {place}, align 8"))
        name = f.let(f"load {module.T}, ptr {self.pointer(f, self.slot(v))}, align {8 * module.width}")
        if is_condition(op):
            return f.let(f"fcmp une {module.T} {name}, {module.constant(0.0)}")
        return name

    def store(self, f: Function, v: int, slot: int) -> None:
        """Write a value that is at hand into a slot."""
        module = self.module
        name = f.get(v)
        if is_condition(module.graph.operations[v]):
            name = f.select(name, module.constant(1.0), module.constant(0.0))
        f.do(f"store {module.T} {name}, ptr {self.pointer(f, slot)}, align {8 * module.width}")

    def keep(self, f: Function, v: int, inside: set[int]) -> None:
        """Write a value just computed where others will look for it."""
        self.done.add(v)
        if any(u not in inside for u in self.users.get(v, ())):
            self.store(f, v, self.slot(v))
        for slot in self.places.get(v, ()):
            self.store(f, v, slot)

    # ------------------------------------------------------------------ functions
    def run(self, f: Function, body: list[int]) -> None:
        """Write the calls (and loops) that perform ``body``."""
        from manipula.native.llvm.blocks import loop_results

        graph = self.module.graph
        segment: list[int] = []
        size = 0
        for n in body:
            op = graph.operations[n]
            if op.code in _SILENT:
                continue
            load = weight(graph, [n]) + STORE * len(self.places.get(n, ()))
            if op.code == "loop" and (load > target.SEGMENT or any(s.loop == n for s in graph.sampled.values())):
                self._segment(f, segment)
                segment, size = [], 0
                loop_results(f, n, op.data)
                continue
            if size + load > target.SEGMENT:
                self._segment(f, segment)
                segment, size = [], 0
            segment.append(n)
            size += load
        self._segment(f, segment)

    def _segment(self, caller: Function, body: list[int]) -> None:
        if not body:
            return
        from manipula.native.llvm.blocks import block

        inside = members(self.module.graph, body)
        name = f"@segment{self.functions}"
        self.functions += 1
        f = Function(
            self.module, f"define internal void {name}(ptr noalias %workspace, ptr noalias %inputs)", self.load
        )
        f.done = self.done
        f.defined = lambda f, v: self.keep(f, v, inside)
        block(f, body)
        f.do("ret void")
        f.finish()
        caller.do(f"call void {name}(ptr %workspace, ptr %inputs)")

    def body(self, f: Function, inputs: dict[str, list[str]], outputs: dict[str, list[str]]) -> None:
        """The whole graph, called from this function: rows → slots, segments, slots → rows."""
        graph = self.module.graph
        for name, start in self.input_start.items():
            self._rows(f, "in", inputs[name], start, core_size(graph.inputs[name]))
        f.load, f.outline = self.load, self
        f.defined = lambda f, v: self.keep(f, v, set())
        self.run(f, graph.body)
        rest = [(v, slot) for v, slots in self.places.items() if v not in self.done for slot in slots]
        for start in range(0, len(rest), target.SEGMENT):
            self._copies(f, rest[start : start + target.SEGMENT])
        for name, start in self.output_start.items():
            self._rows(f, "out", outputs[name], start, len(graph.output_values[name]))

    def _copies(self, caller: Function, pairs: list[tuple[int, int]]) -> None:
        """Constants and inputs that are outputs themselves."""
        name = f"@segment{self.functions}"
        self.functions += 1
        f = Function(
            self.module, f"define internal void {name}(ptr noalias %workspace, ptr noalias %inputs)", self.load
        )
        for v, slot in pairs:
            self.store(f, v, slot)
        f.do("ret void")
        f.finish()
        caller.do(f"call void {name}(ptr %workspace, ptr %inputs)")

    def _rows(self, f: Function, direction: str, lanes: list[str], start: int, columns: int) -> None:
        name = _rows_function(self.module, direction)
        given = ", ".join(f"ptr {p}" for p in lanes)
        f.do(f"call void {name}({given}, ptr {self.pointer(f, start)}, i64 {columns})")


def members(graph: Graph, body: list[int]) -> set[int]:
    """The operations of a body and of the loops inside it."""
    found = set(body)
    for n in body:
        op = graph.operations[n]
        if op.code == "loop":
            loop: Loop = op.data
            found |= members(graph, loop.body) | members(graph, loop.record_body)
    return found


def _rows_function(module: Module, direction: str) -> str:
    """A function that copies rows into consecutive slots, or back; four columns at a time, then one by one."""
    name = f"@rows_{direction}"
    if name in module.declared:
        return name
    module.declared[name] = ""
    W, T = module.width, module.T
    lanes = [f"%p{k}" for k in range(W)]
    given = ", ".join(f"ptr {p}" for p in lanes)
    f = Function(module, f"define internal void {name}({given}, ptr %slots, i64 %columns)")
    stages = ((4, "%columns"),) if W > 1 else ()
    before, first = "entry", "0"
    for group, _ in (*stages, (1, "")):
        head, inner, after = f"head{group}", f"body{group}", f"after{group}"
        f.do(f"br label %{head}")
        f.start(head)
        j = f"%j{group}"
        f.do(f"{j} = phi i64 [{first}, %{before}], [{j}next, %{inner}]")
        f.do(f"{j}next = add i64 {j}, {group}")
        f.do(f"br i1 {f.let(f'icmp sle i64 {j}next, %columns')}, label %{inner}, label %{after}")
        f.start(inner)
        here = [memory.address(f, p, j) for p in lanes]
        slot = memory.address(f, "%slots", f.let(f"mul i64 {j}, {W}"))
        slots = [memory.address(f, slot, k * W) for k in range(group)]
        if direction == "in":
            values = memory.load_group(f, here, 0) if group == 4 else [memory.load_column(f, here, 0)]
            for place, value in zip(slots, values):
                f.do(f"store {T} {value}, ptr {place}, align {8 * W}")
        else:
            values = [f.let(f"load {T}, ptr {place}, align {8 * W}") for place in slots]
            if group == 4:
                memory.store_group(f, here, 0, values)
            else:
                memory.store_column(f, here, 0, values[0])
        f.do(f"br label %{head}")
        f.start(after)
        before, first = after, j
    f.do("ret void")
    f.finish()
    return name
