"""Traced numbers: arithmetic that writes itself down.

A :class:`Node` is one scalar value of a computation. Adding, multiplying or taking the sine of nodes makes new nodes
inside one :class:`~manipula.native.tracing.nodes.GraphBuilder`. Equal operations on equal arguments give *the same* node (hash
consing), constants are folded and trivial operations dropped on the spot, so common parts are shared by construction and
what is never used costs nothing. Nodes are numbered in the order of their creation, which is an order of evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.errors import TracingError

if TYPE_CHECKING:
    from manipula.native.tracing.nodes import GraphBuilder

_LARGEST = float(np.finfo(float).max)


class NoAttributeError(TracingError, AttributeError):
    """A traced number was asked for something that only floats and arrays have; ``hasattr`` says no."""


def _no_number(what: str) -> Callable[..., Any]:
    def method(self: Any, *_: Any) -> Any:
        raise TracingError(
            f"{what} is not possible for a traced number, whose value is not known while the function is being compiled: "
            "use functions of manipula.algebra.ops instead of math, ops.where instead of 'if', and tables "
            "(native.table) instead of indexing by a computed number."
        )

    return method


class TracedValue:
    """Anything a builder makes: a number (:class:`Node`) or a condition (:class:`Condition`)."""

    __slots__ = ("args", "builder", "code", "data", "index")

    def __init__(self, builder: GraphBuilder, index: int, code: str, args: tuple[TracedValue, ...], data: Any) -> None:
        self.builder = builder
        self.index = index
        self.code = code
        self.args = args
        self.data = data

    def __repr__(self) -> str:
        if self.code == "const":
            return f"<const {self.data!r}>"
        if self.code == "input":
            return f"<input {self.data[0]}[{self.data[1]}]>"
        return f"<{self.code} #{self.index} of {', '.join('#' + str(a.index) for a in self.args)}>"

    def __bool__(self) -> bool:
        raise TracingError(
            "a traced number has no truth value while the function is being compiled: replace 'if', 'and', 'or', "
            "'while' on it by ops.where(condition, a, b), combine conditions with & | ~, and loop with native.until."
        )

    def __len__(self) -> int:
        raise TypeError("a traced number is a scalar and has no length")

    def __getattr__(self, name: str) -> Any:
        raise NoAttributeError(
            f"'{name}' does not exist for a traced number ({type(self).__name__}), which supports arithmetic, comparisons and the functions of "
            "manipula.algebra.ops only."
        )

    def __copy__(self) -> TracedValue:
        return self

    def __deepcopy__(self, memo: object) -> TracedValue:
        return self

    def __reduce__(self) -> Any:
        raise TracingError("a traced number exists only while its function is being traced; it cannot be stored.")

    __hash__ = object.__hash__
    __float__ = _no_number("float()")
    __int__ = _no_number("int()")
    __index__ = _no_number("an integer index")
    __complex__ = _no_number("complex()")
    __round__ = _no_number("round()")


class Condition(TracedValue):
    """A traced truth value: ``a < b``; combine with ``& | ~``, choose with :meth:`select`."""

    __slots__ = ()

    def select(self, a: Any, b: Any) -> Any:
        """``a`` where the condition holds, else ``b``."""
        builder = self.builder
        x, y = builder.lift(a), builder.lift(b)
        if x is y:
            return x
        if self.code == "not":
            return builder.make("select", (self.args[0], y, x))
        return builder.make("select", (self, x, y))

    def __and__(self, other: Any) -> Any:
        if isinstance(other, (bool, np.bool_)):
            return self if other else False
        return self.builder.logic("and", self, other) if isinstance(other, Condition) else NotImplemented

    def __or__(self, other: Any) -> Any:
        if isinstance(other, (bool, np.bool_)):
            return True if other else self
        return self.builder.logic("or", self, other) if isinstance(other, Condition) else NotImplemented

    def __xor__(self, other: Any) -> Any:
        if isinstance(other, (bool, np.bool_)):
            return ~self if other else self
        if not isinstance(other, Condition):
            return NotImplemented
        return False if self is other else (self & ~other) | (~self & other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __eq__(self, other: Any) -> Any:
        """Where both hold or neither does; a truth value equals the numbers 1 and 0 as Python's do."""
        if isinstance(other, (bool, np.bool_)):
            return self if other else ~self
        if isinstance(other, Condition):
            return True if self is other else (self & other) | (~self & ~other)
        return self.number() == other

    def __ne__(self, other: Any) -> Any:
        if isinstance(other, (bool, np.bool_, Condition)):
            return self ^ other
        return self.number() != other

    __hash__ = TracedValue.__hash__

    def number(self) -> Any:
        """1 where the condition holds, else 0: what arithmetic makes of a truth value."""
        return self.select(1.0, 0.0)

    def __invert__(self) -> Condition:
        return self.args[0] if self.code == "not" else self.builder.make("not", (self,))  # type: ignore[return-value]


def _unary(code: str) -> Callable[[Node], Node]:
    def method(self: Node) -> Node:
        return self.builder.unary(code, self)

    method.__name__ = code
    return method


def _binary(code: str, reflected: bool) -> Callable[[Node, Any], Node]:
    def method(self: Node, other: Any) -> Node:
        builder = self.builder
        other = builder.lift(other)
        return builder.binary(code, other, self) if reflected else builder.binary(code, self, other)

    method.__name__ = code
    return method


