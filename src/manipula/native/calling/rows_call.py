"""A kernel on many rows from one thread, with as little ceremony as possible: for computations that call several after one another.

The arrays must be of the right kind already. Ctrl-C is not heard inside: meant for work of milliseconds.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from manipula.errors import ShapeError
from manipula.native.binary_interface import aligned_workspace, data_address
from manipula.native.calling.kernel import Kernel
from manipula.native.tracing.arguments import split_length
from manipula.native.tracing.graph import core_size

_FLOAT = np.dtype(np.float64)


class RowsCall:
    """``call(count, *arrays)`` → results with ``count`` rows each, one array or a tuple of them.

    Every argument is a contiguous float64 array of ``count`` rows, or as it is when it is shared by all rows. Of a kernel that records
    samples one state is computed, and ``count`` is the number of samples; it must be what the arguments ask for.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, graph = kernel, kernel.graph
        self.native, self.single = kernel.is_native, bool(graph.sampled)
        if not self.native:
            return
        self.code = kernel.code(1 if self.single else kernel.batch_width())
        shared = [self.single or name in graph.shared for name in graph.inputs]
        shapes = list(graph.inputs.values())
        self.inputs = [(x, shape, 0 if x else core_size(shape)) for x, shape in zip(shared, shapes)]
        names = [(k, x) for k, shape in enumerate(shapes) for x in shape[:1] if isinstance(x, str)]
        self.names = list(dict.fromkeys(x for _, x in names))  # run-time lengths; only a first axis has one
        bases = list(dict.fromkeys(split_length(x)[0] for _, x in names))
        self.lengths = [
            (k, self.names.index(x), bases.index(split_length(x)[0]), split_length(x)[1], x) for k, x in names
        ]
        self.lengths_in = ctypes.c_int64 * len(self.names)
        self.stop = ctypes.c_int64(0)  # nobody raises it
        more = [0] * (bool(self.lengths) + bool(self.code.stoppable))
        strides = [size for _, _, size in self.inputs] + more
        self.outputs = [graph.sampled[name].shape if self.single else x for name, x in graph.outputs.items()]
        sizes = [core_size(shape) for shape in self.outputs]
        self.pointers_in, self.pointers_out = ctypes.c_void_p * len(strides), ctypes.c_void_p * len(sizes)
        self.strides_in, self.strides_out = (
            (ctypes.c_int64 * len(strides))(*strides),
            (ctypes.c_int64 * len(sizes))(*sizes),
        )

    def __call__(self, count: int, *arrays: np.ndarray, before: int = 0, behind: int = 0) -> Any:
        """``before`` and ``behind``: rows of the results around those that are computed, left to the caller."""
        if not self.native or not count:
            found = self.kernel(*arrays)
            if not before + behind:
                return found
            return (
                tuple(_padded(x, before, behind) for x in found)
                if isinstance(found, tuple)
                else _padded(found, before, behind)
            )
        sources, k = self.pointers_in(), 0
        for (shared, shape, size), array in zip(self.inputs, arrays, strict=True):
            fits = array.size == count * size if not shared else array.shape == shape or _fits(shape, array.shape)
            if not fits or array.dtype is not _FLOAT or not array.flags.c_contiguous:
                raise ShapeError(f"{self.kernel.name}: an argument of shape {array.shape} does not fit {count} rows of {shape}.")  # fmt: skip
            sources[k] = data_address(array)
            k += 1
        if self.lengths:
            lengths = self._lengths(arrays)
            sources[k] = ctypes.addressof(lengths)
            k += 1
        if self.code.stoppable:
            sources[k] = ctypes.addressof(self.stop)
        results = [np.empty((before + count + behind, *shape)) for shape in self.outputs]
        space = aligned_workspace(self.code.workspace)
        memory = None if space is None else data_address(space)
        targets = self.pointers_out()
        for k, x in enumerate(results):
            targets[k] = data_address(x) + before * x.strides[0]
        if self.single:
            self.code.entry(sources, targets, memory)
        else:
            self.code.entry(sources, self.strides_in, targets, self.strides_out, count, memory)
        return results[0] if len(results) == 1 else tuple(results)

    def _lengths(self, arrays: tuple[np.ndarray, ...]) -> Any:
        """Run-time lengths by name, in the order in which the names appear; all arrays that name one must agree."""
        found, bases = self.lengths_in(), {}
        for k, place, base, more, name in self.lengths:
            length = found[place] = arrays[k].shape[0]
            if bases.setdefault(base, length - more) != length - more:
                raise ShapeError(f"{self.kernel.name}: '{name}' is {length}, but should be {bases[base] + more}.")
        return found


def _padded(array: np.ndarray, before: int, behind: int) -> np.ndarray:
    """With so many more rows around it."""
    return np.pad(array, [(before, behind), *[(0, 0)] * (array.ndim - 1)])


def _fits(shape: tuple, found: tuple[int, ...]) -> bool:
    """Is it the shape of an argument whose first length is known at run time only?"""
    return len(shape) == len(found) > 0 and isinstance(shape[0], str) and found[0] > 0 and shape[1:] == found[1:]
