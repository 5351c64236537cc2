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

from manipula.errors import ShapeError, unknown_name
from manipula.native.tracing.nodes import GraphBuilder
from manipula.native.tracing.tracer import Node


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

    def counters(self) -> tuple[int | str, int | str]:
        """Steps of the loop and steps between samples: a number, or the name of the input that has it."""
        steps, every = (int(x.data) if x.code == "const" else str(x.data[0]) for x in (self.steps, self.every))
        return steps, every


class Table:
    """A piecewise polynomial with one or several components; call it with a float, an array or a traced number."""

    def __init__(self, breaks: Any, coefficients: Any, order: int = 0) -> None:
        self.breaks = breaks if isinstance(breaks, (BakedArray, RunTimeArray)) else BakedArray(_checked(breaks))
        self.coefficients = (
            coefficients if isinstance(coefficients, (BakedArray, RunTimeArray)) else BakedArray(coefficients)
        )
        self.order = order
        shape = _row_shape(self.coefficients)
        if len(shape) not in (1, 2) or _row_shape(self.breaks) != ():
            raise ShapeError(
                f"a table needs breaks of shape (pieces + 1,) and coefficients of shape (pieces, degree + 1) or "
                f"(pieces, components, degree + 1), got rows {_row_shape(self.breaks)} and {shape}."
            )
        pieces = [x.rows - k for k, x in ((1, self.breaks), (0, self.coefficients)) if isinstance(x, BakedArray)]
        if len(set(pieces)) > 1:
            raise ShapeError(
                f"a table with {pieces[0] + 1} breaks has {pieces[0]} pieces, but there are coefficients for {pieces[1]}."
            )
        self.components: int | None = shape[0] if len(shape) == 2 else None
        self.degree = shape[-1] - 1

    def derivative(self, order: int = 1) -> Table:
        """The derivative of the table with respect to its argument (0 outside the breaks)."""
        return Table(self.breaks, self.coefficients, self.order + order)

    def __call__(self, x: Any) -> Any:
        """The value at ``x``: a number, or an array of shape ``(components,)`` behind the axes of ``x``."""
        return self._traced(x) if isinstance(x, Node) else self._plain(x)

    def _traced(self, x: Node) -> Any:
        builder = x.builder
        self.breaks, self.coefficients = _known(builder, self.breaks), _known(builder, self.coefficients)
        first = _entry(self.breaks, builder.const(0.0), 0)
        if isinstance(self.breaks, BakedArray):
            last = builder.const(self.breaks.numbers[-1])
        else:
            last = _entry(self.breaks, builder.make("length", (), (self.breaks,)) - 1.0, 0)
        inside = x.maximum(first).minimum(last)
        piece = builder.make("locate", (inside,), (self.breaks,))
        if not self._lengths_agree():  # never read behind the last row
            piece = _row_number(self.coefficients, piece)
        u = inside - _entry(self.breaks, piece, 0)
        outside = (x < first) | (x > last)
        width = self.degree + 1
        values = []
        for k in range(self.components or 1):
            c = [_entry(self.coefficients, piece, k * width + j) for j in range(width)]
            value = _horner(_differentiated(c, self.order), u, builder.const(0.0))
            values.append(outside.select(0.0, value) if self.order else value)
        if self.components is None:
            return values[0]
        out = np.empty(len(values), object)
        out[:] = values
        return out

    def _lengths_agree(self) -> bool:
        """Whether it is certain before run time that there is one row of coefficients for every piece."""
        if isinstance(self.breaks, BakedArray) and isinstance(self.coefficients, BakedArray):
            return True
        if isinstance(self.breaks, BakedArray) or isinstance(self.coefficients, BakedArray):
            return False
        return self.breaks.shape[0] == f"{self.coefficients.shape[0]}+1"

    def _plain(self, x: Any) -> Any:
        if not isinstance(self.breaks, BakedArray) or not isinstance(self.coefficients, BakedArray):
            raise ShapeError("a table with run-time data can be evaluated only inside a compiled function.")
        breaks, numbers = self.breaks.numbers, self.coefficients.numbers
        if isinstance(x, float):
            return self._at(x, breaks, numbers)
        given = np.asarray(x, float)
        inside = np.clip(given, breaks[0], breaks[-1])
        piece = np.clip(np.searchsorted(breaks, inside, side="right") - 1, 0, len(breaks) - 2)
        u = inside - breaks[piece]
        if self.components is not None:
            u = u[..., None]
        c = [numbers[piece][..., j] for j in range(self.degree + 1)]
        value = _horner(_differentiated(c, self.order), u, np.zeros_like(u + c[0]))
        if self.order:
            outside = (given < breaks[0]) | (given > breaks[-1])
            value = np.where(outside[..., None] if self.components is not None else outside, 0.0, value)
        return value if np.ndim(value) else float(value)

    def _at(self, x: float, breaks: np.ndarray, numbers: np.ndarray) -> Any:
        """The same at one argument."""
        first, last = breaks.item(0), breaks.item(-1)
        inside = min(max(x, first), last)
        piece = min(max(int(breaks.searchsorted(inside, side="right")) - 1, 0), len(breaks) - 2)
        if self.order and (x < first or x > last):
            return 0.0 if self.components is None else np.zeros(self.components)
        c = _differentiated(list(numbers[piece].T), self.order)
        return _horner(c, inside - breaks.item(piece), 0.0 if self.components is None else np.zeros(self.components))


