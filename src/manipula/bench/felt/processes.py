"""New processes: the first run of a robot with and without code on disk, and the commands of the terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from manipula.bench.felt.first_run import KINDS
from manipula.bench.felt.rows import FeltRow

WARM_GOALS = {"rk4": 0.35, "dop853": 0.5, "rodas": 0.6, "lugre": 0.8, "flexible": 1.0}
COLD_GOALS = {"dop853": 1.5, "rodas": 2.0, "lugre": 2.5, "flexible": 4.0}
PACKAGE = Path(__file__).parents[2]
EXAMPLE = PACKAGE.parents[1] / "examples" / "planar5r_line.toml"


class Spent(NamedTuple):
    """Seconds of a process from its start to its end, the interpreter's own included."""

    cpu: float
    wall: float


def spent(arguments: Sequence[str], cache: Path) -> Spent:
    """Run Python in a process of its own, with compiled code in ``cache`` and bytecode written as anywhere else."""
    import resource

    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "MANIPULA_CACHE")}
    paths = (str(PACKAGE.parent), environment.get("PYTHONPATH"))  # this very package, wherever it lies
    environment |= {"MANIPULA_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=cache, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"A process ended with {done.returncode}: {done.stderr[-300:]}")
    return Spent(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall)


@contextmanager
def _empty_cache() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)  # made for its owner alone, as the cache demands


def first_runs(kinds: Sequence[str] = tuple(KINDS), repeats: int = 3, cold_repeats: int = 2) -> list[FeltRow]:
    """Import, load a Panda, simulate 0.2 s of it and verify: with all code on disk, and with none."""
    warm, cold = [], []
    for kind in kinds:
        program = ("-c", f"from manipula.bench.felt.first_run import run; run({kind!r})")
        first, again = [], []
        for _ in range(cold_repeats):
            with _empty_cache() as cache:
                first.append(spent(program, cache))
                again += [spent(program, cache) for _ in range(repeats)]
        warm.append(_row(f"new process, code on disk: {KINDS[kind]}", again, WARM_GOALS[kind]))
        cold.append(_row(f"new process, nothing on disk: {KINDS[kind]}", first, COLD_GOALS.get(kind)))
    return [*warm, *cold]


def commands(repeats: int = 5, example: Path = EXAMPLE) -> list[FeltRow]:
    """``manipula --help``, and ``manipula run`` of an example: result files, no report, code on disk."""
    with _empty_cache() as cache:
        words = ("-m", "manipula", "run", str(example), "--no-report", "--force", "-o", str(cache / "out"))
        asked: dict[tuple[str, ...], tuple[str, float]] = {("-m", "manipula", "--help"): ("manipula --help", 0.15)}
        if example.exists():
            asked[words] = (f"manipula run {example.name}, without report", 0.7)
        rows = []
        for arguments, (what, goal) in asked.items():
            spent(arguments, cache)
            rows.append(_row(what, [spent(arguments, cache) for _ in range(repeats)], goal))
    return rows


def _row(what: str, measured: Sequence[Spent], goal: float | None) -> FeltRow:
    return FeltRow(what, min(s.cpu for s in measured), goal, clock="CPU", wall=min(s.wall for s in measured))
