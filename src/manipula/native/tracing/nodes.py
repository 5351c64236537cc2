"""Making nodes: hash consing, folding of constants, and the rules of arithmetic.

Rules applied while tracing (all deterministic; ``c`` is a constant)::

    x + 0 = x        x·0 = 0       x·1 = x      x − x = 0      −(−x) = x      b − a = −(a − b)
    (−a)·b = −(a·b)  (−c)·x = −(c·x)            c₁·(c₂·x) = (c₁c₂)·x          a + (−b) = a − b
    x / c = x·(1/c)  sin(−x) = −sin x           cos(−x) = cos x               x³ = x·(x·x)

They treat x − x and 0·x as exact zeros, also where x would be infinite or not a number at run time.
"""

from __future__ import annotations

import math
import struct
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from manipula.errors import TracingError
from manipula.native.tracing.tracer import Condition, Node, TracedValue

_REAL = (float, int, np.floating, np.integer)
_pack = struct.Struct("<d").pack
_state = threading.local()
_ODD = frozenset({"sin", "tan", "asin", "atan", "sinh", "tanh", "sign"})
_EVEN = frozenset({"cos", "cosh", "abs"})


def _fold(function: Callable[..., Any]) -> Callable[..., float]:
    def folded(*values: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(*values))

    return folded


FOLD: dict[str, Callable[..., float]] = {
    name: _fold(function)
    for name, function in {
        "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
        "exp": np.exp, "log": np.log, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "sqrt": np.sqrt,
        "floor": np.floor, "sign": np.sign, "abs": np.abs, "atan2": np.arctan2, "pow": np.power,
        "minimum": np.minimum, "maximum": np.maximum, "div": np.divide,
    }.items()
}  # fmt: skip
"""What an operation does to plain numbers (constants are folded with it)."""


CONDITIONS = frozenset({"lt", "le", "eq", "ne", "and", "or", "not"})
"""Operations whose result is a truth value."""


def current() -> GraphBuilder | None:
    """The builder of the trace that is running in this thread, if any."""
    stack = getattr(_state, "stack", None)
    return stack[-1] if stack else None


