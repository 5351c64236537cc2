"""What a thing is made of, as bytes: known for this package's own parts and plain data, unknown for somebody's code.

``identity(robot, controller, "rk4")`` says everything about its arguments, by value and the same in every process, when they are
made of nothing but

- numbers, texts, arrays, tuples, lists, sets and mappings of such, SymPy expressions,
- objects of classes of this package, all the way down through their fields, and functions of this package with what they enclose,

and ``None`` as soon as one piece is anything else: a function or a class that somebody wrote, a class of ours with a method that
somebody replaced. What may be kept without looking at the code again is decided by this alone (``native/kept.py``): the body of
somebody's function, its globals, defaults and attributes may be others at the next call.

A class of ours may say in ``__identity__()`` what its objects are made from; ``None`` there means unknown, too.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import operator
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

PACKAGE = __name__.partition(".")[0]
DEEPEST = 60  # levels of nesting; what holds itself ends here and counts as unknown
_LIBRARY = sys.stdlib_module_names - {"__main__"}
_WRAPPERS = (staticmethod, classmethod, property, functools.cached_property)
_PLAIN = frozenset({float, int, bool, complex})
_FIELD = dataclasses._FIELD  # pyright: ignore[reportAttributeAccessIssue]
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)


class _Unknown(Exception):
    """Somebody's code was found."""


def identity(*values: Any) -> bytes | None:
    """Bytes that determine the values, or ``None`` when they hold anything that this package did not make."""
    writer = _Writer()
    try:
        writer.write(values)
    except _Unknown:
        return None
    return hashlib.sha256("".join(writer.out).encode("utf-8", "surrogatepass")).digest()


def is_own(*values: Any) -> bool:
    """Are the values made of nothing but this package's own parts and plain data?"""
    try:
        _Writer().write(values)
    except _Unknown:
        return False
    return True


class _Writer:
    """Collects the text of values: every piece with its kind, lengths first, so that no two values share a text."""

    __slots__ = ("classes", "depth", "out")

    def __init__(self) -> None:
        self.out: list[str] = []
        self.classes: dict[type, str] = {}
        self.depth = 0

    def write(self, value: Any) -> None:
        """Append the text of a value.

        Raises:
            _Unknown: when it holds something that this package did not make.
        """
        kind = type(value)
        if value is None or kind in _PLAIN:
            self.out.append(f"{value!r};")
        elif kind is str:
            self.out.append(f"s{len(value)}:{value}")
        elif self.depth > DEEPEST:
            raise _Unknown
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
            raise _Unknown

    def _function(self, f: types.FunctionType) -> None:
        """A function of this package: where it stands in the sources, what it encloses and its defaults."""
        if not _is_ours(f):
            raise _Unknown
        code = f.__code__
        column = next((at[2] for at in code.co_positions() if at[2]), 0)  # there may be two lambdas on one line
        self.out.append(f"function {f.__module__}.{f.__qualname__} {code.co_firstlineno} {column};")
        self.write((tuple(c.cell_contents for c in f.__closure__ or ()), f.__defaults__, f.__kwdefaults__))

    def _instance(self, value: Any, kind: type) -> None:
        """An object of one of our classes: its class and everything it holds."""
        self.out.append(f"object {self._class(kind)}")
        if hasattr(kind, "__identity__"):
            parts = value.__identity__()
            if parts is None:
                raise _Unknown
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
            names = sorted({*own, *(s for s in _slots(kind) if hasattr(value, s))})
        else:
            names = [name for name, field in fields.items() if field.compare and field._field_type is _FIELD]
        for name in own if fields is None else own.keys() - fields.keys():
            found = getattr(kind, name, None)
            if callable(found) and not isinstance(found, type):  # it stands in the place of a method
                raise _Unknown
        for name in names:
            if not isinstance(getattr(kind, name, None), functools.cached_property):
                self.out.append(f"{name}=")
                self.write(getattr(value, name))

    def _class(self, kind: type) -> str:
        found = self.classes.get(kind)
        if found is None:
            found = self.classes[kind] = _class_text(kind)
        return found


