r"""Points and derivatives of a path at many places, in machine code where its curves are piecewise polynomials.

With :math:`p'=dp/du` and :math:`\sigma=|p'|`, arc length s gives

.. math:: \frac{dp}{ds}=t=\frac{p'}{\sigma},\qquad \frac{d^2p}{ds^2}=\frac{p''-(p''\cdot t)\,t}{\sigma^2}

and u(s) is Newton's iteration on the series of :class:`~.arc_length.ArcLength`, written by powers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array, dot
from manipula.identity import identity
from manipula.motion.paths.arc_length import NODES, ArcLength
from manipula.motion.paths.base import STANDSTILL, Path
from manipula.motion.paths.polynomial import PiecewisePolynomial

FIRST_TERMS = 5  # of the series of the speed, for a first guess


class Along(NamedTuple):
    """What is computed at every place of a path in the machine code that samples it.

    Attributes:
        function: ``function(p, t, n, *constants)`` → one array of numbers, with t = dp/ds and n = d²p/ds², and one more number, over any scalar.
        constants: shapes of what is the same at all places.
        parts: the identity of ``function``.
    """

    function: Callable[..., Any]
    constants: tuple[tuple[int, ...], ...]
    parts: bytes | None


def _derivatives(p: Any, t: Any, n: Any) -> Any:
    return array([p, t, n]), 0.0 * p[0]


DERIVATIVES = Along(_derivatives, (), b"derivatives")


class PathSamples(NamedTuple):
    """What was found, whether all of it certainly are finite numbers, and the largest of the single numbers at the beginnings."""

    values: np.ndarray
    finite: bool
    largest: float


def sample_intervals(
    path: Path, s: np.ndarray, begin: np.ndarray, along: Along = DERIVATIVES, constants: Sequence[np.ndarray] = ()
) -> PathSamples:
    """What is computed ``along`` a path, by default p, dp/ds and d²p/ds² (k, N, 3, d), at k places of N intervals without breaks inside.

    Args:
        s: arc lengths, shape (k, N); the last row are the ends of the intervals, where the derivatives just before are meant.
        begin: arc lengths at which the intervals begin, shape (N,), not just before a break.
    """
    if type(path) is Path and native.has_compiler() and all(type(c) is PiecewisePolynomial for c in path.curves):
        found = _compiled(path, s, begin, along, constants)
        if found is not None:
            return found
    right, left = path.derivatives(s[:-1], 2), path.derivatives(s[-1:], 2, "left")
    kernel = _beside(path.dimension, along, native.has_compiler())
    found, size = kernel(*np.concatenate([right, left], axis=1), *constants)
    return PathSamples(found, bool(np.isfinite(found).all()), float(size[0].max()))


def _compiled(
    path: Path, s: np.ndarray, begin: np.ndarray, along: Along, constants: Sequence[np.ndarray]
) -> PathSamples | None:
    """None where the curve stands still: a cusp needs a look beside it."""
    piece = np.minimum(path.breaks[1:].searchsorted(begin, side="right"), len(path._owner) - 1)
    if len(path.curves) == 1:
        return _on_curve(path, 0, s, piece, along, constants)
    owner = path._owner[piece]
    parts, order = [], []
    for i in dict.fromkeys(owner.tolist()):
        mine = np.flatnonzero(owner == i)
        found = _on_curve(path, i, s[:, mine] - path._offset[i], path._piece[piece[mine]], along, constants)
        if found is None:
            return None
        parts.append(found)
        order.append(mine)
    back = np.argsort(np.concatenate(order), kind="stable")
    values, finite = np.concatenate([x.values for x in parts], axis=1).take(back, axis=1), all(x.finite for x in parts)
    return PathSamples(values, finite, max(x.largest for x in parts))


def _on_curve(
    path: Path, i: int, s: np.ndarray, piece: np.ndarray, along: Along, constants: Sequence[np.ndarray]
) -> PathSamples | None:
    curve, table = path.curves[i], path._tables[i]
    assert isinstance(curve, PiecewisePolynomial)
    _, powers, d = curve.coefficients.shape
    kernel, (k, N) = _kernel(d, powers, table is None, along), s.shape
    own, places = _places(s, piece)
    count, spare = len(places), N - len(own)
    if table is None:
        pieces = np.concatenate([np.tile(piece, k - 1), piece[own]]).astype(float)
        speed = np.array([curve.breaks[0], curve.speed])
        found, size, _, total = kernel(count, places, pieces, curve.rows, speed, *constants, behind=spare)
    else:
        panel = _panels(table, s, piece, own)
        found, size, rate, total = kernel(count, places, panel, curve.rows, table.panels, *constants, behind=spare)
        still = STANDSTILL * table.mean_speed
        if rate[:count].min() < still.max():
            every = still[piece]
            if (rate[: (k - 1) * N].reshape(-1, N) < every).any() or (rate[(k - 1) * N : count] < every[own]).any():
                return None
    values = found.reshape(k, N, *found.shape[1:])
    ends = values[-1]
    last = ends[: len(own)].copy()
    ends[:-1] = values[0, 1:]
    ends[own] = last
    return PathSamples(values, math.isfinite(total[:count].sum()), float(size[:N].max()))


def _places(s: np.ndarray, piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The intervals whose end is not where the next one on the same piece begins, and the places to look at: all but the other ends."""
    apart = s[-1, :-1] != s[0, 1:]
    apart |= piece[:-1] != piece[1:]
    own = np.append(apart.nonzero()[0], len(piece) - 1)
    return own, np.concatenate([s[:-1].ravel(), s[-1, own]])


