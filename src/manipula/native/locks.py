"""Locks, ``fork`` and the end of the program.

A forked child has one thread, so no lock that another thread of its parent held may stay closed in it, and nothing behind a
lock may be half done. And when a program ends, the destructors of the C++ libraries run while daemon threads go on: a thread
that is inside LLVM then works on memory that is gone. So ``fork`` and the end of the program wait for the same locks; the end keeps
them, and a thread that asks for one afterwards waits until the process is gone.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import os
import threading
import time
from typing import Any

COMPILING = threading.RLock()
"""Held while LLVM works or its modules are imported; see :func:`compiling`."""

GUARDED: list[Any] = [COMPILING]
"""Reentrant locks that a fork and the end of the program wait for, in this order."""

_first: int | None = None  # the thread that forks or ends the program: nobody overtakes it
_held: list[contextlib.ExitStack] = []


def compiling() -> Any:
    """``COMPILING``, for ``with``; whoever wants to fork or to end the program gets it first."""
    while _first not in (None, threading.get_ident()):
        time.sleep(0.001)
    return COMPILING


@functools.cache
def import_module(name: str) -> None:
    """Import a module that loads LLVM or much else: a process forked during an import would wait for its end for ever."""
    with compiling():
        importlib.import_module(name)


def _take() -> None:
    global _first
    _first = threading.get_ident()
    with contextlib.ExitStack() as stack:
        for lock in GUARDED:  # modules imported while the first one was waited for may have added theirs
            stack.enter_context(lock)
        _held.append(stack.pop_all())


def _give_back() -> None:
    global _first
    _first = None
    if _held:
        _held.pop().close()


# registered before LLVM is imported, hence called after its handlers and those of ``threads.py``
atexit.register(_take)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take, after_in_parent=_give_back, after_in_child=_give_back)
