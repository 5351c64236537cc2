"""What a thing is made of, as bytes: known for this package's own parts and plain data, unknown for user code.

``identity(robot, controller, "rk4")`` says everything about its arguments, by value and the same in every process, when they are
made of nothing but

- numbers, texts, arrays, tuples, lists, sets and mappings of such, SymPy expressions,
- objects of classes of this package, all the way down through their fields, and functions of this package with what they enclose,

and ``None`` as soon as one piece is anything else: a function or a class that somebody wrote, a class of ours with a method that
somebody replaced. What may be kept without looking at the code again is decided by this alone (``native/calling/kernel_cache.py``): the body of
a user's function, its globals, defaults and attributes may be others at the next call.

A class of ours may say in ``__identity__()`` what its objects are made from; ``None`` there means unknown, too.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from manipula.identity.classes import LIBRARY, ForeignCode, class_text, holds_all, is_ours

DEEPEST = 60  # levels of nesting; what holds itself ends here and counts as unknown
_PLAIN = frozenset({float, int, bool, complex})
_FIELD = dataclasses._FIELD  # pyright: ignore[reportAttributeAccessIssue]


def identity(*values: Any) -> bytes | None:
    """Bytes that determine the values, or ``None`` when they hold anything that this package did not make."""
    writer = IdentityWriter()
    try:
        writer.write(values)
    except ForeignCode:
        return None
    return hashlib.sha256("".join(writer.out).encode("utf-8", "surrogatepass")).digest()


def is_own(*values: Any) -> bool:
    """Are the values made of nothing but this package's own parts and plain data?"""
    try:
        IdentityWriter().write(values)
    except ForeignCode:
        return False
    return True


class IdentityWriter:
    """Collects the text of values: every piece with its kind, lengths first, so that no two values share a text."""

    __slots__ = ("classes", "depth", "open", "out")

    def __init__(self) -> None:
        self.out: list[str] = []
        self.classes: dict[type, str] = {}
        self.depth = 0
        self.open: list[types.FunctionType] = []  # functions that are being written

    def write(self, value: Any) -> None:
        """Append the text of a value.

        Raises:
            Unknown: when it holds something that this package did not make.
        """
        kind = type(value)
        if value is None or kind in _PLAIN:
            self.out.append(f"{value!r};")
        elif kind is str:
            self.out.append(f"s{len(value)}:{value}")
        elif self.depth > DEEPEST:
            raise ForeignCode
        else:
            self.depth += 1
            self._nested(value, kind)
            self.depth -= 1

    def _nested(self, value: Any, kind: type) -> None:
        if kind is tuple or kind is list:
            self._rows(kind.__name__, value)
        elif kind is dict or kind is types.MappingProxyType:
            self._sorted("map", value.items())
        elif kind is set or kind is frozenset:
            self._sorted("set", value)
        elif kind is np.ndarray:
            self._array(value)
        elif kind is bytes:
            self.out.append(f"b{value.hex()};")
        elif isinstance(value, np.generic):
            self.write(value.item())
        elif isinstance(value, type):
            self.out.append(f"class {self._class(value)}")
        elif kind is types.FunctionType:
            self._function(value)
        elif kind is types.BuiltinFunctionType or kind is np.ufunc:
            self.out.append(_of_a_library(value))
        elif kind is types.MethodType:
            self.write(("method", value.__func__, value.__self__))
        elif kind is functools.partial:
            self.write(("partial", value.func, value.args, value.keywords))
        elif kind.__module__.partition(".")[0] == "sympy":
            self.out.append(_expression(value))
        else:
            self._instance(value, kind)

    def _rows(self, kind: str, values: Any) -> None:
        self.out.append(f"{kind}{len(values)}:")
        for v in values:
            self.write(v)

    def _sorted(self, kind: str, values: Iterable[Any]) -> None:
        """Rows whose order means nothing."""
        texts, outer = [], self.out
        for v in values:
            self.out = []
            self.write(v)
            texts.append("".join(self.out))
        self.out = outer
        self.out.append(f"{kind}{len(texts)}:")
        self.out.extend(sorted(texts))

    def _array(self, value: np.ndarray) -> None:
        if value.dtype.kind in "biufc":
            self.out.append(f"array{value.dtype.str}{value.shape}:{value.tobytes().hex()};")
        elif value.dtype.kind == "O":
            self.out.append(f"array{value.shape}:")
            self._rows("list", value.ravel().tolist())
        else:
            raise ForeignCode

    def _function(self, f: types.FunctionType) -> None:
        """A function of this package: where it stands in the sources, what it encloses and its defaults."""
        if not is_ours(f):
            raise ForeignCode
        code = f.__code__
        column = next((at[2] for at in code.co_positions() if at[2]), 0)  # there may be two lambdas on one line
        self.out.append(f"function {f.__module__}.{f.__qualname__} {code.co_firstlineno} {column};")
        try:
            cells = tuple(c.cell_contents for c in f.__closure__ or ())
        except ValueError:  # a name of the outer function that has no value yet
            raise ForeignCode from None
        if f in self.open:  # it encloses itself
            return
        self.open.append(f)
        self.write((cells, f.__defaults__, f.__kwdefaults__))
        self.open.pop()

    def _instance(self, value: Any, kind: type) -> None:
        """An object of one of our classes: its class and everything it holds."""
        if not holds_all(kind):
            raise ForeignCode
        self.out.append(f"object {self._class(kind)}")
        if hasattr(kind, "__identity__"):
            parts = value.__identity__()
            if parts is None:
                raise ForeignCode
            self.write(parts)
            return
        if isinstance(value, enum.Enum):
            self.out.append(f"{value.name};")
            return
        if isinstance(value, tuple):
            self._rows("tuple", tuple(value))
        own = getattr(value, "__dict__", {})
        fields = getattr(kind, "__dataclass_fields__", None)
        if fields is None:
            names = sorted({*own, *(s for s in slots_of(kind) if hasattr(value, s))})
        else:
            names = [name for name, field in fields.items() if field.compare and field._field_type is _FIELD]
        for name in own if fields is None else own.keys() - fields.keys():
            found = getattr(kind, name, None)
            if callable(found) and not isinstance(found, type):  # it stands in the place of a method
                raise ForeignCode
        for name in names:
            if not isinstance(getattr(kind, name, None), functools.cached_property):
                self.out.append(f"{name}=")
                self.write(getattr(value, name))

    def _class(self, kind: type) -> str:
        found = self.classes.get(kind)
        if found is None:
            found = self.classes[kind] = class_text(kind)
        return found


def _of_a_library(f: Any) -> str:
    """A function of the standard library or NumPy that is written in C, by the place where everybody finds it."""
    module = np if isinstance(f, np.ufunc) else f.__self__
    if not isinstance(module, types.ModuleType) or getattr(module, f.__name__, None) is not f:
        raise ForeignCode
    if module is not np and module.__name__ not in LIBRARY:
        raise ForeignCode
    return f"function {module.__name__}.{f.__name__};"


def slots_of(kind: type) -> Iterable[str]:
    """Names of the attributes that an object of this class keeps outside its ``__dict__``."""
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        yield from (s for s in ((slots,) if isinstance(slots, str) else slots) if not s.startswith("__"))


def _expression(value: Any) -> str:
    """A SymPy expression, with the assumptions about its symbols; functions that somebody derived are unknown."""
    from sympy import preorder_traversal, srepr

    if any(type(x).__module__.partition(".")[0] != "sympy" for x in preorder_traversal(value)):
        raise ForeignCode
    return f"sympy:{srepr(value)};"
