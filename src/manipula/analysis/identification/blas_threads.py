"""Small least-squares problems on one thread: the threads of BLAS spend many times the work of such a problem on waiting."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController

SMALL = 5_000_000  # entries of a matrix up to which one thread is enough


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_thread_if_small(entries: int) -> Iterator[None]:
    """BLAS and LAPACK on one thread while matrices have at most ``SMALL`` entries."""
    if entries > SMALL:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield
