"""What a run is doing right now, told to whoever listens (a progress bar)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

PHASES = ("reading", "compiling", "integrating", "verifying", "evaluating", "writing")

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("manipula_progress", default=None)


def phase(name: str) -> None:
    """Say that a phase begins."""
    listener = _listener.get()
    if listener is not None:
        listener(name)


@contextlib.contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """While this lasts, ``listener(phase)`` is called as each phase of a run begins (in the same context)."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
