"""A bound on computing time that does not depend on what else the machine does."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

ALLOWED = 20.0  # seconds of computing: what hangs takes minutes; how quick it is, is measured elsewhere


class TooSlow(BaseException):
    pass


@contextmanager
def quickly() -> Iterator[None]:
    """At most ALLOWED seconds of this process's own time, whatever else the machine does."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, ALLOWED)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
