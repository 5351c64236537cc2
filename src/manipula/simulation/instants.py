"""Instants that are known before a run: where a reference or a torque table jumps, where a formula in t changes quickly.

A step never passes over one of them, so that a pulse shorter than a step is met and a corner costs no accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.expression import parse
from manipula.errors import ManipulaError
from manipula.robot.drives.flexible import Flexible
from manipula.simulation.parts import Wrench
from manipula.simulation.plant import Plant

JUMP = 1e-7  # of the largest value of a derivative, beyond which two pieces of a table do not fit together smoothly
JUDGED = 4  # position, velocity, acceleration, jerk
SMOOTH_PIECES = 4  # smooth pieces of a table that a step may pass over
RESOLVED = 1e-7  # of the largest value of a formula: how well a polynomial of degree 7 must follow it between two marks
LEAST_CELLS, MOST_CELLS = 4096, 32768
POINTS = 16  # in a cell
MOST_MARKS = 400_000
NARROWEST = 1e-13  # of the run's duration; a formula that still changes within it jumps there

_NODES = 0.5 - 0.5 * np.cos(
    np.pi * np.arange(8) / 7
)  # Chebyshev points of [0, 1] with both ends: no jump hides beside a mark
_WEIGHTS = 1.0 / np.array([np.prod(np.delete(x - _NODES, i)) for i, x in enumerate(_NODES)])


class Examined(NamedTuple):
    """Where steps have to end, and what could not be resolved (empty: everything was)."""

    marks: np.ndarray
    unresolved: tuple[str, ...]


def table_marks(breaks: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Breaks at which a derivative up to the jerk jumps, and every fourth one of those that are smooth.

    Args:
        breaks: (k + 1,). coefficients: (k, dimension, degree + 1), lowest power first.
    """
    width = np.diff(breaks)[:, None]
    jumps = np.zeros(len(breaks), bool)
    c = np.asarray(coefficients, float)
    for order in range(min(JUDGED, c.shape[2])):
        left, right = c[:, :, 0], np.sum([c[:, :, j] * width**j for j in range(c.shape[2])], axis=0)
        rest = np.zeros((1, c.shape[1]))
        if order == 0:  # the position rests where it is; its derivatives are zero
            before, after = np.concatenate([left[:1], right]), np.concatenate([left, right[-1:]])
        else:
            before, after = np.concatenate([rest, right]), np.concatenate([left, rest])
        size = np.maximum(np.abs(left).max(initial=0.0), np.abs(right).max(initial=0.0))
        if size > 0.0:
            jumps |= (np.abs(after - before) > JUMP * size).any(axis=1)
        c = c[:, :, 1:] * np.arange(1, c.shape[2])
    smooth = np.flatnonzero(~jumps)
    return breaks[np.sort(np.concatenate([np.flatnonzero(jumps), smooth[SMOOTH_PIECES - 1 :: SMOOTH_PIECES]]))]


def formula_marks(plant: Plant, duration: float, step: float) -> Examined:
    """Marks between which every formula in t of a run is a polynomial of degree 7 for all that matters."""
    marks, unresolved = [np.zeros(0)], []
    for what, function in _functions(plant):
        found = _resolved(function, duration, float(np.clip(duration / step, LEAST_CELLS, MOST_CELLS)))
        if found is None:
            unresolved.append(what)
        else:
            marks.append(found)
    return Examined(np.unique(np.concatenate(marks)), tuple(unresolved))


def narrower(marks: np.ndarray, step: float) -> np.ndarray:
    """Marks that stand closer together than a step, where whole steps would miss something, and three between each two of them.

    A method of order 4 needs the quarters to follow what a polynomial of degree 7 can.
    """
    near = np.flatnonzero(np.diff(marks) < step)
    quarters = marks[near, None] + np.diff(marks)[near, None] * np.arange(5) / 4
    return np.unique(quarters)


def _functions(plant: Plant) -> Iterator[tuple[str, Callable[[np.ndarray], Any]]]:
    """Every formula in t, as a function of an array of times."""
    for d in plant.disturbances:
        if isinstance(d, Wrench):
            for text in d.wrench:
                if isinstance(text, str):
                    yield f"the formula '{text}' of a wrench", _formula(text)
    for i, drive in enumerate(plant.drives):
        if isinstance(drive, Flexible) and isinstance(drive.motor, str):
            yield f"the motor angle '{drive.motor}' of joint {i + 1}", _formula(drive.motor)


@lru_cache(maxsize=256)
def _formula(text: str) -> Callable[[np.ndarray], Any]:
    return partial(_values, parse(text, names=("t",)))


def _values(expression: Any, t: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        try:
            out = np.broadcast_to(np.asarray(expression.evaluate({"t": t}), float), t.shape)
        except (ManipulaError, ValueError, TypeError, ArithmeticError):
            out = np.zeros(t.shape)  # the run itself meets what cannot be computed
    return np.where(np.isfinite(out), out, 0.0)


@lru_cache(maxsize=64)
def _resolved(f: Callable[[np.ndarray], Any], duration: float, cells: float) -> np.ndarray | None:
    """Marks between which f is a polynomial of degree 7, or None when there would be too many.

    f is looked at in at least 4096 · 16 places that follow no pattern; cells that a polynomial does not explain are halved.
    """
    base = 2 ** int(np.ceil(np.log2(cells)))
    inside = np.random.default_rng(7).random((base, POINTS))
    places = (np.arange(base)[:, None] + inside) * (duration / base)
    seen = np.asarray(f(places), float)
    scale = RESOLVED * float(np.abs(seen).max(initial=0.0))
    if scale == 0.0:
        return np.zeros(0)
    marks: list[np.ndarray] = []
    level, open_ = base, np.zeros(1, int)  # cells of `level` base cells each, numbered from the left
    while level >= 1 and len(open_):
        width = level * duration / base
        rows = places.reshape(base // level, -1)[open_], seen.reshape(base // level, -1)[open_]
        bad = ~_explained(f, open_ * width, width, *rows, scale)
        marks.append(open_[~bad] * width)
        open_ = open_[bad]
        if level > 1:
            open_ = np.concatenate([2 * open_, 2 * open_ + 1])
        level //= 2
    left, width, rng = open_ * (duration / base), duration / base, np.random.default_rng(8)
    total = sum(map(len, marks))
    while len(left):
        width /= 2
        left = np.concatenate([left, left + width])
        total += len(left)
        if total > MOST_MARKS:
            return None
        where = left[:, None] + width * rng.random((len(left), POINTS))
        values = np.asarray(f(where), float)
        scale = max(scale, RESOLVED * float(np.abs(values).max(initial=0.0)))
        bad = ~_explained(f, left, width, where, values, scale)
        if width <= NARROWEST * duration:
            bad[:] = False
        marks.append(left[~bad])
        left = left[bad]
    return np.sort(np.concatenate(marks))


def _explained(f: Any, left: np.ndarray, width: float, t: np.ndarray, values: np.ndarray, allowed: float) -> np.ndarray:
    """Does the polynomial through eight points of each cell meet all values seen in it? Barycentric interpolation."""
    nodes = np.asarray(f(left[:, None] + width * _NODES), float)
    u = (t - left[:, None]) / width
    top, bottom = np.zeros(u.shape), np.zeros(u.shape)
    for x, w, y in zip(_NODES, _WEIGHTS, nodes.T):
        part = w / np.where(u == x, 1e-200, u - x)
        top += part * y[:, None]
        bottom += part
    return np.all(np.abs(top / bottom - values) <= allowed, axis=1)