def table(breaks: Any, coefficients: Any) -> Table:
    """A piecewise polynomial.

    Args:
        breaks: increasing, shape ``(pieces + 1,)``.
        coefficients: ascending powers of the distance from the left break, shape ``(pieces, degree + 1)`` for one
            function or ``(pieces, components, degree + 1)``.

    Either may be a run-time input: ``compile_function(f, {"b": ("m+1",), "c": ("m", 3, 6)}, shared=("b", "c"))`` hands
    ``f`` two arguments that are accepted here.
    """
    return Table(breaks, coefficients)


def interpolate(x: Any, y: Any, kind: str = "linear") -> Table:
    """A table through the points ``(x[i], y[i])``; ``kind`` is "linear" or "cubic" (twice differentiable spline)."""
    x, y = _checked(x), np.asarray(y, float)
    if y.ndim not in (1, 2) or len(y) != len(x):
        raise ShapeError(f"interpolation needs y of shape ({len(x)},) or ({len(x)}, components), got {y.shape}.")
    if kind == "linear":
        slope = np.diff(y, axis=0) / np.diff(x).reshape(-1, *[1] * (y.ndim - 1))
        return Table(x, np.stack([y[:-1], slope], axis=-1))
    if kind == "cubic":
        from scipy.interpolate import CubicSpline

        return Table(x, np.moveaxis(CubicSpline(x, y).c[::-1], 0, -1))
    raise unknown_name("kind of interpolation", kind, ("linear", "cubic"))


def lookup(values: Any, index: Any) -> Any:
    """``values[index]`` where the index is computed: rounded down, kept inside the array, 0 for NaN.

    ``values`` is an array of numbers (baked into the code) or a run-time input; rows of it are arrays.
    """
    source = values if isinstance(values, (BakedArray, RunTimeArray)) else BakedArray(values)
    shape = _row_shape(source)
    if not isinstance(index, Node):
        if not isinstance(source, BakedArray):
            raise ShapeError("run-time data can be looked up only inside a compiled function.")
        place = np.where(np.isnan(index), 0.0, index)
        return source.numbers[np.clip(np.floor(place), 0, source.rows - 1).astype(np.int64)]
    source = _known(index.builder, source)
    row = _row_number(source, index)
    found = [_entry(source, row, column) for column in range(source.columns)]
    if shape == ():
        return found[0]
    out = np.empty(len(found), object)
    out[:] = found
    return out.reshape(shape)


def _row_number(source: BakedArray | RunTimeArray, index: Node) -> Node:
    """A number of a row that exists, whatever ``index`` is."""
    builder = index.builder
    if isinstance(source, BakedArray):
        last: Any = builder.const(source.rows - 1.0)
    elif isinstance(source.shape[0], str):
        last = builder.make("length", (), (source,)) - 1.0
    else:
        last = builder.const(source.shape[0] - 1.0)
    below = builder.compare("lt", index, last)
    if isinstance(below, bool):
        return builder.const(max(0.0, float(np.floor(index.data))) if below else last.data)
    small = builder.apply("select", (below, index.floor(), last))
    return builder.apply("select", (builder.compare("ge", index, 0.0), small, builder.const(0.0)))


def _checked(breaks: Any) -> np.ndarray:
    numbers = np.asarray(breaks, float)
    if numbers.ndim != 1 or len(numbers) < 2 or not np.all(np.diff(numbers) > 0) or not np.all(np.isfinite(numbers)):
        raise ShapeError(f"breaks must be at least two finite increasing numbers, got shape {numbers.shape}.")
    return numbers


def _row_shape(source: BakedArray | RunTimeArray) -> tuple:
    return source.numbers.shape[1:] if isinstance(source, BakedArray) else source.shape[1:]


def _known(builder: GraphBuilder, source: BakedArray | RunTimeArray) -> BakedArray | RunTimeArray:
    """The array of the same numbers that the trace has met before, if any: equal tables share their searches."""
    return builder.arrays.setdefault(source.digest(), source)


def _entry(source: BakedArray | RunTimeArray, row: Node, column: int) -> Node:
    builder = row.builder
    if isinstance(source, BakedArray):
        if row.code == "const":
            return builder.const(source.numbers.reshape(source.rows, -1)[int(row.data), column])
        only = source.numbers.reshape(source.rows, -1)[:, column]
        if np.all(only == only[0]):  # one number for all rows: no load
            return builder.const(only[0])
    return builder.make("gather", (row,), (source, column))


def _differentiated(c: list[Any], order: int) -> list[Any]:
    """Coefficients of the derivative: c'_j = (j+1)·c_{j+1}, ``order`` times."""
    for _ in range(order):
        c = [(j + 1.0) * c[j + 1] for j in range(len(c) - 1)]
    return c


def _horner(c: list[Any], u: Any, zero: Any) -> Any:
    if not c:
        return zero
    value = c[-1] + zero
    for a in reversed(c[:-1]):
        value = a + value * u
    return value
