"""Kernels that are found again: in this process, and across processes without being traced.

One rule for the whole package. A function that is made of nothing but this package's own parts is known by their values
(:func:`manipula.identity.identity`): its kernel is found again by them, in this process (:func:`kernel_of`) and in the next
(:func:`compile_known`). A function that holds anything of a user's (``parts=None``) is traced at every request, because its body, its
globals or its attributes may have changed; only the machine code of an equal graph is used again.

Tracing takes longer than linking stored object code. So the shapes, the fingerprint and the cost of a known graph are kept in the
cache of object code (with the same protection), and the next process builds the kernel from them. The function is traced only if
the object code is gone, or if someone asks for the operations.
"""

from __future__ import annotations

import functools
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from manipula.bounded_cache import BoundedCache
from manipula.identity import constants, hold, is_untouched
from manipula.native.calling.kernel import Kernel, compile_function, has_compiler
from manipula.native.locks import import_module
from manipula.native.lowering.passes import Cost
from manipula.native.tracing.graph import Graph, Sampled
from manipula.native.tracing.trace import trace

VERSION = 3
# rooms above all that is traced
WITHOUT_KERNELS = ("analysis", "bench", "certificate", "cli", "compat", "papers", "reports", "studio", "symbolic")
_LAZY = frozenset({"operations", "body", "output_values"})


class KnownGraph(Graph):
    """A graph of which the shapes and the fingerprint are known; its operations are traced when somebody needs them."""

    def __init__(self, facts: Mapping[str, Any], retrace: Callable[[], Graph]) -> None:
        self.name = str(facts["name"])
        self.inputs = {k: tuple(v) for k, v in facts["inputs"]}
        self.outputs = {k: tuple(v) for k, v in facts["outputs"]}
        self.shared = tuple(facts["shared"])
        self.sampled = {k: Sampled(a, b, tuple(c), d, e) for k, a, b, c, d, e in facts["sampled"]}
        self.counters = frozenset(facts["counters"])
        self.__dict__["_digest"] = bytes.fromhex(facts["digest"])
        fixed, counted, turn = facts["cost"]
        self._cost = Cost(float(fixed), [(float(a), str(b)) for a, b in counted], float(turn))
        self._retrace = retrace

    def __getattr__(self, name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(name)
        graph = self._retrace()
        for part in _LAZY:
            setattr(self, part, getattr(graph, part))
        return getattr(self, name)

    def __reduce__(self) -> Any:
        """A copy knows its operations: nobody can trace for it."""
        return Graph, (
            *(self.name, self.inputs, self.shared, self.operations, self.body),
            *(self.outputs, self.output_values, self.sampled),
        )


class KnownKernel(Kernel):
    """A kernel whose graph is known from outside only."""

    def _costs(self, graph: Graph) -> Cost:
        return graph._cost if isinstance(graph, KnownGraph) else super()._costs(graph)


KERNELS: BoundedCache[Kernel] = BoundedCache(256)


def kernel_of(
    f: Callable[..., Any], inputs: Mapping[str, tuple], name: str, parts: bytes | None, shared: Iterable[str] = ()
) -> Kernel:
    """The kernel of ``f``, kept where that is allowed.

    Args:
        parts: the :func:`~manipula.identity.identity` of everything ``f`` is made from besides the sources of this package;
            ``None`` when user code is among it.
    """
    shared = tuple(shared)
    place = (
        getattr(f, "__module__", ""),
        getattr(f, "__qualname__", ""),
        getattr(f, "__code__", None) and f.__code__.co_firstlineno,
    )
    outside = name, repr((place, list(inputs.items()), shared)), has_compiler()
    if parts is not None and is_untouched():
        key = ("parts", parts, *outside)
        found = KERNELS.get(key)
        known = parts + outside[1].encode()
        return found or KERNELS.put(key, compile_known(f, inputs, name, known, shared))
    begin = time.perf_counter()
    graph = trace(f, inputs, name, shared=shared)
    key = ("graph", graph.digest(), *outside)
    return KERNELS.get(key) or KERNELS.put(key, Kernel(graph, trace_seconds=time.perf_counter() - begin))


def kernel_behind(function: Any) -> Kernel | None:
    """The kernel that a function made by ``Kernel.fast`` or ``Kernel.described`` calls; ``None`` for any other function."""
    owned = getattr(getattr(function, "__self__", None), "owned", None)  # of the built-in function for one state
    general = owned[1] if isinstance(owned, tuple) and len(owned) > 1 else getattr(function, "func", None)
    kernel = getattr(general, "__self__", None)
    return kernel if isinstance(kernel, Kernel) else None


def compile_known(
    f: Callable[..., Any], inputs: Mapping[str, tuple], name: str, identity: bytes, shared: Iterable[str] = ()
) -> Kernel:
    """``compile_function`` that remembers across processes what it has traced.

    Args:
        identity: bytes that determine everything ``f`` computes, besides the sources of this package.
    """
    shared = tuple(shared)
    if not has_compiler():
        return compile_function(f, inputs, name, shared)
    import_module("manipula.native.store.object_cache")
    from manipula.native.store import object_cache

    key = b"kernel" + hashlib.sha256(package_version() + b"\0" + name.encode() + b"\0" + identity).digest()
    facts = _read(object_cache.load(key))
    if facts is not None:
        return KnownKernel(KnownGraph(facts, lambda: trace(f, inputs, name, shared=shared)))
    kernel = compile_function(f, inputs, name, shared)
    is_untouched()  # sees the modules that were loaded meanwhile
    object_cache.store(key, json.dumps(_facts(kernel)).encode())
    return kernel


def _facts(kernel: Kernel) -> dict[str, Any]:
    graph = kernel.graph
    return {
        "version": VERSION, "name": graph.name, "inputs": list(graph.inputs.items()), "outputs": list(graph.outputs.items()),
        "shared": list(graph.shared), "sampled": [(k, *v) for k, v in graph.sampled.items()], "counters": sorted(graph.counters),
        "digest": graph.digest().hex(), "cost": kernel._cost, "constants": constants(),
    }  # fmt: skip


def _read(stored: bytes | None) -> dict[str, Any] | None:
    if stored is None:
        return None
    try:
        facts = json.loads(stored)
    except ValueError:
        return None
    known = isinstance(facts, dict) and facts.get("version") == VERSION
    return facts if known and hold(facts["constants"]) else None


@functools.cache
def package_version() -> bytes:
    """Changes whenever a source file does that a kernel can be made from; see :func:`manipula.native.store.object_cache.sources`."""
    from manipula.native.store.object_cache import sources

    return sources(Path(__file__).parents[2], WITHOUT_KERNELS)
