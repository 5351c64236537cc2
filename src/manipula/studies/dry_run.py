"""What a study would take: runs, batches, time and disk, from a pilot of a few runs that is not kept."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from manipula.algebra.value import Value
from manipula.studies.evaluate import Evaluator, width_of
from manipula.studies.layout import columns_of, schema_of, series_table, table_of_rows
from manipula.studies.part_files import encoded
from manipula.studies.study import Study

PILOT = 32  # runs that are timed, side by side


@dataclass(frozen=True)
class DryRun(Value):
    """What a study would take.

    Attributes:
        runs: of the study. batch: runs of the pilot that went through one loop side by side, on average.
        alone: what needs a batch for every value, by path.
        seconds: of one run on one core, without compiling. total: of all runs on ``workers`` cores. size: bytes on disk.
        statuses: how the pilot ended.
    """

    runs: int
    batch: float
    alone: tuple[str, ...]
    seconds: float
    compiling: float
    workers: int
    size: float
    statuses: dict[str, int]

    @property
    def total(self) -> float:
        """Seconds of all runs on the workers, compiling included."""
        return self.compiling + self.runs * self.seconds / self.workers


def dry_run(study: Study, workers: int = 1) -> DryRun:
    """Make a few runs, keep nothing, and say what all would take."""
    evaluator = Evaluator(study, threads=1)
    count = min(PILOT, study.runs)
    runs = np.unique(np.linspace(0, study.runs - 1, count).astype(np.int64))
    begin = time.perf_counter()
    evaluator.rows(runs)  # compiles what the pilot needs
    first = time.perf_counter() - begin
    begin = time.perf_counter()
    rows, kept = evaluator.rows(runs)
    seconds = time.perf_counter() - begin
    looked = study.values_of(runs)
    batches = evaluator.plan.batches(runs, looked)
    parts = sum(-(-len(b.runs) // width_of(b, 1)) for b in batches)
    alone = tuple(dict.fromkeys([*evaluator.plan.choices, *(p for b in batches for p in b.template.alone)]))
    size = len(encoded(table_of_rows(rows * 8, schema_of(columns_of(study))))) / (8 * len(rows))
    if kept:
        size += len(encoded(series_table(kept))) / len(rows)
    statuses: dict[str, int] = {}
    for row in rows:
        statuses[row["status"]] = statuses.get(row["status"], 0) + 1
    return DryRun(
        study.runs, len(runs) / max(1, parts), alone, seconds / len(runs), max(0.0, first - seconds),
        workers, size * study.runs, statuses,
    )  # fmt: skip
