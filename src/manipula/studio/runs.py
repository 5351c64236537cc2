"""Runs of the studio: each has a number, lives on the server, can be watched while it goes, paused, stopped, and found again after a reload.

Parts from files are compiled, and compiled loops run outside Python's lock, so runs are threads of the server. What a run has computed so far
is read from the memory it writes to (``native.calling.watched_calls``); nothing is copied or slowed down for a spectator.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.errors import BudgetError, DescriptionError, ManipulaError
from manipula.native.calling.watched_calls import watching
from manipula.simulation.progress import listening
from manipula.simulation.result import Result
from manipula.simulation.run_file import run as run_scenario
from manipula.simulation.scenario import Scenario
from manipula.studio.documents import scenario_from
from manipula.studio.page_words import in_page_words
from manipula.studio.wire import to_json

if TYPE_CHECKING:
    from manipula.native.calling.threads import StopFlag

KEPT = 32  # runs; the oldest that nobody pinned goes first
AT_ONCE = 4  # runs that compute or stand still
WAITING = 8  # runs that wait, compute or stand still
MOST_NUMBERS = 40_000_000  # samples × joints × runs of a scenario in the studio
OVER = ("done", "failed", "stopped")
JUDGING = "evaluating"  # the phase in which a result is there without its verdict
Draw = Callable[[Result], dict[str, Any]]


class StudioRun:
    """One run: the document it came from, how far it is, and in the end its result.

    Attributes:
        id: unguessable. document: what was asked for. state: "waiting", a phase of the run (``progress.PHASES``), then "done",
            "failed" (``error`` says why) or "stopped". seconds: of computing.
    """

    def __init__(self, document: dict[str, Any], scenario: Any, draw: Draw | None = None) -> None:
        self.id, self.document, self.scenario = secrets.token_hex(8), document, scenario
        self._draw = draw  # called with the result before it is judged
        self.state, self.error, self.seconds = "waiting", None, 0.0
        self.result: Result | None = None
        self.verdict: dict[str, Any] = {}
        self.drawn: dict[str, Any] | None = None  # as the page shows it
        self.pinned = False
        self._samples: np.ndarray | None = None
        self._stop: StopFlag | None = None
        self._called_off = threading.Event()
        self._going = threading.Event()  # cleared while it is paused
        self._going.set()
        self.seen = threading.Event()  # there is a result that can be shown; the verdict may still be missing
        self.over = threading.Event()

    @property
    def n(self) -> int:
        """Joints of the robot."""
        return self.scenario.robot.n

    def compute(self) -> None:
        """Simulate; called once, on a thread of the store."""
        self._going.wait()
        if self._called_off.is_set():
            return self._end("stopped")
        begin = perf_counter()
        try:
            with listening(self._phase), watching(self._begun):
                result = run_scenario(self.scenario)
                self._show(result)
                self.verdict = verdict_of(result)  # limits are looked at between samples, which may mean to run again
            self.seconds = perf_counter() - begin
            self._end("done")
        except KeyboardInterrupt:
            self.result = None
            self._end("stopped")
        except ManipulaError as error:
            self.error = error
            self._end("failed")
        except MemoryError:
            self.error = BudgetError("The run needs more memory than there is.")
            self._end("failed")
        except BaseException:
            self.error = ManipulaError(
                "The run failed for a reason that is a fault of the program; its terminal tells which."
            )
            self._end("failed")
            raise

    def _show(self, result: Result) -> None:
        """Curves come first: they need no verdict."""
        self._phase(JUDGING)
        self.result = result
        if self._draw is not None:
            with contextlib.suppress(ManipulaError):
                self.drawn = self._draw(result)
        self.seen.set()

    def _end(self, state: str) -> None:
        self.state, self._stop = state, None
        self.seen.set()
        self.over.set()

    def _phase(self, name: str) -> None:
        self.state = name
        self._going.wait()
        if self._called_off.is_set():
            raise KeyboardInterrupt

    def _begun(self, name: str, outputs: Mapping[str, np.ndarray], stop: StopFlag) -> None:
        """A loop begins; the first one that records samples is the run itself, later ones verify it."""
        self._stop = stop
        if self._called_off.is_set():
            stop.raise_()
        stop.hold(self.paused)
        samples = outputs.get("samples")
        if self._samples is None and samples is not None and samples.ndim >= 2:
            self._samples = samples

    def stop(self) -> None:
        """End it as soon as possible; what it has computed is dropped."""
        self._called_off.set()
        self._going.set()
        flag = self._stop
        if flag is not None:
            flag.raise_()

    @property
    def paused(self) -> bool:
        """Does it stand still until somebody lets it go on?"""
        return not self._going.is_set()

    def pause(self, on: bool) -> None:
        """Let it stand still where it is, in the middle of its loop, or go on; one that is over or was called off does not change."""
        if self.state in OVER or self._called_off.is_set():
            return
        if on:
            self._going.clear()
        else:
            self._going.set()
        flag = self._stop
        if flag is not None:
            flag.hold(on)

    def progress(self, first: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Times and joint positions and speeds (k, 2n) of the samples from ``first`` on that have been computed so far; of the first run of a batch."""
        samples, n = self._samples, self.n
        none = np.zeros(0), np.zeros((0, 2 * n))
        if samples is None or not isinstance(self.scenario, Scenario):
            return none
        rows = samples.reshape(-1, *samples.shape[-2:])[0]
        times = self.scenario.times
        known = min(_filled(rows[:, 0]), len(times))
        if known <= first:
            return none
        return times[first:known], np.array(rows[first:known, : 2 * n])

    def summary(self) -> dict[str, Any]:
        """What the page shows first: verdict, feasibility, and numbers of the run."""
        out: dict[str, Any] = {
            "id": self.id, "state": self.state, "name": getattr(self.scenario, "name", ""), "robot": self.scenario.robot.name,
            "duration": self.scenario.duration, "seconds": self.seconds, "n": self.n, "pinned": self.pinned,
            "paused": self.paused and self.state not in OVER,
        }  # fmt: skip
        if self.error is not None:
            out["error"] = error_in_words(self.error)
        return to_json(out | self.verdict)


