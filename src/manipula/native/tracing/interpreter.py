"""The interpreter: a graph computed operation by operation with NumPy.

It needs no compiler, works on whole batches, and is what tests compare machine code with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.native.tracing.graph import Graph, Loop, core_size
from manipula.native.tracing.tables import BakedArray

_FUNCTIONS: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative,
    "sqrt": np.sqrt, "abs": np.abs, "floor": np.floor, "sign": np.sign,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "exp": np.exp, "log": np.log,
    "atan2": np.arctan2, "pow": np.power, "minimum": np.minimum, "maximum": np.maximum,
    "fma": lambda a, b, c: a * b + c, "fms": lambda a, b, c: a * b - c, "fnma": lambda a, b, c: c - a * b,
    "lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal,
    "and": np.logical_and, "or": np.logical_or, "not": np.logical_not, "select": np.where,
}  # fmt: skip


def evaluate(graph: Graph, arrays: Mapping[str, Any]) -> Any:
    """The outputs of ``graph`` for inputs of shape ``(..., *core shape)``; leading axes broadcast."""
    from manipula.native.tracing.arguments import Arguments

    arguments = Arguments(graph, [arrays[name] for name in graph.inputs])
    with np.errstate(all="ignore"):
        run = _Run(graph, arguments)
        run.block(graph.body)
        outputs = [run.output(name) for name in graph.outputs]
    return tuple(outputs) if len(outputs) > 1 else outputs[0]


class _Run:
    def __init__(self, graph: Graph, arguments: Any) -> None:
        self.graph = graph
        self.batch: tuple[int, ...] = arguments.batch
        self.sizes = arguments.sizes
        self.shared: dict[str, np.ndarray] = {}
        self.flat: dict[str, np.ndarray] = {}
        for (name, shape), array in zip(graph.inputs.items(), arguments.arrays):
            if name in graph.shared:
                self.shared[name] = array
                self.flat[name] = array.reshape(-1)
            else:
                self.flat[name] = array.reshape((*array.shape[: array.ndim - len(shape)], core_size(shape)))
        self.values: dict[int, Any] = {}
        self.samples: dict[int, np.ndarray] = {}

    def block(self, body: list[int]) -> None:
        operations, values = self.graph.operations, self.values
        for n in body:
            code, args, data = operations[n]
            function = _FUNCTIONS.get(code)
            if function is not None:
                values[n] = function(*[values[a] for a in args])
            elif code == "const":
                values[n] = np.float64(data)
            elif code == "input":
                values[n] = self.flat[data[0]][..., data[1]]
            elif code == "pick":
                values[n] = values[args[0]][data]
            elif code == "locate":
                values[n] = self.locate(self.array(data[0])[:, 0], values[args[0]])
            elif code == "gather":
                rows = self.array(data[0])
                values[n] = rows[np.asarray(values[args[0]]).astype(np.int64), data[1]]
            elif code == "length":
                values[n] = np.float64(len(self.array(data[0])))
            elif code == "loop":
                values[n] = self.repeat(n, data) if data.kind == "repeat" else self.until(data)
            elif code != "param":
                raise NotImplementedError(code)

    def array(self, source: Any) -> np.ndarray:
        numbers = source.numbers if isinstance(source, BakedArray) else self.shared[source.name]
        return numbers.reshape(len(numbers), -1)

    @staticmethod
    def locate(breaks: np.ndarray, x: Any) -> Any:
        piece = np.searchsorted(breaks, x, side="right") - 1
        piece = np.where(np.isnan(x), 0, piece)
        return np.clip(piece, 0, len(breaks) - 2).astype(float)

    def params(self, loop: Loop) -> dict[int, int]:
        inside = [*loop.body, *loop.record_body]
        found = {}
        for n in inside:
            op = self.graph.operations[n]
            if op.code == "param":
                found[op.data[1]] = n
        return found

    def repeat(self, n: int, loop: Loop) -> list[Any]:
        values = self.values
        steps, every = count(values[loop.steps]), max(count(values[loop.every]), 1)
        params = self.params(loop)
        state = [np.broadcast_to(values[v], self.batch) for v in loop.initial]
        active = np.ones(self.batch, bool)
        stopped = np.full(self.batch, -1.0)
        samples = np.full((*self.batch, steps // every + 1, len(loop.record)), np.nan) if loop.record else None
        last = steps + (1 if loop.record or loop.stop is not None else 0)
        for i in range(last):
            for k, m in params.items():
                values[m] = np.float64(i) if k < 0 else state[k]
            self.block(loop.body)
            before = active
            if loop.stop is not None:
                now = active & values[loop.stop]
                stopped = np.where(now, float(i), stopped)
                active = active & ~now
            if samples is not None and i % every == 0:
                self.block(loop.record_body)
                for k, v in enumerate(loop.record):
                    samples[..., i // every, k] = np.where(before, values[v], np.nan)
            if i < steps:
                state = [np.where(active, values[v], old) for v, old in zip(loop.results, state)]
            if not active.any():
                break
        if samples is not None:
            self.samples[n] = samples
        return [*state, stopped]

    def until(self, loop: Loop) -> list[Any]:
        values = self.values
        params = self.params(loop)
        limit = values[loop.steps]
        state = [np.broadcast_to(values[v], self.batch) for v in loop.initial]
        taken = np.zeros(self.batch)
        active = np.ones(self.batch, bool)
        while True:
            for k, m in params.items():
                values[m] = taken if k < 0 else state[k]
            self.block(loop.body)
            active = active & (taken < limit) & ~np.broadcast_to(values[loop.stop], self.batch)
            if not active.any():
                return [*state, taken]
            state = [np.where(active, values[v], old) for v, old in zip(loop.results, state)]
            taken = taken + active

    def output(self, name: str) -> np.ndarray:
        sampled = self.graph.sampled.get(name)
        if sampled is not None:
            columns = self.samples[sampled.loop][..., sampled.start : sampled.start + core_size(sampled.shape)]
            return np.ascontiguousarray(columns).reshape((*columns.shape[:-1], *sampled.shape))
        shape = self.graph.outputs[name]
        out = np.empty((*self.batch, core_size(shape)))
        for k, v in enumerate(self.graph.output_values[name]):
            out[..., k] = self.values[v]
        return out.reshape((*self.batch, *shape))


def count(x: Any) -> int:
    """A number of steps as machine code reads it: rounded down, NaN and negative numbers are none."""
    x = float(x)
    return int(x) if x > 0.0 else 0