class GraphBuilder:
    """Makes and keeps the nodes of one trace; entering it (``with builder:``) makes it the current one."""

    def __init__(self) -> None:
        self.values: list[TracedValue] = []
        self.table: dict[Any, TracedValue] = {}
        self.depth = 0  # how many loop bodies are being traced at this moment
        self.arrays: dict[bytes, Any] = {}  # numbers of tables, by content
        self.loops = 0  # how many loops were begun

    def __enter__(self) -> GraphBuilder:
        if not hasattr(_state, "stack"):
            _state.stack = []
        _state.stack.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _state.stack.pop()

    # ------------------------------------------------------------------ making nodes
    def fresh(self, code: str, args: tuple[TracedValue, ...] = (), data: Any = None) -> Node:
        """A new node that equals no other one (inputs, loop variables, loops)."""
        node = Node(self, len(self.values), code, args, data)
        self.values.append(node)
        return node

    def make(self, code: str, args: tuple[TracedValue, ...], data: Any = None) -> Node:
        """The node of this operation, new only if there is none yet; no simplification."""
        key = (code, data, *[a.index for a in args])
        found = self.table.get(key)
        if found is None:
            kind = Condition if code in CONDITIONS else Node
            found = kind(self, len(self.values), code, args, data)
            self.values.append(found)
            self.table[key] = found
        return found  # type: ignore[return-value]

    def const(self, value: float) -> Node:
        """The node of a number."""
        key = value or _pack(value)  # the two zeros are equal but not the same
        found = self.table.get(key)
        if found is None:
            found = Node(self, len(self.values), "const", (), float(value))
            self.values.append(found)
            self.table[key] = found
        return found  # type: ignore[return-value]

    def accept(self, x: Any) -> Node | None:
        """A node for a plain number, ``None`` for what is not a real number (NumPy arrays, Taylor numbers)."""
        if x.__class__ is float:
            return self.const(x)
        if isinstance(x, _REAL):
            return self.const(float(x))
        return x if isinstance(x, Node) else None

    def lift(self, x: Any) -> Node:
        """A node of this builder for a number or a node."""
        if isinstance(x, Node):
            if x.builder is not self:
                raise TracingError("a number of another trace was used; pass it in as an input instead.")
            return x
        if isinstance(x, np.ndarray) and x.ndim == 0:
            return self.lift(x.item())
        if isinstance(x, (*_REAL, np.bool_)):
            return self.const(float(x))
        raise TracingError(f"expected a number or a traced number, got {type(x).__name__}.")

    # ------------------------------------------------------------------ arithmetic with its rules
    def add(self, a: Node, b: Node) -> Node:
        if a.builder is not b.builder:
            raise TracingError("numbers of two different traces were added; pass one in as an input instead.")
        ca, cb = a.code, b.code
        if ca == "const":
            if cb == "const":
                return self.const(a.data + b.data)
            if a.data == 0.0:
                return b
        elif cb == "const" and b.data == 0.0:
            return a
        if cb == "neg":
            return self.sub(a, b.args[0])  # type: ignore[arg-type]
        if ca == "neg":
            return self.sub(b, a.args[0])  # type: ignore[arg-type]
        i, j = a.index, b.index
        key = ("add", i, j) if i < j else ("add", j, i)
        found = self.table.get(key)
        if found is None:
            found = Node(self, len(self.values), "add", (a, b) if i < j else (b, a), None)
            self.values.append(found)
            self.table[key] = found
        return found  # type: ignore[return-value]

    def sub(self, a: Node, b: Node) -> Node:
        if a is b:
            return self.const(0.0)
        if a.builder is not b.builder:
            raise TracingError("numbers of two different traces were subtracted; pass one in as an input instead.")
        ca, cb = a.code, b.code
        if cb == "const":
            if ca == "const":
                return self.const(a.data - b.data)
            if b.data == 0.0:
                return a
            return self.add(a, self.const(-b.data))
        if cb == "neg":
            return self.add(a, b.args[0])  # type: ignore[arg-type]
        if ca == "const":
            if a.data == 0.0:
                return self.neg(b)
        elif ca == "neg":
            return self.neg(self.add(a.args[0], b))  # type: ignore[arg-type]
        key = ("sub", a.index, b.index)
        found = self.table.get(key)
        if found is None:
            opposite = self.table.get(("sub", b.index, a.index))
            if opposite is not None:
                return self.neg(opposite)  # type: ignore[arg-type]
            found = Node(self, len(self.values), "sub", (a, b), None)
            self.values.append(found)
            self.table[key] = found
        return found  # type: ignore[return-value]

    def mul(self, a: Node, b: Node) -> Node:
        if a.builder is not b.builder:
            raise TracingError("numbers of two different traces were multiplied; pass one in as an input instead.")
        if b.code == "const":
            a, b = b, a
        if a.code == "const":
            c = a.data
            if b.code == "const":
                return self.const(c * b.data)
            if c == 0.0:
                return self.const(0.0)
            if c == 1.0:
                return b
            if c == -1.0:
                return self.neg(b)
            if b.code == "neg":
                return self.mul(self.const(-c), b.args[0])  # type: ignore[arg-type]
            if c < 0.0:
                return self.neg(self.mul(self.const(-c), b))
            if b.code == "mul" and b.args[0].code == "const":
                product = c * b.args[0].data
                if product == 0.0 or math.isinf(product):  # under- or overflow of the constants alone: keep both
                    return self.make("mul", (a, b))
                return self.mul(self.const(product), b.args[1])  # type: ignore[arg-type]
        else:
            if a.code == "neg":
                return self.neg(self.mul(a.args[0], b))  # type: ignore[arg-type]
            if b.code == "neg":
                return self.neg(self.mul(a, b.args[0]))  # type: ignore[arg-type]
            if a.index > b.index:
                a, b = b, a
        key = ("mul", a.index, b.index)
        found = self.table.get(key)
        if found is None:
            found = Node(self, len(self.values), "mul", (a, b), None)
            self.values.append(found)
            self.table[key] = found
        return found  # type: ignore[return-value]

    def neg(self, a: Node) -> Node:
        code = a.code
        if code == "neg":
            return a.args[0]  # type: ignore[return-value]
        if code == "const":
            return self.const(-a.data)
        return self.make("neg", (a,))

    def div(self, a: Node, b: Node) -> Node:
        if a.builder is not b.builder:
            raise TracingError("numbers of two different traces were divided; pass one in as an input instead.")
        if b.code == "const":
            if a.code == "const":
                return self.const(FOLD["div"](a.data, b.data))
            if b.data != 0.0:
                reciprocal = 1.0 / b.data
                if 2.3e-308 < abs(reciprocal) < math.inf:
                    return self.mul(self.const(reciprocal), a)
        if a.code == "const" and a.data == 0.0:
            return a
        if a.code == "neg":
            return self.neg(self.div(a.args[0], b))  # type: ignore[arg-type]
        if b.code == "neg":
            return self.neg(self.div(a, b.args[0]))  # type: ignore[arg-type]
        if a is b:
            return self.const(1.0)
        return self.make("div", (a, b))

    def power(self, a: Node, b: Node) -> Node:
        """``a**b``: products for integer and half-integer constants up to 64, else the function pow."""
        if b.code == "const":
            if a.code == "const":
                return self.const(FOLD["pow"](a.data, b.data))
            exponent = b.data
            if abs(exponent) <= 64 and 2 * exponent == math.floor(2 * exponent):
                whole = math.floor(abs(exponent))
                result = self._integer_power(a, whole)
                if whole != abs(exponent):
                    result = self.mul(result, self.unary("sqrt", a))
                return self.div(self.const(1.0), result) if exponent < 0 else result
        return self.make("pow", (a, b))

    def _integer_power(self, a: Node, n: int) -> Node:
        result = None
        while n:
            if n & 1:
                result = a if result is None else self.mul(result, a)
            n >>= 1
            if n:
                a = self.mul(a, a)
        return self.const(1.0) if result is None else result

    def unary(self, code: str, a: Node) -> Node:
        if a.code == "const":
            return self.const(FOLD[code](a.data))
        if a.code == "neg":
            if code in _ODD:
                return self.neg(self.unary(code, a.args[0]))  # type: ignore[arg-type]
            if code in _EVEN:
                return self.unary(code, a.args[0])  # type: ignore[arg-type]
        if code == "abs" and a.code in ("abs", "sqrt", "exp", "cosh"):
            return a
        return self.make(code, (a,))

    def binary(self, code: str, a: Node, b: Node) -> Node:
        if a.code == "const" and b.code == "const":
            return self.const(FOLD[code](a.data, b.data))
        if a is b and code in ("minimum", "maximum"):
            return a
        return self.make(code, (a, b))

    def apply(self, code: str, args: tuple[Any, ...], data: Any = None) -> Any:
        """Any operation by its code, with the rules of this builder."""
        if code in ("add", "sub", "mul", "div", "neg"):
            return getattr(self, code)(*args)
        if code == "const":
            return self.const(data)
        if code in ("lt", "le", "eq", "ne"):
            return self.compare(code, *args)
        if code in ("and", "or", "not", "select"):
            return self._choice(code, args)
        if code == "pow":
            return self.power(*args)
        if code in ("minimum", "maximum", "atan2"):
            return self.binary(code, *args)
        if code in FOLD:
            return self.unary(code, *args)
        if code in ("fma", "fms", "fnma"):
            product = self.mul(args[0], args[1])
            return self.add(product, args[2]) if code == "fma" else (
                self.sub(product, args[2]) if code == "fms" else self.sub(args[2], product))  # fmt: skip
        return self.make(code, args, data)

    def _choice(self, code: str, args: tuple[Any, ...]) -> Any:
        if code == "and":
            return args[0] & args[1]
        if code == "or":
            return args[0] | args[1]
        condition = args[0]
        if isinstance(condition, bool):
            return (not condition) if code == "not" else (args[1] if condition else args[2])
        return ~condition if code == "not" else condition.select(args[1], args[2])

    # ------------------------------------------------------------------ conditions
    def compare(self, code: str, a: Node, other: Any) -> Any:
        b = self.accept(other)
        if b is None:
            return NotImplemented
        if b.builder is not self:
            raise TracingError("numbers of two different traces were compared; pass one in as an input instead.")
        if code in ("gt", "ge"):
            a, b, code = b, a, "lt" if code == "gt" else "le"
        if a.code == "const" and b.code == "const":
            return bool({"lt": a.data < b.data, "le": a.data <= b.data, "eq": a.data == b.data}.get(
                code, a.data != b.data))  # fmt: skip
        return self.make(code, (a, b))

    def logic(self, code: str, a: Condition, b: Condition) -> Condition:
        if a is b:
            return a
        if a.builder is not b.builder:
            raise TracingError("conditions of two different traces were combined.")
        return self.make(code, (a, b) if a.index < b.index else (b, a))  # type: ignore[return-value]
