r"""Points and derivatives of a path at many places, in machine code where its curves are piecewise polynomials.

With :math:`p'=dp/du` and :math:`\sigma=|p'|`, arc length s gives

.. math:: \frac{dp}{ds}=t=\frac{p'}{\sigma},\qquad \frac{d^2p}{ds^2}=\frac{p''-(p''\cdot t)\,t}{\sigma^2}

and u(s) is Newton's iteration on the series of :class:`~.arc_length.ArcLength`, written by powers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array, dot
from manipula.identity import identity
from manipula.motion.paths.arc_length import NODES
from manipula.motion.paths.base import STANDSTILL, Path
from manipula.motion.paths.polynomial import PiecewisePolynomial

FIRST_TERMS = 5  # of the series of the speed, for a first guess


class Along(NamedTuple):
    """What is computed at every place of a path in the machine code that samples it.

    Attributes:
        function: ``function(p, t, n, *constants)`` → one array of numbers, with t = dp/ds and n = d²p/ds², over any scalar.
        constants: shapes of what is the same at all places.
        parts: the identity of ``function``.
    """

    function: Callable[..., Any]
    constants: tuple[tuple[int, ...], ...]
    parts: bytes | None


def _derivatives(p: Any, t: Any, n: Any) -> Any:
    return array([p, t, n])


DERIVATIVES = Along(_derivatives, (), b"derivatives")


class PathSamples(NamedTuple):
    """What was found, and whether all of it certainly are finite numbers."""

    values: np.ndarray
    finite: bool


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
    found = _beside(path.dimension, along, native.has_compiler())(*np.concatenate([right, left], axis=1), *constants)
    return PathSamples(found, bool(np.isfinite(found).all()))


def _compiled(
    path: Path, s: np.ndarray, begin: np.ndarray, along: Along, constants: Sequence[np.ndarray]
) -> PathSamples | None:
    """None where the curve stands still: a cusp needs a look beside it."""
    piece = np.clip(np.searchsorted(path.breaks, begin, side="right") - 1, 0, len(path._owner) - 1)
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
    return PathSamples(np.concatenate([x.values for x in parts], axis=1)[:, back], all(x.finite for x in parts))


def _on_curve(
    path: Path, i: int, s: np.ndarray, piece: np.ndarray, along: Along, constants: Sequence[np.ndarray]
) -> PathSamples | None:
    curve, table = path.curves[i], path._tables[i]
    assert isinstance(curve, PiecewisePolynomial)
    _, powers, d = curve.coefficients.shape
    kernel, count, shape = _kernel(d, powers, table is None, along), s.size, s.shape
    if table is None:
        every = np.ascontiguousarray(np.broadcast_to(piece.astype(float), shape))
        speed = np.array([curve.breaks[0], curve.speed])
        found, _, total = kernel(count, np.ascontiguousarray(s), every, curve.rows, speed, *constants)
    else:
        panel = table.start.searchsorted(s, side="right") - 1
        for k in (0, -1):  # an end that is a break belongs to the piece before
            panel[k] = np.minimum(np.maximum(panel[k], table._first[piece]), table._last[piece])
        given = np.ascontiguousarray(s), panel.astype(float), curve.rows, table.panels
        found, rate, total = kernel(count, *given, *constants)
        still = STANDSTILL * table.mean_speed
        if rate.min() < still.max() and np.any(rate.reshape(shape) < still[piece]):
            return None
    return PathSamples(found.reshape(*shape, *found.shape[1:]), bool(np.isfinite(total.sum())))


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
        found = along.function(p, t, n, *more)
        return {"found": found, "rate": rate, "total": sum(found.ravel())}  # of one number not finite it is not either

    shared = (*tuple(inputs)[2:], *constants)
    parts = None if along.parts is None else identity(d, powers, even, along.parts)
    return native.RowsCall(native.kernel_of(sampled, inputs | constants, "path.sampled", parts, shared))


@functools.lru_cache(64)
def _beside(d: int, along: Along, compiled: bool) -> native.Kernel:
    """``along`` at places whose derivatives are known."""
    constants = {f"constant_{k}": shape for k, shape in enumerate(along.constants)}
    parts = None if along.parts is None else identity(d, along.parts)
    return native.kernel_of(along.function, {"p": (d,), "t": (d,), "n": (d,), **constants}, "path.beside", parts)


def _even(s: Any, piece: Any, pieces: Any, speed: Any, d: int) -> Any:
    """On a curve of one speed |dp/du|."""
    first, speed = speed
    low, high, *coefficients = native.lookup(pieces, piece)
    u = ops.minimum(ops.maximum(first + s / speed, low), high)
    c0, c1, c2 = _taylor(np.reshape(coefficients, (-1, d)), u - low)
    return c0, array(c1 / speed), array(2.0 * c2 / (speed * speed)), speed


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
    square = dot(c1, c1)
    speed = ops.sqrt(square)
    t = array(c1 / speed)
    return c0, t, array(2.0 * (c2 - dot(c2, t) * t) / square), speed


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
