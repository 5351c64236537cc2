"""Piecewise polynomials and interpolation, for floats and inside compiled functions.

With breaks b₀ < b₁ < … < b_m and u = x − b_i on the piece b_i ≤ x < b_{i+1},

    p_k(x) = Σ_j  coefficients[i, k, j] · uʲ .

Outside [b₀, b_m] the argument is clamped to the nearest break. Inside a compiled function a table costs one search per
argument, shared by all its components and derivatives, and one row of loads. The data are baked into the code (NumPy
arrays) or come from a run-time input shared by all states of a batch, so that a new trajectory needs no compilation.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from manipula.errors import ShapeError
from manipula.native.tracer import Node, Value


class BakedArray:
    """Numbers that become part of the machine code; rows along the first axis."""

    __slots__ = ("numbers",)

    def __init__(self, numbers: Any) -> None:
        self.numbers = np.ascontiguousarray(numbers, float)

    @property
    def columns(self) -> int:
        """Numbers per row."""
        return int(np.prod(self.numbers.shape[1:], dtype=np.int64))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.numbers)

    def digest(self) -> bytes:
        """A fingerprint of the numbers."""
        return hashlib.sha256(repr(self.numbers.shape).encode() + self.numbers.tobytes()).digest()


class RunTimeArray:
    """An input shared by all states whose length is known only when the compiled function is called."""

    __slots__ = ("name", "shape")

    def __init__(self, name: str, shape: tuple) -> None:
        if any(isinstance(d, str) for d in shape[1:]):
            raise ShapeError(f"input '{name}': only the first axis may have a run-time length, got shape {shape}.")
        self.name, self.shape = name, shape

    @property
    def columns(self) -> int:
        """Numbers per row."""
        return int(np.prod(self.shape[1:], dtype=np.int64))

    def digest(self) -> bytes:
        """A fingerprint of the name and the shape."""
        return repr((self.name, self.shape)).encode()


class Samples:
    """What a counted loop recorded: an output of shape ``(samples, *shape)`` of the traced function, nothing else."""

    __slots__ = ("every", "loop", "shape", "start", "steps")

    def __init__(self, loop: Node, start: int, shape: tuple[int, ...], steps: Node, every: Node) -> None:
        self.loop, self.start, self.shape, self.steps, self.every = loop, start, shape, steps, every

    def dimension(self) -> str:
        """How the number of samples follows from the inputs, such as ``steps//every+1``."""
        return f"{_spelled(self.steps)}//{_spelled(self.every)}+1"


def _spelled(x: Value) -> str:
    return str(int(x.data)) if x.code == "const" else str(x.data[0])
