"""Arguments of a compiled function: checked, converted, broadcast."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from manipula.algebra.arguments import is_masked
from manipula.errors import BudgetError, ShapeError
from manipula.native.tracing.graph import Graph, Sampled

FLOAT = np.dtype(np.float64)
MOST_STEPS = 2.0**53
"""Larger numbers of steps are not whole numbers any more."""


class Arguments:
    """Arrays of one call.

    ``arrays`` are float64 with C-contiguous core axes; ``batch`` is the broadcast shape of their leading axes;
    ``sizes`` are the run-time lengths by name.
    """

    __slots__ = ("arrays", "batch", "sizes")

    def __init__(self, graph: Graph, given: list[Any]) -> None:
        self.arrays: list[np.ndarray] = []
        self.sizes: dict[str, int] = {}
        batches = []
        for (name, shape), value in zip(graph.inputs.items(), given):
            array = _floats(graph, name, value)
            core = len(shape)
            leading = array.shape[: array.ndim - core]
            found = array.shape[array.ndim - core :]
            if array.ndim < core or not self._fits(shape, found) or (name in graph.shared and leading):
                dots = () if name in graph.shared else ("...",)
                expected = (
                    "(" + ", ".join(str(d) for d in (*dots, *shape)) + ("," if core + len(dots) == 1 else "") + ")"
                )
                lengths = "".join(f", {k} = {v}" for k, v in self.sizes.items())
                raise ShapeError(
                    f"{graph.name}: argument '{name}' has shape {array.shape}, expected {expected}{lengths}."
                )
            if name not in graph.shared:
                batches.append(leading)
            elif name in graph.counters and not float(array) < MOST_STEPS and not np.isnan(array):
                raise BudgetError(
                    f"{graph.name}: argument '{name}' is {float(array)} steps, allowed are {MOST_STEPS:g}."
                )
            self.arrays.append(array)
        try:
            several = {leading for leading in batches if leading}
            self.batch: tuple[int, ...] = next(iter(several), ()) if len(several) < 2 else np.broadcast_shapes(*several)
        except ValueError:
            shown = ", ".join(f"'{n}' {a.shape}" for n, a in zip(graph.inputs, self.arrays) if n not in graph.shared)
            raise ShapeError(f"{graph.name}: leading axes do not broadcast together: {shown}.") from None

    def _fits(self, shape: tuple, found: tuple[int, ...]) -> bool:
        for expected, length in zip(shape, found):
            if isinstance(expected, str):
                base, more = split_length(expected)
                if length < more + 1 or self.sizes.setdefault(base, length - more) != length - more:
                    return False
            elif expected != length:
                return False
        return True

    def length(self, dimension: str) -> int:
        """The run-time length that ``m`` or ``m+1`` stands for."""
        base, more = split_length(dimension)
        return self.sizes[base] + more


@functools.cache
def split_length(dimension: str) -> tuple[str, int]:
    """``m+1`` → (m, 1), ``m`` → (m, 0)."""
    base, _, more = dimension.partition("+")
    return base.strip(), int(more) if more else 0


def _floats(graph: Graph, name: str, value: Any) -> np.ndarray:
    if type(value) is np.ndarray and value.dtype is FLOAT:
        return value
    if is_masked(value):
        raise ShapeError(
            f"{graph.name}: argument '{name}' is a masked array; every number is needed (its filled(...) has them)."
        )
    try:
        array = np.asarray(value)
        if array.dtype != np.float64 or not array.dtype.isnative:
            if array.dtype.kind not in "fiub":
                raise TypeError(f"dtype {array.dtype}")
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{graph.name}: argument '{name}' is not an array of real numbers ({error}).") from None
    return array


def rows_without_gaps(array: np.ndarray, core: int) -> np.ndarray:
    """The array, copied where the last ``core`` axes are not C-contiguous: machine code takes such rows one by one."""
    if array.flags.c_contiguous:
        return array
    row = array[(0,) * (array.ndim - core)] if array.size else array
    return array if row.flags.c_contiguous else np.ascontiguousarray(array)


def sample_count(sampled: Sampled, graph: Graph, arrays: list[np.ndarray]) -> int:
    """How many samples an output has in this call."""
    from manipula.native.tracing.interpreter import count

    def number(x: int | str) -> int:
        return max(x, 0) if isinstance(x, int) else count(arrays[list(graph.inputs).index(x)])

    return number(sampled.steps) // max(number(sampled.every), 1) + 1


def separate(arrays: tuple[Any, ...], out: Any) -> bool:
    """Whether ``out`` consists of plain float64 arrays that share no memory with each other or with the arguments."""
    if out is None:
        return True
    given = out if isinstance(out, tuple) else (out,)
    if not all(type(x) is np.ndarray and x.dtype == np.float64 for x in given):
        return False
    return not any(np.may_share_memory(x, y) for k, x in enumerate(given) for y in (*arrays, *given[:k]))
