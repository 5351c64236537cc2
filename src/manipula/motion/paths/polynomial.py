"""Piecewise polynomial curves: what lines, polylines, splines, B-splines, Bézier pieces and blends are made of."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.identity import identity
from manipula.lazy import cached_property
from manipula.motion.paths.arc_length import AHEAD, no_derivative, speed_series
from manipula.motion.paths.base import Curve, at_piece


class PiecewisePolynomial(Curve):
    """p(u) = Σ_k c[piece, k] (u − breaks[piece])^k.

    Args:
        breaks: increasing parameters, shape (pieces + 1,).
        coefficients: shape (pieces, degree + 1, dimension), lowest power first.
        speed: |dp/du| when it is the same everywhere.
    """

    def __init__(self, breaks: np.ndarray, coefficients: np.ndarray, speed: float | None = None) -> None:
        self.breaks, self.coefficients, self.speed = np.asarray(breaks, float), coefficients, speed
        self.dimension = coefficients.shape[2]

    halvings = AHEAD

    def point(self, u: Any, piece: Any) -> Sequence[Any]:
        x = u - at_piece(u, self.breaks, piece)
        out = []
        for i in range(self.dimension):
            total = at_piece(u, self.coefficients[:, -1, i], piece)
            for k in range(self.coefficients.shape[1] - 2, -1, -1):
                total = total * x + at_piece(u, self.coefficients[:, k, i], piece)
            out.append(total)
        return out

    def series(self, u: np.ndarray, piece: np.ndarray, order: int) -> np.ndarray:
        """The same by plain arrays: repeated synthetic division gives all Taylor coefficients."""
        x = (u - self.breaks[piece])[:, None]
        c = [self.coefficients[piece, k] for k in range(self.coefficients.shape[1])]
        for k in range(min(order, len(c) - 1) + 1):
            for j in range(len(c) - 2, k - 1, -1):
                c[j] = c[j] + x * c[j + 1]
        out = np.zeros((order + 1, len(u), self.dimension))
        for k in range(min(order + 1, len(c))):
            out[k] = c[k]
        return out

    def series_one(self, u: float, piece: int, order: int) -> np.ndarray:
        x, rows = u - self.breaks.item(piece), self.coefficients[piece].T.tolist()
        for c in rows:
            for k in range(min(order, len(c) - 1) + 1):
                for j in range(len(c) - 2, k - 1, -1):
                    c[j] = c[j] + x * c[j + 1]
            c += [0.0] * (order + 1 - len(c))
        return np.array([c[: order + 1] for c in rows]).T

    def speeds(self, u: np.ndarray, piece: np.ndarray) -> np.ndarray:
        """|dp/du|, in machine code."""
        if not native.has_compiler():
            return super().speeds(u, piece)
        _, powers, d = self.coefficients.shape
        return _speed_kernel(powers, d)(len(u), u, piece.astype(float), self.rows)

    def expand(self, low: np.ndarray, half: np.ndarray, piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Series of the speed on panels, in machine code."""
        if type(self) is not PiecewisePolynomial or not native.has_compiler():
            return super().expand(low, half, piece)
        _, powers, d = self.coefficients.shape
        series, largest = _expansion_kernel(powers, d)(len(low), low, half, piece.astype(float), self.rows)
        if not np.isfinite(largest).all():
            raise no_derivative(low[~np.isfinite(largest)][0])
        return series, largest

    @cached_property
    def rows(self) -> np.ndarray:
        """Beginning, end and coefficients of every piece, for machine code."""
        coefficients = self.coefficients.reshape(len(self.coefficients), -1)
        rows = np.empty((len(coefficients), 2 + coefficients.shape[1]))
        rows[:, 0], rows[:, 1], rows[:, 2:] = self.breaks[:-1], self.breaks[1:], coefficients
        return rows


@functools.lru_cache(64)
def _speed_kernel(powers: int, d: int) -> native.RowsCall:
    def speed(u: Any, piece: Any, table: Any) -> Any:
        return _speed(powers, d, native.lookup(table, piece))(u)

    inputs: dict[str, tuple] = {"u": (), "piece": (), "table": ("pieces", 2 + powers * d)}
    return native.RowsCall(native.kernel_of(speed, inputs, "path.speed", identity(powers, d), ("table",)))


def _speed(powers: int, d: int, row: Any) -> Callable[[Any], Any]:
    """|dp/du| as a function of u on the piece of this row of the table."""
    low, _, *coefficients = row
    c = np.reshape(coefficients, (powers, d))

    def speed(u: Any) -> Any:
        rate = (powers - 1.0) * c[-1]
        for k in range(powers - 2, 0, -1):
            rate = rate * (u - low) + k * c[k]
        return ops.sqrt(sum(x * x for x in rate))

    return speed


@functools.lru_cache(64)
def _expansion_kernel(powers: int, d: int) -> native.RowsCall:
    def expand(low: Any, half: Any, piece: Any, table: Any) -> Any:
        series, largest = speed_series(_speed(powers, d, native.lookup(table, piece)), low, half)
        return {"series": array(series), "largest": largest}

    inputs: dict[str, tuple] = {"low": (), "half": (), "piece": (), "table": ("pieces", 2 + powers * d)}
    return native.RowsCall(native.kernel_of(expand, inputs, "path.expansion", identity(powers, d), ("table",)))


def bezier(control: np.ndarray) -> np.ndarray:
    r"""Power coefficients on [0, 1] of a Bézier curve, :math:`c_k=\binom{n}{k}\Delta^k P_0`; shape of ``control``."""
    n = len(control) - 1
    differences, out, binomial = np.array(control, float), np.empty_like(control, dtype=float), 1.0
    for k in range(n + 1):
        out[k] = binomial * differences[0]
        differences = np.diff(differences, axis=0)
        binomial = binomial * (n - k) / (k + 1)
    return out


def joined(pieces: Sequence[np.ndarray], widths: Sequence[float]) -> PiecewisePolynomial:
    """Pieces over [0, 1], shape (degree_i + 1, d) each, put end to end with the given parameter widths."""
    top = max(len(piece) for piece in pieces)
    coefficients = np.zeros((len(pieces), top, pieces[0].shape[1]))
    for i, (piece, width) in enumerate(zip(pieces, widths)):
        coefficients[i, : len(piece)] = piece / width ** np.arange(len(piece))[:, None]
    return PiecewisePolynomial(np.concatenate([[0.0], np.cumsum(widths)]), coefficients)
