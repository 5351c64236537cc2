"""Kernels that are kept for the next use: what may be found again without looking at the code, and what is traced anew.

One rule for the whole package. A function that is made of nothing but this package's own parts is known by their values
(:func:`manipula.identity.identity`): its kernel is found again by them, in this process and, through ``stored.py``, in the next. A
function that holds anything of somebody's (``parts=None``) is traced at every request, because its body, its globals or its
attributes may have changed; only the machine code of an equal graph is used again.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from manipula.identity import is_untouched
from manipula.native.calling.kernel import Kernel, has_compiler
from manipula.native.store.stored import compile_known
from manipula.native.tracing.trace import trace

MOST_KERNELS = 256
T = TypeVar("T")


class Kept(Generic[T]):
    """The things used last, by their key: bounded, and safe when several threads ask."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._things: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):  # a child must not inherit a lock that another thread held
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """What was kept under this key; ``None`` when there is nothing (any more)."""
        with self._lock:
            found = self._things.get(key)
            if found is not None:
                self._things.move_to_end(key)
            return found

    def put(self, key: Hashable, thing: T) -> T:
        """Keep ``thing``, unless another thread was first: the one to use comes back."""
        with self._lock:
            found = self._things.setdefault(key, thing)
            self._things.move_to_end(key)
            while len(self._things) > self.most:
                self._things.popitem(last=False)
            return found

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._things.clear()

    def __len__(self) -> int:
        return len(self._things)


KERNELS: Kept[Kernel] = Kept(MOST_KERNELS)


def kernel_of(
    f: Callable[..., Any], inputs: Mapping[str, tuple], name: str, parts: bytes | None, shared: Iterable[str] = ()
) -> Kernel:
    """The kernel of ``f``, kept where that is allowed.

    Args:
        parts: the :func:`~manipula.identity.identity` of everything ``f`` is made from besides the sources of this package;
            ``None`` when somebody's code is among it.
    """
    shared = tuple(shared)
    place = (
        getattr(f, "__module__", ""),
        getattr(f, "__qualname__", ""),
        getattr(f, "__code__", None) and f.__code__.co_firstlineno,
    )
    outside = name, repr((place, list(inputs.items()), shared)), has_compiler()
    if parts is not None and is_untouched():
        key = ("parts", parts, *outside)
        found = KERNELS.get(key)
        known = parts + outside[1].encode()
        return found or KERNELS.put(key, compile_known(f, inputs, name, known, shared))
    begin = time.perf_counter()
    graph = trace(f, inputs, name, shared=shared)
    key = ("graph", graph.digest(), *outside)
    return KERNELS.get(key) or KERNELS.put(key, Kernel(graph, trace_seconds=time.perf_counter() - begin))
