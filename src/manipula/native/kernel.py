"""Compiled functions: ``kernel(*arrays)`` on one state or on any number of them."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from manipula.errors import CompileError, ShapeError
from manipula.native.arguments import Arguments, sample_count
from manipula.native.graph import Graph, core_size
from manipula.native.trace import trace

_ONE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_BATCH = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p
)


def has_compiler() -> bool:
    """Whether machine code can be made here: llvmlite is installed and ``MANIPULA_NO_LLVM`` is not set."""
    if os.environ.get("MANIPULA_NO_LLVM", "") not in ("", "0"):
        return False
    try:
        import llvmlite  # noqa: F401
    except ImportError:
        return False
    return True


class Code:
    """Machine code of one width: a callable entry and the workspace it needs, in doubles."""

    __slots__ = ("address", "entry", "from_cache", "loaded", "seconds", "width", "workspace")

    def __init__(self, graph: Graph, width: int) -> None:
        from manipula.native.llvm import object_code
        from manipula.native.objects import load_object

        begin = time.perf_counter()
        self.width = width
        self.from_cache = False
        numbers, name, self.workspace = object_code(graph, width)
        self.loaded = load_object(numbers, [name])
        self.address = self.loaded[name]
        self.entry = (_ONE if width == 1 else _BATCH)(self.address)
        self.seconds = time.perf_counter() - begin


class Kernel:
    """A function compiled from a graph; every argument has shape ``(..., *core shape)`` and leading axes broadcast.

    Machine code for one state and for batches is made at the first call that needs it. One state alone and the same
    state inside a batch give the same bits.
    """

    def __init__(self, graph: Graph, *, width: int | None = None, trace_seconds: float = 0.0) -> None:
        if width not in (None, 1, 4, 8):
            raise CompileError(f"{graph.name}: width {width} is not possible; allowed are 1, 4, 8 and None (the best).")
        self.graph = graph
        self.name = graph.name
        self.trace_seconds = trace_seconds
        self.is_native = has_compiler()
        self._width = width
        self._codes: dict[int, Code] = {}
        self._lock = threading.Lock()
        self._fixed = not graph.sampled
        self._lengths = sorted({d for s in graph.inputs.values() for d in s if isinstance(d, str)})

    def __repr__(self) -> str:
        return f"<Kernel {self.graph!r}>"

    def operation_count(self) -> dict[str, int]:
        """Operations by kind; see :meth:`Graph.operation_count`."""
        return self.graph.operation_count()

    def python(self, *arrays: Any) -> Any:
        """The same function, interpreted with NumPy."""
        return self.graph.evaluate(*arrays)

    @property
    def compile_seconds(self) -> float:
        """Time spent making machine code so far."""
        return sum(code.seconds for code in self._codes.values())

    @property
    def from_cache(self) -> bool:
        """Whether all machine code so far came from the object cache."""
        return bool(self._codes) and all(code.from_cache for code in self._codes.values())

    def code(self, width: int) -> Code:
        """Machine code for ``width`` states side by side, made at the first request."""
        found = self._codes.get(width)
        if found is None:
            with self._lock:
                found = self._codes.get(width)
                if found is None:
                    found = self._codes[width] = Code(self.graph, width)
        return found

    def batch_width(self) -> int:
        """How many states batches compute side by side."""
        if self._width is not None:
            return self._width
        from manipula.native.llvm import processor

        return processor().width

    def __call__(self, *arrays: Any, out: Any = None, threads: int | None = None) -> Any:
        graph = self.graph
        if len(arrays) != len(graph.inputs):
            raise TypeError(
                f"{self.name} takes {len(graph.inputs)} arguments ({', '.join(graph.inputs)}), {len(arrays)} were given"
            )
        if not self.is_native:
            return self._delivered(graph.evaluate(*arrays), out)
        arguments = Arguments(graph, list(arrays))
        results = self._allocated(arguments, out)
        count = int(np.prod(arguments.batch, dtype=np.int64))
        if count:
            self._run(arguments, results, count, threads)
        return self._delivered(tuple(results) if len(results) > 1 else results[0], out)

    # ------------------------------------------------------------------ memory
    def _shapes(self, arguments: Arguments) -> list[tuple[int, ...]]:
        shapes = []
        for shape in self.graph.outputs.values():
            core = [sample_count(d, self.graph, arguments.arrays) if isinstance(d, str) else d for d in shape]
            shapes.append((*arguments.batch, *core))
        return shapes

    def _allocated(self, arguments: Arguments, out: Any) -> list[np.ndarray]:
        shapes = self._shapes(arguments)
        if out is None:
            return [np.empty(shape) for shape in shapes]
        given = self._outs(out)
        results = []
        for name, shape, array in zip(self.graph.outputs, shapes, given):
            if not isinstance(array, np.ndarray) or array.dtype != np.float64:
                raise TypeError(f"{self.name}: out for '{name}' must be an array of float64")
            if array.shape != shape:
                raise ShapeError(f"{self.name}: out for '{name}' has shape {array.shape}, expected {shape}.")
            clash = any(np.may_share_memory(array, x) for x in (*arguments.arrays, *results))
            usable = array.flags.c_contiguous and array.flags.writeable and array.flags.aligned and not clash
            results.append(array if usable else np.empty(shape))
        return results

    def _outs(self, out: Any) -> tuple:
        given = out if isinstance(out, (tuple, list)) else (out,)
        if len(given) != len(self.graph.outputs):
            raise TypeError(f"{self.name}: out has {len(given)} arrays, there are {len(self.graph.outputs)} outputs")
        return tuple(given)

    def _delivered(self, results: Any, out: Any) -> Any:
        if out is None:
            if isinstance(results, tuple):
                return tuple([x if x.ndim else x[()] for x in results])
            return results if results.ndim else results[()]
        values = results if isinstance(results, tuple) else (results,)
        given = self._outs(out)
        for array, value in zip(given, values):
            if array is not value:
                if np.shape(value) != array.shape:
                    raise ShapeError(f"{self.name}: out has shape {array.shape}, expected {np.shape(value)}.")
                array[...] = value
        return tuple(given) if isinstance(results, tuple) else given[0]

    # ------------------------------------------------------------------ the call itself
    def _run(self, arguments: Arguments, results: list[np.ndarray], count: int, threads: int | None) -> None:
        graph = self.graph
        rows, strides = [], []
        for (name, shape), array in zip(graph.inputs.items(), arguments.arrays):
            core = len(shape)
            if name in graph.shared:
                rows.append(np.ascontiguousarray(array))
                strides.append(0)
                continue
            size = core_size(shape)
            if array.size == size:  # one row for the whole batch
                rows.append(np.ascontiguousarray(array))
                strides.append(0)
                continue
            if array.shape[: array.ndim - core] != arguments.batch:
                array = np.broadcast_to(array, (*arguments.batch, *array.shape[array.ndim - core :]))
            rows.append(np.ascontiguousarray(array))
            strides.append(size)
        pointers = [a.ctypes.data for a in rows]
        if self._lengths:
            sizes = np.array([arguments.length(d) for d in self._size_order()], np.int64)
            pointers.append(sizes.ctypes.data)
            rows.append(sizes)
        inputs = np.array(pointers or [0], np.uintp)
        outputs = np.array([a.ctypes.data for a in results], np.uintp)
        if count == 1 or self._width == 1:
            code = self.code(1)
            space = _workspace(code.workspace)
            for _ in range(count):
                code.entry(inputs.ctypes.data, outputs.ctypes.data, space and space.ctypes.data)
                inputs[: len(strides)] += 8 * np.array(strides, np.uintp)
                outputs += np.array([8 * (a.size // count) for a in results], np.uintp)
            return
        code = self.code(self.batch_width())
        in_strides = np.array(strides or [0], np.int64)
        out_strides = np.array([a.size // count for a in results], np.int64)
        space = _workspace(code.workspace)
        code.entry(
            inputs.ctypes.data,
            in_strides.ctypes.data,
            outputs.ctypes.data,
            out_strides.ctypes.data,
            count,
            None if space is None else space.ctypes.data,
        )

    def _size_order(self) -> list[str]:
        return list(dict.fromkeys(d for s in self.graph.inputs.values() for d in s if isinstance(d, str)))


def _workspace(doubles: int) -> np.ndarray | None:
    """Aligned scratch memory."""
    if not doubles:
        return None
    raw = np.empty(doubles + 8)
    shift = (-raw.ctypes.data // 8) % 8
    return raw[shift : shift + doubles]


def compile_graph(graph: Graph, *, width: int | None = None) -> Kernel:
    """A kernel that computes ``graph``."""
    return Kernel(graph, width=width)


def compile_function(
    f: Callable[..., Any],
    inputs: Mapping[str, tuple],
    name: str | None = None,
    shared: Iterable[str] = (),
    width: int | None = None,
) -> Kernel:
    """Trace ``f`` for inputs of the given shapes and make a kernel of it (see :func:`manipula.native.trace`)."""
    begin = time.perf_counter()
    graph = trace(f, inputs, name or getattr(f, "__name__", "f"), shared=shared)
    return Kernel(graph, width=width, trace_seconds=time.perf_counter() - begin)
