"""Computations used again on other arguments: graphs inside traced functions, copies of loop bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from manipula.errors import ShapeError, TracingError
from manipula.native.tracing.graph import Graph, Loop, core_size
from manipula.native.tracing.nodes import GraphBuilder, current
from manipula.native.tracing.tracer import TracedValue


def clone(builder: GraphBuilder, values: Iterable[TracedValue], mapping: dict[int, Any]) -> None:
    """Make again every value that depends on a replaced one; ``mapping`` (index → value) is completed."""
    rebuild(builder, ((v.index, v.code, tuple(a.index for a in v.args), v.data, v) for v in values), mapping)


def rebuild(
    builder: GraphBuilder, lines: Iterable[tuple[int, str, tuple[int, ...], Any, TracedValue | None]], mapping: dict
) -> None:
    """Perform operations with ``builder``; ``lines`` are (key, code, argument keys, data, the value itself or None).

    Values that are given and depend on nothing in ``mapping`` are kept. Loops are opened when the first of their
    variables appears and closed when they themselves appear.
    """
    opened: dict[int, Loop] = {}
    kept: dict[int, TracedValue] = {}
    for key, code, args, data, value in lines:
        if key in mapping:
            continue
        if code == "param":
            if data[0] not in opened:
                builder.loops += 1
                opened[data[0]] = Loop("", builder.loops, builder.depth + data[2])
            loop = opened[data[0]]
            mapping[key] = loop.params[data[1]] = builder.fresh("param", (), (loop.number, data[1], loop.depth))
            continue
        if code == "loop":
            mapping[key] = _closed(builder, data, opened.get(data.number), mapping, kept)
            continue
        if value is not None and not any(a in mapping for a in args):
            kept[key] = value
            continue
        new = tuple(mapping[a] if a in mapping else kept.get(a) for a in args)
        if value is not None:
            new = tuple(old if made is None else made for old, made in zip(value.args, new))
        mapping[key] = builder.apply(code, new, data)


def _closed(builder: GraphBuilder, old: Loop, opened: Loop | None, mapping: dict, kept: dict) -> TracedValue:
    if opened is None:
        builder.loops += 1
        opened = Loop(old.kind, builder.loops, builder.depth + old.depth)

    def new(v: Any) -> Any:
        key = v.index if isinstance(v, TracedValue) else v
        made = mapping.get(key, kept.get(key, v if isinstance(v, TracedValue) else None))
        return builder.const(float(made)) if isinstance(made, (bool, float)) else made

    opened.take(old, new)
    for k in range(-1, len(opened.initial)):
        if k not in opened.params:
            opened.params[k] = builder.fresh("param", (), (opened.number, k, opened.depth))
    counters = tuple(v for v in (opened.steps, opened.every) if v is not None)
    return builder.fresh("loop", (*opened.initial, *counters), opened)


def traced_once(f: Callable[[Any, Any], np.ndarray]) -> Callable[[Any, Any], np.ndarray]:
    """``f(t, x)`` for many places of one trace: found once on stand-ins, and copied operation by operation for each place.

    On plain numbers it is ``f`` itself.
    """
    found: list[tuple[Sequence[TracedValue], list[TracedValue], np.ndarray]] = []

    def call(t: Any, x: Any) -> np.ndarray:
        builder = current()
        if builder is None:
            return f(t, x)
        if not found:
            start = len(builder.values)
            inputs = [builder.fresh("param", (), (0, k, builder.depth)) for k in range(1 + len(x))]
            result = f(inputs[0], np.array(inputs[1:], object))
            found.append((inputs, builder.values[start:], result))
        inputs, values, result = found[0]
        mapping: dict[int, Any] = {a.index: builder.lift(b) for a, b in zip(inputs, (t, *x))}
        clone(builder, values, mapping)
        out = np.empty(len(result), object)
        out[:] = [mapping.get(v.index, v) if isinstance(v, TracedValue) else v for v in result]
        return out

    return call


def inline(graph: Graph, *arguments: Any, named: bool = False) -> Any:
    """The outputs of ``graph`` computed on traced arguments inside the function being traced."""
    builder = current()
    if builder is None:
        raise TracingError("native.inline works inside a function that is being traced; call graph.evaluate instead.")
    mapping: dict[int, Any] = {}
    entries: dict[str, list[Any]] = {}
    for (name, shape), value in zip(graph.inputs.items(), arguments, strict=True):
        if any(isinstance(d, str) for d in shape):
            continue
        array = np.asarray(value, object)
        if array.shape != shape:
            raise ShapeError(f"{graph.name}: argument '{name}' has shape {array.shape}, expected {shape}.")
        entries[name] = [builder.lift(x) for x in array.ravel().tolist()]
    for n, op in enumerate(graph.operations):
        if op.code == "input":
            mapping[n] = entries[op.data[0]][op.data[1]]
    rebuild(builder, ((n, op.code, op.args, op.data, None) for n, op in enumerate(graph.operations)), mapping)
    if graph.sampled:
        raise TracingError(f"{graph.name} records samples and cannot be used inside another function.")
    results: dict[str, Any] = {}
    for name, shape in graph.outputs.items():
        array = np.empty(core_size(shape), object)
        array[:] = [mapping[v] for v in graph.output_values[name]]
        results[name] = array.reshape(shape) if shape else array[0]
    if named:
        return results
    return tuple(results.values()) if len(results) > 1 else next(iter(results.values()))
