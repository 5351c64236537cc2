"""Machine code called over and over without Python in between, so that it can be timed like a C++ loop."""

from __future__ import annotations

import ctypes
import functools
import time
from typing import Any

import numpy as np

from manipula.native import Kernel

ROWS = 128  # different states visited in turn; they stay in the first cache, as in the loops of the other libraries
TOTAL_SECONDS = 0.3
_DRIVE = ctypes.CFUNCTYPE(None, *([ctypes.c_void_p] * 6), ctypes.c_int64, ctypes.c_int64)


@functools.cache
def _driver() -> Any:
    """``drive(f, bases, strides, inputs, outputs, workspace, count, n)``: f on row i mod ROWS, ``count`` times."""
    from manipula.native.llvm.objects import compile_object, load_object
    from manipula.native.llvm_text import INT64, POINTER, VOID, LlvmBuilder, ModuleText, integer

    loop = LlvmBuilder("drive", VOID, [*[POINTER] * 6, INT64, INT64])
    f, bases, strides, inputs, outputs, workspace, count, n = loop.arguments
    with loop.loop(count) as i:
        row = loop.and_(i, integer(ROWS - 1))
        with loop.loop(n) as k:
            word = loop.words(k)
            shift = loop.mul(row, loop.word(strides, word))
            loop.store(loop.at(loop.word(bases, word, POINTER), shift), loop.at(inputs, word))
        loop.call_symbol(f.name, VOID, inputs, outputs, workspace)
    loop.ret()
    module = ModuleText("scalar_loop", loop.text())
    loaded = load_object(compile_object(module), ["drive"])
    return _DRIVE(loaded["drive"]), loaded


def scalar_nanoseconds(kernel: Kernel, *arguments: np.ndarray) -> float:
    """Time of one evaluation of the one-state code [ns]; ``arguments`` have ROWS rows each."""
    drive, _ = _driver()
    code = kernel.code(1)
    rows = [np.ascontiguousarray(a[:ROWS], float) for a in arguments]
    bases = np.array([a.ctypes.data for a in rows], np.uintp)
    strides = np.array([a.strides[0] for a in rows], np.int64)
    inputs = bases.copy()
    results = [np.empty(int(np.prod(shape, dtype=int)) or 1) for shape in kernel.graph.outputs.values()]
    outputs = np.array([a.ctypes.data for a in results], np.uintp)
    space = np.empty(code.workspace + 8)
    aligned = space.ctypes.data + (-space.ctypes.data % 64)

    def run(count: int) -> float:
        begin = time.perf_counter()
        drive(
            code.address,
            bases.ctypes.data,
            strides.ctypes.data,
            inputs.ctypes.data,
            outputs.ctypes.data,
            aligned,
            count,
            len(rows),
        )
        return time.perf_counter() - begin

    count = ROWS
    while run(count) < 1e-3:
        count *= 2
    best, end = run(count), time.perf_counter() + TOTAL_SECONDS
    while time.perf_counter() < end:
        best = min(best, run(count))
    return 1e9 * best / count


def batch_nanoseconds(kernel: Kernel, *arguments: np.ndarray) -> float:
    """Time of one state inside a batch [ns]: the batch entry on rows that stay in the cache, one thread."""
    code = kernel.code(kernel.batch_width())
    rows = [np.ascontiguousarray(a, float) for a in arguments]
    count = len(rows[0])
    inputs = np.array([a.ctypes.data for a in rows], np.uintp)
    strides = np.array([a.strides[0] // 8 for a in rows], np.int64)
    sizes = [int(np.prod(shape, dtype=int)) for shape in kernel.graph.outputs.values()]
    results = [np.empty((count, size)) for size in sizes]
    outputs = np.array([a.ctypes.data for a in results], np.uintp)
    steps = np.array(sizes, np.int64)
    space = np.empty(code.workspace + 8)
    aligned = space.ctypes.data + (-space.ctypes.data % 64)
    call = (inputs.ctypes.data, strides.ctypes.data, outputs.ctypes.data, steps.ctypes.data, count, aligned)

    def run(repeats: int) -> float:
        begin = time.perf_counter()
        for _ in range(repeats):
            code.entry(*call)
        return time.perf_counter() - begin

    repeats = 1
    while run(repeats) < 1e-3:
        repeats *= 2
    best, end = run(repeats), time.perf_counter() + TOTAL_SECONDS
    while time.perf_counter() < end:
        best = min(best, run(repeats))
    return 1e9 * best / (repeats * count)
