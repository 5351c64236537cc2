"""The memory of a study does not depend on the number of its runs: ten times as many need no more."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.reports.studies import excerpt
from manipula.reports.studies.excerpt import excerpt_of
from manipula.studies.chunks import ChunkMaker
from manipula.studies.folder import StudyFolder
from manipula.studies.layout import table_of_rows
from manipula.studies.part_files import write_part

CHUNK, FEW = 40, 80


def small(runs: int) -> mp.Study:
    arm = mp.planar(lengths=[0.5], masses=[2.0])
    law = mp.control.PDGravity(kp=100.0, kv=20.0)
    base = mp.Scenario(
        arm, mp.waypoints([0.0, 0.02], [[0.0], [0.01]]), law, q0=[0.0], sample=0.01, duration=0.02, step=2e-3
    )
    return mp.Study(base, {"controller.kp": mp.uniform(50, 200), "q0[0]": mp.normal(0.0, 0.01)}, samples=runs, seed=1)


def filled(folder: Path, runs: int) -> mp.Study:
    """A study whose rows are those of its first runs, again and again."""
    study = small(runs)
    place = StudyFolder(folder)
    place.check(study)
    place.begin(study)
    maker = ChunkMaker(study, place)
    rows, _ = maker.evaluator.rows(np.arange(CHUNK))
    for first in range(0, runs, CHUNK):
        some = [{**row, "run": first + k, "tau_max": float((first + k) * 7919 % 10007)} for k, row in enumerate(rows)]
        write_part(place.parts, first, first + CHUNK - 1, table_of_rows(some, maker.schema))
    return study


def peak(what: Callable[[], Any]) -> int:
    """The largest sum of what Python and NumPy hold at once while something is done."""
    tracemalloc.start()
    try:
        what()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


VERBS: dict[str, Callable[[Path, mp.Study], Any]] = {
    "resume": lambda folder, study: mp.sweep(study, folder, engine="serial"),
    "digest": lambda folder, study: mp.open_study(folder).digest(),
    "verify": lambda folder, study: mp.open_study(folder).verify(),
    "statuses": lambda folder, study: mp.open_study(folder).statuses(),
    "a row": lambda folder, study: mp.open_study(folder).row(study.runs - 1),
    "tables": lambda folder, study: [None for _ in mp.open_study(folder).tables(["run", "tau_max"])],
}


def test_making_runs_needs_no_more_memory_for_more_of_them(tmp_path: Path) -> None:
    mp.sweep(small(FEW), tmp_path / "first", engine="serial", chunk=CHUNK)  # compiles, and fills caches
    few = peak(lambda: mp.sweep(small(FEW), tmp_path / "few", engine="serial", chunk=CHUNK))
    many = peak(lambda: mp.sweep(small(10 * FEW), tmp_path / "many", engine="serial", chunk=CHUNK))
    assert many < 1.2 * few + 50_000


@pytest.mark.parametrize("verb", VERBS)
def test_looking_at_runs_needs_no_more_memory_for_more_of_them(tmp_path: Path, verb: str) -> None:
    studies = {size: filled(tmp_path / str(size), size * FEW) for size in (1, 10)}
    VERBS[verb](tmp_path / "1", studies[1])
    few, many = (peak(lambda size=size: VERBS[verb](tmp_path / str(size), studies[size])) for size in (1, 10))
    assert many < 1.2 * few + 50_000  # names of parts are a hundred bytes each


@pytest.mark.slow
def test_the_excerpt_of_a_report_holds_a_bounded_number_of_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points of a page and extremes: thinned on the way, they are those of all rows together."""
    filled(tmp_path / "s", 12 * CHUNK)
    opened = mp.open_study(tmp_path / "s")
    monkeypatch.setattr(excerpt, "MOST_ROWS", 50)
    whole = excerpt_of(opened)
    assert whole.total == 12 * CHUNK
    monkeypatch.setattr(excerpt, "MOST_WAITING", 60)
    thinned = excerpt_of(opened)
    assert thinned.runs.tolist() == whole.runs.tolist()
    assert thinned.drawn.tolist() == whole.drawn.tolist()
    tau = opened.to_pandas(["run", "tau_max"]).sort_values("tau_max")["run"]
    assert {int(tau.iloc[0]), int(tau.iloc[-1])} <= set(thinned.runs.tolist())
    few = peak(lambda: excerpt_of(mp.open_study(tmp_path / "s")))
    filled(tmp_path / "more", 120 * CHUNK)
    assert peak(lambda: excerpt_of(mp.open_study(tmp_path / "more"))) < 1.3 * few + 100_000
