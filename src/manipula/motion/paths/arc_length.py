r"""Arc length :math:`s(u)=\int|p'(u)|\,du` of a curve and its inverse, both to rounding.

Every smooth piece is cut into panels until the speed :math:`|p'|`, sampled at 16 Gauss–Legendre nodes, is a Legendre
series whose last coefficients are rounding noise. The integral of that series is s on the panel, in closed form; the
inverse is Newton's iteration on it. Legendre series: Abramowitz & Stegun §22; the integral of :math:`P_k` is
:math:`(P_{k+1}-P_{k-1})/(2k+1)`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra import ops
from manipula.errors import BudgetError, DescriptionError
from manipula.lazy import cached_property
from manipula.motion.breaks import Side
from manipula.motion.looks import cuts_at

NODES = 16
TAIL = 1e-14  # share of the piece's length in the last two coefficients; their share of s is 30 times smaller
SMALLEST_PANEL = 2.0**-40  # of its piece: only a cusp asks for more
MAX_PANELS = 400_000
ROUNDS = 60  # of cutting panels where a curve was seen to be another than they say
MISSED = 1e-6  # of the speed: by so much more a panel does not show the curve
SIDES: tuple[Side, ...] = ("left", "right")
# panels up to which so many halvings are looked at together: one call costs more than its work
AHEAD = ((16, 6), (64, 4))
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


class _Tree(NamedTuple):
    """A panel, its halves, the halves of these, …: where they begin and how wide they are, in shares of the panel, (T,) each.

    For every finest one, ``cells`` (C,), those it lies in, widest first, (levels, C), and whether it is their first.
    """

    begin: np.ndarray
    width: np.ndarray
    cells: np.ndarray
    around: np.ndarray
    first: np.ndarray


@functools.cache
def _tree(levels: int) -> _Tree:
    finest, depth = np.arange(2 ** (levels - 1)), range(levels)
    below = [levels - 1 - k for k in depth]
    return _Tree(
        np.concatenate([np.arange(2.0**k) / 2.0**k for k in depth]),
        np.repeat([0.5**k for k in depth], [2**k for k in depth]),
        finest,
        np.array([2**k - 1 + (finest >> d) for k, d in zip(depth, below)]),
        np.array([finest % 2**d == 0 for d in below]),
    )


class ArcLength:
    """Table of panels of one curve.

    Attributes:
        total: length of the curve.
        piece_ends: arc length at every break of the curve, shape (pieces + 1,).
    """

    def __init__(
        self,
        expand: Expansion,
        breaks: np.ndarray,
        ahead: tuple[tuple[int, int], ...] = AHEAD[1:],
        cuts: np.ndarray | None = None,
    ) -> None:
        low, piece = breaks[:-1], np.arange(len(breaks) - 1)
        width = breaks[1:] - low
        wide, smallest, allowed = width, width * SMALLEST_PANEL, None
        if cuts is not None:
            low, width = cuts[:-1], np.diff(cuts)
            piece = np.searchsorted(breaks, low, side="right") - 1
        most = min(MAX_PANELS, PANELS[0] + PANELS[1] * len(low))
        done: list[tuple[np.ndarray, ...]] = []
        count = 0
        while len(low):
            tree = _tree(next((levels for few, levels in ahead if len(low) <= few), 1))
            lows, widths = low[:, None] + width[:, None] * tree.begin, width[:, None] * tree.width
            half, nodes, finest = 0.5 * widths, len(tree.begin), len(tree.cells)
            series, largest = expand(lows.ravel(), half.ravel(), piece.repeat(nodes))
            if allowed is None:  # of tails: a share of the length, estimated by the first panels of a piece
                allowed = np.zeros(len(wide))
                np.maximum.at(allowed, piece, TAIL * wide[piece] * largest[::nodes])
            last = np.abs(series[:, -2:])
            tail = widths * (last[:, 0] + last[:, 1]).reshape(-1, nodes)
            good = (tail <= allowed[piece, None]) | (widths <= smallest[piece, None])
            # of the widest good panel around each finest one, 0 where there is none
            level = good[:, tree.around].argmax(axis=1)
            node = tree.around[level, tree.cells] + np.arange(0, nodes * len(low), nodes)[:, None]
            found = good.ravel()[node]
            chosen, left = node[found & tree.first[level, tree.cells]], (~found).ravel().nonzero()[0]
            count += len(chosen)
            if count + 2 * len(left) > most:
                raise BudgetError(
                    f"The length of the path needs more than {most} panels; its parts are too different in size, or it is "
                    "no smooth curve between its breaks.")  # fmt: skip
            done.append((lows.ravel()[chosen], half.ravel()[chosen], piece[chosen // nodes], series[chosen]))
            low, width, piece = lows[:, -finest:].ravel()[left], half[:, -finest:].ravel()[left], piece[left // finest]
            if len(left):
                low, width, piece = np.concatenate([low, low + width]), np.tile(width, 2), np.tile(piece, 2)
        self.low, self.half, self.piece, series = done[0]
        if len(done) > 1:
            low, half, piece, series = (np.concatenate(parts) for parts in zip(*done))
            order = np.argsort(low)  # of all pieces: their breaks increase
            self.low, self.half, self.piece, series = low[order], half[order], piece[order], series[order]
        self.rate = series * self.half[:, None]  # ds/dx on the panel, x in [-1, 1]
        self.powers = self.rate @ _TO_LENGTH  # s on the panel by powers of x
        self.start = np.zeros(len(self.low) + 1)
        (2.0 * self.rate[:, 0]).cumsum(out=self.start[1:])
        edges = self.piece.searchsorted(np.arange(len(breaks)))
        self.piece_ends = self.start[edges]
        self.total = float(self.start[-1])
        self._first, self._last = edges[:-1], edges[1:] - 1
        self._breaks = breaks

    def speed(self, u: np.ndarray, side: Side) -> np.ndarray:
        """|dp/du| at parameters (N,), as the panels that begin there have it, or those that end there."""
        panel = np.clip(np.searchsorted(self.low, u, side=side) - 1, 0, len(self.low) - 1)
        x = np.clip((u - self.low[panel]) / self.half[panel] - 1.0, -1.0, 1.0)
        return _legendre(self.rate[panel], x) / self.half[panel]

    @cached_property
    def series(self) -> np.ndarray:
        """s on the panels as Legendre series."""
        return _integrate_series(self.rate)

    @cached_property
    def panels(self) -> np.ndarray:
        """Piece, beginnings in s and in u, half width in u and s by powers of x: a row for each panel, for machine code."""
        rows = np.empty((len(self.low), 4 + NODES + 1))
        rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3] = self.piece, self.start[:-1], self.low, self.half
        rows[:, 4:] = self.powers
        return rows

    @cached_property
    def mean_speed(self) -> np.ndarray:
        """Mean of |dp/du| of every piece."""
        ends, breaks = self.piece_ends, self._breaks
        return (ends[1:] - ends[:-1]) / (breaks[1:] - breaks[:-1])

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


def measured(
    expand: Expansion,
    speeds: Callable[[np.ndarray, np.ndarray], np.ndarray],
    breaks: np.ndarray,
    ahead: tuple[tuple[int, int], ...],
    looks: np.ndarray,
) -> ArcLength:
    """The arc length of a curve; where it does not meet the speed that is seen at one of the looks, panels begin there."""
    table, cuts = ArcLength(expand, breaks, ahead), breaks
    if not len(looks):
        return table
    piece = np.clip(np.searchsorted(breaks, looks, side="right") - 1, 0, len(breaks) - 2)
    seen = speeds(looks, piece)
    for _ in range(ROUNDS):
        off = np.maximum(*(np.abs(table.speed(looks, side) - seen) for side in SIDES))
        missed = np.isfinite(seen) & (off > MISSED * np.maximum(seen, table.mean_speed[piece]))
        if not missed.any():
            break
        cuts = cuts_at(looks, missed, cuts)
        table = ArcLength(expand, breaks, ahead, cuts)
    return table
