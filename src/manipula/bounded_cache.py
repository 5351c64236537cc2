"""The things used last, by key: bounded, safe when several threads ask, and open in a forked child.

For answers of functions ``functools.lru_cache`` does; this is for what is found or not, and then made by whoever asks.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Lock:
    """``with lock.here:`` A forked child finds it open, whoever held it in the parent.

    ``here`` is a lock of ``threading``, because only such a one cannot be interrupted between being taken and being held.
    """

    __slots__ = ("_lock", "_process")

    def __init__(self) -> None:
        self._lock, self._process = threading.Lock(), os.getpid()

    @property
    def here(self) -> Any:
        """The lock of this process."""
        if self._process != os.getpid():
            self._lock, self._process = threading.Lock(), os.getpid()
        return self._lock


class BoundedCache(Generic[T]):
    """Keeps things until their sizes together exceed ``most``; those used longest ago go first.

    Args:
        most: what is kept, in the unit of ``size``.
        size: of a thing; 1 each when omitted, so that ``most`` is their number.
    """

    def __init__(self, most: int, size: Callable[[T], int] | None = None) -> None:
        self.most = most
        self._size = size or (lambda thing: 1)
        self._total = 0
        self._things: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> T | None:
        """What is kept under this key; ``None`` when there is nothing (any more)."""
        with self._lock.here:
            found = self._things.get(key)
            if found is not None:
                self._things.move_to_end(key)
            return found

    def put(self, key: Hashable, thing: T) -> T:
        """Keep ``thing``, unless another thread was first: the one to use comes back."""
        with self._lock.here:
            found = self._things.get(key)
            return self._keep(key, thing) if found is None else found

    def replace(self, key: Hashable, thing: T) -> T:
        """Keep ``thing`` in place of what there was."""
        with self._lock.here:
            return self._keep(key, thing)

    def _keep(self, key: Hashable, thing: T) -> T:
        if key in self._things:
            self._total -= self._size(self._things.pop(key))
        self._things[key] = thing
        self._total += self._size(thing)
        while self._total > self.most:
            self._total -= self._size(self._things.popitem(last=False)[1])
        return thing

    def clear(self) -> None:
        """Forget everything."""
        with self._lock.here:
            self._things.clear()
            self._total = 0

    def items(self) -> list[tuple[Hashable, T]]:
        """Everything that is kept, that used longest ago first."""
        with self._lock.here:
            return list(self._things.items())
