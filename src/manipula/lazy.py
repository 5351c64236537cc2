"""Attributes that are computed, and modules that are loaded, when they are first asked for."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
_MISSING = object()


class cached_property(functools.cached_property, Generic[T]):
    """``functools.cached_property`` without a lock.

    The one of Python 3.11 holds a lock of the class while it computes: two models would wait for each other's machine code,
    and a process forked meanwhile would wait for ever. Here two threads may compute a value twice; the first one stays.
    """

    func: Callable[[Any], T]

    def __init__(self, func: Callable[[Any], T]) -> None:
        super().__init__(func)

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        if instance is None:
            return self
        known = instance.__dict__
        name: Any = self.attrname
        value = known.get(name, _MISSING)
        return known.setdefault(name, self.func(instance)) if value is _MISSING else value


def names_in(
    package: str, load: Callable[[str], object] = importlib.import_module, /, **homes: str
) -> Callable[[str], Any]:
    """``__getattr__`` of a package whose names stand in its modules, name = module: each is loaded when it is first asked for.

    Args:
        load: imports a module.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        home = f"{package}.{homes[name]}"
        load(home)
        value = getattr(sys.modules[home], name)
        setattr(sys.modules[package], name, value)
        return value

    return find


def is_made_by(value: object, module: str, name: str) -> bool:
    """``isinstance`` for a class of a module that need not be loaded: before it is, nothing is an instance of the class."""
    home = sys.modules.get(module)
    kind = getattr(home, name, None)
    return isinstance(kind, type) and isinstance(value, kind)
