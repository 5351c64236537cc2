"""Has anybody replaced a function, a method or a constant of this package while it runs?

Every kernel is made from the functions of the rooms below. What stands in their modules and classes is remembered when it is first seen,
and must then be ours, or of a library that the rooms import. Looking again is one comparison of addresses for every name.
"""

from __future__ import annotations

import functools
import itertools
import operator
import sys
import types
from collections.abc import Mapping
from typing import Any, NamedTuple

from manipula.identity.classes import LIBRARY, PACKAGE, functions_in, is_generated

ROOMS = ("algebra", "control", "ik", "model", "motion", "native", "physics", "redundancy", "robot", "simulation")
LIBRARIES = LIBRARY | {PACKAGE, "numpy", "scipy", "sympy", "mpmath", "llvmlite"}
_VALUES = operator.methodcaller("values")
_CODE = (types.FunctionType, type, functools.partial, types.MethodType)


class _Snapshot(NamedTuple):
    """What was seen: the loaded modules, the name spaces and all their values, and whether anything was somebody's."""

    modules: int
    spaces: list[Mapping[str, Any]]
    values: list[Any]
    clean: bool


_first: dict[int, tuple[Any, dict[str, Any]]] = {}  # of every module and class: what its names meant at first
_last = _Snapshot(-1, [], [], True)


def is_untouched() -> bool:
    """Is everything in the rooms that kernels are made from what it was when it was first seen, and ours?"""
    look = _last
    try:
        if len(sys.modules) == look.modules and sum(map(len, look.spaces)) == len(look.values):
            now = list(itertools.chain.from_iterable(map(_VALUES, look.spaces)))
            if now == look.values:  # the same objects, or equal numbers and texts
                return look.clean
    except RuntimeError:  # another thread imports something at this moment
        return False
    except Exception:  # something was replaced by what cannot be compared
        pass
    try:
        return _look_again()
    except RuntimeError:
        return False


def _look_again() -> bool:
    global _last
    count = len(sys.modules)
    spaces: list[Mapping[str, Any]] = []
    values: list[Any] = []
    clean = True
    for owner in _owners():
        space = vars(owner)
        known = _first.setdefault(id(owner), (owner, {}))[1]
        seen = dict(space)
        clean &= _unchanged(known, seen)
        spaces.append(space)
        values.extend(seen.values())
    _last = _Snapshot(count, spaces, values, clean)
    return clean


def _owners() -> list[Any]:
    """The loaded modules of the rooms, and the classes that stand in them."""
    modules = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith(PACKAGE + ".") and name.split(".")[1] in ROOMS and isinstance(module, types.ModuleType)
    ]
    classes: dict[type, None] = {}
    for module in modules:
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__.partition(".")[0] == PACKAGE:
                classes[value] = None
    return [*modules, *classes]


def _unchanged(known: dict[str, Any], seen: dict[str, Any]) -> bool:
    good = True
    for name, value in seen.items():
        if name not in known:
            if _is_foreign(value):
                good = False
            else:
                known[name] = value
        elif known[name] is not value:
            if name.startswith("_") and not _is_code(value) and not _is_code(known[name]):
                known[name] = value  # a private variable of ours
            else:
                good = False
    return good and all(name in seen for name in known)


def _is_code(value: Any) -> bool:
    return isinstance(value, _CODE) or hasattr(value, "__wrapped__")


def _is_foreign(value: Any) -> bool:
    """Is it code of somebody else?"""
    if isinstance(value, functools.partial):
        return _is_foreign(value.func)
    if isinstance(value, type):
        return value.__module__.partition(".")[0] not in LIBRARIES
    return not all(_root(f) in LIBRARIES or is_generated(f) for f in functions_in(value))


def _root(f: types.FunctionType) -> str:
    return str(f.__globals__.get("__name__", "")).partition(".")[0]
