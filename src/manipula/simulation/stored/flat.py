"""A single run as a table: one row per sample, one column per number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from manipula.errors import DescriptionError
from manipula.simulation.result import Result
from manipula.simulation.stored.axes import is_batch
from manipula.simulation.stored.content import Header


def rows_of(result: Result, most: int) -> Iterator[np.ndarray]:
    """Blocks of at most ``most`` rows: t, then the signals in their order, each in the order of its axes."""
    parts = [part.reshape(len(result.t), -1) for part in (result.t, *result.arrays.values())]
    for start in range(0, len(result.t), most):
        yield np.concatenate([part[start : start + most] for part in parts], axis=1, dtype=float)


def single(result: Result) -> None:
    """Only a single run is a table."""
    if is_batch(result):
        raise DescriptionError("A batch is no table of samples; save one run (result.run(i)) or use .nc, .npz.")


class Filled:
    """The arrays of a single run, filled from blocks of rows."""

    def __init__(self, header: Header) -> None:
        self.arrays = {name: np.empty(shape) for name, shape in header.shapes.items()}
        self._flat = {name: value.reshape(len(value), -1) for name, value in self.arrays.items()}
        self.samples, self.rows = header.samples, 0

    def put(self, block: np.ndarray) -> None:
        """The next rows, (count, columns)."""
        end, column = self.rows + len(block), 0
        if end > self.samples or block.shape[1] != sum(v.shape[1] for v in self._flat.values()):
            raise DescriptionError(f"The file is damaged: it has more than the {self.samples} rows it says.")
        for values in self._flat.values():
            values[self.rows : end] = block[:, column : column + values.shape[1]]
            column += values.shape[1]
        self.rows = end

    def done(self) -> dict[str, np.ndarray]:
        if self.rows != self.samples:
            raise DescriptionError(f"The file is damaged: it has {self.rows} rows of {self.samples}.")
        return self.arrays
