"""``sweep(study, folder)``: make every run of a study that is not there yet."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manipula.algebra.arguments import flag, function_of, whole_number
from manipula.errors import DescriptionError, unknown_name
from manipula.studies.chunks import ChunkMaker, ChunkQueue, Made
from manipula.studies.folder import StudyFolder
from manipula.studies.lease import Lease
from manipula.studies.opened import StudyResults
from manipula.studies.part_files import arrow
from manipula.studies.plan import check_base
from manipula.studies.study import Study

if TYPE_CHECKING:
    from manipula.studies.pool import Pool

ENGINES = ("serial", "pool")
CLUSTER = ("tcp://", "tls://", "ucx://", "ws://", "wss://", "inproc://")
OLD = 600.0  # s after which a temporary file belongs to nobody any more


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
    engine: str = "pool",
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
        engine: "serial" (this process, its batches on all cores), "pool" (processes on this machine; one that is killed is replaced), or the
            address of a Dask scheduler, "tcp://127.0.0.1:8786".
        workers: processes of a pool; one per core when omitted.
        resume: False refuses a folder that holds results already.
        chunk: runs of a part; a few seconds of work when omitted. The results do not depend on it.
        progress: called after every chunk.

    Raises:
        DescriptionError: the folder holds another study, or cannot be written to; a value is not allowed.
    """
    arrow()
    if not isinstance(study, Study):
        study = Study.load(study)
    resume = flag(resume, "resume")
    if progress is not None:
        progress = function_of(progress, "progress", "state")
    if chunk is not None:
        chunk = whole_number(chunk, "chunk", 1, study.runs)
    if engine not in ENGINES and not str(engine).startswith(CLUSTER):
        raise unknown_name("engine", engine, (*ENGINES, "tcp://HOST:PORT"), field="engine")
    if workers is not None:
        workers = whole_number(workers, "workers", 1, 4096)
        if engine != "pool":
            raise DescriptionError(
                f"Workers are processes of a pool; the engine '{engine}' starts none.", field="workers"
            )
    place = StudyFolder(folder)
    if not resume and place.exists:
        raise DescriptionError(
            "This folder holds a study already; resume it, or take another folder.", file=str(place.path)
        )
    pool = _pool(study, place, workers or cores()) if engine == "pool" else None
    try:
        if pool is not None and not place.exists:
            pool.start(study.runs)  # they get ready while the study is checked
        check_base(study)
        fresh = not place.exists
        place.check(study)
        with Lease(place.path):
            if fresh:
                place.begin(study)
            _make(study, place, engine, pool, chunk, progress or (lambda _: None))
    finally:
        if pool is not None:
            pool.end()
    return StudyResults(Path(folder), study)


def _pool(study: Study, place: StudyFolder, workers: int) -> Pool:
    from manipula.studies.pool import Pool

    return Pool(study, place, workers)


def _make(study: Study, place: StudyFolder, engine: str, pool: Pool | None, chunk: int | None, tell: Told) -> None:
    """Everything that is missing."""
    place.tidy(OLD)
    taken, bad = place.checked()
    gaps = place.gaps(taken, study.runs)
    left = sum(last - first + 1 for first, last in gaps)
    state = SweepProgress(study.runs, study.runs - left, before=study.runs - left, bad=len(bad))
    tell(state)
    if not left:
        return

    def told(made: Made) -> None:
        state.add(made)
        tell(state)

    queue = ChunkQueue(gaps, study.runs, cores() if pool is None else pool.count, chunk)
    if pool is not None:
        pool.run(queue, told)
    elif engine == "serial":
        queue.workers = 1
        maker = ChunkMaker(study, place)
        while (some := queue.next()) is not None:
            made = maker.make(*some)
            queue.learn(made)
            told(made)
    else:
        from manipula.studies.dask_engine import make_on_cluster

        make_on_cluster(study, place, queue, engine, told)


def cores() -> int:
    """Processor cores that this process may use."""
    with contextlib.suppress(AttributeError):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
