"""Engines: the same rows from any of them, whatever is killed on the way."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.studies.local_cluster import LocalCluster, local_cluster
from manipula.studies.part_files import listed
from studies.arms import base, study

ROOT = Path(mp.__file__).parents[1]
POSIX = pytest.mark.skipif(os.name == "nt" or not Path("/proc/self/stat").exists(), reason="reads /proc")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
PATIENCE = 120.0  # s until a test gives up on a process


@pytest.fixture(scope="module")
def digest(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of the study, made in this process."""
    return mp.sweep(study(), tmp_path_factory.mktemp("serial") / "s", engine="serial").digest()


def until(condition: Callable[[], object], what: str) -> None:
    """Wait for something that other processes do."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what} did not happen"
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    """Processes that a process started."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += [int(p) for p in (task / "children").read_text().split()]
    return found


def gone(pid: int) -> bool:
    """Has a process ended?"""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in ("Z", "X")


@pytest.mark.parametrize(
    ("workers", "chunk"),
    [pytest.param(1, 60, marks=pytest.mark.slow), (2, 7), pytest.param(3, 1, marks=pytest.mark.slow)],
)
def test_a_pool_gives_the_same_rows(workers: int, chunk: int, digest: str, tmp_path: Path) -> None:
    table = mp.sweep(study(), tmp_path / "s", engine="pool", workers=workers, chunk=chunk)
    assert table.digest() == digest
    assert table.complete


@POSIX
def test_killed_workers_are_replaced(digest: str, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill(state: object) -> None:
        found = [pid for pid in children(os.getpid()) if not gone(pid)]
        if len(killed) < 4 and found:
            killed.append(found[-1])
            os.kill(found[-1], signal.SIGKILL)

    table = mp.sweep(study(), tmp_path / "s", engine="pool", workers=2, chunk=4, progress=kill)
    assert len(killed) == 4
    assert table.digest() == digest
    assert not list((tmp_path / "s" / "parts").glob(".*"))  # nor is anything left of what they were writing


POISON = """
import os, sys
if "manipula.studies.worker" in " ".join(sys.argv + sys.orig_argv):
    import manipula.studies.evaluate as evaluate
    simulated = evaluate.Evaluator._simulated

    def poisoned(self, batch, members):
        if 13 in batch.runs[members]:
            os.kill(os.getpid(), 11)
        return simulated(self, batch, members)

    evaluate.Evaluator._simulated = poisoned
"""


@POSIX
def test_a_run_that_kills_its_process_is_found_and_the_rest_finishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "poison").mkdir()
    (tmp_path / "poison" / "sitecustomize.py").write_text(POISON)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'poison'}{os.pathsep}{ROOT}")
    small = study(samples=10)
    table = mp.sweep(small, tmp_path / "s", engine="pool", workers=2, chunk=8)
    assert table.complete
    assert table.failed.column("run").to_pylist() == [13]
    row = table.row(13)
    assert row["status"] == "killed"
    assert "SIGSEGV" in row["reason"]
    assert "run(13)" in row["reason"]
    assert row["payload.mass"] == small.values(13, 14)["payload.mass"][0]
    assert table.run(13).status == "finished"  # here nobody kills it


