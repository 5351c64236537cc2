"""Does something written by a user remember between calls, and how does it begin anew?

A delay line, a filter or an integral kept in a Python object makes a controller depend on how often and in which order it is
asked. :func:`snapshot` says what such an object holds at the moment, as far as Python can see; :func:`renewed` gives one that has not been
asked yet: the object itself after its ``reset()``, else a deep copy, closures included.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import sys
import types
from collections import deque
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from manipula.identity import is_own
from manipula.lazy import is_made_by

MOST = 50_000  # objects looked at
PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
LIBRARIES = frozenset({"manipula", "numpy", "scipy", "sympy", *sys.stdlib_module_names}) - {"__main__"}


def renewed(part: Any) -> Any:
    """The part as it is before its first call; the part itself where it can neither be reset nor copied."""
    reset = resetter(part)
    if reset is not None:
        reset()
        return part
    try:
        return copied(part)
    except Exception:  # whatever the user's object raises when it is copied
        return part


def resetter(part: Any) -> Any:
    """The ``reset`` of a part, of the function it holds, or of the object whose method that is; None without one."""
    held = getattr(part, "function", None)
    for owner in (part, held, getattr(held, "__self__", None), getattr(held, "func", None)):
        found = getattr(owner, "reset", None)
        if owner is not None and not isinstance(owner, type) and callable(found):
            return found
    return None


def copied(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """A deep copy that also copies what functions hold in closures and default arguments; TypeError where that is impossible."""
    if memo is None:
        walk = _ObjectWalk(value)
        memo = {id(atom): atom for atom in walk.atoms}
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, types.FunctionType):
        return _copied_function(value, memo)
    if isinstance(value, types.MethodType):
        return types.MethodType(copied(value.__func__, memo), copied(value.__self__, memo))
    if isinstance(value, functools.partial):
        kept = {k: copied(v, memo) for k, v in value.keywords.items()}
        return functools.partial(copied(value.func, memo), *(copied(a, memo) for a in value.args), **kept)
    if _is_control(value):
        held = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        changes = {k: copied(v, memo) for k, v in held.items() if not is_own(v)}
        return replace(value, **changes) if changes else value
    made = copy.deepcopy(value, memo)
    for name, held in list(getattr(made, "__dict__", {}).items()):
        if isinstance(held, types.FunctionType) and held.__closure__:
            object.__setattr__(made, name, copied(held, memo))
    return made


def _copied_function(f: types.FunctionType, memo: dict[int, Any]) -> types.FunctionType:
    if not f.__closure__ and not f.__defaults__ and not f.__kwdefaults__ and not f.__dict__:
        return f
    cells = []
    for cell in f.__closure__ or ():
        if id(cell) not in memo:
            memo[id(cell)] = types.CellType()
        cells.append(memo[id(cell)])
    made = types.FunctionType(f.__code__, f.__globals__, f.__name__, None, tuple(cells) if f.__closure__ else None)
    memo[id(f)] = made
    for old, new in zip(f.__closure__ or (), cells):
        if _filled(old) and not _filled(new):
            new.cell_contents = copied(old.cell_contents, memo)
    made.__defaults__ = copied(f.__defaults__, memo)
    made.__kwdefaults__ = copied(f.__kwdefaults__, memo)
    made.__dict__.update(copied(f.__dict__, memo))
    made.__module__, made.__qualname__ = f.__module__, f.__qualname__
    return made


def _filled(cell: types.CellType) -> bool:
    """Has a name of the outer function a value yet?"""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def snapshot(part: Any) -> bytes:
    """A digest of everything mutable that ``part`` can reach: attributes, closures, default arguments, named globals."""
    return _ObjectWalk(part).digest


def _root(kind: Any) -> str:
    return str(getattr(kind, "__module__", "") or "").partition(".")[0]


def _is_control(value: Any) -> bool:
    """A controller or criterion of this package, which may hold user functions."""
    return (
        is_dataclass(value) and not isinstance(value, type) and type(value).__module__.startswith("manipula.control.")
    )


def _authors(part: Any) -> list[Any]:
    """The classes and functions whose modules count as the user's own."""
    found, waiting = [], [part]
    while waiting and len(found) < 100:
        value = waiting.pop()
        found.append(value if isinstance(value, (types.FunctionType, type)) else type(value))
        held = [getattr(value, name, None) for name in ("function", "func", "__self__", "__func__", "criteria")]
        waiting += [x for v in held for x in (v if isinstance(v, tuple) else (v,)) if x is not None]
    return found


