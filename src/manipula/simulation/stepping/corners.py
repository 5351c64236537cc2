"""Where a reference jumps: a corner passed with speed asks for an infinite torque, a jump of position for an infinite speed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory


JUMP = 1e-6  # of the largest value met, below which two sides count as one
CELLS = 4096  # in which a reference is searched for jumps that it does not announce
SUSPECT = 1e-3  # of the largest value: what a trapezoid may miss between two places without being looked at
APART = 10.0  # times what is missed around it: then less than that is looked at
MOST_SUSPECTS = 64
HALVINGS = 40
SHRINKS = 0.3  # a smooth function's miss falls by at least this in two halvings; that of a jump stays
SAME = 1e-9  # of the duration: jumps closer than this are one
ASIDE = 1e-10  # of the duration: so far on both sides of a jump it is measured
NAMES = ("position", "velocity")


class Jump(NamedTuple):
    """At time t the position (order 0) or the velocity (order 1) of a reference jumps by ``size``."""

    t: float
    order: int
    size: float


def jumps(reference: Trajectory, duration: float) -> list[Jump]:
    """Jumps inside a run of this duration, in the order of time: those the reference announces and those found by looking."""
    end = float(reference.duration)
    known = np.asarray(reference.breaks, float)
    inner = known[(known > 0.0) & (known < min(end, duration) * (1.0 - 1e-12))]
    t = np.linspace(0.0, min(end, duration), CELLS + 1)
    values = np.asarray(reference.derivatives(t, 2), float)
    size = [float(np.abs(v).max(initial=0.0)) for v in values]
    found: list[Jump] = []
    if len(inner):
        left, right = (np.asarray(reference.derivatives(inner, 1, side), float) for side in ("left", "right"))
        for order in (0, 1):
            off = np.linalg.norm(right[order] - left[order], axis=-1)
            found += [
                Jump(float(at), order, float(d)) for at, d in zip(inner, off) if d > JUMP * max(size[order], 1e-12)
            ]
    if duration > end * (1.0 + 1e-12):  # afterwards the reference rests
        speed = float(np.linalg.norm(np.asarray(reference.derivatives(end, 1, "left"), float)[1]))
        if speed > JUMP * max(size[1], 1e-12):
            found.append(Jump(end, 1, speed))
    at = {round(j.t, 9) for j in found} | {round(float(b), 9) for b in known}
    found += [j for j in _hidden(reference, t, values, size) if not any(abs(j.t - a) < 1e-7 for a in at)]
    return _together(sorted(found), duration)


def changes(reference: Trajectory, found: list[Jump]) -> tuple[np.ndarray, np.ndarray]:
    """Times (m,) of the jumps, and what position and velocity change by there, coordinate by coordinate: (2, m, dimension)."""
    t = np.unique([j.t for j in found])
    aside = ASIDE * float(reference.duration)
    after, before = (np.asarray(reference.derivatives(t + side, 1), float)[:2] for side in (aside, -aside))
    return t, hard(after - before, np.asarray(reference.derivatives(np.linspace(0.0, reference.duration, CELLS), 1)))


def hard(change: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Changes (orders, m, dimension) with zeros where they are rounding, beside the values (orders, S, dimension) of the motion."""
    size = np.abs(values).max(axis=(1, 2), initial=0.0)[:, None, None]
    return np.where(np.abs(change) > JUMP * np.maximum(size, 1e-12), change, 0.0)


def _together(found: list[Jump], duration: float) -> list[Jump]:
    """Two halves of one jump, which stands on the border of two intervals, as one."""
    out: list[Jump] = []
    for jump in found:
        same = next((k for k, j in enumerate(out) if j.order == jump.order and jump.t - j.t < SAME * duration), None)
        if same is None:
            out.append(jump)
        else:
            out[same] = out[same]._replace(size=out[same].size + jump.size)
    return out


def _hidden(reference: Trajectory, t: np.ndarray, values: np.ndarray, size: list[float]) -> list[Jump]:
    """Intervals in which a value changes by what its derivative does not explain, however short they are made."""
    found = []
    for order in (0, 1):
        if not np.isfinite(values[order : order + 2]).all():
            continue
        misses = _missed(values[order], values[order + 1], np.diff(t)[:, None])
        least = max(size[order], 1e-12)
        suspects = np.flatnonzero(
            (misses > SUSPECT * least) | ((misses > JUMP * least) & (misses > APART * _around(misses)))
        )
        for k in sorted(suspects, key=lambda k: -misses[k])[:MOST_SUSPECTS]:
            jump = _narrowed(reference, order, float(t[k]), float(t[k + 1]), float(misses[k]))
            if jump is not None:
                found.append(jump)
    return found


def _around(misses: np.ndarray) -> np.ndarray:
    """The larger of what is missed two intervals before and two behind: a smooth function misses nearly as much there."""
    far = np.pad(misses, 2, mode="edge")
    return np.maximum(far[:-4], far[4:])


def _missed(value: np.ndarray, slope: np.ndarray, h: Any) -> np.ndarray:
    return np.abs(np.diff(value, axis=0) - 0.5 * h * (slope[:-1] + slope[1:])).max(axis=-1)


def _narrowed(reference: Trajectory, order: int, low: float, high: float, first: float) -> Jump | None:
    before, now = first, first
    for k in range(HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        at = np.array([low, middle, high])
        d = np.asarray(reference.derivatives(at, 2), float)
        misses = _missed(d[order], d[order + 1], 0.5 * (high - low))
        half = int(np.argmax(misses))
        now, (low, high) = float(misses[half]), (float(at[half]), float(at[half + 1]))
        if k % 2:
            if now < SHRINKS * before:
                return None
            before = now
    return Jump(0.5 * (low + high), order, now)


def jumps_in_words(found: list[Jump], unit: str) -> str:
    """The jumps in words: "velocity by 0.13 m/s at t = 15 s, …"."""
    parts = [f"its {NAMES[j.order]} by {j.size:.3g} {unit}{'/s' * j.order} at t = {j.t:.6g} s" for j in found[:4]]
    more = f" and {len(found) - 4} times more" if len(found) > 4 else ""
    return ", ".join(parts) + more
