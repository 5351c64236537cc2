"""The engine ``pool``: processes on this machine, each making chunks; one that dies is replaced, and what it was making is made again.

A chunk whose process died is made again whole; where that dies as well it is cut in two and so on, each piece in a process of its own, until one run is
left that kills its process every time: its row says so, and the rest finishes.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import manipula
from manipula.errors import CompileError, DescriptionError, printable
from manipula.studies.chunks import ChunkMaker, ChunkQueue, Made
from manipula.studies.files import text_for
from manipula.studies.folder import StudyFolder
from manipula.studies.part_files import TEMPORARY
from manipula.studies.study import Study

LOOK = 0.25  # s between looks while nothing happens
ALONE = 3  # deaths of a process with one run, after which the run is held to be the reason
STARTS = 3  # processes in a row that may end by themselves before they are ready
KILLS = 100  # … that may be killed by somebody


class PoolWorker:
    """One process, and what it is making."""

    def __init__(self, begin: str, events: queue.SimpleQueue[tuple[PoolWorker, dict[str, Any] | None]]) -> None:
        path = str(Path(manipula.__file__).parents[1])
        paths = [path, *(p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and p != path)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from manipula.studies.worker import main; main()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
        self.task: tuple[int, int] | None = None
        self.ready = False
        self.said: deque[str] = deque(maxlen=8)
        self._events = events
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._overhear, daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        self.send(begin)

    def send(self, line: str) -> None:
        """One line to the process; one that died is noticed by its silence."""
        with contextlib.suppress(OSError, ValueError):
            assert self.process.stdin is not None
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()

    def make(self, first: int, last: int) -> None:
        """Ask for a chunk."""
        self.task = (first, last)
        self.send(json.dumps({"first": first, "last": last}))

    def _read(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError, OSError):
            for line in self.process.stdout:
                with contextlib.suppress(ValueError):
                    self._events.put((self, json.loads(line)))
        self.process.wait()
        self._events.put((self, None))

    def _overhear(self) -> None:
        assert self.process.stderr is not None
        with contextlib.suppress(ValueError, OSError):
            for line in self.process.stderr:
                self.said.append(line.rstrip())

    def death(self) -> str:
        """How it ended; of one that raised something also what."""
        code = self.process.returncode
        self._readers[1].join(1.0)
        raised = code is not None and code > 0 and self.said
        return death_of(code) + (f" ({printable(self.said[-1], 200)})" if raised else "")

    def end(self) -> None:
        """Kill it: whatever it is writing is whole or not there."""
        with contextlib.suppress(OSError):
            self.process.kill()
        with contextlib.suppress(Exception):
            self.process.wait(2.0)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError, ValueError):
                if stream is not None:
                    stream.close()


def death_of(code: int | None) -> str:
    """``signal 9 (SIGKILL)``, or the exit code."""
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"signal {-code} ({signal.Signals(-code).name})"
    return f"exit code {code}"


class Pool:
    """Processes that make the chunks of a queue."""

    def __init__(self, study: Study, place: StudyFolder, workers: int) -> None:
        text = text_for("Other processes", study)
        self.begin = json.dumps({"study": text, "folder": str(place.path.absolute()), "threads": 1})
        self.study, self.place, self.count = study, place, workers
        self.tell: Callable[[Made], None] = lambda made: None
        self.events: queue.SimpleQueue[tuple[PoolWorker, dict[str, Any] | None]] = queue.SimpleQueue()
        self.workers: list[PoolWorker] = []
        self.suspects: deque[tuple[int, int]] = deque()
        self.deaths: dict[tuple[int, int], int] = {}
        self.unready = 0.0
        self._maker: ChunkMaker | None = None

    def start(self, runs: int) -> None:
        """Processes for so many runs; each takes a while until it is ready."""
        for _ in range(min(self.count, max(1, runs)) - len(self.workers)):
            self.workers.append(PoolWorker(self.begin, self.events))

    def end(self) -> None:
        """Kill what is left of them."""
        for worker in self.workers:
            worker.end()
            self._swept(worker)

    def _swept(self, worker: PoolWorker) -> None:
        """Remove what a process was writing when it ended."""
        for folder in filter(os.path.isdir, (self.place.parts, self.place.series)):
            for left in folder.glob(f"{TEMPORARY}{worker.process.pid}-*"):
                with contextlib.suppress(OSError):
                    left.unlink()

    def run(self, chunks: ChunkQueue, tell: Callable[[Made], None]) -> None:
        """Make everything in the queue.

        Raises:
            DescriptionError: the folder cannot be written to. CompileError: processes cannot be started.
        """
        self.tell = tell
        try:
            self.start(chunks.left)
            while self._busy(chunks):
                try:
                    worker, event = self.events.get(timeout=LOOK)
                except queue.Empty:
                    continue
                if worker in self.workers:
                    self._handle(worker, event, chunks)
        finally:
            self.end()

    def _busy(self, chunks: ChunkQueue) -> bool:
        return bool(chunks.gaps or self.suspects or any(w.task is not None for w in self.workers))

    def _handle(self, worker: PoolWorker, event: dict[str, Any] | None, chunks: ChunkQueue) -> None:
        if event is None:
            self._died(worker)
        elif "stop" in event:
            raise DescriptionError(event["stop"])
        elif "made" in event:
            made = Made(**event["made"])
            worker.task = None
            chunks.learn(made)
            self.tell(made)
        else:
            worker.ready, self.unready = True, 0.0
        for idle in self.workers:
            if idle.ready and idle.task is None:
                self._give(idle, chunks)

    def _give(self, worker: PoolWorker, chunks: ChunkQueue) -> None:
        """The next chunk; suspects last, so that one run does not hold up the others."""
        task = chunks.next() or (self.suspects.popleft() if self.suspects else None)
        if task is not None:
            worker.make(*task)

    def _died(self, worker: PoolWorker) -> None:
        self.workers.remove(worker)
        task, how = worker.task, worker.death()
        worker.end()
        self._swept(worker)
        if not worker.ready:
            killed = worker.process.returncode in (-signal.SIGTERM, -getattr(signal, "SIGKILL", 9))
            self.unready += STARTS / KILLS if killed else 1
            if self.unready >= STARTS:
                told = " ".join(worker.said)
                raise CompileError(f"Processes of the pool end before they are ready ({how}): {printable(told, 600)}")
        if task is not None:
            self._suspect(task, how)
        self.workers.append(PoolWorker(self.begin, self.events))

    def _suspect(self, task: tuple[int, int], how: str) -> None:
        """A chunk whose process died: again, in halves, and at last one run alone."""
        first, last = task
        deaths = self.deaths.pop(task, 0) + 1
        if first == last and deaths >= ALONE:
            self._lost(first, how)
        elif first == last or deaths < 2:
            self.deaths[task] = deaths
            self.suspects.append(task)
        else:
            middle = (first + last) // 2
            for half in ((first, middle), (middle + 1, last)):
                self.deaths[half] = 1
                self.suspects.append(half)

    def _lost(self, run: int, how: str) -> None:
        if self._maker is None:
            self._maker = ChunkMaker(self.study, self.place)
        reason = (
            f"Its process ended with {how}, {ALONE} times. To see it: "
            f'python -c "import manipula as mp; mp.open_study(FOLDER).run({run})"'
        )
        self.tell(self._maker.killed(run, reason))


def make_in_pool(
    study: Study, place: StudyFolder, chunks: ChunkQueue, workers: int, tell: Callable[[Made], None]
) -> None:
    """Make everything in the queue with processes on this machine."""
    Pool(study, place, workers).run(chunks, tell)
