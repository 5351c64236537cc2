"""How long does a study take? A Panda under computed torque for 3 s at 1 kHz: gains and payload drawn, samples every 10 ms, verified, every column.

First the runs on one thread in this process, with and without ``feasible`` and ``limit_use``; then the start of a process of the pool; then a whole study
through the pool, into a folder that is removed: seconds of the clock, processor time of all its processes, and what the client needs of it.

Run: ``python benchmarks/bench_study.py --runs 100000`` (JSON on the standard output).
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import manipula as mp
from manipula.bench.ours import machine
from manipula.studies.evaluate import Evaluator
from manipula.studies.files import study_text
from manipula.studies.folder import StudyFolder
from manipula.studies.layout import columns_of
from manipula.studies.pool import PoolWorker
from manipula.studies.sweep import cores

FROM = (0.0, -0.3, 0.0, -2.0, 0.0, 1.7, 0.8)
TO = (0.5, 0.2, -0.4, -1.6, 0.3, 2.0, 1.2)
SOME = 512  # runs on one thread
ROUNDS = 3


def panda_study(runs: int, keep: tuple[str, ...] | None = None) -> mp.Study:
    """So many runs of the closed loop."""
    move = mp.trajectory(mp.paths.joint([FROM, TO]), mp.timing.quintic(2.5))
    law = mp.control.ComputedTorque(kp=100.0, kv=20.0)
    base = mp.Scenario(
        mp.load("panda"), move, law, q0=FROM, duration=3.0, step=1e-3, sample=0.01, integrator="rk4", name="panda-3s"
    )
    vary = {"controller.kp": mp.uniform(60, 140), "controller.kv": mp.uniform(15, 25), "payload.mass": mp.uniform(0, 2)}
    return mp.Study(base, vary, samples=runs, seed=1, keep=keep)


def one_thread(keep: tuple[str, ...] | None) -> float:
    """Milliseconds of processor time per run; the fastest of a few rounds."""
    evaluator = Evaluator(panda_study(SOME * ROUNDS, keep), threads=1)
    evaluator.rows(np.arange(8))
    found = []
    for k in range(ROUNDS):
        begin = time.process_time()
        evaluator.rows(np.arange(k * SOME, (k + 1) * SOME))
        found.append((time.process_time() - begin) * 1e3 / SOME)
    return min(found)


def worker_start() -> dict[str, float]:
    """Seconds until a process of the pool takes chunks, by the clock and of its processor; the fastest of a few."""
    clock, processor = [], []
    with tempfile.TemporaryDirectory() as folder:
        study = panda_study(8)
        place = StudyFolder(folder)
        place.check(study)
        place.begin(study)
        first = json.dumps({"study": study_text(study), "folder": folder, "threads": 1})
        for _ in range(ROUNDS + 1):
            begin, events = time.perf_counter(), queue.SimpleQueue[Any]()
            worker = PoolWorker(first, events)
            events.get()
            clock.append(time.perf_counter() - begin)
            ticks = (
                Path(f"/proc/{worker.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
            )
            processor.append(sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"))
            worker.end()
    return {"clock_s": min(clock), "processor_s": min(processor)}


def whole(runs: int) -> dict[str, Any]:
    """A study from its beginning to its end."""
    study = panda_study(runs)
    own, others, begin = time.process_time(), _children(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        table = mp.sweep(study, Path(folder) / "s")
        clock, own, others = time.perf_counter() - begin, time.process_time() - own, _children() - others
        parts = list((Path(folder) / "s" / "parts").iterdir())
        return {
            "runs": runs, "workers": cores(), "minutes": clock / 60, "runs_per_s": runs / clock,
            "processor_ms_per_run": (own + others) * 1e3 / runs, "client_ms_per_run": own * 1e3 / runs,
            "parts": len(parts), "MB": sum(p.stat().st_size for p in parts) / 1e6,
            "statuses": table.statuses(), "feasible": str(table.to_pandas(["feasible"])["feasible"].value_counts(dropna=False).to_dict()),
            "client_memory_MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }  # fmt: skip


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--runs", type=int, default=100_000, help="of the whole study; 0: none")
    given = words.parse_args()
    found: dict[str, Any] = {"machine": machine(), "load": os.getloadavg()}
    without = tuple(
        c.name
        for c in columns_of(panda_study(1))
        if c.name not in ("feasible", "limit_use", "run") and c.meaning != "varied"
    )
    found["one_thread_ms_per_run"] = {
        "all columns": one_thread(None),
        "without feasible, limit_use": one_thread(without),
    }
    found["start_of_a_worker"] = worker_start()
    if given.runs:
        found["study"] = whole(given.runs)
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
