"""LLVM text of a graph's straight-line arithmetic, one state or W states side by side.

A :class:`Function` is one LLVM function of a graph being written. Every value of the graph is a ``double`` (W = 1) or a
``<W x double>``; truth values are ``i1`` or ``<W x i1>``. The same graph gives the same sequence of IEEE operations for
every W, with explicit fused multiply-adds and no fast-math flags, hence the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from manipula.native.llvm_text import FunctionText, hexadecimal
from manipula.native.lowering.passes import long_loops
from manipula.native.tracing.graph import Graph, Operation
from manipula.native.tracing.nodes import CONDITIONS

_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARISON = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
_INTRINSIC = {"sqrt": "sqrt", "abs": "fabs", "floor": "floor"}
MATH = frozenset({"sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "sinh", "cosh", "tanh", "atan2", "pow"})


class Module:
    """Pieces of text that become one LLVM module; ``width`` states side by side."""

    def __init__(self, graph: Graph, width: int, attributes: str = "nounwind") -> None:
        self.graph, self.attributes = graph, attributes
        self.set_width(width)
        self.functions: list[str] = []
        self.globals: list[str] = []
        self.declared: dict[str, str] = {}
        self.math: set[tuple[str, int]] = set()
        self.arrays: dict[int, tuple[str, Any]] = {}
        self.input_place = {name: k for k, name in enumerate(graph.inputs)}
        self.size_place = {}
        for shape in graph.inputs.values():
            for d in shape:
                if isinstance(d, str):
                    self.size_place.setdefault(d, len(self.size_place))
        self.long_loops = long_loops(graph)
        self.stop_place = len(graph.inputs) + bool(self.size_place)  # of the stop flag among the inputs
        self.partners = _sincos_partners(graph)
        self.picks: dict[int, list[tuple[int, int]]] = {}  # loop → (operation that takes a result, which one)
        for n, op in enumerate(graph.operations):
            if op.code == "pick":
                self.picks.setdefault(op.args[0], []).append((n, op.data))

    def set_width(self, width: int) -> None:
        """Write for so many states side by side from here on."""
        self.width = width
        self.T = "double" if width == 1 else f"<{width} x double>"
        self.B = "i1" if width == 1 else f"<{width} x i1>"
        self.suffix = "f64" if width == 1 else f"v{width}f64"
        self.constants: dict[str, str] = {}

    def constant(self, x: float) -> str:
        """The literal of ``x`` in every lane."""
        key = hexadecimal(x)
        text = self.constants.get(key)
        if text is None:
            text = key if self.width == 1 else "<" + ", ".join([f"double {key}"] * self.width) + ">"
            self.constants[key] = text
        return text

    def truth(self, value: bool) -> str:
        """The literal of a truth value in every lane."""
        one = "true" if value else "false"
        return one if self.width == 1 else "<" + ", ".join([f"i1 {one}"] * self.width) + ">"

    def intrinsic(self, name: str, arguments: int) -> str:
        """The name of an LLVM intrinsic on values of this width."""
        full = f"@llvm.{name}.{self.suffix}"
        self.declared[full] = f"declare {self.T} {full}({', '.join([self.T] * arguments)})"
        return full

    def array(self, source: Any) -> str:
        """The global of a baked array."""
        known = self.arrays.get(id(source))
        if known is None:
            name = f"@table{len(self.arrays)}"
            numbers = source.numbers.ravel()
            text = ", ".join([f"double {hexadecimal(x)}" for x in numbers.tolist()])
            self.globals.append(f"{name} = private unnamed_addr constant [{len(numbers)} x double] [{text}], align 64")
            known = self.arrays[id(source)] = (name, source)
        return known[0]


def _sincos_partners(graph: Graph) -> dict[int, int]:
    """For every sine whose cosine is wanted too the other operation, and the reverse."""
    sines: dict[int, int] = {op.args[0]: n for n, op in enumerate(graph.operations) if op.code == "sin"}
    partners: dict[int, int] = {}
    for n, op in enumerate(graph.operations):
        if op.code == "cos" and op.args[0] in sines:
            partners[n] = sines[op.args[0]]
            partners[sines[op.args[0]]] = n
    return partners


class Function(FunctionText):
    """One LLVM function being written; ``names`` maps values of the graph to what holds them here."""

    def __init__(self, module: Module, head: str, load: Callable[[Function, int], str] | None = None) -> None:
        super().__init__(head)
        self.module, self.load = module, load
        self.names: dict[int, str] = {}
        self.rows: dict[Any, Any] = {}  # loaded groups of inputs and table rows
        self.defined: Callable[[Function, int], None] | None = None
        self.outline: Any = None  # the plan of a graph that is cut into several functions (segments.py)
        self.done: set[int] = set()  # values that other functions have computed before
        self.mask: str | None = None
        self.lines.append("")  # memory of this call, see below

    def memory(self, numbers: int) -> str:
        """Memory for so many numbers, taken once when the function begins."""
        name = f"%m{self.label('')}"
        self.lines[1] += f"  {name} = alloca double, i64 {numbers}, align 64\n"
        return name

    def finish(self) -> None:
        """Hand the text to the module."""
        self.module.functions.append(self.text(self.module.attributes))

    def scope(self) -> tuple[dict, dict]:
        """Remember which values are at hand; what is loaded inside a branch is not at hand after it."""
        saved = (self.names, self.rows)
        self.names, self.rows = dict(self.names), dict(self.rows)
        return saved

    def leave(self, saved: tuple[dict, dict]) -> None:
        """Forget what a branch loaded."""
        self.names, self.rows = saved

    def get(self, v: int) -> str:
        """What holds value ``v`` here."""
        name = self.names.get(v)
        if name is None:
            op = self.module.graph.operations[v]
            if op.code == "const":
                name = self.module.constant(op.data)
            elif self.load is not None:
                name = self.load(self, v)
            else:
                raise AssertionError(f"value {v} ({op.code}) is not at hand")
            self.names[v] = name
        return name

    def set(self, v: int, name: str) -> None:
        """Value ``v`` is held by ``name`` from here on."""
        self.names[v] = name
        if self.defined is not None:
            self.defined(self, v)

    def splat(self, scalar: str, kind: str = "double") -> str:
        """One scalar in every lane."""
        W = self.module.width
        if W == 1:
            return scalar
        first = self.let(f"insertelement <{W} x {kind}> poison, {kind} {scalar}, i32 0")
        return self.let(f"shufflevector <{W} x {kind}> {first}, <{W} x {kind}> poison, <{W} x i32> zeroinitializer")

    def lane(self, vector: str, k: int, kind: str = "double") -> str:
        """Lane ``k`` of a vector."""
        W = self.module.width
        return vector if W == 1 else self.let(f"extractelement <{W} x {kind}> {vector}, i32 {k}")

    def any(self, mask: str) -> str:
        """One bit: does the mask hold in some lane?"""
        W = self.module.width
        if W == 1:
            return mask
        bits = self.let(f"bitcast <{W} x i1> {mask} to i{W}")
        return self.let(f"icmp ne i{W} {bits}, 0")

    def select(self, condition: str, a: str, b: str) -> str:
        """Lane by lane choice."""
        if a == b:
            return a
        m = self.module
        return self.let(f"select {m.B} {condition}, {m.T} {a}, {m.T} {b}")

    def call(self, name: str, *args: str) -> str:
        """An LLVM intrinsic on values."""
        m = self.module
        return self.let(f"call {m.T} {m.intrinsic(name, len(args))}({', '.join(f'{m.T} {a}' for a in args)})")

    # ------------------------------------------------------------------ operations
    def operation(self, n: int, op: Operation) -> None:
        """Write one operation of the graph (not loops, inputs, tables)."""
        code, args, _ = op
        if n in self.names or code == "const":
            return
        m = self.module
        T = m.T
        a = [self.get(v) for v in args]
        if code in _ARITHMETIC:
            name = self.let(f"{_ARITHMETIC[code]} {T} {a[0]}, {a[1]}")
        elif code == "fma":
            name = self.call("fma", *a)
        elif code == "fms":
            name = self.call("fma", a[0], a[1], self.negated(a[2]))
        elif code == "fnma":
            name = self.call("fma", self.negated(a[0]), a[1], a[2])
        elif code == "neg":
            name = self.negated(a[0])
        elif code == "select":
            name = self.select(*a)
        elif code in _COMPARISON:
            name = self.let(f"fcmp {_COMPARISON[code]} {T} {a[0]}, {a[1]}")
        elif code in ("and", "or"):
            name = self.let(f"{code} {m.B} {a[0]}, {a[1]}")
        elif code == "not":
            name = self.let(f"xor {m.B} {a[0]}, {m.truth(True)}")
        elif code in _INTRINSIC:
            name = self.call(_INTRINSIC[code], a[0])
        elif code == "sign":
            below = self.let(f"fcmp olt {T} {a[0]}, {m.constant(0.0)}")
            above = self.let(f"fcmp ogt {T} {a[0]}, {m.constant(0.0)}")
            name = self.select(above, m.constant(1.0), self.select(below, m.constant(-1.0), a[0]))
        elif code in ("minimum", "maximum"):
            first = self.let(f"fcmp {'olt' if code == 'minimum' else 'ogt'} {T} {a[0]}, {a[1]}")
            # one instruction of most processors, but for a first argument that is no number
            chosen = self.select(first, a[0], a[1])
            name = self.select(self.let(f"fcmp uno {T} {a[0]}, {a[0]}"), a[0], chosen)
        else:
            raise AssertionError(code)
        self.set(n, name)

    def negated(self, a: str) -> str:
        """``−a``."""
        return self.let(f"fneg {self.module.T} {a}")


def is_condition(op: Operation) -> bool:
    """Whether the value of the operation is a truth value."""
    return op.code in CONDITIONS
