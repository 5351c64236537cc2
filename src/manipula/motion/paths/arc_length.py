r"""Arc length :math:`s(u)=\int|p'(u)|\,du` of a curve and its inverse, both to rounding.

Every smooth piece is cut into panels until the speed :math:`|p'|`, sampled at 16 Gauss–Legendre nodes, is a Legendre
series whose last coefficients are rounding noise. The integral of that series is s on the panel, in closed form; the
inverse is Newton's iteration on it. Legendre series: Abramowitz & Stegun §22; the integral of :math:`P_k` is
:math:`(P_{k+1}-P_{k-1})/(2k+1)`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from manipula.algebra import ops
from manipula.errors import BudgetError, DescriptionError
from manipula.lazy import cached_property

NODES = 16
TAIL = 1e-14  # share of the piece's length in the last two coefficients; their share of s is 30 times smaller
SMALLEST_PANEL = 2.0**-40  # of its piece: only a cusp asks for more
MAX_PANELS = 400_000
AHEAD, FEW = (
    4,
    64,
)  # halvings that are looked at together, for so many panels at most: one call costs more than its work
PANELS = 2000, 8  # at most so many, and so many for each piece: a spline through even points needs two or three

_x, _w = np.polynomial.legendre.leggauss(NODES)
_degrees = np.arange(NODES)
# c_k = (2k+1)/2 Σ w_i f(x_i) P_k(x_i)
_TO_SERIES = (2 * _degrees[:, None] + 1) / 2 * np.polynomial.legendre.legvander(_x, NODES - 1).T * _w

_TO_POWERS = np.array(
    [[*np.polynomial.legendre.leg2poly(row), *[0.0] * NODES][: NODES + 1] for row in np.eye(NODES + 1)]
)


def _integrate_series(c: np.ndarray) -> np.ndarray:
    """Coefficients (…, NODES+1) of ∫_{-1}^{x}."""
    out = np.zeros((*c.shape[:-1], NODES + 1))
    share = c / (2 * _degrees + 1)
    out[..., 1:] = share
    out[..., : NODES - 1] -= share[..., 1:]
    out[..., 0] += c[..., 0]  # P_0 integrates to P_1 + 1
    out[..., 0] -= np.sum(out * (-1.0) ** np.arange(NODES + 1), axis=-1)  # zero at x = -1
    return out


_TO_LENGTH = _integrate_series(np.eye(NODES)) @ _TO_POWERS  # of the series of a speed: its integral by powers

Expansion = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Beginnings, half widths and pieces of panels, (N,) each → Legendre series of the speed on them, (N, NODES), and its largest values, (N,)."""


