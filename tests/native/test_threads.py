"""Batches on several threads: the same bits whatever their number, every row once, nothing lost when something goes wrong."""

from __future__ import annotations

import os
import re
import signal
import threading

import numpy as np
import pytest

from manipula.errors import DescriptionError
from manipula.native import folder, has_compiler
from manipula.native.calling import threads
from manipula.native.calling.threads import Rows, run_batch
from native_kernels import compile_formula

N = 3


def formula(e, rows):
    """(x (3,), s ()) → s·x + x₀ (3,), s·s ()"""
    x, (s,) = rows
    return [[e.fadd(e.fmul(s, a), x[0]) for a in x], [e.fmul(s, s)]]


@pytest.fixture(scope="module")
def code():
    return compile_formula(formula, [N, 1], [N, 1], uses_workspace=True)


def run(code, x, s, **options):
    count = len(x)
    y, square = np.full((count, N), np.nan), np.full(count, np.nan)
    inputs = [Rows(x.ctypes.data, x.strides[0] // 8), Rows(s.ctypes.data, s.strides[0] // 8 if s.size > 1 else 0)]
    outputs = [Rows(y.ctypes.data, N), Rows(square.ctypes.data, 1)]
    run_batch(code["batch"], inputs, outputs, count, workspace=1, **options)
    return y, square


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 127, 1000, 4097])
def test_bits_do_not_depend_on_the_number_of_threads(code, count):
    rng = np.random.default_rng(count)
    x, s = rng.normal(size=(count, N)), rng.normal(size=count)
    expected = run(code, x, s, threads=1)
    assert np.array_equal(expected[0], s[:, None] * x + x[:, :1])
    for number in (2, 3, 5, None):
        for seconds in (1e-9, 1e-6, 1e-3):
            got = run(code, x, s, threads=number, seconds_per_row=seconds)
            assert all(np.array_equal(a, b) for a, b in zip(got, expected))


def test_a_row_that_does_not_move_is_used_for_all(code):
    x = np.random.default_rng(3).normal(size=(500, N))
    y, square = run(code, x, np.array([2.0]), threads=3, seconds_per_row=1e-5)
    assert np.array_equal(y, 2 * x + x[:, :1])
    assert (square == 4).all()


def test_strided_and_reversed_rows(code):
    x = np.random.default_rng(4).normal(size=(600, 2 * N))
    s = np.ones(300)
    y, _ = run(code, x[::-2, :N], s, threads=2, seconds_per_row=1e-5)
    assert np.array_equal(y, x[::-2, :N] + x[::-2, :1])


def test_an_empty_batch_does_nothing(code):
    run(code, np.empty((0, N)), np.empty(0), threads=2)
    run(code, np.empty((0, N)), np.empty(0))


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", True, np.nan])
def test_a_wrong_number_of_threads_is_refused(code, wrong):
    with pytest.raises(DescriptionError, match=r"threads.*Allowed: a whole number from 1, or None"):
        run(code, np.ones((4, N)), np.ones(4), threads=wrong)


def test_small_work_stays_in_the_calling_thread_and_large_work_spreads():
    assert threads.thread_count(None, 1e-5) == 1
    assert threads.thread_count(None, 10.0) == threads.available_cores()
    assert threads.thread_count(3, 1e-9) == 3
    assert threads.thread_count(10**6, 1.0) <= threads.MAX_THREADS_PER_CORE * threads.available_cores()


@pytest.mark.parametrize("workers", [2, 3, 8])
def test_chunks_are_whole_groups_of_rows_and_cover_the_batch(workers):
    for count in (1, 64, 1000, 10**6):
        for seconds in (1e-9, 1e-7, 1e-4):
            rows = threads.chunk_rows(count, workers, seconds)
            assert rows % threads.CHUNK_ROWS == 0
            assert rows >= 1
            if count > workers * threads.CHUNK_ROWS:
                assert rows < count  # somebody else gets something
    assert threads.chunk_rows(1000, 1, 1e-7) == 1000


def test_the_limit_of_the_environment(monkeypatch):
    monkeypatch.setenv("MANIPULA_THREADS", "1")
    assert threads.available_cores() == 1
    assert threads.thread_count(None, 10.0) == 1
    monkeypatch.setenv("MANIPULA_THREADS", " ")
    assert threads.available_cores() >= 1


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("MANIPULA_THREADS", "many", "whole number of at least 1"),
        ("MANIPULA_THREADS", "0", "whole number of at least 1"),
        ("MANIPULA_THREADS", "-3", "whole number of at least 1"),
        ("MANIPULA_THREADS", "２", "whole number of at least 1"),
        ("MANIPULA_CACHE", "/tmp/elsewhere", "MANIPULA_CACHE_DIR"),
        ("MANIPULA_NO_LLVM", "maybe", "1, on, yes, true or 0, off, no, false"),
    ],
)
def test_a_variable_that_means_nothing_is_refused(monkeypatch, name, value, allowed):
    asked = {
        "MANIPULA_THREADS": threads.available_cores,
        "MANIPULA_CACHE": folder.enabled,
        "MANIPULA_NO_LLVM": has_compiler,
    }
    asked[name]()
    monkeypatch.setenv(name, value)
    with pytest.raises(DescriptionError, match=f"{name}.*{re.escape(allowed)}"):
        asked[name]()


def test_several_callers_share_the_threads(code):
    rng = np.random.default_rng(8)
    x, s = rng.normal(size=(2000, N)), rng.normal(size=2000)
    expected = run(code, x, s, threads=1)
    wrong = []

    def work():
        for _ in range(20):
            got = run(code, x, s, threads=4, seconds_per_row=1e-5)
            if not all(np.array_equal(a, b) for a, b in zip(got, expected)):
                wrong.append(1)

    callers = [threading.Thread(target=work) for _ in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []


def test_a_failure_in_one_thread_reaches_the_caller(monkeypatch, code):
    def fail(operands, first):
        raise MemoryError("no room for pointers")

    monkeypatch.setattr(threads, "_pointers", fail)
    with pytest.raises(MemoryError, match="no room"):
        run(code, np.ones((1000, N)), np.ones(1000), threads=3, seconds_per_row=1e-5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(code):
    x, s = np.ones((1000, N)), np.ones(1000)
    run(code, x, s, threads=3, seconds_per_row=1e-5)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(200)  # a child that hangs dies
        good = False
        try:
            good = bool((run(code, x, s, threads=3, seconds_per_row=1e-5)[0] == 2).all())
        finally:
            os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
