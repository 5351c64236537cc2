r"""Points and derivatives of a path at many places, in machine code where its curves are piecewise polynomials.

With :math:`p'=dp/du` and :math:`\sigma=|p'|`, arc length s gives

.. math:: \frac{dp}{ds}=t=\frac{p'}{\sigma},\qquad \frac{d^2p}{ds^2}=\frac{p''-(p''\cdot t)\,t}{\sigma^2}

and u(s) is Newton's iteration on the Legendre series of :class:`~.arc_length.ArcLength`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array, dot
from manipula.identity import identity
from manipula.motion.paths.arc_length import NODES
from manipula.motion.paths.base import STANDSTILL, Path
from manipula.motion.paths.polynomial import PiecewisePolynomial


def sample_intervals(path: Path, s: np.ndarray, begin: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p, dp/ds and d²p/ds², (k, N, d) each, at k places of N intervals without breaks inside.

    Args:
        s: arc lengths, shape (k, N); the last row are the ends of the intervals, where the derivatives just before are meant.
        begin: arc lengths at which the intervals begin, shape (N,), not just before a break.
    """
    if type(path) is Path and native.has_compiler() and all(type(c) is PiecewisePolynomial for c in path.curves):
        found = _compiled(path, s, begin)
        if found is not None:
            return found
    right, left = path.derivatives(s[:-1], 2), path.derivatives(s[-1:], 2, "left")
    p, t, n = np.concatenate([right, left], axis=1)
    return p, t, n


def _compiled(path: Path, s: np.ndarray, begin: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """None where the curve stands still: a cusp needs a look beside it."""
    piece = np.clip(np.searchsorted(path.breaks, begin, side="right") - 1, 0, len(path._owner) - 1)
    owner = path._owner[piece]
    parts, order = [], []
    for i in dict.fromkeys(owner.tolist()):
        mine = slice(None) if len(path.curves) == 1 else np.flatnonzero(owner == i)
        found = _on_curve(path, i, s[:, mine] - path._offset[i], path._piece[piece[mine]])
        if found is None:
            return None
        parts.append(found)
        order.append(mine)
    if len(parts) == 1:
        return parts[0]
    back = np.argsort(np.concatenate(order), kind="stable")
    p, t, n = (np.concatenate(columns, axis=1)[:, back] for columns in zip(*parts))
    return p, t, n


def _on_curve(path: Path, i: int, s: np.ndarray, piece: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    curve, table = path.curves[i], path._tables[i]
    assert isinstance(curve, PiecewisePolynomial)
    _, powers, d = curve.coefficients.shape
    low, high = curve.breaks[piece], curve.breaks[piece + 1]
    kernel = _kernel(d, powers, table is None)
    if table is None:
        p, t, n, _ = kernel(
            s, piece.astype(float), low, high, curve.coefficients, curve.breaks[0], curve.speed, threads=1
        )
        return p, t, n
    panel = np.clip(np.searchsorted(table.start, s, side="right") - 1, table._first[piece], table._last[piece])
    panels = table.start[:-1], table.low, table.half, table.series, table.rate
    p, t, n, rate = kernel(
        s, piece.astype(float), low, high, curve.coefficients, panel.astype(float), *panels, turns=2.0, threads=1
    )
    mean = (table.piece_ends[piece + 1] - table.piece_ends[piece]) / (high - low)
    return None if np.any(rate < STANDSTILL * mean) else (p, t, n)


@functools.lru_cache(64)
def _kernel(d: int, powers: int, even: bool) -> native.Kernel:
    inputs: dict[str, tuple] = {"s": (), "piece": (), "low": (), "high": (), "coefficients": ("pieces", powers, d)}
    if even:
        inputs |= {"first": (), "speed": ()}
        shared: tuple[str, ...] = ("coefficients", "first", "speed")
        return native.kernel_of(_even, inputs, "path.even", identity(d, powers), shared)
    inputs |= {
        "panel": (), "start": ("panels",), "begin": ("panels",), "half": ("panels",),
        "series": ("panels", NODES + 1), "rate": ("panels", NODES),
    }  # fmt: skip
    shared = ("coefficients", "start", "begin", "half", "series", "rate")
    return native.kernel_of(_uneven, inputs, "path.uneven", identity(d, powers), shared)


def _even(s: Any, piece: Any, low: Any, high: Any, coefficients: Any, first: Any, speed: Any) -> Any:
    """On a curve of one speed |dp/du|."""
    u = ops.minimum(ops.maximum(first + s / speed, low), high)
    c0, c1, c2 = _taylor(native.lookup(coefficients, piece), u - low)
    return {"p": c0, "t": array(c1 / speed), "n": array(2.0 * c2 / (speed * speed)), "rate": speed}


def _uneven(
    s: Any, piece: Any, low: Any, high: Any, coefficients: Any, panel: Any, start: Any, begin: Any, half: Any, series: Any, rate: Any
) -> Any:  # fmt: skip
    target = s - native.lookup(start, panel)
    length, slope = native.lookup(series, panel), native.lookup(rate, panel)

    def newton(x: Any, change: Any) -> Any:
        new = x - (_legendre(length, x) - target) / ops.maximum(_legendre(slope, x), 1e-300)
        new = ops.minimum(ops.maximum(new, -1.0), 1.0)
        return new, ops.abs(new - x)

    x = ops.minimum(ops.maximum(target / slope[0] - 1.0, -1.0), 1.0)
    x = native.until(newton, (x, 1.0), lambda x, change: change < 1e-10, 30.0).state[0]
    u = native.lookup(begin, panel) + native.lookup(half, panel) * (1.0 + x)
    u = ops.minimum(ops.maximum(u, low), high)
    c0, c1, c2 = _taylor(native.lookup(coefficients, piece), u - low)
    square = dot(c1, c1)
    speed = ops.sqrt(square)
    t = array(c1 / speed)
    return {"p": c0, "t": t, "n": array(2.0 * (c2 - dot(c2, t) * t) / square), "rate": speed}


def _taylor(rows: Any, x: Any) -> list[np.ndarray]:
    """Three Taylor coefficients of Σ rows[k] x^k at x, by repeated synthetic division."""
    c = [*rows, *[0.0 * rows[0]] * (3 - len(rows))]
    for k in range(3):
        for j in range(len(rows) - 2, k - 1, -1):
            c[j] = array(c[j] + x * c[j + 1])
    return c[:3]


def _legendre(c: Any, x: Any) -> Any:
    """Σ c_k P_k(x) by Clenshaw's recurrence."""
    b1, b2 = 0.0 * x, 0.0 * x
    for k in range(len(c) - 1, 0, -1):
        b1, b2 = c[k] + (2 * k + 1) / (k + 1) * x * b1 - (k + 1) / (k + 2) * b2, b1
    return c[0] + x * b1 - b2 / 2
