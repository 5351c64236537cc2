"""Locks and ``fork``: a child has one thread, so no lock that another thread of its parent held may stay closed in it."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Any

COMPILING = threading.RLock()
"""Held while LLVM works or its modules are imported; ``os.fork`` waits for it."""


class Lock:
    """A lock for ``with``; a forked child finds it open."""

    __slots__ = ("lock", "process")

    def __init__(self) -> None:
        self.lock, self.process = threading.Lock(), os.getpid()

    def __enter__(self) -> None:
        if self.process != os.getpid():
            self.lock, self.process = threading.Lock(), os.getpid()
        self.lock.acquire()

    def __exit__(self, *_: Any) -> None:
        self.lock.release()


GUARDED: list[Any] = [COMPILING]
"""Reentrant locks that a fork waits for, in this order, so that a child inherits nothing half done behind them."""

_held: list[contextlib.ExitStack] = []


def _take() -> None:
    with contextlib.ExitStack() as stack:
        for lock in GUARDED:  # modules imported while the first one was waited for may have added theirs
            stack.enter_context(lock)
        _held.append(stack.pop_all())


def _give_back() -> None:
    while _held:
        _held.pop().close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take, after_in_parent=_give_back, after_in_child=_give_back)
