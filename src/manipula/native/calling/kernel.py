"""Compiled functions: ``kernel(*arrays)`` on one state or on any number of them."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.bounded_cache import Lock
from manipula.errors import CompileError, ShapeError
from manipula.lazy import cached_property
from manipula.native.binary_interface import BATCH, ONE, STOPPABLE, WORKSPACE, aligned_workspace, entry_name
from manipula.native.calling.signature import ordered, signature
from manipula.native.calling.watched_calls import announced, listener_of_calls
from manipula.native.environment import switched
from manipula.native.locks import import_module
from manipula.native.lowering.passes import Cost, cost
from manipula.native.tracing.arguments import Arguments, is_masked, rows_without_gaps, sample_count, separate
from manipula.native.tracing.graph import Graph, core_size
from manipula.native.tracing.trace import trace, without_garbage_collection

if TYPE_CHECKING:
    from manipula.native.calling.threads import StopFlag
    from manipula.native.llvm_text import ModuleText

FEW_SECONDS = 200e-6  # a batch of less work is not shared among threads
ALONE = 50.0  # times as much is done at once when one thread is asked for: Ctrl-C is heard after it
_FLOAT = np.dtype(np.float64)
SECONDS_PER_OPERATION = 0.07e-9  # of one state in a batch, for the choice of the number of threads
ONE_BY_ONE = 10.0  # times longer an operation takes alone, at most about
SHORT_SECONDS = 100e-3  # machine code that takes less is run in the calling thread: nobody waits for its end


def has_compiler() -> bool:
    """Whether machine code can be made here: llvmlite is installed and ``MANIPULA_NO_LLVM`` is not set."""
    return not switched("MANIPULA_NO_LLVM", False) and _has_llvmlite()


@functools.cache
def _has_llvmlite() -> bool:
    try:
        import_module("llvmlite")
    except ImportError:
        return False
    return True


def _target() -> Any:
    import_module("manipula.native.llvm.target")
    from manipula.native.llvm import target

    return target


class Code:
    """Machine code of one width: the address of its entry, the workspace it needs (doubles), whether it takes a stop flag."""

    __slots__ = ("address", "entry", "from_cache", "loaded", "stoppable", "width", "workspace")

    def __init__(self, graph: Graph, width: int) -> None:
        import_module("manipula.native.store.object_cache")
        from manipula.native.store.object_cache import load_or_compile

        self.width = width
        self.from_cache = True

        def text() -> ModuleText:
            self.from_cache = False
            import_module("manipula.native.llvm.compiler")
            from manipula.native.llvm import compiler

            with without_garbage_collection():
                return compiler.module_text(graph, width)

        name = entry_name(width)
        self.loaded = load_or_compile(_target().key_material(graph, width), (name, WORKSPACE, STOPPABLE), text)
        self.workspace = ctypes.c_int64.from_address(self.loaded[WORKSPACE]).value
        self.stoppable = ctypes.c_int64.from_address(self.loaded[STOPPABLE]).value
        self.address = self.loaded[name]
        self.entry = (ONE if width == 1 else BATCH)(self.address)


class Kernel:
    """A function compiled from a graph; every argument has shape ``(..., *core shape)`` and leading axes broadcast.

    Machine code for one state and for batches is made at the first call that needs it. One state alone and the same
    state inside a batch give the same bits.
    """

    def __init__(self, graph: Graph, *, width: int | None = None, trace_seconds: float = 0.0) -> None:
        if width not in (None, 1, 4, 8):
            raise CompileError(f"{graph.name}: width {width} is not possible; allowed are 1, 4, 8 and None (the best).")
        self.graph, self.name, self.trace_seconds = graph, graph.name, trace_seconds
        self.is_native = has_compiler()
        self._width = width
        self._plain = (
            not (graph.sampled or graph.shared)
            and width != 1
            and all(0 not in shape for shape in (*graph.inputs.values(), *graph.outputs.values()))
        )
        self._cost = self._costs(graph)
        self._few_rows = FEW_SECONDS / (SECONDS_PER_OPERATION * max(1.0, self._cost.fixed))
        self._codes: dict[int, Code] = {}
        self._entry: Callable[..., Any] = self._first
        self._lock = Lock()
        self._lengths = list(dict.fromkeys(d for s in graph.inputs.values() for d in s if isinstance(d, str)))

    def __repr__(self) -> str:
        return f"<Kernel {self.graph!r}>"

    def __reduce__(self) -> Any:
        """The list of operations travels; machine code is found in the cache, or made, where it is called."""
        return functools.partial(Kernel, width=self._width), (self.graph,)

    def _costs(self, graph: Graph) -> Cost:
        return cost(graph)

    def operation_count(self) -> dict[str, int]:
        """Operations by kind; see :meth:`Graph.operation_count`."""
        return self.graph.operation_count()

    def python(self, *arrays: Any) -> Any:
        """The same function, interpreted with NumPy."""
        return self.graph.evaluate(*arrays)

    @property
    def from_cache(self) -> bool:
        """Whether all machine code so far came from the object cache."""
        return bool(self._codes) and all(code.from_cache for code in self._codes.values())

    def code(self, width: int) -> Code:
        """Machine code for ``width`` states side by side, made at the first request."""
        found = self._codes.get(width)
        if found is None:
            with self._lock.here:
                found = self._codes.get(width)
                if found is None:
                    with without_garbage_collection():
                        found = self._codes[width] = Code(self.graph, width)
        return found

    def batch_width(self) -> int:
        """How many states batches compute side by side."""
        return _target().processor().width if self._width is None else self._width

    def __call__(self, *arrays: Any, out: Any = None, threads: int | None = None, turns: float | None = None) -> Any:
        """Evaluate; ``out`` receives the results (a tuple if there are several), ``threads`` share a large batch.

        ``turns``: how often the innermost loops turn in all, roughly, where the caller knows it. Short work then stays in the
        calling thread; loops of unknown length are waited for by it, so that Ctrl-C is heard.
        """
        if out is None and threads is None and turns is None:
            return self._entry(*arrays)
        return self._general(*arrays, out=out, threads=threads, turns=turns)

    def _first(self, *arrays: Any) -> Any:
        """Calls until one with a single state comes, so that those who have batches only wait for batch code only."""
        shapes = self.graph.inputs.values()
        if len(arrays) != len(shapes) or any(np.ndim(a) > len(s) for a, s in zip(arrays, shapes)):
            return self._general(*arrays)
        self._entry = self.fast
        return self._entry(*arrays)

    @cached_property
    def fast(self) -> Callable[..., Any]:
        """The quickest way to call the function from Python: a built-in function for one state, all else as usual."""
        return self._made("") or self._general

    def described(self, doc: str) -> Callable[..., Any]:
        """``fast`` with a docstring and the signature that ``inspect`` and editors show."""
        shown = signature(self.graph.inputs)
        made = self._made(f"{self.name.rpartition('.')[2]}{shown}\n--\n\n{doc}")  # CPython finds the signature there
        if made is None:
            made = functools.partial(self._general)
            made.__dict__.update(__name__=self.name, __doc__=doc, __signature__=shown)
        return made

    def _made(self, doc: str) -> Callable[..., Any] | None:
        graph = self.graph
        if not self.is_native or graph.sampled or graph.shared or not graph.inputs:
            return None
        import_module("manipula.native.calling.fast_entry")
        from manipula.native.calling.fast_entry import make_callable

        code = self.code(1)
        if code.stoppable:
            return None
        shapes = list(graph.inputs.values()), list(graph.outputs.values())
        general, space = self._general, code.workspace
        made = make_callable(self.name, *shapes, code.address, general, workspace=space, keep=code.loaded, doc=doc)
        return None if made is general else made

    @cached_property
    def gufunc(self) -> Any:
        """The batch code as a NumPy gufunc, or ``None`` where that cannot be made."""
        import_module("manipula.native.calling.gufunc")
        from manipula.native.calling.gufunc import make_gufunc

        code = self.code(self.batch_width())
        if code.stoppable:
            return None
        shapes = list(self.graph.inputs.values()), list(self.graph.outputs.values())
        try:
            return make_gufunc(self.name, *shapes, code.address, workspace=code.workspace, keep=code.loaded)
        except CompileError:
            return None

    def _small_batch(self, arrays: tuple[Any, ...], times: float) -> list[np.ndarray] | None:
        """The arguments, rows without gaps, if all are float64 arrays of the right core shapes: several states, ``times`` few at most."""
        if not self._plain:
            return None
        rows, ready = 1, []
        for array, shape in zip(arrays, self.graph.inputs.values()):
            if type(array) is not np.ndarray or array.dtype is not _FLOAT:
                return None
            if array.shape[array.ndim - len(shape) :] != shape:
                return None
            rows = max(rows, array.size // math.prod(shape))
            ready.append(rows_without_gaps(array, len(shape)))
        return ready if 1 < rows <= times * self._few_rows and self.gufunc is not None else None

    def _general(
        self, *arrays: Any, out: Any = None, threads: int | None = None, turns: float | None = None, **named: Any
    ) -> Any:
        graph = self.graph
        if named or len(arrays) != len(graph.inputs):
            arrays = ordered(self.name, graph.inputs, arrays, named)
        alone = type(threads) is int and threads == 1
        if threads is not None and not alone:
            import_module("manipula.native.calling.threads")
            from manipula.native.calling.threads import thread_count

            thread_count(threads, 0.0)
        if not self.is_native:
            return self._delivered(graph.evaluate(*arrays), out)
        ready = self._small_batch(arrays, ALONE if alone else 1.0) if threads is None or alone else None
        if ready is not None and separate(arrays, out):
            with contextlib.suppress(ValueError):  # wrong shapes are reported better below
                return self.gufunc(*ready) if out is None else self.gufunc(*ready, out=out)
        arguments = Arguments(graph, list(arrays))
        results = self._allocated(arguments, out)
        count = math.prod(arguments.batch)
        if count:
            self._run(arguments, results, count, threads, turns)
        return self._delivered(tuple(results) if len(results) > 1 else results[0], out)

    # ------------------------------------------------------------------ memory
    def _shapes(self, arguments: Arguments) -> list[tuple[int, ...]]:
        shapes = []
        for name, shape in self.graph.outputs.items():
            sampled = self.graph.sampled.get(name)
            if sampled is not None:
                shape = (sample_count(sampled, self.graph, arguments.arrays), *sampled.shape)
            shapes.append((*arguments.batch, *shape))
        return shapes

    def _allocated(self, arguments: Arguments, out: Any) -> list[np.ndarray]:
        shapes = self._shapes(arguments)
        if out is None:
            return [np.empty(shape) for shape in shapes]
        given = self._outs(out)
        results = []
        for name, shape, array in zip(self.graph.outputs, shapes, given):
            if not isinstance(array, np.ndarray) or array.dtype != np.float64:
                found = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
                raise ShapeError(f"{self.name}: out for '{name}' must be an array of float64, found {found}.")
            if not array.flags.writeable or is_masked(array):
                raise ShapeError(f"{self.name}: out for '{name}' must be a plain array that can be written to.")
            if array.shape != shape:
                raise ShapeError(f"{self.name}: out for '{name}' has shape {array.shape}, expected {shape}.")
            clash = any(np.may_share_memory(array, x) for x in (*arguments.arrays, *results))
            usable = array.flags.c_contiguous and array.flags.aligned and not clash
            results.append(array if usable else np.empty(shape))
        return results

    def _outs(self, out: Any) -> tuple:
        given = out if isinstance(out, (tuple, list)) else (out,)
        if len(given) != len(self.graph.outputs):
            raise ShapeError(f"{self.name}: out has {len(given)} arrays, there are {len(self.graph.outputs)} outputs.")
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
    def _run(self, arguments: Arguments, results: list[np.ndarray], count: int, threads: int | None, turns: float | None) -> None:  # fmt: skip
        graph = self.graph
        keep: list[np.ndarray] = []
        inputs: list[tuple[int, int]] = []  # address and distance of rows
        for (name, shape), array in zip(graph.inputs.items(), arguments.arrays):
            leading = array.shape[: array.ndim - len(shape)]
            stride = 0
            if name not in graph.shared and math.prod(leading) != 1:
                if not any(array.strides[: len(leading)]):
                    array = array[(0,) * len(leading)]  # one row, repeated
                else:
                    if leading != arguments.batch:
                        array = np.broadcast_to(array, (*arguments.batch, *array.shape[len(leading) :]))
                    stride = core_size(shape)
            array = np.ascontiguousarray(array)
            keep.append(array)
            inputs.append((_address(array), stride))
        if self._lengths:
            sizes = np.array([arguments.length(d) for d in self._lengths], np.int64)
            keep.append(sizes)
            inputs.append((_address(sizes), 0))
        outputs = [(_address(a), a.size // count) for a in results]
        code = self.code(1 if count == 1 else self.batch_width())
        if code.width == 1 and not code.stoppable:
            _run_rows(code, inputs, outputs, count)
        else:
            seconds = self._seconds(arguments) if turns is None else turns * self._cost.turn * SECONDS_PER_OPERATION
            known = turns is not None or code.stoppable == 1
            self._shared(code, inputs, outputs, count, seconds, known, threads, keep, results)

    def _shared(self, code: Code, inputs: list[tuple[int, int]], outputs: list[tuple[int, int]], count: int, seconds: float,
                known: bool, threads: int | None, keep: list[np.ndarray], results: list[np.ndarray]) -> None:  # fmt: skip
        """Work that other threads take over or share; they own the code and all memory until they are through."""
        import_module("manipula.native.calling.threads")
        from manipula.native.calling.threads import Rows, StopFlag, run_batch, share

        stop, listener = StopFlag() if code.stoppable else None, listener_of_calls()
        if stop is not None:
            inputs.append((stop.address, 0))
        owned = (code, stop, keep, results)
        waits = code.stoppable and (not known or listener or count * seconds * ONE_BY_ONE > SHORT_SECONDS)
        if listener is not None and stop is not None:
            announced(listener, self.name, dict(zip(self.graph.outputs, results)), stop)
        if code.width > 1:
            run_batch(
                code.address, [Rows(*x) for x in inputs], [Rows(*x) for x in outputs], count, workspace=code.workspace,
                seconds_per_row=seconds, threads=threads, owned=owned, stop=stop if waits else None,
            )  # fmt: skip
        elif stop is not None and waits:
            share(lambda: _run_rows(code, inputs, outputs, count, stop), 1, stop, join_in=False, owned=owned)
        else:
            _run_rows(code, inputs, outputs, count)

    def _seconds(self, arguments: Arguments) -> float:
        """Rough time of one state of a batch."""
        operations = self._cost.fixed
        for weight, name in self._cost.counted:
            operations += weight * max(1.0, float(arguments.arrays[list(self.graph.inputs).index(name)]))
        return operations * SECONDS_PER_OPERATION


def _run_rows(code: Code, inputs: list[tuple[int, int]], outputs: list[tuple[int, int]], count: int,
              stop: StopFlag | None = None) -> None:  # fmt: skip
    """Row after row with the code for one state."""
    space = aligned_workspace(code.workspace)
    memory = None if space is None else space.ctypes.data
    sources, targets = ctypes.c_void_p * max(1, len(inputs)), ctypes.c_void_p * max(1, len(outputs))
    for row in range(count):
        if stop is not None and stop.raised:
            return
        first = 8 * row
        code.entry(sources(*[p + first * s for p, s in inputs]), targets(*[p + first * s for p, s in outputs]), memory)


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def compile_graph(graph: Graph, *, width: int | None = None) -> Kernel:
    """A kernel that computes ``graph``."""
    return Kernel(graph, width=width)


@without_garbage_collection()
def compile_function(
    f: Callable[..., Any], inputs: Mapping[str, tuple], name: str | None = None, shared: Iterable[str] = (), width: int | None = None
) -> Kernel:  # fmt: skip
    """Trace ``f`` for inputs of the given shapes and make a kernel of it (see :func:`manipula.native.tracing.trace`)."""
    begin = time.perf_counter()
    graph = trace(f, inputs, name or getattr(f, "__name__", "f"), shared=shared)
    return Kernel(graph, width=width, trace_seconds=time.perf_counter() - begin)
