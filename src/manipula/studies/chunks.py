"""Chunks: which runs are made next, how many at once, and a chunk made and published."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from manipula.studies.evaluate import Evaluator
from manipula.studies.folder import StudyFolder
from manipula.studies.layout import columns_of, schema_of, series_table, table_of_rows
from manipula.studies.part_files import write_part
from manipula.studies.study import Study

WANTED = 4.0  # s of work in a chunk
LONGEST = 60.0  # s
MOST_PARTS = 20_000
FIRST = 8  # runs of the first chunk, which also compiles
GROWTH = 8  # times that a chunk may be larger than the one before


class Made(NamedTuple):
    """What became of a chunk: its runs (both included), how they ended, how long they took, and whether the part was new."""

    first: int
    last: int
    statuses: dict[str, int]
    seconds: float
    new: bool = True


class ChunkMaker:
    """Makes chunks of one study into one folder; lives in the process that computes."""

    def __init__(self, study: Study, folder: StudyFolder, threads: int | None = None) -> None:
        self.evaluator = Evaluator(study, threads)
        self.folder = folder
        self.schema = schema_of(columns_of(study))

    def make(self, first: int, last: int, stopped: Callable[[], bool] = lambda: False) -> Made:
        """Compute the runs ``first`` … ``last`` and publish them: samples first, then the rows, which make them count.

        Raises:
            DescriptionError: the folder cannot be written to.
        """
        begin = time.perf_counter()
        rows, kept = self.evaluator.rows(np.arange(first, last + 1, dtype=np.int64), stopped)
        if kept:
            write_part(self.folder.series, first, last, series_table(kept))
        new = write_part(self.folder.parts, first, last, table_of_rows(rows, self.schema))
        return Made(first, last, counted(rows), time.perf_counter() - begin, new)

    def killed(self, run: int, reason: str) -> Made:
        """Publish the row of a run whose process died."""
        values = self.evaluator.study.values_of(np.array([run]))
        varied = self.evaluator._varied(np.array([run]), values)[0]
        row: dict[str, Any] = {"run": run, **varied, "status": "killed", "reason": reason}
        new = write_part(self.folder.parts, run, run, table_of_rows([row], self.schema))
        return Made(run, run, {"killed": 1}, 0.0, new)


def counted(rows: list[dict[str, Any]]) -> dict[str, int]:
    """How many rows have which status."""
    out: dict[str, int] = {}
    for row in rows:
        out[row["status"]] = out.get(row["status"], 0) + 1
    return out


class ChunkQueue:
    """The gaps of a study, handed out in chunks of a few seconds of work."""

    def __init__(self, gaps: list[tuple[int, int]], runs: int, workers: int, size: int | None = None) -> None:
        self.gaps = deque(gaps)
        self.left = sum(last - first + 1 for first, last in gaps)
        self.workers, self.fixed = max(1, workers), size
        self.least = max(1, -(-runs // MOST_PARTS))
        self.seconds: float | None = None  # of one run
        self.last_size = 0

    def next(self) -> tuple[int, int] | None:
        """The next runs, both included; None when all were handed out."""
        if not self.gaps:
            return None
        first, last = self.gaps.popleft()
        size = min(self._size(), last - first + 1)
        if first + size <= last:
            self.gaps.appendleft((first + size, last))
        self.left -= size
        self.last_size = max(self.last_size, size)
        return first, first + size - 1

    def again(self, first: int, last: int) -> None:
        """Runs that were handed out and not made."""
        self.gaps.append((first, last))
        self.left += last - first + 1

    def learn(self, made: Made) -> None:
        """How long a run takes, from a chunk that was made."""
        each = made.seconds / (made.last - made.first + 1)
        self.seconds = each if self.seconds is None else min(each, 0.5 * (self.seconds + each))

    def _size(self) -> int:
        if self.fixed is not None:
            return self.fixed
        if self.seconds is None:
            return max(FIRST, self.least)
        wanted = int(WANTED / max(self.seconds, 1e-7))
        fair = -(-self.left // (2 * self.workers))  # so that no worker waits for the last chunk of another
        most = max(1, int(LONGEST / max(self.seconds, 1e-7)))
        size = min(max(1, wanted), max(FIRST, GROWTH * self.last_size), max(FIRST, fair))
        return max(self.least, min(size, most))