def _slots(kind: type) -> Iterable[str]:
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        yield from (s for s in ((slots,) if isinstance(slots, str) else slots) if not s.startswith("__"))


def _expression(value: Any) -> str:
    """A SymPy expression, with the assumptions about its symbols; functions that somebody derived are unknown."""
    from sympy import preorder_traversal, srepr

    if any(type(x).__module__.partition(".")[0] != "sympy" for x in preorder_traversal(value)):
        raise _Unknown
    return f"sympy:{srepr(value)};"


# ---------------------------------------------------------------------- classes
_CLASSES: dict[type, tuple[tuple[Any, ...], str]] = {}  # what a class held when it was looked at, and its text


def _class_text(kind: type) -> str:
    """The qualified name of a class and the plain values among its attributes.

    Raises:
        _Unknown: for a class of somebody, one of ours that is no longer what its module holds under its name, or one in which a
            function that is not ours stands.
    """
    texts = []
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if root != PACKAGE:
            if root not in _LIBRARY:
                raise _Unknown
            texts.append(f"{base.__module__}.{base.__qualname__};")
            continue
        held = tuple(base.__dict__.values())
        known = _CLASSES.get(base)
        if known is None or len(known[0]) != len(held) or not all(map(operator.is_, known[0], held)):
            known = _CLASSES[base] = held, _examined(base)
        texts.append(known[1])
    return "".join(texts)


def _home(kind: type) -> Any:
    """What stands in the module of a class under its name."""
    found: Any = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return found


def _examined(kind: type) -> str:
    if _home(kind) is not kind:
        raise _Unknown
    out = [f"{kind.__module__}.{kind.__qualname__}("]
    for name, value in sorted(kind.__dict__.items()):
        for f in _functions_in(value):
            if not _is_ours(f) and not _is_generated(f):
                raise _Unknown
        special = name.startswith("__") and name.endswith("__")
        if special or name == "_abc_impl" or isinstance(value, (*_WRAPPERS, *_SLOTS, types.FunctionType, type)):
            continue
        if callable(value) and not hasattr(value, "__wrapped__") and not type(value).__module__.startswith(PACKAGE):
            raise _Unknown
        if not callable(value):
            try:
                out.append(f"{name}={_plain_text(value)}")
            except _Unknown:
                if type(value).__module__.partition(".")[0] not in _LIBRARY:
                    raise
    out.append(")")
    return "".join(out)


def _plain_text(value: Any) -> str:
    writer = _Writer()
    writer.write(value)
    return "".join(writer.out)


def _functions_in(value: Any) -> Iterable[types.FunctionType]:
    """The functions behind an entry of a class: itself, or what a property, a static method or a cache holds."""
    parts: list[Any] = [value]
    if isinstance(value, property):
        parts = [value.fget, value.fset, value.fdel]
    elif isinstance(value, functools.cached_property):
        parts = [value.func]
    elif hasattr(value, "__wrapped__") and not isinstance(value, types.FunctionType):
        parts = [value.__wrapped__]
    return (p for p in parts if isinstance(p, types.FunctionType))


def _is_ours(f: Callable[..., Any]) -> bool:
    """Does a function read its globals from a module of this package?"""
    space: Mapping[str, Any] = f.__globals__
    name = space.get("__name__", "")
    if not isinstance(name, str) or name.partition(".")[0] != PACKAGE:
        return False
    return vars(sys.modules[name]) is space if name in sys.modules else False


def _is_generated(f: types.FunctionType) -> bool:
    """Methods that the standard library writes for a class (named tuples, enumerations, abstract classes)."""
    name = str(f.__globals__.get("__name__", ""))
    return name.startswith("namedtuple_") or name.partition(".")[0] in _LIBRARY
