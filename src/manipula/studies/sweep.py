"""``sweep(study, folder)``: make every run of a study that is not there yet."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manipula.algebra.arguments import whole_number
from manipula.errors import DescriptionError, unknown_name
from manipula.studies.chunks import ChunkMaker, ChunkQueue, Made
from manipula.studies.folder import StudyFolder
from manipula.studies.opened import StudyResults
from manipula.studies.part_files import arrow
from manipula.studies.plan import check_base
from manipula.studies.study import Study

ENGINES = ("serial",)


@dataclass
class SweepProgress:
    """How far a study is.

    Attributes:
        runs, done, failed: of the study, made (before and now), not finished among those made now.
        rate: runs per second, of this client. remaining: seconds, None while nothing is known.
        bad: damaged parts that were set aside.
    """

    runs: int
    done: int = 0
    failed: int = 0
    before: int = 0
    bad: int = 0
    began: float = field(default_factory=time.perf_counter)
    parts: int = 0

    def add(self, made: Made) -> None:
        """One more chunk."""
        self.done += made.last - made.first + 1
        self.failed += sum(n for status, n in made.statuses.items() if status != "finished")
        self.parts += 1

    @property
    def rate(self) -> float:
        """Runs per second."""
        seconds = time.perf_counter() - self.began
        return (self.done - self.before) / seconds if seconds > 0 else 0.0

    @property
    def remaining(self) -> float | None:
        """Seconds until the end, from the rate so far."""
        return (self.runs - self.done) / self.rate if self.rate > 0 else None


Told = Callable[[SweepProgress], Any]


def sweep(
    study: Study | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    engine: str = "serial",
    workers: int | None = None,
    resume: bool = True,
    *,
    chunk: int | None = None,
    progress: Told | None = None,
) -> StudyResults:
    """Run a study into a folder, and give its table.

    What is in the folder already is kept: an interrupted study goes on where it was.

    Args:
        study: a Study, or the path of its TOML file.
        engine: "serial" (this process, its batches on all cores).
        workers: processes of a pool.
        resume: False refuses a folder that holds results already.
        chunk: runs of a part; a few seconds of work when omitted. The results do not depend on it.
        progress: called after every chunk.

    Raises:
        DescriptionError: the folder holds another study, or cannot be written to; a value is not allowed.
    """
    arrow()
    if not isinstance(study, Study):
        study = Study.load(study)
    if chunk is not None:
        chunk = whole_number(chunk, "chunk", 1, study.runs)
    if engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES, field="engine")
    place = StudyFolder(folder)
    check_base(study)
    if not resume and place.exists:
        raise DescriptionError(
            "This folder holds a study already; resume it, or take another folder.", file=str(place.path)
        )
    place.begin(study)
    taken, bad = place.checked()
    gaps = place.gaps(taken, study.runs)
    left = sum(last - first + 1 for first, last in gaps)
    state = SweepProgress(study.runs, study.runs - left, before=study.runs - left, bad=len(bad))
    tell = progress or (lambda _: None)
    tell(state)
    if left:
        queue = ChunkQueue(gaps, study.runs, workers or 1, chunk)
        _serial(study, place, queue, state, tell)
    return StudyResults(Path(folder), study)


def _serial(study: Study, place: StudyFolder, queue: ChunkQueue, state: SweepProgress, tell: Told) -> None:
    maker = ChunkMaker(study, place)
    while (some := queue.next()) is not None:
        made = maker.make(*some)
        queue.learn(made)
        state.add(made)
        tell(state)
