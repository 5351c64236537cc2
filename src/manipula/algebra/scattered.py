"""Numbers that follow no pattern and are the same in every process: places and postures where something is tried out.

They are for looking, not for statistics; NumPy's generators are for that, and take as long to import as a short run takes.
"""

from __future__ import annotations

import numpy as np

_GOLDEN, _FIRST, _SECOND = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)
_FRACTION = 2.0**-53


class Scattered:
    """A row of such numbers; another ``seed`` gives another row.

    The k-th is splitmix64 of the counter k (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014), of which the upper
    53 bits are the number.
    """

    def __init__(self, seed: int = 0) -> None:
        self._next = seed << 32

    def uniform(self, low: float, high: float, shape: int | tuple[int, ...] = ()) -> np.ndarray:
        """Between ``low`` and ``high``, in an array of this shape."""
        shape = (shape,) if isinstance(shape, int) else shape
        count = int(np.prod(shape))
        z = np.arange(self._next + 1, self._next + 1 + count, dtype=np.uint64) * _GOLDEN
        self._next += count
        z = (z ^ (z >> np.uint64(30))) * _FIRST
        z = (z ^ (z >> np.uint64(27))) * _SECOND
        z ^= z >> np.uint64(31)
        fraction = (z >> np.uint64(11)).astype(float) * _FRACTION
        return (low + (high - low) * fraction).reshape(shape)