def expansion(speed: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Expansion:
    """From the speed |dp/du| at parameters (N,) on pieces (N,)."""

    def expand(low: np.ndarray, half: np.ndarray, piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        u = (low + half)[:, None] + half[:, None] * _x
        values = speed(u.ravel(), np.repeat(piece, NODES)).reshape(u.shape)
        if not np.isfinite(values).all():
            raise no_derivative(u[~np.isfinite(values)][0])
        return values @ _TO_SERIES.T, np.abs(values).max(axis=1)

    return expand


def no_derivative(u: float) -> DescriptionError:
    """What is wrong with a curve whose speed is no number somewhere."""
    return DescriptionError(f"The path has no finite derivative at parameter {u:.6g}.")


def speed_series(speed: Callable[[Any], Any], low: Any, half: Any) -> tuple[list[Any], Any]:
    """The same for one panel, over any scalar: the series, and the largest speed."""
    values = [speed(low + half + half * x) for x in _x.tolist()]
    series = [sum(w * v for w, v in zip(row, values)) for row in _TO_SERIES.tolist()]
    return series, functools.reduce(ops.maximum, values)


def _legendre(c: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Σ c[i, k] P_k(x[i]) by Clenshaw's recurrence."""
    n = c.shape[1]
    b1, b2 = np.zeros_like(x), np.zeros_like(x)
    for k in range(n - 1, 0, -1):
        b1, b2 = c[:, k] + (2 * k + 1) / (k + 1) * x * b1 - (k + 1) / (k + 2) * b2, b1
    return c[:, 0] + x * b1 - b2 / 2


def _halved(low: np.ndarray, high: np.ndarray, piece: np.ndarray, levels: int) -> tuple[np.ndarray, ...]:
    """Panels, their halves, the halves of these, … behind one another; and where every level begins."""
    lows, highs, pieces = [low], [high], [piece]
    for _ in range(levels - 1):
        middle = (lows[-1] + highs[-1]) / 2
        lows.append(np.concatenate([lows[-1], middle]))
        highs.append(np.concatenate([middle, highs[-1]]))
        pieces.append(np.concatenate([pieces[-1]] * 2))
    begin = np.cumsum([0, *map(len, lows)])
    return np.concatenate(lows), np.concatenate(highs), np.concatenate(pieces), begin


class ArcLength:
    """Table of panels of one curve.

    Attributes:
        total: length of the curve.
        piece_ends: arc length at every break of the curve, shape (pieces + 1,).
    """

    def __init__(self, expand: Expansion, breaks: np.ndarray) -> None:
        low, high, piece = breaks[:-1], breaks[1:], np.arange(len(breaks) - 1)
        smallest = (high - low) * SMALLEST_PANEL
        most = min(MAX_PANELS, PANELS[0] + PANELS[1] * len(low))
        done: list[tuple[np.ndarray, ...]] = []
        count = 0
        size = np.zeros(0)  # length of every piece, estimated by its first panel
        while len(low):
            levels = AHEAD if len(low) <= FEW else 1
            low, high, piece, level = _halved(low, high, piece, levels)
            width = high - low
            half = width / 2
            series, largest = expand(low, half, piece)
            if not len(size):
                size = (width * largest)[: level[1]]
            tail = width * np.abs(series[:, -2:]).sum(axis=1)
            good = (tail <= TAIL * size[piece]) | (width <= smallest[piece])
            open_ = np.ones(level[1], bool)  # no panel around it is good
            for k in range(levels):
                here = good[level[k] : level[k + 1]]
                here &= open_
                left = open_ & ~here
                open_ = np.concatenate([left, left]) if k + 1 < levels else left
            chosen, left = np.flatnonzero(good), level[-2] + np.flatnonzero(open_)
            count += len(chosen)
            if count + 2 * len(left) > most:
                raise BudgetError(
                    f"The length of the path needs more than {most} panels; its parts are too different in size, or it is "
                    "no smooth curve between its breaks.")  # fmt: skip
            done.append((low[chosen], half[chosen], piece[chosen], series[chosen]))
            low, middle, high, piece = low[left], low[left] + half[left], high[left], piece[left]
            low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
            piece = np.concatenate([piece, piece])
        low, half, piece, series = (np.concatenate(parts) for parts in zip(*done))
        order = np.argsort(low)  # of all pieces: their breaks increase
        self.low, self.half, self.piece = low[order], half[order], piece[order]
        self.rate = series[order] * self.half[:, None]  # ds/dx on the panel, x in [-1, 1]
        self.powers = self.rate @ _TO_LENGTH  # s on the panel by powers of x
        self.start = np.zeros(len(low) + 1)
        np.cumsum(2.0 * self.rate[:, 0], out=self.start[1:])
        edges = self.piece.searchsorted(np.arange(len(breaks)))
        self.piece_ends = self.start[edges]
        self.total = float(self.start[-1])
        self._first, self._last = edges[:-1], edges[1:] - 1
        self._breaks = breaks

    @cached_property
    def series(self) -> np.ndarray:
        """s on the panels as Legendre series."""
        return _integrate_series(self.rate)

    @cached_property
    def panels(self) -> np.ndarray:
        """Piece, beginnings in s and in u, half width in u and s by powers of x: a row for each panel, for machine code."""
        return np.column_stack([self.piece, self.start[:-1], self.low, self.half, self.powers])

    @cached_property
    def mean_speed(self) -> np.ndarray:
        """Mean of |dp/du| of every piece."""
        return np.diff(self.piece_ends) / np.diff(self._breaks)

    def parameter(self, s: np.ndarray, piece: np.ndarray) -> np.ndarray:
        """u(s) on the named pieces, shape of ``s``."""
        panel = np.clip(np.searchsorted(self.start, s, side="right") - 1, self._first[piece], self._last[piece])
        target = s - self.start[panel]
        series, rate = self.series[panel], self.rate[panel]
        x = np.clip(target / rate[:, 0] - 1.0, -1.0, 1.0)
        for _ in range(30):
            slope = np.maximum(_legendre(rate, x), 1e-300)
            new = np.clip(x - (_legendre(series, x) - target) / slope, -1.0, 1.0)
            change = np.max(np.abs(new - x), initial=0.0)
            x = new
            if change < 1e-15:
                break
        u = self.low[panel] + self.half[panel] * (1.0 + x)
        return np.clip(u, self._breaks[piece], self._breaks[piece + 1])

    def parameter_one(self, s: float, piece: int) -> float:
        """u(s) at one place in plain numbers."""
        first, last = int(self._first[piece]), int(self._last[piece])
        panel = min(max(int(self.start.searchsorted(s, side="right")) - 1, first), last)
        target, (constant, slope, *rest) = s - self.start.item(panel), self.powers[panel].tolist()
        rest.reverse()
        x = min(max((target - constant) / max(slope, 1e-300), -1.0), 1.0)
        for _ in range(30):
            value = rate = 0.0
            for c in rest:
                rate = rate * x + value
                value = value * x + c
            rate, value = rate * x + value, value * x + slope
            rate, value = rate * x + value, value * x + constant
            new = min(max(x - (value - target) / max(rate, 1e-300), -1.0), 1.0)
            change, x = abs(new - x), new
            if change < 1e-9:  # the next one would be its square
                break
        u = self.low.item(panel) + self.half.item(panel) * (1.0 + x)
        return min(max(u, self._breaks.item(piece)), self._breaks.item(piece + 1))

    def length(self, u: np.ndarray) -> np.ndarray:
        """s(u), shape of ``u``."""
        flat = np.asarray(u, float).ravel()
        order = np.argsort(self.low, kind="stable")
        panel = order[np.clip(np.searchsorted(self.low[order], flat, side="right") - 1, 0, len(self.low) - 1)]
        x = np.clip((flat - self.low[panel]) / self.half[panel] - 1.0, -1.0, 1.0)
        return (self.start[panel] + _legendre(self.series[panel], x)).reshape(np.shape(u))
