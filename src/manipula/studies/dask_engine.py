"""The engine ``dask``: chunks as tasks of a Dask scheduler, which is a queue here and nothing more.

Tasks are a function of this package with texts and numbers; nothing of the user's is pickled, and no numbers travel: workers write the parts, so they
must see the same folder. A task may run twice; the second part finds the first one there. What is in flight is bounded. A scheduler that
dies ends the sweep with an error; resuming goes on.
"""

from __future__ import annotations

import hashlib
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable
from pathlib import Path
from typing import Any

from manipula.errors import CompileError, DescriptionError, ManipulaError, printable
from manipula.simulation.provenance import installed, versions
from manipula.studies.axis_checks import checked_before
from manipula.studies.chunks import ChunkMaker, ChunkQueue, Made
from manipula.studies.files import study_of, text_for
from manipula.studies.folder import DECIDING, StudyFolder
from manipula.studies.study import Study

WINDOW = 3  # chunks in flight per thread of the cluster
PATIENCE = 10.0  # s for a first answer
WORKERS = 60.0  # s for a first worker
TRIES = 10  # times that workers are asked for their versions while some of them die
KEPT = 4  # studies whose makers a worker keeps


class _Makers(threading.local):
    """The makers of one thread of a worker, by study and folder."""

    def __init__(self) -> None:
        self.known: dict[str, ChunkMaker] = {}


_MAKERS = _Makers()


def make_chunk(text: str, folder: str, first: int, last: int) -> dict[str, Any]:
    """A task: make some runs of the study in ``text`` into a folder; what became of them, or why the sweep has to stop."""
    key = hashlib.sha256(f"{folder}\0{text}".encode()).hexdigest()
    makers = _MAKERS.known
    try:
        if key not in makers:
            if len(makers) >= KEPT:
                makers.clear()
            place = StudyFolder(folder)
            if not place.exists:
                raise DescriptionError(
                    "This worker does not see the folder of the study: it has to be on a file system that all workers share.",
                    file=folder,
                )
            with checked_before():
                study = study_of(text)
            makers[key] = ChunkMaker(study, place, threads=1)
        return {"made": makers[key].make(first, last)._asdict()}
    except ManipulaError as error:
        return {"stop": str(error)}


def worker_versions() -> dict[str, str]:
    """What the numbers of a worker depend on."""
    return {**versions(), "pyarrow": installed("pyarrow") or "missing"}


def distributed_package() -> Any:
    """``distributed``; CompileError with the line that installs it."""
    try:
        import distributed
    except ImportError:
        raise CompileError("A cluster needs Dask: pip install 'manipula[cluster]'.") from None
    return distributed


def make_on_cluster(
    study: Study, place: StudyFolder, chunks: ChunkQueue, address: str, tell: Callable[[Made], None]
) -> None:
    """Make everything in the queue on the cluster of a scheduler.

    Raises:
        DescriptionError: no scheduler there, or it died; other versions on a worker; a folder that workers do not see or cannot write to.
    """
    distributed = distributed_package()
    text = text_for("Workers", study)
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise DescriptionError(
            f"No scheduler answers at {printable(address, 80)}: {printable(error, 200)}", field="engine"
        ) from None
    killed: list[tuple[int, int]] = []
    try:
        _check_versions(client, address)
        threads = sum(client.nthreads().values())
        chunks.workers = max(1, threads)
        _Tasks(client, distributed, text, place.path.absolute(), chunks, tell, killed).run(WINDOW * max(1, threads))
    except (CancelledError, TimeoutError, OSError, distributed.CancelledError, *_lost(distributed)) as error:
        raise DescriptionError(
            f"The connection to the scheduler at {printable(address, 80)} was lost ({type(error).__name__}). Everything finished so far is kept; resume it.",
            field="engine",
        ) from None
    finally:
        _close(client)
    if killed:  # chunks that killed one worker after another: here, cut in halves until the run is found
        from manipula.studies.pool import make_in_pool

        make_in_pool(study, place, ChunkQueue(killed, study.runs, 1, None), 1, tell)


def _lost(distributed: Any) -> tuple[type[BaseException], ...]:
    """What a dead scheduler raises, by the version of Dask."""
    names = ("FutureCancelledError", "ClientClosed")
    found = [getattr(distributed.client, name, None) for name in names]
    found.append(getattr(distributed.comm, "CommClosedError", None))
    return tuple(kind for kind in found if isinstance(kind, type) and issubclass(kind, BaseException))


def _close(client: Any) -> None:
    try:
        client.close(timeout=2)
    except Exception:  # it is dead already
        return


def _check_versions(client: Any, address: str) -> None:
    own = worker_versions()
    try:
        client.wait_for_workers(1, timeout=WORKERS)
    except TimeoutError:
        raise DescriptionError(f"The scheduler at {printable(address, 80)} has no workers.", field="engine") from None
    for worker, found in _asked(client).items():
        if isinstance(found, OSError):  # it died just now; the scheduler knows, or will
            continue
        if not isinstance(found, dict):
            raise DescriptionError(
                f"The worker {printable(worker, 60)} cannot make runs: {printable(found, 300)}. It needs this package with the extras [studies] and [cluster].",
                field="engine",
            )
        for name in DECIDING:
            if found.get(name) != own.get(name):
                raise DescriptionError(
                    f"The worker {printable(worker, 60)} has {name} {found.get(name)}, this client {own.get(name)}: they may give other numbers.",
                    field=f"versions.{name}",
                )


def _asked(client: Any) -> dict[str, Any]:
    """The versions of every worker; one that dies meanwhile is asked again."""
    for _ in range(TRIES):
        try:
            return client.run(worker_versions, on_error="return")
        except OSError:
            if client.status != "running":
                raise
            time.sleep(0.5)
    return client.run(worker_versions, on_error="return")


class _Tasks:
    """Chunks in flight."""

    def __init__(
        self, client: Any, distributed: Any, text: str, folder: Path, chunks: ChunkQueue, tell: Callable[[Made], None],
        killed: list[tuple[int, int]],
    ) -> None:  # fmt: skip
        self.client, self.distributed, self.text, self.folder = client, distributed, text, str(folder)
        self.chunks, self.tell, self.killed = chunks, tell, killed

    def run(self, window: int) -> None:
        """Keep ``window`` chunks in flight until all are made."""
        flying: dict[Any, tuple[int, int]] = {}
        done = self.distributed.as_completed(loop=self.client.loop)
        try:
            while True:
                while len(flying) < window and (task := self.chunks.next()) is not None:
                    future = self.client.submit(make_chunk, self.text, self.folder, *task, pure=False, retries=0)
                    flying[future] = task
                    done.add(future)
                if not flying:
                    return
                future = next(done)
                self._finished(future, flying.pop(future))
        finally:
            for future in flying:
                future.cancel()

    def _finished(self, future: Any, task: tuple[int, int]) -> None:
        if future.status == "cancelled":
            raise CancelledError
        try:
            found = future.result()
        except self.distributed.scheduler.KilledWorker:
            self.killed.append(task)
            return
        if "stop" in found:
            raise DescriptionError(found["stop"])
        made = Made(**found["made"])
        self.chunks.learn(made)
        self.tell(made)
