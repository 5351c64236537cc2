"""Runs: start, pause, stop, list, look at."""

from __future__ import annotations

import contextlib
from typing import Any

from manipula.errors import DescriptionError, ManipulaError
from manipula.simulation.result import Result
from manipula.studio.pages import USUAL, run_numbers, run_page
from manipula.studio.runs import RunStore
from manipula.studio.wire import to_json

PATIENCE = 20.0  # s that an answer waits for a verdict
AT_ONCE = 0.2  # s that an answer waits for a run that may be over soon


def run(runs: RunStore, document: Any, replaces: Any = None, beside: Any = None, charts: Any = None) -> dict[str, Any]:
    """Begin a run; a short one is over when the answer comes.

    Args:
        replaces: a run that is called off. charts: kinds of plots; the answer then holds the view of a run whose samples are there at once, with the
            runs ``beside`` it, where that can be made (``view`` says why not). Its verdict may come later: ``judged`` waits for it.
    """
    kinds = None if charts is None else _kinds(charts)

    def draw(result: Result) -> dict[str, Any]:
        others = [runs.finished(i) for i in beside] if isinstance(beside, list) else []
        return run_page([result, *others], kinds or USUAL, numbers=False)

    begun = runs.start(document, replaces if isinstance(replaces, str) else None, None if kinds is None else draw)
    (begun.over if kinds is None else begun.seen).wait(AT_ONCE)
    answer = begun.summary()
    if begun.drawn is not None:
        answer["drawn"] = begun.drawn
    return answer


def judged(runs: RunStore, run: Any, beside: Any = None) -> dict[str, Any]:
    """Verdict and key numbers of a run whose curves are shown, with the runs ``beside`` it; waits a while for them."""
    found = runs.find(run)
    found.over.wait(PATIENCE)
    numbers: dict[str, Any] = {"cards": [], "compared": None}
    if found.state == "done" and found.result is not None:
        with contextlib.suppress(ManipulaError):  # of arms that differ; the view says so
            others = [runs.finished(i) for i in beside] if isinstance(beside, list) else []
            numbers = run_numbers([found.result, *others])
    return {"summary": found.summary(), **numbers}


def stop(runs: RunStore, run: Any) -> dict[str, Any]:
    """End a run."""
    found = runs.find(run)
    found.stop()
    found.over.wait(2.0)
    return found.summary()


def pause(runs: RunStore, run: Any, paused: Any = True) -> dict[str, Any]:
    """Let a run stand still, or go on from where it stood."""
    if not isinstance(paused, bool):
        raise DescriptionError("Paused is true or false.", field="paused")
    found = runs.find(run)
    found.pause(paused)
    return found.summary()


def status(runs: RunStore, run: Any) -> dict[str, Any]:
    """How a run stands."""
    return runs.find(run).summary()


def listed(runs: RunStore) -> dict[str, Any]:
    """All runs, the latest first."""
    return {"runs": runs.listed()}


def pin(runs: RunStore, run: Any, pinned: Any = True) -> dict[str, Any]:
    """Keep a run for comparison, or let it go."""
    if not isinstance(pinned, bool):
        raise DescriptionError("Pinned is true or false.", field="pinned")
    return runs.pin(run, pinned).summary()


def view(runs: RunStore, ids: Any, charts: Any = None) -> dict[str, Any]:
    """Finished runs over each other, as the viewer shows them; ``charts``: kinds of plots."""
    if not isinstance(ids, list) or not all(isinstance(i, str) for i in ids):
        raise DescriptionError("A list of runs is needed.", field="ids")
    return run_page([runs.finished(i) for i in ids], USUAL if charts is None else _kinds(charts))


def _kinds(charts: Any) -> list[str]:
    if not (isinstance(charts, list) and all(isinstance(c, str) for c in charts)):
        raise DescriptionError("A list of kinds of plots is needed.", field="charts")
    return charts


def source(runs: RunStore, run: Any) -> dict[str, Any]:
    """The document that a run was made from."""
    return to_json({"document": runs.find(run).document})


VERBS = {
    "run": run,
    "judged": judged,
    "stop": stop,
    "pause": pause,
    "status": status,
    "runs": listed,
    "pin": pin,
    "view": view,
    "document": source,
}
