r"""Longer steps for a repetition that costs half a run, where the equations are analytic between known instants.

A run of order p in steps of h is repeated in blocks of at least :math:`m h`, each taken in two parts that meet at the irrational ratio r. A block
of the length :math:`L \ge m h` commits :math:`s \ge m^p (r^{p+1} + (1-r)^{p+1})` times the local error of the steps of h in it (20.8 times for p = 4,
m = 4), so the difference D of the two is at least :math:`s - 1` times the error of the run: :math:`e \le D/(s-1)`. The bound rests on the
order being reached, which is why it is asked only where nothing is narrower than a block (see ``loops/coarse_repetition.py``). A vibration that
longer steps damp away leaves a difference of its amplitude, however wrong the run is: over all :math:`e^{\lambda t}` that do not grow the error is at most
1.35 D, at any step. So three times the difference itself, not its share, must be within the tolerance, unless the modes of the motion are known and
:func:`follows` all of them.
"""

from __future__ import annotations

import numpy as np

from manipula.simulation.stepping.grid import FAR, RATIO, Grid

LARGEST_ANGLE = 1.6  # |λL|: four blocks and sixteen steps in a turn
BLOCK = 4.0  # m, steps of the run in a block of its repetition


def share(order: int) -> float:
    r"""What a difference between a run and its coarse repetition is multiplied with to give the error of the run, :math:`1/(s-1)`."""
    return 1.0 / (BLOCK**order * (RATIO ** (order + 1) + (1.0 - RATIO) ** (order + 1)) - 1.0)


def follows(modes: np.ndarray, block: float, duration: float) -> bool:
    r"""Do blocks of a length follow :math:`e^{\lambda t}` to the end, to half a radian or half its size, for all modes λ [1/s]?

    Only then have the differences of run and repetition not grown beyond what they can show, and their share is a bound. A block in two parts
    multiplies by :math:`R(r\lambda L)\,R((1-r)\lambda L)` in the place of :math:`e^{\lambda L}`, with the R of classical Runge–Kutta methods; what is left
    of a mode that fades is counted only while it lasts.
    """
    modes = np.asarray(modes, complex)
    if not np.isfinite(modes).all() or np.abs(modes).max(initial=0.0) * block > LARGEST_ANGLE:
        return False
    z = modes * block
    grown = _growth(RATIO * z) * _growth((1.0 - RATIO) * z) * np.exp(-z)
    fading = np.maximum(-np.expm1(z.real), block / duration)
    return bool((np.abs(grown - 1.0) <= 0.5 * fading).all())


def _growth(z: np.ndarray) -> np.ndarray:
    """What a step of a Runge–Kutta method of order four with four stages multiplies a mode by."""
    return 1.0 + z * (1.0 + z * (0.5 + z * (1.0 / 6.0 + z / 24.0)))


def blocks_of(grid: Grid, step: float) -> tuple[Grid, np.ndarray] | None:
    """The blocks of a repetition, and which samples it records; ``None`` where it could not tell.

    Blocks end on every known instant of the grid and on samples as close to each other as a block allows. The first block after the start and
    after every known instant must end on a sample, before what begins there has faded, and no block may be too short to be coarser than the run.
    To be taken with a step that never ends by itself, each block divided at RATIO.
    """
    width = BLOCK * step * (1.0 - 1e-9)
    times = grid.times
    edges = np.concatenate([times[:1], grid.marks[1:-1], times[-1:]])
    apart = float(times[1] - times[0])  # samples are equally far apart but for the last
    if np.diff(edges).min() < width:
        return None
    every = max(1, int(np.ceil(width / apart)))
    chosen = [np.zeros(1, int)]
    for a, b in zip(edges[:-1], edges[1:]):
        left, first, last, right = np.searchsorted(times, (a + 1e-9 * width, a + width, b - width, b - 1e-9 * width))
        seen = np.arange(first, last, every)
        if (every > 1 and not len(seen)) or (every == 1 and (first > left or right > last)):
            return None
        chosen.append(seen)
    kept = np.append(np.concatenate(chosen), len(times) - 1)
    stops = np.sort(np.concatenate([times[kept], edges[1:-1]]))
    length = np.diff(stops)
    count = np.maximum(1, (length / width).astype(int))
    between = [a + d * np.arange(1, k) / k for a, d, k in zip(stops, length, count) if k > 1]
    inner = np.sort(np.concatenate([grid.marks[1:-1], *between]))
    marks = np.concatenate([[-FAR], inner, [FAR]])
    return Grid(times[kept], marks, marks[1:, None].copy(), grid.low, grid.high), kept