class _ObjectWalk:
    """One look at an object and all it holds.

    Attributes:
        digest: of the values found. atoms: objects that are never copied or looked into (modules, robots, models, classes).
    """

    def __init__(self, part: Any) -> None:
        self.hash, self.seen, self.atoms = hashlib.blake2b(digest_size=16), {}, []
        self.own = {_root(x) for x in _authors(part)} - LIBRARIES
        waiting: deque[Any] = deque([part])
        while waiting and len(self.seen) < MOST:
            waiting.extend(self._look(waiting.popleft()))
        self.digest = self.hash.digest()

    def _tell(self, *words: Any) -> None:
        self.hash.update(repr(words).encode("utf-8", "replace"))

    def _look(self, value: Any) -> list[Any]:
        """Add one object to the digest; what it holds comes back."""
        if isinstance(value, PLAIN):
            self._tell(type(value).__name__, value)
            return []
        number = self.seen.get(id(value))
        if number is not None:
            self._tell("again", number[0])
            return []
        self.seen[id(value)] = (len(self.seen), value)
        if isinstance(value, np.ndarray):
            self._tell("array", value.shape, value.dtype.str)
            if value.dtype == object:
                return list(value.ravel())
            self.hash.update(np.ascontiguousarray(value).tobytes())
            return []
        if isinstance(value, np.generic):
            self._tell(value.dtype.str, value.item())
            return []
        self._tell(type(value).__qualname__)
        if isinstance(value, types.BuiltinFunctionType) and not isinstance(
            value.__self__, (types.ModuleType, type(None))
        ):
            return [value.__self__]
        if isinstance(value, (types.ModuleType, types.BuiltinFunctionType)):
            return self._atom(value)
        if isinstance(value, type):
            self._atom(value)
            return self._class(value)
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.MethodType):
            return [value.__func__, value.__self__]
        if isinstance(value, functools.partial):
            return [value.func, value.args, value.keywords]
        return self._held(value)

    def _atom(self, value: Any) -> list[Any]:
        self._tell(id(value))
        self.atoms.append(value)
        return []

    def _held(self, value: Any) -> list[Any]:
        """What containers, generators of random numbers and objects hold."""
        if isinstance(value, (dict, types.MappingProxyType)):
            return [x for pair in value.items() for x in pair] + self._attributes(value)
        if isinstance(value, (list, tuple, deque)):
            return [*value, *self._attributes(value)]
        if isinstance(value, (set, frozenset)):
            self._tell(sorted(repr(x) for x in value))
            return []
        if is_made_by(value, "random", "Random"):
            return [value.getstate()]
        if isinstance(value, np.random.Generator):
            return [value.bit_generator.state]
        if isinstance(value, np.random.RandomState):
            return [value.get_state(legacy=False)]
        if isinstance(value, types.GeneratorType):
            frame = value.gi_frame
            return [] if frame is None else [frame.f_lasti, dict(frame.f_locals)]
        if isinstance(value, types.CellType):
            return [value.cell_contents] if _filled(value) else []
        if _is_control(value):
            return [getattr(value, f.name) for f in fields(value)]
        if _root(type(value)) == "manipula":
            return self._atom(value)
        return self._object(value)

    def _object(self, value: Any) -> list[Any]:
        inside = self._attributes(value)
        if not inside or _root(type(value)) in LIBRARIES:
            try:
                self._tell(repr(value))
            except Exception:  # the user's __repr__
                self._tell(id(value))
        return [*inside, *self._class(type(value))]

    def _attributes(self, value: Any) -> list[Any]:
        found = list(getattr(value, "__dict__", {}).items())
        for kind in type(value).__mro__:
            slots = kind.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if hasattr(value, name) and name not in ("__dict__", "__weakref__"):
                    found.append((name, getattr(value, name)))
        return [x for pair in found for x in pair]

    def _class(self, kind: type) -> list[Any]:
        """Class attributes and methods of the user's own classes: a list there is shared by all objects."""
        out: list[Any] = []
        for base in kind.__mro__:
            if _root(base) in self.own:
                for name, value in base.__dict__.items():
                    if not name.startswith("__") or name in ("__call__", "__next__"):
                        out.append(getattr(value, "__func__", value))
        return out

    def _function(self, f: types.FunctionType) -> list[Any]:
        if _root(f) not in self.own:
            return self._atom(f) if not f.__closure__ else list(f.__closure__)
        self._tell(hash(f.__code__))
        out: list[Any] = [*(f.__closure__ or ()), f.__defaults__, f.__kwdefaults__, f.__dict__]
        for name in sorted(_names(f.__code__)):
            if name in f.__globals__:
                out.append(f.__globals__[name])
        return out


def _names(code: types.CodeType) -> set[str]:
    """Global names that a function and the functions inside it use."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found