def _filled(column: np.ndarray) -> int:
    """How many entries from the beginning are numbers: they are written in this order."""
    low, high = 0, len(column)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if np.isfinite(column[middle]) else (low, middle)
    return low


def verdict_of(result: Result) -> dict[str, Any]:
    """Status, feasibility and remarks of a result."""
    limits = result.feasibility
    return {
        "status": result.status, "reason": result.reason, "ok": result.ok, "feasible": limits.feasible, "feasibility": limits.reason,
        "broken": [c.sentence() for c in limits.broken], "remarks": list(limits.remarks), "notes": list(result.notes),
        "trusted_until": result.trusted_until, "error_estimate": result.error_estimate, "reached": result.reached,
        "signals": list(result.signals), "samples": len(result.t), "runs": max(1, len(result.statuses)),
    }  # fmt: skip


def error_in_words(error: Exception) -> dict[str, Any]:
    """An error as the page shows it: the sentence, and the field beside which it stands."""
    return {
        "kind": type(error).__name__, "message": in_page_words(str(error)),
        "problem": in_page_words(str(getattr(error, "problem", error))),
        "field": getattr(error, "field", None), "line": getattr(error, "line", None), "file": getattr(error, "file", None),
    }  # fmt: skip


class RunStore:
    """All runs of one studio, by their numbers; bounded."""

    def __init__(
        self, first: dict[str, Any] | None = None, folder: Path | None = None, name: str | None = None
    ) -> None:
        self.name = name or secrets.token_hex(8)  # by which a page knows that the studio was started anew
        self.first = first  # the document that a page begins with
        self.folder = folder  # where studies are
        self._runs: dict[str, StudioRun] = {}
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="manipula-run")

    def start(self, document: Any, replaces: str | None = None, draw: Draw | None = None) -> StudioRun:
        """Begin a run of that document; ``replaces`` is called off first, ``draw`` makes what ``drawn`` of the run holds.

        Raises:
            DescriptionError: the document is wrong, or too much would be computed.
        """
        if replaces is not None and replaces in self._runs:
            self._runs[replaces].stop()
        scenario = scenario_from(document)
        numbers = getattr(scenario, "samples", 0) * getattr(scenario, "batch", 1) * scenario.robot.n
        if numbers > MOST_NUMBERS:
            raise BudgetError(
                f"{numbers} numbers would be recorded; the studio keeps at most {MOST_NUMBERS} of a run: record fewer samples.",
                field="sample",
            )
        run = StudioRun(document, scenario, draw)
        with self._lock:
            if sum(r.state not in OVER for r in self._runs.values()) >= WAITING:
                raise BudgetError(f"{WAITING} runs are under way; wait, or stop one.")
            self._runs[run.id] = run
            spare = [r.id for r in self._runs.values() if r.state in OVER and not r.pinned]
            for old in spare[: max(0, len(self._runs) - KEPT)]:
                del self._runs[old]
        self._submit(run)
        return run

    def _submit(self, run: StudioRun) -> Future[None]:
        return self._pool.submit(run.compute)

    def find(self, number: Any) -> StudioRun:
        """The run of that number."""
        run = self._runs.get(number) if isinstance(number, str) else None
        if run is None:
            raise DescriptionError("There is no such run any more; run it again.", field="run")
        return run

    def pin(self, number: Any, on: bool) -> StudioRun:
        """Keep a run until it is let go.

        Raises:
            BudgetError: as many are kept already as the studio keeps.
        """
        run = self.find(number)
        with self._lock:
            if on and not run.pinned and sum(r.pinned for r in self._runs.values()) >= KEPT:
                raise BudgetError(f"{KEPT} runs are kept for comparison; let one of them go first.", field="run")
            run.pinned = on
        return run

    def finished(self, number: Any) -> Result:
        """The result of a run."""
        run = self.find(number)
        result = run.result
        if result is None:
            raise DescriptionError(f"The run has no result: it is '{run.state}'.", field="run")
        return result

    def listed(self) -> list[dict[str, Any]]:
        """Summaries, the latest first."""
        return [r.summary() for r in reversed(self._runs.values())]

    def close(self) -> None:
        """Stop everything."""
        for run in tuple(self._runs.values()):
            run.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)
