"""A Dask scheduler and workers on this machine, for trying out: on 127.0.0.1 only, without a dashboard."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import manipula
from manipula.errors import CompileError, DescriptionError, printable
from manipula.studies.dask_engine import distributed_package

LOOPBACK = "127.0.0.1"
# without an address its counters are served on every interface
NO_PAGE = ["--no-dashboard", "--dashboard-address", f"{LOOPBACK}:0"]
PATIENCE = 60.0  # s until the scheduler listens


def free_port() -> int:
    """A port of the loopback that nobody uses at the moment."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _environment() -> dict[str, str]:
    path = str(Path(manipula.__file__).parents[1])
    paths = [path, *(p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and p != path)]
    return {
        **os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false",
    }  # fmt: skip


def scheduler_command(port: int) -> list[str]:
    """The command of a scheduler that listens on the loopback alone."""
    return [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--host",
        LOOPBACK,
        "--port",
        str(port),
        *NO_PAGE,
        "--no-jupyter",
    ]


def worker_command(address: str, folder: str) -> list[str]:
    """The command of one worker with one thread; its nanny starts it again when it dies."""
    return [
        sys.executable, "-m", "distributed.cli.dask_worker", address, "--host", LOOPBACK,
        "--nworkers", "1", "--nthreads", "1", *NO_PAGE, "--local-directory", folder, "--death-timeout", "60",
    ]  # fmt: skip


class LocalCluster:
    """Processes of a scheduler and its workers."""

    def __init__(self, workers: int, port: int | None, folder: str) -> None:
        distributed_package()
        self.port = port or free_port()
        self.address = f"tcp://{LOOPBACK}:{self.port}"
        self.folder, environment = folder, _environment()
        self.scheduler = subprocess.Popen(scheduler_command(self.port), env=environment, stderr=subprocess.DEVNULL)
        self.workers: list[subprocess.Popen[bytes]] = []
        try:
            self._listening()
            for _ in range(workers):
                self.add_worker()
        except BaseException:
            self.close()
            raise

    def add_worker(self) -> subprocess.Popen[bytes]:
        """One more worker."""
        command = worker_command(self.address, self.folder)
        self.workers.append(subprocess.Popen(command, env=_environment(), stderr=subprocess.DEVNULL))
        return self.workers[-1]

    def _listening(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.scheduler.poll() is not None:
                raise DescriptionError(
                    f"The scheduler ended at once (exit code {self.scheduler.returncode}): is port {self.port} in use?",
                    field="port",
                )
            with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, self.port), 1.0):
                return
            time.sleep(0.05)
        raise CompileError(f"The scheduler does not listen on {printable(self.address)} after {PATIENCE:g} s.")

    def close(self) -> None:
        """End all of them."""
        for process in (*self.workers, self.scheduler):
            with contextlib.suppress(OSError):
                process.terminate()
        for process in (*self.workers, self.scheduler):
            try:
                process.wait(5.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextlib.contextmanager
def local_cluster(workers: int, port: int | None = None) -> Iterator[LocalCluster]:
    """A cluster on the loopback that ends with the block."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="manipula-cluster-", ignore_cleanup_errors=True) as folder:
        cluster = LocalCluster(workers, port, folder)
        try:
            yield cluster
        finally:
            cluster.close()
