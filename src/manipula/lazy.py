"""Attributes that are computed when they are first asked for."""

from __future__ import annotations

import functools
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
