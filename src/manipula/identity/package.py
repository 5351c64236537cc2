"""Has anybody replaced a function, a method or a constant of this package while it runs?

Every kernel is made from the functions of the rooms below. What stands in their modules and classes is remembered when it is first seen,
and must then be ours, or of a library that the rooms import. Looking again is one comparison for every name space (where the
interpreter numbers their changes), and one of addresses for every name where a name space changed.
"""

from __future__ import annotations

import functools
import itertools
import sys
import types
from collections.abc import Mapping, ValuesView
from typing import Any, NamedTuple

from manipula.identity.classes import LIBRARY, PACKAGE, functions_in, is_generated
from manipula.identity.versions import Versions

ROOMS = ("algebra", "control", "ik", "model", "motion", "native", "physics", "redundancy", "robot", "simulation")
LIBRARIES = LIBRARY | {PACKAGE, "numpy", "scipy", "sympy", "mpmath", "llvmlite"}
_FUNCTION = types.FunctionType
_CODE = (types.FunctionType, type, functools.partial, types.MethodType)


class _Snapshot(NamedTuple):
    """What was seen: how many modules were loaded, ours by name, modules and classes, what their name spaces hold now and held then, the versions
    of these, and whether all of it was ours.
    """

    modules: int
    ours: dict[str, types.ModuleType]
    owners: list[Any]
    spaces: list[ValuesView[Any]]
    values: list[Any]
    versions: Versions
    clean: bool


# types that hold no code by themselves: what every module and class has beside what was written in it
_PLAIN = frozenset(
    {
        *(str, int, float, bool, type(None), tuple, list, dict, frozenset, types.ModuleType),
        *(types.GetSetDescriptorType, types.MemberDescriptorType, type(_Snapshot.clean)),
        *(type(__spec__), type(__loader__), type(annotations)),
    }
)
_first: dict[int, tuple[Any, dict[str, Any]]] = {}  # of every module and class: what its names meant at first
_last = _Snapshot(-1, {}, [], [], [], Versions(()), True)


def is_untouched() -> bool:
    """Is everything in the rooms that kernels are made from what it was when it was first seen, and ours?"""
    try:
        last = _last
        same = _is_same(last)
        if same and len(sys.modules) == last.modules:
            return last.clean
        return _look_again(last if same and last.clean else None)
    except RuntimeError:  # another thread imports something at this moment
        return False


def _is_same(last: _Snapshot) -> bool:
    """Do all names that were seen still mean the same objects (or equal numbers and texts)?"""
    if last.versions.unchanged():
        return True
    seen = last.versions.look()  # before anything is compared: what changes from now on has another number
    if sum(map(len, last.spaces)) != len(last.values):
        return False
    now = list(itertools.chain.from_iterable(last.spaces))
    try:
        same = now == last.values
    except RuntimeError:
        raise
    except Exception:  # something was replaced by what cannot be compared
        return False
    if same:
        last.versions.keep(seen)
    return same


def _look_again(known: _Snapshot | None) -> bool:
    """Look at everything; only at the modules loaded since, where all that was ``known`` is unchanged."""
    global _last
    count, ours = len(sys.modules), loaded_modules()
    if known is not None and any(ours.get(name) is not module for name, module in known.ours.items()):
        known = None
    owners: list[Any] = list(known.owners) if known else []
    spaces: list[ValuesView[Any]] = list(known.spaces) if known else []
    values: list[Any] = list(known.values) if known else []
    clean = True
    for owner in _owners([module for name, module in ours.items() if known is None or name not in known.ours]):
        space = vars(owner)
        meant = _first.setdefault(id(owner), (owner, {}))[1]
        seen = dict(space)
        clean &= _unchanged(meant, seen, vars(ours.get(getattr(owner, "__module__", owner.__name__), owner)))
        spaces.append(space.values())
        values.extend(seen.values())
        owners.append(owner)
    _last = _Snapshot(count, ours, owners, spaces, values, Versions(owners), clean)
    return clean


def loaded_modules() -> dict[str, types.ModuleType]:
    """The loaded modules of the rooms that kernels are made from, by name."""
    return {
        name: module
        for name, module in list(sys.modules.items())
        if name.startswith(PACKAGE + ".") and name.split(".")[1] in ROOMS and isinstance(module, types.ModuleType)
    }


def _owners(modules: list[types.ModuleType]) -> list[Any]:
    """The modules, and the classes that stand in them."""
    classes: dict[type, None] = {}
    for module in modules:
        for value in list(vars(module).values()):
            if isinstance(value, type) and value not in classes and value.__module__.partition(".")[0] == PACKAGE:
                classes[value] = None
    return [*modules, *classes]


def _unchanged(known: dict[str, Any], seen: dict[str, Any], home: Mapping[str, Any]) -> bool:
    """``home``: the name space of the module, whose functions are ours."""
    good = True
    for name, value in seen.items():
        if name not in known:
            kind = type(value)
            if kind in _PLAIN or (kind is _FUNCTION and value.__globals__ is home) or not _is_foreign(value):
                known[name] = value
            else:
                good = False
        elif known[name] is not value:
            if name.startswith("_") and not name.isupper() and not _is_code(value) and not _is_code(known[name]):
                known[name] = value  # a private variable of ours
            else:
                good = False
    return good and known.keys() <= seen.keys()


def _is_code(value: Any) -> bool:
    return isinstance(value, _CODE) or hasattr(value, "__wrapped__")


def _is_foreign(value: Any) -> bool:
    """Is it user code?"""
    if type(value) is _FUNCTION:
        return not _is_known(value)
    if isinstance(value, functools.partial):
        return _is_foreign(value.func)
    if isinstance(value, type):
        return not _is_library(str(value.__module__))
    return not all(map(_is_known, functions_in(value)))


def _is_known(f: types.FunctionType) -> bool:
    return _is_library(str(f.__globals__.get("__name__", ""))) or is_generated(f)


@functools.cache
def _is_library(module: str) -> bool:
    return module.partition(".")[0] in LIBRARIES
