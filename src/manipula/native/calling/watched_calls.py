"""Long loops seen from outside while they run: how far they are, and a way to end them.

``with watching(listener):`` every call in this context whose loops may take long hands its outputs, filled with NaN, and its stop flag to
``listener`` before it begins. Rows that have been computed are no longer NaN; another thread may look at them at any time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from manipula.native.calling.threads import StopFlag

Listener = Callable[[str, Mapping[str, np.ndarray], "StopFlag"], None]
_listener: ContextVar[Listener | None] = ContextVar("manipula_watching", default=None)


@contextlib.contextmanager
def watching(listener: Listener) -> Iterator[None]:
    """While this lasts, ``listener(name, outputs, stop)`` is called as each long loop begins (in the same context)."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def listener_of_calls() -> Listener | None:
    """Whoever listens in this context."""
    return _listener.get()


def announced(listener: Listener, name: str, outputs: Mapping[str, np.ndarray], stop: StopFlag) -> None:
    """Hand over the outputs of a call that is about to begin."""
    for array in outputs.values():
        array.fill(np.nan)
    listener(name, outputs, stop)