def client(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    """``manipula sweep`` of the study as a process of its own."""
    path = folder.parent / "study.toml"
    if not path.exists():
        study().save(path)
    words = [sys.executable, "-m", "manipula", "sweep", str(path), "-o", str(folder), "--chunk", "1", *options]
    return subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def parts(folder: Path) -> int:
    """How many parts there are."""
    return len(listed(folder / "parts"))


@pytest.mark.parametrize("engine", ["serial", "tcp://127.0.0.1:9"])
def test_workers_of_an_engine_that_starts_none_are_refused(engine: str, tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="processes of a pool"):
        mp.sweep(study(), tmp_path / "s", engine=engine, workers=2)
    assert not (tmp_path / "s").exists()


@POSIX
@pytest.mark.parametrize("engine", ["serial", "pool"])
def test_a_killed_client_loses_nothing(engine: str, digest: str, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    process = client(folder, "--engine", engine, *(("--workers", "2") if engine == "pool" else ()))
    until(lambda: parts(folder) >= 3 or process.poll() is not None, "a part")
    others = children(process.pid)
    process.kill()
    process.communicate()
    before = parts(folder)
    assert 3 <= before < 60
    until(lambda: all(gone(pid) for pid in others), "the end of the workers without a client")
    table = mp.sweep(study(), folder, engine="serial", chunk=9)
    assert table.digest() == digest
    assert not table.verify()


@POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_an_interrupted_client_says_so_and_can_go_on(number: int, digest: str, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    process = client(folder, "--workers", "2")
    until(lambda: parts(folder) >= 2 or process.poll() is not None, "a part")
    others = children(process.pid)
    process.send_signal(number)
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, told
    assert b"--resume" in told
    assert all(gone(pid) for pid in others)
    assert not (folder / "lease.json").exists()
    again = client(folder, "--workers", "1")
    _, told = again.communicate(timeout=PATIENCE)
    assert again.returncode == 2
    assert b"already" in told
    again = client(folder, "--resume", "--workers", "2")
    said, told = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0, told
    assert b"60 of 60 runs" in said
    assert mp.open_study(folder).digest() == digest


@POSIX
@pytest.mark.parametrize(
    ("number", "method"),
    [(signal.SIGINT, "differential_evolution"), pytest.param(signal.SIGKILL, "optuna", marks=pytest.mark.slow)],
)
def test_a_search_that_is_interrupted_goes_on_where_it_was(number: int, method: str, tmp_path: Path) -> None:
    vary = {"controller.kp": mp.uniform(20, 200), "controller.kv": mp.uniform(5, 40), "payload.mass": [0.0, 1.0]}
    searched = mp.Study(base(), vary, samples=1, seed=2)
    searched.save(tmp_path / "arm.toml")
    folder = tmp_path / "t"
    words = [
        sys.executable,
        "-m",
        "manipula",
        "tune",
        str(tmp_path / "arm.toml"),
        "-o",
        str(folder),
        "--minimise",
        "error_rms",
    ]
    words += [
        "--subject-to",
        "tau_max=60",
        "--evaluations",
        "60",
        "--population",
        "5",
        "--method",
        method,
        "--no-report",
    ]

    def search() -> subprocess.Popen[bytes]:
        return subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    process = search()
    until(lambda: (folder / "generation-0003" / "parts").exists() or process.poll() is not None, "a third generation")
    process.send_signal(number)
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL), told
    assert number != signal.SIGINT or b"the same command goes on" in told
    made = {path: path.stat().st_mtime_ns for path in folder.glob("generation-*/parts/runs-*")}
    assert 3 <= len(made) < 12
    again = search()
    said, told = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0, told
    assert {path: path.stat().st_mtime_ns for path in made} == made  # nothing was computed twice
    calm = mp.tune(searched, "error_rms", {"tau_max": 60.0}, evaluations=60, population=5, method=method)
    for path, value in calm.answer.items():
        assert f"{path} = {value:.8g}".encode() in said


@POSIX
def test_a_second_client_is_turned_away(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    process = client(folder, "--workers", "1")
    until(lambda: parts(folder) >= 1 or process.poll() is not None, "a part")
    os.kill(process.pid, signal.SIGSTOP)
    try:
        with pytest.raises(DescriptionError, match=f"process {process.pid}"):
            mp.sweep(study(), folder, engine="serial")
    finally:
        for pid in (*children(process.pid), process.pid):
            os.kill(pid, signal.SIGKILL)
        process.communicate()


def test_a_lease_of_another_host_is_taken_over_when_it_is_silent(tmp_path: Path) -> None:
    small = study(samples=1)
    mp.sweep(small, tmp_path / "s", engine="serial")
    lease = tmp_path / "s" / "lease.json"
    lease.write_text(json.dumps({"host": "elsewhere", "pid": 1, "token": "a"}))
    with pytest.raises(DescriptionError, match="elsewhere"):
        mp.sweep(small, tmp_path / "s", engine="serial")
    long_ago = time.time() - 3600
    os.utime(lease, (long_ago, long_ago))
    assert mp.sweep(small, tmp_path / "s", engine="serial").complete
    assert not lease.exists()


def test_code_of_somebodys_cannot_travel(tmp_path: Path) -> None:
    law = mp.control.UserFunction(lambda t, q, qd, target: -5.0 * qd)
    own = mp.Study(base().replace(controller=law), {"q0[0]": [0.1, 0.2]})
    with pytest.raises(DescriptionError, match="serial"):
        mp.sweep(own, tmp_path / "a", engine="pool")
    table = mp.sweep(own, tmp_path / "b", engine="serial")
    assert table.statuses() == {"finished": 2}
    assert np.abs(table.run(1).tau).max() == table.row(1)["tau_max"]
    with pytest.raises(DescriptionError, match="Python objects"):
        mp.sweep(own, tmp_path / "b", engine="serial")


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    pytest.importorskip("distributed")
    with local_cluster(2) as found:
        yield found


def test_a_cluster_gives_the_same_rows(cluster: LocalCluster, digest: str, tmp_path: Path) -> None:
    table = mp.sweep(study(), tmp_path / "s", engine=cluster.address, chunk=7)
    assert table.digest() == digest


@POSIX
def test_nothing_listens_beyond_the_loopback(cluster: LocalCluster, tmp_path: Path) -> None:
    mp.sweep(study(samples=2), tmp_path / "s", engine=cluster.address)
    family = [cluster.scheduler.pid, *(p.pid for p in cluster.workers)]
    for pid in family:
        family += [p for p in children(pid) if p not in family]
    sockets = set()
    for pid in family:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                sockets.add(os.readlink(entry))
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
                found.append(words[1].partition(":")[0])
    assert len(found) >= 3  # a scheduler and two workers
    assert set(found) == {"0100007F"}


@POSIX
def test_killed_workers_of_a_cluster_are_replaced(cluster: LocalCluster, digest: str, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill(state: Any) -> None:
        nannies = [pid for p in cluster.workers for pid in children(p.pid)]
        alive = [
            pid
            for pid in nannies
            if not gone(pid) and b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]
        if len(killed) < 2 and alive and state.parts:
            killed.append(alive[0])
            os.kill(alive[0], signal.SIGKILL)

    table = mp.sweep(study(), tmp_path / "s", engine=cluster.address, chunk=3, progress=kill)
    assert killed
    assert table.digest() == digest


@POSIX
def test_a_scheduler_that_dies_ends_the_sweep_and_nothing_is_lost(digest: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    with local_cluster(1) as mortal:

        def kill(state: object) -> None:
            if parts(tmp_path / "s") >= 3:
                mortal.scheduler.kill()

        with pytest.raises(DescriptionError, match="resume"):
            mp.sweep(study(), tmp_path / "s", engine=mortal.address, chunk=1, progress=kill)
    assert 3 <= parts(tmp_path / "s") < 60
    assert mp.sweep(study(), tmp_path / "s", engine="serial", chunk=9).digest() == digest


def test_a_scheduler_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    from manipula.studies import dask_engine
    from manipula.studies.local_cluster import free_port

    monkeypatch.setattr(dask_engine, "PATIENCE", 0.5)
    with pytest.raises(DescriptionError, match="No scheduler answers"):
        mp.sweep(study(samples=1), tmp_path / "s", engine=f"tcp://127.0.0.1:{free_port()}")
