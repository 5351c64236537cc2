"""Machine code on other threads: batches on several cores, and runs that can be interrupted.

``run_batch`` cuts a batch into chunks and lets a few threads take them one after the other. A kernel runs outside the GIL
and every row depends on its own inputs only, so the bits of the result do not depend on the number of threads, nor on who took
which chunk. Chunks are multiples of ``CHUNK_ROWS`` rows (whole vectors, and a cache line of any output belongs to one
thread except at chunk borders), large enough that handing one over costs nothing and small enough that an interruption is
heard soon.

Python hears Ctrl-C only between two of its own instructions, never inside machine code. So work that may take long is done
by other threads (``share`` with ``join_in=False``) while the calling thread waits. When it is interrupted it raises the stop
flag, which compiled loops look at (``llvm/blocks.py``; it can also hold them for a while), waits until everybody has left, and only
then lets the interruption go on.
A job owns all memory that it reads or writes: whatever happens to the caller, nothing is freed under a running thread.
"""

from __future__ import annotations

import atexit
import ctypes
import itertools
import os
import queue
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manipula.errors import DescriptionError, printable
from manipula.native.binary_interface import BATCH, aligned_workspace
from manipula.native.environment import at_most
from manipula.native.locks import import_module

if TYPE_CHECKING:
    from concurrent.futures import Future  # imports much; only work that is shared needs it

CHUNK_ROWS = 64  # 8 vectors of the widest kind (8 doubles)
CHUNK_SECONDS = 100e-6  # work in a chunk, at least; handing one to a thread takes about a tenth of that
LONGEST_CHUNK = 10e-3  # and at most, where a chunk has more than CHUNK_ROWS rows
CHUNKS_PER_THREAD = 4  # a core that is busy with something else takes fewer
MAX_THREADS_PER_CORE = 4  # more are never started, whatever is asked for
WORTHWHILE_SECONDS = 300e-6  # below this one thread is as fast
LOOK_SECONDS = 0.1  # a waiting thread looks for signals at least this often (where a wait is not ended by them)
STOP, HOLD = 1, 2  # what a flag says
HELD_MS = 10  # that a held loop sleeps before it looks again
FAREWELL_SECONDS = 2.0  # how long the end of the program waits for threads that were told to stop


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
    owned: object = None,
    stop: StopFlag | None = None,
) -> None:
    """Run the batch kernel (see ``binary_interface.py``) over ``count`` rows.

    Args:
        batch_address: where the kernel starts.
        inputs: address and stride of every argument.
        outputs: address and stride of every result.
        count: number of rows; 0 does nothing.
        workspace: doubles of scratch memory the kernel needs, given to each thread apart.
        seconds_per_row: rough time of one row, for the choice of threads and chunks.
        threads: how many threads share the work; ``None`` chooses by the amount of work.
        owned: what must stay alive until the last thread has left: the code and the memory behind ``inputs`` and ``outputs``.
        stop: the flag at which the kernel's own loops look; the calling thread then only waits.
    """
    workers = thread_count(threads, count * seconds_per_row)
    chunk = chunk_rows(count, workers, seconds_per_row)
    kernel = BATCH(batch_address)
    starts = itertools.count(0, chunk)  # next() is atomic: it holds the GIL

    flag = StopFlag() if stop is None else stop

    def work() -> None:
        scratch = aligned_workspace(workspace)
        memory = None if scratch is None else scratch.ctypes.data
        for first in starts:
            if first >= count or flag.raised:
                return
            rows = min(chunk, count - first)
            kernel(*_pointers(inputs, first), *_pointers(outputs, first), rows, memory)

    if stop is not None:
        share(work, workers, flag, join_in=False, owned=owned)
    elif workers == 1 or chunk >= count:
        work()
    else:
        share(work, workers - 1, flag, join_in=True, owned=owned)


def thread_count(threads: int | None, seconds: float) -> int:
    """The number of threads for this much work, or the number asked for."""
    if threads is None:
        return 1 if seconds < WORTHWHILE_SECONDS else max(1, min(available_cores(), int(seconds / CHUNK_SECONDS)))
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        problem = f"The number of threads is {printable(repr(threads))}. Allowed: a whole number from 1, or None."
        raise DescriptionError(problem, field="threads")
    return min(int(threads), MAX_THREADS_PER_CORE * available_cores())


