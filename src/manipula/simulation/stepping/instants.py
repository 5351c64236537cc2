"""Instants that are known before a run: where a reference or a torque table jumps, where a formula in t changes quickly.

A step never passes over one of them, so that a pulse shorter than a step is met and a corner costs no accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.expression import parse
from manipula.algebra.jet import Jet
from manipula.algebra.needles import NOTHING, Needles, needles
from manipula.algebra.scattered import Scattered
from manipula.robot.drives.flexible import Flexible
from manipula.simulation.plant.base_motion import BaseMotion
from manipula.simulation.plant.disturbances import STATE_NAMES, Disturbance, Wrench, WrenchTable

JUMP = 1e-7  # of the largest value of a derivative, beyond which two pieces of a table do not fit together smoothly
JUDGED = 4  # position, velocity, acceleration, jerk
SMOOTH_PIECES = 4  # smooth pieces of a table that a step may pass over
RESOLVED = 1e-7  # of the largest value of a formula: how well a polynomial of degree 7 must follow it between two marks
LEAST_CELLS, MOST_CELLS = 4096, 32768
POINTS = 16  # in a cell
MOST_MARKS = 200_000
TWO_JUMPS = 1e-7  # of the duration: closer to each other, the place of two jumps is not known well enough for what acts between them
NARROWEST = 1e-13  # of the run's duration; a formula that still changes within it jumps there

# where the frame of a wrench is held and how it moves, two states without a pattern: what vanishes in one is there in the other
SOMEWHERE = tuple(
    tuple(zip(STATE_NAMES, Scattered(seed).uniform(low, high, len(STATE_NAMES)).tolist()))
    for seed, low, high in ((2, 0.3, 1.3), (3, -1.3, -0.3))
)

# Chebyshev points of [0, 1] with both ends: no jump hides beside a mark
_NODES = 0.5 - 0.5 * np.cos(np.pi * np.arange(8) / 7)
_INNER_NODES = 1e-6 + (1.0 - 2e-6) * _NODES  # the same without the ends, for a cell between two jumps


class Examined(NamedTuple):
    """Where steps have to end, what could not be resolved (empty: everything was), and of what a part may be missing, in sentences."""

    marks: np.ndarray
    unresolved: tuple[str, ...]
    doubts: tuple[str, ...] = ()


class Resolved(NamedTuple):
    """Marks between which a function is a polynomial (None: too many), and how narrow a thing may be that was missed (0: none)."""

    marks: np.ndarray | None
    hidden: float


def table_marks(breaks: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Breaks at which a derivative up to the jerk jumps, and every fourth one of those that are smooth.

    Args:
        breaks: (k + 1,). coefficients: (k, dimension, degree + 1), lowest power first.
    """
    if not np.any(coefficients):
        return np.zeros(0)
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


def tabled_marks(disturbances: Sequence[Disturbance | BaseMotion | None]) -> np.ndarray:
    """Times of the tables of wrenches: each is a corner, the first and the last a jump; and corners of the motion of a base."""
    found = [np.asarray(d.times) for d in disturbances if isinstance(d, WrenchTable)]
    tables = [d.motion.native_table() for d in disturbances if isinstance(d, BaseMotion) and d.motion is not None]
    return np.concatenate([np.zeros(0), *found, *(table_marks(*table) for table in tables)])


def in_order(times: np.ndarray) -> np.ndarray:
    """The times in order, each once. (``np.unique`` imports the masked arrays of NumPy, 10 ms of every new process.)"""
    times = np.sort(times, axis=None)
    return times[np.append(True, times[1:] != times[:-1])[: len(times)]]


def formula_marks(
    drives: Sequence[Any],
    disturbances: Sequence[Disturbance | BaseMotion | None],
    duration: float,
    step: float,
    values: Mapping[str, Any] | None = None,
) -> Examined:
    """Marks between which every formula in t of a run is a polynomial of degree 7 for all that matters.

    Args:
        values: of other names in the formulas of drives (parameters of a programmed motion).
    """
    marks, unresolved, doubts = [np.zeros(0)], [], []
    for what, function in _functions(drives, disturbances, tuple(sorted((values or {}).items()))):
        found = _resolved(function, duration, float(np.clip(duration / step, LEAST_CELLS, MOST_CELLS)))
        if found.marks is None:
            unresolved.append(what)
            continue
        marks.append(found.marks)
        if found.hidden:
            doubts.append(
                f"{what[0].upper()}{what[1:]} was searched for pulses down to {found.hidden:.1g} s; shorter ones may have been missed."
            )
    return Examined(in_order(np.concatenate(marks)), tuple(dict.fromkeys(unresolved)), tuple(dict.fromkeys(doubts)))


def narrower(marks: np.ndarray, step: float) -> np.ndarray:
    """Marks that stand closer together than a step, where whole steps would miss something, and three between each two of them.

    A method of order 4 needs the quarters to follow what a polynomial of degree 7 can.
    """
    if len(marks) < 2:
        return np.zeros(0)
    near = np.flatnonzero(np.diff(marks) < step)
    quarters = marks[near, None] + np.diff(marks)[near, None] * np.arange(5) / 4
    return in_order(quarters)