class Node(TracedValue):
    """One traced scalar; behaves like a float in formulas and inside NumPy object arrays."""

    __slots__ = ()

    def __add__(self, other: Any) -> Node:
        if other.__class__ is not Node and (other := self.builder.accept(other)) is None:
            return NotImplemented
        return self.builder.add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Node:
        if other.__class__ is not Node and (other := self.builder.accept(other)) is None:
            return NotImplemented
        return self.builder.sub(self, other)

    def __rsub__(self, other: Any) -> Node:
        if other.__class__ is not Node and (other := self.builder.accept(other)) is None:
            return NotImplemented
        return self.builder.sub(other, self)

    def __mul__(self, other: Any) -> Node:
        if other.__class__ is not Node and (other := self.builder.accept(other)) is None:
            return NotImplemented
        return self.builder.mul(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Node:
        if other.__class__ is not Node and (other := self.builder.accept(other)) is None:
            return NotImplemented
        return self.builder.div(self, other)

    def __rtruediv__(self, other: Any) -> Node:
        if other.__class__ is not Node and (other := self.builder.accept(other)) is None:
            return NotImplemented
        return self.builder.div(other, self)

    def __pow__(self, other: Any) -> Node:
        if other.__class__ is not Node and (other := self.builder.accept(other)) is None:
            return NotImplemented
        return self.builder.power(self, other)

    def __rpow__(self, other: Any) -> Node:
        if (other := self.builder.accept(other)) is None:
            return NotImplemented
        return self.builder.power(other, self)

    def __neg__(self) -> Node:
        return self.builder.neg(self)

    def __pos__(self) -> Node:
        return self

    def __abs__(self) -> Node:
        return self.builder.unary("abs", self)

    def __lt__(self, other: Any) -> Any:
        return self.builder.compare("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return self.builder.compare("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return self.builder.compare("gt", self, other)

    def __ge__(self, other: Any) -> Any:
        return self.builder.compare("ge", self, other)

    def __eq__(self, other: Any) -> Any:
        return self.builder.compare("eq", self, other)

    def __ne__(self, other: Any) -> Any:
        return self.builder.compare("ne", self, other)

    __hash__ = TracedValue.__hash__

    def conjugate(self) -> Node:
        """The number itself: traced numbers are real."""
        return self

    sin, cos, tan = _unary("sin"), _unary("cos"), _unary("tan")
    asin, acos, atan = _unary("asin"), _unary("acos"), _unary("atan")
    exp, log, sqrt = _unary("exp"), _unary("log"), _unary("sqrt")
    sinh, cosh, tanh = _unary("sinh"), _unary("cosh"), _unary("tanh")
    floor, sign = _unary("floor"), _unary("sign")
    atan2, ratan2 = _binary("atan2", False), _binary("atan2", True)
    minimum, rminimum = _binary("minimum", False), _binary("minimum", True)
    maximum, rmaximum = _binary("maximum", False), _binary("maximum", True)

    # What NumPy calls on every entry of an array of objects: np.arctan2(y, x) is y.arctan2(x). Functions that these operations
    # cannot give to the last digits (log10, cbrt, expm1 …) are left out; NumPy then says that there is no such method.
    arcsin, arccos, arctan, arctan2 = asin, acos, atan, atan2

    def hypot(self, other: Any) -> Node:
        """√(x² + y²) without overflow."""
        a, b = abs(self), abs(self.builder.lift(other))
        large = a.maximum(b)
        ratio = a.minimum(b) / _where(large > 0.0, large, 1.0)
        return _where(is_finite(large), large * (1.0 + ratio * ratio).sqrt(), large)

    def exp2(self) -> Node:
        """2ˣ."""
        return 2.0**self

    def radians(self) -> Node:
        """Degrees → radians, as NumPy computes it."""
        return self * (math.pi / 180.0)

    def degrees(self) -> Node:
        """Radians → degrees, as NumPy computes it."""
        return self * (180.0 / math.pi)

    deg2rad, rad2deg = radians, degrees

    def __floor__(self) -> Node:
        return self.builder.unary("floor", self)

    def __ceil__(self) -> Node:
        return -(-self).__floor__()

    def __trunc__(self) -> Any:
        return _where(self < 0.0, self.__ceil__(), self.__floor__())

    __mod__ = __rmod__ = _no_number("% (the remainder of a division)")
    __floordiv__ = __rfloordiv__ = _no_number("// (the whole part of a division)")
    __divmod__ = __rdivmod__ = _no_number("divmod()")


def _where(condition: Any, a: Any, b: Any) -> Any:
    """``condition.select(a, b)``, also for the truth value of a constant."""
    return condition.select(a, b) if isinstance(condition, Condition) else (a if condition else b)


def _as_number(name: str) -> Callable[..., Any]:
    def method(self: Condition, *others: Any) -> Any:
        return getattr(self.number(), name)(*(x.number() if isinstance(x, Condition) else x for x in others))

    method.__name__ = name
    return method


for _name in ("add", "sub", "mul", "truediv", "pow"):
    for _form in (f"__{_name}__", f"__r{_name}__"):
        setattr(Condition, _form, _as_number(_form))
for _form in ("__neg__", "__pos__", "__abs__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Condition, _form, _as_number(_form))


def is_finite(x: Any) -> Any:
    """Whether ``x`` is neither infinite nor NaN, for floats and traced numbers."""
    return abs(x) <= _LARGEST
