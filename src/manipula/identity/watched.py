"""A thing looked at again: is it still made of the very objects that it was made of?

:func:`~manipula.identity.identity` reads everything a thing holds. Where that was done once, and all of it is this package's own, looking
again is one comparison of addresses for every attribute: plain values do not change, and attributes that now hold something else are
noticed. Arrays are compared by their content.
"""

from __future__ import annotations

import enum
import functools
import itertools
import operator
import types
from collections.abc import Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from manipula.bounded_cache import BoundedCache
from manipula.identity.classes import ForeignCode, holds_all
from manipula.identity.package import is_untouched
from manipula.identity.parts import DEEPEST, IdentityWriter, slots_of

MOST_NUMBERS = 4096  # in arrays; they are compared one by one
MOST_PIECES = 10_000  # of a thing that is looked at
_NEVER = object()  # stands for the answer about what cannot be watched
_CONSTANT = (type(None), float, int, bool, complex, str, bytes, np.generic, type, types.BuiltinFunctionType, np.ufunc)

T = TypeVar("T")


class Watched:
    """Everything that a value holds, and what it was when it was first looked at.

    Raises:
        ForeignCode: when it holds something that this package did not make, or something that may change unseen.
    """

    __slots__ = ("_arrays", "_numbers", "_pieces", "_places", "_then")

    def __init__(self, *values: Any) -> None:
        self._places: list[Iterable[Any]] = []
        self._arrays: list[tuple[np.ndarray, bytes]] = []
        self._numbers = self._pieces = 0
        self._walk(values, 0)
        IdentityWriter().write(values)  # is all of it ours?
        self._then = list(itertools.chain.from_iterable(self._places))

    def unchanged(self) -> bool:
        """Does everything still hold the same objects, and every array the same numbers?"""
        now = list(itertools.chain.from_iterable(self._places))
        if len(now) != len(self._then) or not all(map(operator.is_, now, self._then)):
            return False
        return all(array.tobytes() == then for array, then in self._arrays)

    def _walk(self, value: Any, depth: int) -> None:
        kind = type(value)
        self._pieces += 1
        if depth > DEEPEST or self._pieces > MOST_PIECES:
            raise ForeignCode
        if isinstance(value, (*_CONSTANT, enum.Enum)):
            return
        if kind is np.ndarray and value.dtype.kind in "biufc":
            self._numbers += value.size
            if self._numbers > MOST_NUMBERS:
                raise ForeignCode
            self._arrays.append((value, value.tobytes()))
            return
        inner: Iterable[Any]
        if kind is tuple or kind is frozenset:
            inner = value
        elif kind is list:
            inner = value
            self._places.append(value)
        elif kind is dict or kind is types.MappingProxyType:
            inner = [*value.keys(), *value.values()]
            self._places += [value.keys(), value.values()]
        elif kind is types.FunctionType:
            try:
                inner = (value.__defaults__, value.__kwdefaults__, *(c.cell_contents for c in value.__closure__ or ()))
            except ValueError:  # a name of the outer function that has no value yet
                raise ForeignCode from None
        elif holds_all(kind):
            inner = self._fields(value, kind)
        else:
            raise ForeignCode
        for part in inner:
            self._walk(part, depth + 1)

    def _fields(self, value: Any, kind: type) -> Iterable[Any]:
        if isinstance(value, tuple):
            return value
        own, slots = getattr(value, "__dict__", {}), _Slots(value, tuple(slots_of(kind)))
        self._places += [own.values(), slots]
        if hasattr(kind, "__identity__"):
            return (value.__identity__(),)
        lazy = functools.cached_property
        return [*(v for name, v in own.items() if not isinstance(getattr(kind, name, None), lazy)), *slots]


class _Slots:
    """What stands in the slots of an object now."""

    __slots__ = ("_names", "_owner")

    def __init__(self, owner: Any, names: tuple[str, ...]) -> None:
        self._owner, self._names = owner, names

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self._owner, name, None) for name in self._names)


class _Kept(NamedTuple):
    thing: Any
    watched: Watched | None  # None: it was met once
    answer: Any


class KeptAnswers(Generic[T]):
    """Answers about things, found again while the very same thing is asked about and nothing it is made of changed.

    What a thing is made of is looked at when it is met a second time: many never are.

    Args:
        most: how many are kept, with the things they are about.
    """

    def __init__(self, most: int) -> None:
        self._kept: BoundedCache[_Kept] = BoundedCache(most)

    def get(self, thing: Any) -> T | None:
        """The answer that was kept; ``None`` when there is none that still holds."""
        found = self._kept.get(id(thing))
        if found is None or found.thing is not thing or found.watched is None:
            return None
        return found.answer if is_untouched() and found.watched.unchanged() else None

    def put(self, thing: Any, answer: T) -> None:
        """Keep the answer, where everything that ``thing`` is made of can be looked at again."""
        met = self._kept.get(id(thing))
        again = met is not None and met.thing is thing
        if again and met is not None and met.answer is _NEVER:
            return
        try:
            watched = Watched(thing) if again else None
        except ForeignCode:
            self._kept.replace(id(thing), _Kept(thing, None, _NEVER))
            return
        if watched is None or is_untouched():  # an answer is given only once it is watched
            self._kept.replace(id(thing), _Kept(thing, watched, answer))
