"""A batch kernel on several cores.

``run_batch`` cuts a batch into chunks and lets a few threads take them one after the other; the calling thread works too.
A kernel runs outside the GIL and every row depends on its own inputs only, so the bits of the result do not depend on the
number of threads, nor on who took which chunk. Chunks are multiples of ``CHUNK_ROWS`` rows (whole vectors, and a cache line
of any output belongs to one thread except at chunk borders) and large enough that handing one over costs nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import NamedTuple

import numpy as np

from manipula.errors import DescriptionError, printable
from manipula.native.ufunc import aligned_workspace

CHUNK_ROWS = 64  # 8 vectors of the widest kind (8 doubles)
CHUNK_SECONDS = 100e-6  # work in a chunk, at least; handing one to a thread takes about a tenth of that
CHUNKS_PER_THREAD = 4  # a core that is busy with something else takes fewer
MAX_THREADS_PER_CORE = 4  # more are never started, whatever is asked for
WORTHWHILE_SECONDS = 300e-6  # below this one thread is as fast

_BATCH = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p
)


class Rows(NamedTuple):
    """One operand of a batch: the address of its first row and the distance between rows in doubles (0: one row for all)."""

    address: int
    stride: int


def run_batch(
    batch_address: int,
    inputs: Sequence[Rows],
    outputs: Sequence[Rows],
    count: int,
    *,
    workspace: int = 0,
    seconds_per_row: float = 100e-9,
    threads: int | None = None,
) -> None:
    """Run the batch kernel (interface at the top of ``ufunc.py``) over ``count`` rows.

    The caller keeps the memory behind ``inputs`` and ``outputs`` alive until this returns.

    Args:
        batch_address: where the kernel starts.
        inputs: address and stride of every argument.
        outputs: address and stride of every result.
        count: number of rows; 0 does nothing.
        workspace: doubles of scratch memory the kernel needs, given to each thread apart.
        seconds_per_row: rough time of one row, for the choice of threads and chunks.
        threads: how many threads share the work: 1 runs in the calling thread, ``None`` chooses by the amount of work.
    """
    workers = thread_count(threads, count * seconds_per_row)
    chunk = chunk_rows(count, workers, seconds_per_row)
    kernel = _BATCH(batch_address)
    starts = itertools.count(0, chunk)  # next() is atomic: it holds the GIL

    def work() -> None:
        scratch = aligned_workspace(workspace)
        memory = None if scratch is None else scratch.ctypes.data
        for first in starts:
            if first >= count:
                return
            rows = min(chunk, count - first)
            kernel(*_pointers(inputs, first), *_pointers(outputs, first), rows, memory)

    if workers == 1 or chunk >= count:
        work()
        return
    with _helpers(workers - 1) as start:
        start(work)
        work()


def thread_count(threads: int | None, seconds: float) -> int:
    """The number of threads for this much work, or the number asked for."""
    if threads is None:
        return 1 if seconds < WORTHWHILE_SECONDS else max(1, min(available_cores(), int(seconds / CHUNK_SECONDS)))
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        problem = f"The number of threads is {printable(repr(threads))}. Allowed: a whole number from 1, or None."
        raise DescriptionError(problem, field="threads")
    return min(int(threads), MAX_THREADS_PER_CORE * available_cores())


def chunk_rows(count: int, workers: int, seconds_per_row: float) -> int:
    """Rows in a chunk: the whole batch for one worker, else a multiple of ``CHUNK_ROWS``."""
    if workers == 1:
        return max(1, count)
    fair = count // (workers * CHUNKS_PER_THREAD)
    enough = int(CHUNK_SECONDS / max(seconds_per_row, 1e-12))
    rows = min(max(fair, enough), -(-count // workers))
    return max(1, -(-rows // CHUNK_ROWS)) * CHUNK_ROWS


def available_cores() -> int:
    """Cores this process may use; ``MANIPULA_THREADS`` sets a lower limit."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = os.environ.get("MANIPULA_THREADS", "")
    return max(1, min(cores, int(limit))) if limit.isdecimal() else cores


def _pointers(operands: Sequence[Rows], first: int) -> tuple[ctypes.Array, ctypes.Array]:
    count = max(1, len(operands))
    addresses = (ctypes.c_void_p * count)(*(rows.address + 8 * first * rows.stride for rows in operands))
    return addresses, (ctypes.c_int64 * count)(*(rows.stride for rows in operands))


# --- the threads ---------------------------------------------------------------------------------------------------------
_pool: ThreadPoolExecutor | None = None
_pool_lock = threading.Lock()


@contextlib.contextmanager
def _helpers(number: int) -> Iterator[Callable[[Callable[[], None]], None]]:
    """Start a job on up to ``number`` other threads; leaving waits for those that began and calls off the others."""
    futures: list[Future] = []

    def start(job: Callable[[], None]) -> None:
        futures.extend(_threads().submit(job) for _ in range(number))

    try:
        yield start
    finally:
        begun = [future for future in futures if not future.cancel()]
        wait(begun)
    for future in begun:
        future.result()


def _threads() -> ThreadPoolExecutor:
    global _pool
    with _pool_lock:
        if _pool is None:  # threads are started when first needed
            _pool = ThreadPoolExecutor(MAX_THREADS_PER_CORE * available_cores(), thread_name_prefix="manipula")
        return _pool


def _forget_threads() -> None:
    """A forked child has none of its parent's threads."""
    global _pool, _pool_lock
    _pool, _pool_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
