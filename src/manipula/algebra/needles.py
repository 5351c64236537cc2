r"""What hides between the places at which a formula in t was looked at: found by ranges, not by looking at more places.

Over a cell of times the formula and its derivative lie in ranges (:mod:`manipula.algebra.ranges`). Nothing hides in a cell where

- the derivative is so small that the formula cannot leave its neighbouring places by more than is allowed, or
- the formula's range is not wider than what was seen around the cell.

Every other cell is divided. A pulse of :math:`10^{-9}` of the run takes some twenty divisions of a few cells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.jet import Jet
from manipula.algebra.ranges import Range, as_range

ALLOWED = 1e-2  # part of the span of all values found so far: a pulse that is smaller may be missed
LEAST = 1e-4  # the same as a part of the largest of these values
FIRST = 64  # cells to begin with
PARTS = 4  # into which a cell is divided
MOST_CELLS = 300_000  # that are looked at
NARROWEST = 1e-13  # of the duration: of a pulse of 1e-12 some cells show nothing but the pulse


class Needles(NamedTuple):
    """Places of what the places looked at do not show, (k,), and how narrow a thing may be that still hides.

    Attributes:
        hidden: nothing wider than this can have been missed; 0 where nothing wider than ``NARROWEST`` of the run can.
    """

    places: np.ndarray
    hidden: float


NOTHING = Needles(np.zeros(0), 0.0)


def needles(
    formula: Callable[[Any], Any],
    f: Callable[[np.ndarray], np.ndarray],
    duration: float,
    places: np.ndarray,
    seen: np.ndarray,
) -> Needles:
    """Search the whole run.

    Args:
        formula: the formula over any scalar. f: over arrays of times, zero where it is no number.
        places: where it was looked at, in order; seen: what it gave there.
    """
    places = np.concatenate([[0.0], places, [duration]])
    seen = np.concatenate([np.asarray(f(places[:1]), float), seen, np.asarray(f(places[-1:]), float)])
    gap = float(np.diff(places).max())
    least, most = float(seen.min()), float(seen.max())
    where: list[np.ndarray] = [np.zeros(0)]
    width, looked = duration / FIRST, 0
    left = np.arange(FIRST) * width
    while len(left) and width >= NARROWEST * duration:
        looked += len(left)
        if looked > MOST_CELLS:
            return Needles(np.concatenate(where), width * PARTS)
        value, slope = _ranges(formula, left, width)
        middle = np.asarray(f(left + 0.5 * width), float)
        least, most = min(least, float(middle.min())), max(most, float(middle.max()))
        allowed = max(ALLOWED * (most - least), LEAST * max(most, -least))
        low, high = _hull(seen, places, left, width)
        odd = (middle > high + allowed) | (middle < low - allowed)
        flat = value.high - value.low <= allowed
        quiet = ~slope.torn & (slope.size * 2.0 * gap <= allowed)
        inside = (value.high <= high + allowed) & (value.low >= low - allowed)
        gentle = ~slope.torn & (slope.size * width <= allowed + 0.5 * np.abs(middle))  # the cell shows what is in it
        shown = odd & (gentle | flat)
        if width <= 0.25 * gap:  # what is wider is met by looking
            where.append(left[shown] + 0.5 * width)
        proven = ((quiet | flat | (inside & (width <= gap))) & ~odd) | shown
        width /= PARTS
        left = (left[~proven, None] + width * np.arange(PARTS)).ravel()
    return Needles(np.concatenate(where), 0.0)


def _hull(seen: np.ndarray, places: np.ndarray, left: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest value seen in every cell and at the places next to it."""
    first = np.maximum(np.searchsorted(places, left, side="right") - 1, 0)
    last = np.minimum(np.searchsorted(places, left + width) + 1, len(places) - 1)
    edges = np.column_stack([first, np.maximum(last, first + 1)]).ravel()
    closed = np.append(seen, seen[-1])  # the last place belongs to the last cell
    return np.minimum.reduceat(closed, edges)[::2], np.maximum.reduceat(closed, edges)[::2]


def _ranges(formula: Callable[[Any], Any], left: np.ndarray, width: float) -> tuple[Range, Range]:
    """What the formula and its derivative are over the cells that begin at ``left``."""
    t = Range(left, left + width)
    with np.errstate(all="ignore"):
        value = as_range(formula(t))
        along = formula(Jet([t, as_range(1.0)]))
    shape = np.zeros(len(left))
    value = Range(value.low + shape, value.high + shape, value.torn | (shape > 0.0))
    if not isinstance(along, Jet):
        return value, Range(shape, shape)
    slope = as_range(along.coefficients[1])
    torn = slope.torn | as_range(along.coefficients[0]).torn | value.torn
    return value, Range(slope.low + shape, slope.high + shape, torn | (shape > 0.0))