def function_marks(
    f: Callable[[np.ndarray], np.ndarray], duration: float, cells: int, narrowest: float = NARROWEST
) -> np.ndarray | None:
    """The same for numbers that are known only by asking: ``f(t)`` gives several for every time, (..., m). None: too many marks.

    They are looked at together, in a sum whose weights follow no pattern.
    """
    first = np.asarray(f(Scattered(6).uniform(0.0, 1.0, 256) * duration), float)
    size = np.abs(first - first[:1]).max(axis=0, initial=0.0)
    weights = Scattered(5).uniform(1.0, 2.0, first.shape[-1]) / np.where(size > 0.0, size, 1.0)

    def summed(t: np.ndarray) -> np.ndarray:
        values = (np.asarray(f(t), float) - first[0]) @ weights
        return np.where(np.isfinite(values), values, 0.0)

    return _resolved.__wrapped__(summed, duration, float(cells), narrowest).marks


def derivative_marks(formula: Callable[[Any], Any], order: int, duration: float, cells: int) -> Resolved:
    """The same for the derivative of some order of a formula over any scalar; what hides between the places is found as well."""
    return _resolved.__wrapped__(partial(_over_times, partial(_derivative, formula, order)), duration, float(cells))


def _derivative(formula: Callable[[Any], Any], order: int, t: Any) -> Any:
    if order == 0:
        return formula(t)
    along = formula(Jet.variable(t, order))
    return along.derivative(order) if isinstance(along, Jet) else 0.0


def _over_times(formula: Callable[[Any], Any], t: np.ndarray) -> np.ndarray:
    """A formula over an array of times, zero where it is no number; the run itself meets what cannot be computed."""
    with np.errstate(all="ignore"):
        try:
            out = np.broadcast_to(np.asarray(formula(t), float), t.shape)
        except Exception:  # a user's function, too
            out = np.zeros(t.shape)
    return np.where(np.isfinite(out), out, 0.0)


def _functions(
    drives: Sequence[Any], disturbances: Sequence[Disturbance | BaseMotion | None], values: tuple[tuple[str, Any], ...]
) -> Iterator[tuple[str, Callable[[np.ndarray], Any]]]:
    """Every formula or function of t alone, as a function of an array of times."""
    for d in disturbances:
        if isinstance(d, Wrench) and not callable(d.wrench):
            for text in d.wrench:
                if isinstance(text, str):  # what else it depends on is held: how it changes in time is asked here
                    for held in SOMEWHERE if d.follows_state else ((),):
                        yield f"the formula '{text}' of a wrench", _formula(text, held)
        elif isinstance(d, BaseMotion):
            for text in (*d.position, *d.rotation):
                if isinstance(text, str):
                    yield f"the formula '{text}' of the base", _formula(text)
    for i, drive in enumerate(drives):
        if isinstance(drive, Flexible) and isinstance(drive.motor, str):
            yield f"the motor angle '{drive.motor}' of joint {i + 1}", _formula(drive.motor, values)
        elif isinstance(drive, Flexible) and callable(drive.motor):
            yield f"the motor angle of joint {i + 1}", partial(_over_times, drive.motor)
        elif isinstance(drive, str):
            yield f"the torque '{drive}' of joint {i + 1}", _formula(drive, values)
        elif callable(drive):
            yield f"the torque of joint {i + 1}", partial(_over_times, drive)


def _weights(nodes: np.ndarray) -> np.ndarray:
    return 1.0 / np.array([np.prod(np.delete(x - nodes, i)) for i, x in enumerate(nodes)])


@lru_cache(maxsize=256)
def _formula(text: str, values: tuple[tuple[str, Any], ...] = ()) -> Callable[[np.ndarray], Any]:
    expression = parse(text, ("t", *sorted(dict(values))))
    return partial(_over_times, lambda t: expression.evaluate({**dict(values), "t": t}))


