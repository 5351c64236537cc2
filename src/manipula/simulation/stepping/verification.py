"""A run against its repetition in other, finer steps: the error of the run, and until when both agree."""

from __future__ import annotations

import numpy as np

from manipula.simulation.stepping.grid import RATIO

ROUNDINGS = 16.0  # units in the last place between the starts of a run and of its repetition, at least
NEAR_ZERO = 1e-3  # rad or m: all positions below it are beside q = 0


def shrinkage(order: int) -> float:
    r"""What a difference between a run and its verification is multiplied with to give the error of the run.

    Steps divided at the ratio r leave :math:`r^{p+1} + (1-r)^{p+1}` of the local error. A corner of the equations within a step (a torque that
    meets its limit) leaves an error of :math:`h^2` there, whatever the method: p = 1.
    """
    return 1.0 / (1.0 - RATIO ** (order + 1) - (1.0 - RATIO) ** (order + 1))


def beside(
    x0: np.ndarray, n: int, states: int, steps: float, factor: float = 1.0, zero_is_exact: bool = False
) -> np.ndarray:
    r"""Where repetitions of runs that start at x0 (..., size) begin: farther from zero by as much as rounding may move them.

    Equal starts are rounded alike, and beside an unstable equilibrium both may rest where the motion falls. N steps round by about
    :math:`\epsilon\sqrt N` of a coordinate; what a motion makes of it is part of the difference from its repetition. A position counts as no
    smaller than 1 rad or m, as what it is added to is rounded like that, too; other coordinates that are zero are exact.

    Args:
        n: how many of the numbers are positions. states: and how many coordinates. factor: what the difference is multiplied with.
        zero_is_exact: does nothing but zeros hold the arm at q = 0 (:func:`rests_at_zero`)? Then beside it roundings are in proportion.
    """
    out, part = x0.copy(), max(ROUNDINGS, steps**0.5) / factor * np.finfo(float).eps
    out[..., :states] *= 1.0 + part
    q = x0[..., :n]
    near = np.abs(q).max(axis=-1, keepdims=True, initial=0.0) < NEAR_ZERO if zero_is_exact else False
    size = np.where(near, np.abs(q), np.maximum(np.abs(q), 1.0))
    out[..., :n] = q + part * np.where(q < 0.0, -size, size)
    return out


def compare(coarse: np.ndarray, fine: np.ndarray, t: np.ndarray, tolerance: float, factor: float = 1.0) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Errors of runs (..., S, m) found by repeating them, and the time until which both agree within the tolerance, (...,) each.

    Every coordinate is measured by its own size: the largest value it had so far, at least 1. Samples from the first one on
    that either of the two does not have are left out; the error is infinite when only the repetition ended early.
    """
    complete = np.isfinite(np.add.reduce(coarse, axis=None)) and np.isfinite(np.add.reduce(fine, axis=None))
    whole = [np.ones(x.shape[:-1], bool) if complete else np.isfinite(x).all(axis=-1) for x in (coarse, fine)]
    both = np.logical_and.accumulate(whole[0] & whole[1], axis=-1)
    a, b = (coarse, fine) if complete else (np.where(both[..., None], x, 0.0) for x in (coarse, fine))
    size = np.maximum.accumulate(np.abs(b), axis=-2)
    np.maximum(size, 1.0, out=size)
    off = a - b
    np.abs(off, out=off)
    off /= size
    off = off.max(axis=-1, initial=0.0) * factor
    error = off.max(axis=-1, initial=0.0)
    good = np.logical_and.accumulate(both & (off <= tolerance), axis=-1)
    trusted = np.where(good.any(axis=-1), t[np.maximum(good.sum(axis=-1) - 1, 0)], 0.0)
    alone = (whole[0] & ~whole[1]).any(axis=-1)
    return np.where(alone, np.inf, error), trusted


def decided_notes(decided: tuple[int, ...], count: int) -> tuple[str, ...]:
    """What is reported of runs that stood on the edge of what decides about them."""
    if not decided:
        return ()
    shown = ", ".join(str(k) for k in decided[:6]) + (" …" if len(decided) > 6 else "")
    which = "" if count == 1 else f" of run{'s' if len(decided) > 1 else ''} {shown}"
    return (
        f"The last digit of the start{which} decides the further motion: a start that differs only by rounding errors gives, on one side, a different motion.",
    )