def _panels(table: ArcLength, s: np.ndarray, piece: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The panels of these places, as numbers; an end that is a break belongs to the piece before."""
    start, first, last = table.start, table._first[piece], table._last[piece]
    inner, end = s[:-1], s[-1, own]
    out = np.empty(inner.size + len(own))
    places = out[: inner.size].reshape(inner.shape)
    beginnings = np.minimum(np.maximum(start[1:].searchsorted(s[0], side="right"), first), last)
    if (start[1:] - start[:-1]).min() > (s[-1] - s[0]).max():  # an interval is on one panel, or on two
        following = start[beginnings + 1]
        places[1:] = inner[1:] >= following
        places[1:] += beginnings
        ends = beginnings[own] + (end >= following[own])
    else:
        places[1:] = start[1:].searchsorted(inner[1:], side="right")
        ends = start[1:].searchsorted(end, side="right")
    places[0] = beginnings
    out[inner.size :] = np.minimum(np.maximum(ends, first[own]), last[own])
    return out


@functools.lru_cache(64)
def _kernel(d: int, powers: int, even: bool, along: Along) -> native.RowsCall:
    row = ("pieces", 2 + powers * d)  # beginning, end, coefficients
    if even:
        inputs: dict[str, tuple] = {"s": (), "piece": (), "pieces": row, "speed": (2,)}
    else:  # piece, beginnings in s and in u, half width in u, s by powers of x
        inputs = {"s": (), "panel": (), "pieces": row, "panels": ("panels", 4 + NODES + 1)}
    constants = {f"constant_{k}": shape for k, shape in enumerate(along.constants)}

    def sampled(s: Any, place: Any, pieces: Any, table: Any, *more: Any) -> Any:
        p, t, n, rate = (_even if even else _uneven)(s, place, pieces, table, d)
        found, size = along.function(p, t, n, *more)
        total = sum(found.ravel())  # of one number not finite it is not either
        return {"found": found, "size": size, "rate": rate, "total": total}

    shared = (*tuple(inputs)[2:], *constants)
    parts = None if along.parts is None else identity(d, powers, even, along.parts)
    return native.RowsCall(native.kernel_of(sampled, inputs | constants, "path.sampled", parts, shared))


@functools.lru_cache(64)
def _beside(d: int, along: Along, compiled: bool) -> native.Kernel:
    """``along`` at places whose derivatives are known."""
    constants = {f"constant_{k}": shape for k, shape in enumerate(along.constants)}
    parts = None if along.parts is None else identity(d, along.parts)

    def beside(*given: Any) -> Any:
        found, size = along.function(*given)
        return {"found": found, "size": size}

    return native.kernel_of(beside, {"p": (d,), "t": (d,), "n": (d,), **constants}, "path.beside", parts)


def _even(s: Any, piece: Any, pieces: Any, speed: Any, d: int) -> Any:
    """On a curve of one speed |dp/du|."""
    first, speed = speed
    low, high, *coefficients = native.lookup(pieces, piece)
    u = ops.minimum(ops.maximum(first + s / speed, low), high)
    c0, c1, c2 = _taylor(np.reshape(coefficients, (-1, d)), u - low)
    slow = 1.0 / speed
    return c0, array(c1 * slow), array(c2 * (2.0 * slow * slow)), speed


def _uneven(s: Any, panel: Any, pieces: Any, panels: Any, d: int) -> Any:
    piece, start, begin, half, *powers = native.lookup(panels, panel)
    low, high, *coefficients = native.lookup(pieces, piece)
    target = s - start

    def newton(terms: int) -> Callable[[Any, Any], Any]:
        c = powers[:terms]
        rate = [k * a for k, a in enumerate(c)][1:]

        def step(x: Any, change: Any) -> Any:
            new = x - (_polynomial(c, x) - target) / ops.maximum(_polynomial(rate, x), 1e-300)
            new = ops.minimum(ops.maximum(new, -1.0), 1.0)
            return new, ops.abs(new - x)

        return step

    x = ops.minimum(ops.maximum((target - powers[0]) / ops.maximum(powers[1], 1e-300), -1.0), 1.0)
    for _ in range(2):  # the first terms lead near the root
        x = newton(FIRST_TERMS)(x, 1.0)[0]
    x = native.until(newton(NODES + 1), (x, 1.0), lambda x, change: change < 1e-9, 30.0).state[0]
    u = ops.minimum(ops.maximum(begin + half * (1.0 + x), low), high)
    c0, c1, c2 = _taylor(np.reshape(coefficients, (-1, d)), u - low)
    speed = ops.sqrt(dot(c1, c1))
    slow = 1.0 / speed  # one division takes as long as a dozen products
    t = array(c1 * slow)
    return c0, t, array((c2 - dot(c2, t) * t) * (2.0 * slow * slow)), speed


def _taylor(rows: Any, x: Any) -> list[np.ndarray]:
    """Three Taylor coefficients of Σ rows[k] x^k at x, by repeated synthetic division."""
    c = [*rows, *[0.0 * rows[0]] * (3 - len(rows))]
    for k in range(3):
        for j in range(len(rows) - 2, k - 1, -1):
            c[j] = array(c[j] + x * c[j + 1])
    return c[:3]


def _polynomial(c: Any, x: Any) -> Any:
    """Σ c_k x^k; even and odd powers apart, so that a processor has two sums to work on."""
    square, sums = x * x, []
    for part in (c[0::2], c[1::2]):
        total = part[-1]
        for a in part[-2::-1]:
            total = total * square + a
        sums.append(total)
    return sums[0] + x * sums[1]
