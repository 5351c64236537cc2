"""Compiled functions that need not be traced again: what a kernel looks like from outside, kept beside its object code.

Tracing takes longer than linking stored object code. ``compile_known`` is ``compile_function`` for a function that the caller
can name by an ``identity``: bytes that determine everything the function computes, besides the sources of this package. The
shapes, the fingerprint and the cost of its graph are then kept in the cache of object code (with the same protection), and
the next process builds the kernel from them. The function is traced only if the object code is gone, or if someone asks for
the operations.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from manipula.native.calling.kernel import Kernel, compile_function, has_compiler
from manipula.native.tracing.graph import Graph, Sampled
from manipula.native.tracing.trace import trace

VERSION = 1
_LAZY = frozenset({"operations", "body", "output_values"})


class KnownGraph(Graph):
    """A graph of which the shapes and the fingerprint are known; its operations are traced when somebody needs them."""

    def __init__(self, facts: Mapping[str, Any], retrace: Callable[[], Graph]) -> None:
        self.name = str(facts["name"])
        self.inputs = {k: tuple(v) for k, v in facts["inputs"]}
        self.outputs = {k: tuple(v) for k, v in facts["outputs"]}
        self.shared = tuple(facts["shared"])
        self.sampled = {k: Sampled(int(a), int(b), tuple(c)) for k, a, b, c in facts["sampled"]}
        self.counters = frozenset(facts["counters"])
        self._digest = bytes.fromhex(facts["digest"])
        self._cost = float(facts["cost"][0]), [(float(a), str(b)) for a, b in facts["cost"][1]]
        self._retrace = retrace

    def __getattr__(self, name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(name)
        graph = self._retrace()
        for part in _LAZY:
            setattr(self, part, getattr(graph, part))
        return getattr(self, name)

    def digest(self) -> bytes:
        return self._digest

    def __reduce__(self) -> Any:
        """A copy knows its operations: nobody can trace for it."""
        return Graph, (
            *(self.name, self.inputs, self.shared, self.operations, self.body),
            *(self.outputs, self.output_values, self.sampled),
        )


class KnownKernel(Kernel):
    """A kernel whose graph is known from outside only."""

    def _costs(self, graph: Graph) -> tuple[float, list[tuple[float, str]]]:
        return graph._cost if isinstance(graph, KnownGraph) else super()._costs(graph)


def compile_known(
    f: Callable[..., Any], inputs: Mapping[str, tuple], name: str, identity: bytes, shared: Iterable[str] = ()
) -> Kernel:
    """``compile_function`` that remembers across processes what it has traced."""
    shared = tuple(shared)
    if not has_compiler():
        return compile_function(f, inputs, name, shared)
    from manipula.native.store import cache

    key = b"kernel" + hashlib.sha256(package_version() + b"\0" + name.encode() + b"\0" + identity).digest()
    facts = _read(cache.load(key))
    if facts is not None:
        return KnownKernel(KnownGraph(facts, lambda: trace(f, inputs, name, shared=shared)))
    kernel = compile_function(f, inputs, name, shared)
    cache.store(key, json.dumps(_facts(kernel)).encode())
    return kernel


def _facts(kernel: Kernel) -> dict[str, Any]:
    graph = kernel.graph
    return {
        "version": VERSION, "name": graph.name, "inputs": list(graph.inputs.items()), "outputs": list(graph.outputs.items()),
        "shared": list(graph.shared), "sampled": [(k, *v) for k, v in graph.sampled.items()], "counters": sorted(graph.counters),
        "digest": graph.digest().hex(), "cost": kernel._cost,
    }  # fmt: skip


def _read(stored: bytes | None) -> dict[str, Any] | None:
    if stored is None:
        return None
    try:
        facts = json.loads(stored)
    except ValueError:
        return None
    return facts if isinstance(facts, dict) and facts.get("version") == VERSION else None


@functools.cache
def package_version() -> bytes:
    """Changes whenever a source file of the package does; see :func:`manipula.native.store.cache.sources`."""
    from manipula.native.store.cache import sources

    return sources(Path(__file__).parents[2])