def chunk_rows(count: int, workers: int, seconds_per_row: float) -> int:
    """Rows in a chunk: a multiple of ``CHUNK_ROWS``, or the whole batch for one worker if that is soon done."""
    most = int(LONGEST_CHUNK / max(seconds_per_row, 1e-12))
    if workers == 1 and count <= most:
        return max(1, count)
    fair = count // (workers * CHUNKS_PER_THREAD) if workers > 1 else count
    enough = int(CHUNK_SECONDS / max(seconds_per_row, 1e-12))
    rows = min(max(fair, enough), most, -(-count // workers))
    return max(1, -(-rows // CHUNK_ROWS)) * CHUNK_ROWS


def available_cores() -> int:
    """Cores this process may use; ``MANIPULA_THREADS`` sets a lower limit."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = at_most("MANIPULA_THREADS")
    return cores if limit is None else min(cores, limit)


def _pointers(operands: Sequence[Rows], first: int) -> tuple[ctypes.Array, ctypes.Array]:
    count = max(1, len(operands))
    addresses = (ctypes.c_void_p * count)(*(rows.address + 8 * first * rows.stride for rows in operands))
    return addresses, (ctypes.c_int64 * count)(*(rows.stride for rows in operands))


# --- the threads ---------------------------------------------------------------------------------------------------------
class StopFlag:
    """Three words in memory that the loops of one call look at: 0 go on, 1 stop, 2 hold; then the function with which a held loop sleeps, and its argument."""

    def __init__(self) -> None:
        self.word = (ctypes.c_int64 * 3)(0, *_sleeping())
        self.address = ctypes.addressof(self.word)

    def raise_(self) -> None:
        """Call everything off."""
        self.word[0] = STOP

    def hold(self, on: bool) -> None:
        """Let the loops sleep where they are, or go on. What was called off stays so."""
        if not self.raised:
            self.word[0] = HOLD if on else 0

    @property
    def raised(self) -> bool:
        """Has somebody called it off?"""
        return self.word[0] == STOP


@cache
def _sleeping() -> tuple[int, int]:
    """Address of a function of the system that sleeps, and for how long: ``usleep`` takes microseconds, ``Sleep`` milliseconds."""
    system: Any = ctypes
    function = system.windll.kernel32.Sleep if os.name == "nt" else ctypes.CDLL(None).usleep
    return ctypes.cast(function, ctypes.c_void_p).value or 0, HELD_MS * (1 if os.name == "nt" else 1000)


def share(work: Callable[[], None], helpers: int, stop: StopFlag, *, join_in: bool, owned: object = None) -> None:
    """Run ``work`` on ``helpers`` other threads, and in the calling one as well with ``join_in``; wait for all of them.

    The wait cannot be cut short: an interruption raises the stop flag and is passed on when everybody has left. Helpers that
    have not begun when the caller is through are called off. The first failure of a helper is raised here.
    """
    import_module("concurrent.futures")
    from concurrent.futures import Future

    futures: list[Future[None]] = [Future() for _ in range(helpers)]
    finished = False
    _active[id(futures)] = (stop, futures)
    try:
        for future in futures:
            _pool.take(future, work, owned)
        if join_in:
            work()
        else:
            _wait(futures)
        finished = True
    finally:
        _leave(futures, stop, finished)
        _active.pop(id(futures), None)
    if stop.raised:  # by the end of the program: what was computed is of no use
        raise KeyboardInterrupt
    for future in futures:
        if not future.cancelled():
            future.result()


def _wait(futures: Sequence[Future[None]]) -> None:
    from concurrent.futures import wait

    while wait(futures, LOOK_SECONDS).not_done:
        pass


def _leave(futures: Sequence[Future[None]], stop: StopFlag, finished: bool) -> None:
    """Wait for all helpers that have begun; an interruption meanwhile is remembered and raised at the end."""
    interruption: BaseException | None = None
    while True:
        try:
            if not finished or interruption is not None:
                stop.raise_()
            _wait([future for future in futures if not future.cancel()])
            break
        except BaseException as raised:  # the wait itself does not fail: this is KeyboardInterrupt or its like
            interruption = raised
    if interruption is not None:
        raise interruption


class _Pool:
    """Threads that wait for jobs. They are started when first needed and end with the program."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[tuple[Future[None], Callable[[], None], object]] = queue.SimpleQueue()
        self.idle = threading.Semaphore(0)
        self.lock = threading.Lock()
        self.threads: list[threading.Thread] = []

    def take(self, future: Future[None], work: Callable[[], None], owned: object) -> None:
        """Let somebody do ``work`` and keep ``owned`` meanwhile; ``future`` tells when it is done."""
        self.jobs.put((future, work, owned))
        if self.idle.acquire(blocking=False):
            return
        with self.lock:
            if len(self.threads) < MAX_THREADS_PER_CORE * available_cores():
                thread = threading.Thread(target=self.serve, name=f"manipula_{len(self.threads)}", daemon=True)
                thread.start()
                self.threads.append(thread)

    def serve(self) -> None:
        while True:
            self.serve_one()
            self.idle.release()

    def serve_one(self) -> None:
        """The next job; nothing of it is kept afterwards."""
        future, work, _owned = self.jobs.get()
        if not future.set_running_or_notify_cancel():
            return
        try:
            work()
        except BaseException as failure:
            future.set_exception(failure)
        else:
            future.set_result(None)


_pool = _Pool()
_active: dict[int, tuple[StopFlag, list[Future[None]]]] = {}  # calls that are under way


@atexit.register
def _stop_everything() -> None:
    """The program ends: nobody may run machine code while it is taken down."""
    calls = list(_active.values())
    for stop, _ in calls:
        stop.raise_()
    for _, futures in calls:
        from concurrent.futures import wait

        wait([future for future in futures if not future.cancel()], FAREWELL_SECONDS)


def _forget_threads() -> None:
    """A forked child has none of its parent's threads."""
    global _pool
    _pool = _Pool()
    _active.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
