"""What holds for every test."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import threading
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None, max_examples=50)
settings.load_profile("repeatable")  # every run tries the same examples; --hypothesis-profile=default tries others


def pytest_configure() -> None:
    """Ctrl-C is heard, also when the parent (a job in the background, ``nohup``) ignores it; children inherit that."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


SLOW = Path(__file__).with_name("slow_tests.txt")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Every other worker reads the files from the end: what one has prepared of a file for its assertions, another finds on disk."""
    report = yield
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    if int(worker.removeprefix("gw")) % 2 and isinstance(collector, (pytest.Session, pytest.Directory)):
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)  # before ``-m`` looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The same order of files for all workers. The tests of the list are slow; a name without brackets stands for all parameters."""
    items.sort(key=lambda item: item.path.parts)
    lines = SLOW.read_text(encoding="utf-8").splitlines()
    slow = {line.partition(" < ")[0].strip() for line in lines if line and not line.startswith("#")}
    for item in items:
        if item.nodeid in slow or item.nodeid.partition("[")[0] in slow:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """What collecting makes stays to the end: it is no garbage, and looking through it again and again takes seconds.

    What tests make is looked through seldom: at Python's thresholds that is every tenth second of a run of many minutes.
    """
    gc.disable()
    done = yield
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
    gc.enable()
    return done


@pytest.fixture(scope="module")
def folder_for_the_log_of_mujoco(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """MuJoCo's compiler writes its warnings into the current folder."""
    with contextlib.chdir(tmp_path_factory.mktemp("mujoco")):
        yield
