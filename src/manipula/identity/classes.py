"""Classes and functions: which are this package's own, and still what their authors wrote."""

from __future__ import annotations

import abc
import enum
import functools
import operator
import sys
import types
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sized
from typing import Any, Generic, Protocol

PACKAGE = __name__.partition(".")[0]
LIBRARY = sys.stdlib_module_names - {"__main__"}
_WRAPPERS = (staticmethod, classmethod, property, functools.cached_property)
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)


_TRANSPARENT = (object, tuple, abc.ABC, Generic, Protocol, enum.Enum, Mapping, Collection, Sized, Iterable, Container)


class ForeignCode(Exception):
    """User code was found."""


_CLASSES: dict[type, tuple[tuple[Any, ...], str]] = {}  # what a class held when it was looked at, and its text


def class_text(kind: type) -> str:
    """The qualified name of a class and the plain values among its attributes.

    Raises:
        Unknown: for a class of somebody, one of ours that is no longer what its module holds under its name, or one in which a
            function that is not ours stands.
    """
    texts = []
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if root != PACKAGE:
            if root not in LIBRARY or _home(base) is not base:  # type() puts a user's class into module 'abc'
                raise ForeignCode
            texts.append(f"{base.__module__}.{base.__qualname__};")
            continue
        held = tuple(base.__dict__.values())
        known = _CLASSES.get(base)
        if known is None or len(known[0]) != len(held) or not all(map(operator.is_, known[0], held)):
            known = _CLASSES[base] = held, _examined(base)
        texts.append(known[1])
    return "".join(texts)


def holds_all(kind: type) -> bool:
    """Is it a class of ours whose objects hold nothing but attributes (and, as tuples, their entries)?

    An object of the standard library (a built-in function, a deque) and one of ours that inherits from such a class hold
    what cannot be seen from outside.
    """
    if kind.__module__.partition(".")[0] != PACKAGE:
        return False
    return all(base.__module__.partition(".")[0] == PACKAGE or base in _TRANSPARENT for base in kind.__mro__)


def _home(kind: type) -> Any:
    """What stands in the module of a class under its name."""
    found: Any = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return found


def _examined(kind: type) -> str:
    if _home(kind) is not kind:
        raise ForeignCode
    out = [f"{kind.__module__}.{kind.__qualname__}("]
    for name, value in sorted(kind.__dict__.items()):
        for f in functions_in(value):
            if not is_ours(f) and not is_generated(f):
                raise ForeignCode
        special = name.startswith("__") and name.endswith("__")
        if special or name == "_abc_impl" or isinstance(value, (*_WRAPPERS, *_SLOTS, types.FunctionType, type)):
            continue
        if callable(value) and not hasattr(value, "__wrapped__") and not type(value).__module__.startswith(PACKAGE):
            raise ForeignCode
        if not callable(value):
            try:
                out.append(f"{name}={_plain_text(value)}")
            except ForeignCode:
                if type(value).__module__.partition(".")[0] not in LIBRARY:
                    raise
    out.append(")")
    return "".join(out)


def _plain_text(value: Any) -> str:
    from manipula.identity.parts import IdentityWriter

    writer = IdentityWriter()
    writer.write(value)
    return "".join(writer.out)


def functions_in(value: Any) -> Iterable[types.FunctionType]:
    """The functions behind an entry of a class or module: itself, or what a property, a static method or a cache holds."""
    parts: list[Any] = [value]
    if isinstance(value, property):
        parts = [value.fget, value.fset, value.fdel]
    elif isinstance(value, functools.cached_property):
        parts = [value.func]
    elif hasattr(value, "__wrapped__") and not isinstance(value, types.FunctionType):
        parts = [value.__wrapped__]
    return (p for p in parts if isinstance(p, types.FunctionType))


def is_ours(f: Callable[..., Any]) -> bool:
    """Does a function read its globals from a module of this package?"""
    space: Mapping[str, Any] = f.__globals__
    name = space.get("__name__", "")
    if not isinstance(name, str) or name.partition(".")[0] != PACKAGE:
        return False
    return vars(sys.modules[name]) is space if name in sys.modules else False


def is_generated(f: types.FunctionType) -> bool:
    """Methods that the standard library writes for a class (named tuples, enumerations, abstract classes)."""
    name = str(f.__globals__.get("__name__", ""))
    return name.startswith("namedtuple_") or name.partition(".")[0] in LIBRARY