@lru_cache(maxsize=64)
def _resolved(f: Callable[[np.ndarray], Any], duration: float, cells: float, narrowest: float = NARROWEST) -> Resolved:
    """Marks between which f is a polynomial of degree 7.

    f is looked at in at least 4096 · 16 places that follow no pattern; cells that a polynomial does not explain are halved. Of a formula
    ranges say whether anything hides between the places (``needles``); cells with such things are halved until they are seen.
    """
    base = 2 ** int(np.ceil(np.log2(cells)))
    inside = (np.arange(POINTS) + Scattered(7).uniform(0.0, 1.0, (base, POINTS))) / POINTS
    places = (np.arange(base)[:, None] + inside) * (duration / base)
    seen = np.asarray(f(places), float)
    fine = _needles_of(f, duration, places.ravel(), seen.ravel())
    sizes = [np.abs(v).max(initial=0.0) for v in (seen, f(fine.places) if len(fine.places) else np.zeros(0))]
    scale = RESOLVED * float(max(sizes))
    if scale == 0.0:
        return Resolved(np.zeros(0), fine.hidden)
    marks: list[np.ndarray] = []
    level, open_ = base, np.zeros(1, int)  # cells of `level` base cells each, numbered from the left
    while level >= 1 and len(open_):
        width = level * duration / base
        rows = places.reshape(base // level, -1)[open_], seen.reshape(base // level, -1)[open_]
        bad = ~_explained(f, open_ * width, width, *rows, scale) | _missed(f, fine.places, open_ * width, width, scale)
        marks.append(open_[~bad] * width)
        open_ = open_[bad]
        if level > 1:
            open_ = np.concatenate([2 * open_, 2 * open_ + 1])
        level //= 2
    left, width, rng = open_ * (duration / base), duration / base, Scattered(8)
    wide, jumps = left, np.zeros(0)
    total, inner = sum(map(len, marks)), []
    while len(left):
        width /= 2
        left = np.concatenate([left, left + width])
        total += len(left)
        if total > MOST_MARKS:
            return Resolved(None, fine.hidden)
        where = left[:, None] + width * rng.uniform(0.0, 1.0, (len(left), POINTS if len(inner) < 6 else 4))
        values = np.asarray(f(where), float)
        scale = max(scale, RESOLVED * float(np.abs(values).max(initial=0.0)))
        bad = ~_explained(f, left, width, where, values, scale) | _missed(f, fine.places, left, width, scale)
        if width <= narrowest * duration:
            jumps = np.concatenate([left[bad], left[bad] + width])
            bad[:] = False
        inner.append(left[~bad])
        left = left[bad]
    if len(jumps):
        apart = np.diff(np.unique(jumps))
        if ((apart > 4.0 * width) & (apart < TWO_JUMPS * duration)).any():
            return Resolved(None, fine.hidden)
        found = np.concatenate(inner)
        inner = [_around_jumps(f, wide, duration / base, found, np.unique(jumps), width, scale, fine)]
    return Resolved(np.sort(np.concatenate([*marks, *inner])), fine.hidden)


def _needles_of(f: Any, duration: float, places: np.ndarray, seen: np.ndarray) -> Needles:
    """What hides between the places, where f is a formula; nothing is known of other functions."""
    if not (isinstance(f, partial) and f.func is _over_times):
        return NOTHING
    try:
        return needles(f.args[0], f, duration, places, seen)
    except Exception:  # a formula without a value there, or a user's function that takes no ranges
        return NOTHING._replace(hidden=duration / len(places))


def _missed(
    f: Any, places: np.ndarray, left: np.ndarray, width: Any, allowed: float, at: np.ndarray = _NODES
) -> np.ndarray:
    """Which cells hold one of these places at which their polynomial is not met."""
    bad = np.zeros(len(left), bool)
    if not len(places) or not len(left):
        return bad
    order = np.argsort(left)
    cell = order[np.maximum(np.searchsorted(left[order], places, side="right") - 1, 0)]
    wide = np.broadcast_to(width, left.shape)[cell]
    own = (places >= left[cell]) & (places < left[cell] + wide)
    cell, t = cell[own], places[own, None]
    bad[cell[~_explained(f, left[cell], wide[own], t, np.asarray(f(t), float), allowed, at)]] = True
    return bad


def _around_jumps(
    f: Any,
    wide: np.ndarray,
    width: Any,
    marks: np.ndarray,
    jumps: np.ndarray,
    finest: float,
    allowed: float,
    fine: Needles,
) -> np.ndarray:
    """Marks inside the cells that begin at ``wide``, without those that only led to a jump: both sides of it are smooth."""
    kept = []
    for a in wide:
        own = jumps[(jumps >= a) & (jumps < a + width)]
        edges = np.unique(np.concatenate([[a], own, [a + width]]))
        low, size = edges[:-1], np.diff(edges)
        smooth = size > 2.0 * finest
        t = low[smooth, None] + size[smooth, None] * Scattered(9).uniform(1e-6, 1.0 - 1e-6, 16)
        fits = (
            len(own) > 0
            and not _missed(f, fine.places, low[smooth], size[smooth], allowed, _INNER_NODES).any()
            and _explained(f, low[smooth], size[smooth], t, np.asarray(f(t), float), allowed, _INNER_NODES).all()
        )
        kept.append(edges[:-1] if fits else marks[(marks >= a) & (marks < a + width)])
    return np.concatenate(kept)


def _explained(
    f: Any, left: np.ndarray, width: Any, t: np.ndarray, values: np.ndarray, allowed: float, at: np.ndarray = _NODES
) -> np.ndarray:
    """Does the polynomial through eight points of each cell meet all values seen in it? Barycentric interpolation."""
    wide = np.broadcast_to(width, left.shape)[:, None]
    nodes = np.asarray(f(left[:, None] + wide * at), float)
    u = (t - left[:, None]) / wide
    top, bottom = np.zeros(u.shape), np.zeros(u.shape)
    for x, w, y in zip(at, _weights(at), nodes.T):
        part = w / np.where(u == x, 1e-200, u - x)
        top += part * y[:, None]
        bottom += part
    return np.all(np.abs(top / bottom - values) <= allowed, axis=1)
