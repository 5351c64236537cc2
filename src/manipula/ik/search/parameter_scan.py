r"""Every value of the free parameter of a redundant arm: is there a posture within the limits at all?

A closed form with a free parameter φ (arm angle, angle of one joint) gives all postures of one φ. How far the best of them is beyond
the limits, v(φ), is looked at on a grid around the circle; the deepest valleys are then divided again and again until v is zero, or until
the slopes on both sides show that it cannot become zero.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from manipula.ik.search.joint_box import JointBox

GRID = 96  # values around the circle
VALLEYS = 4  # that are looked at more closely
FINER = 8  # parts into which the surroundings of a valley are divided
LEVELS = 12  # times: 2π/96/4¹² is 4e-9
TOUCHING = 1e-9  # rad or m beyond a limit that clipping may take away


class Scan(NamedTuple):
    """The postures least beyond the limits, one a valley, best first, and by how much; none when no φ has a posture."""

    q: np.ndarray
    beyond: np.ndarray


def scan(solver: Any, joint_box: JointBox, X: np.ndarray) -> Scan:
    """Search the free parameter of a closed form for one pose X (4, 4)."""
    phi = np.linspace(-math.pi, math.pi, GRID, endpoint=False)
    width = 2.0 * math.pi / GRID
    q, v = _least(solver, joint_box, X, phi)
    if v.min() <= TOUCHING or not np.isfinite(v).any():
        return _sorted(q, v)
    rising = (v <= np.roll(v, 1)) & (v <= np.roll(v, -1)) & np.isfinite(v)
    lowest = np.flatnonzero(rising)[np.argsort(v[rising], kind="stable")[:VALLEYS]]
    centre, q, v = phi[lowest], q[lowest], v[lowest]
    for _ in range(LEVELS):
        around = np.linspace(-1.0, 1.0, 2 * (FINER // 2) + 1) * width
        rows, values = _least(solver, joint_box, X, (centre[:, None] + around).ravel())
        rows, values = rows.reshape(len(centre), -1, q.shape[1]), values.reshape(len(centre), -1)
        best = np.argmin(values, axis=1)
        which = np.arange(len(centre))
        centre, q, v = centre + around[best], rows[which, best], values[which, best]
        if v.min() <= TOUCHING:
            break
        sides = np.minimum(
            values[which, np.maximum(best - 1, 0)], values[which, np.minimum(best + 1, values.shape[1] - 1)]
        )
        open_ = ~(v - 2.0 * np.abs(sides - v) > TOUCHING) | ~np.isfinite(sides)
        if not open_.any():
            break
        width *= 2.0 / FINER
    return _sorted(q, v)


def _least(solver: Any, joint_box: JointBox, X: np.ndarray, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every φ the posture least beyond the limits and by how much (infinite where there is none)."""
    rows = solver.solve_batch(np.broadcast_to(X, (len(phi), 4, 4)), phi)
    with np.errstate(invalid="ignore"):
        rows, beyond = joint_box.beyond_by(rows)
    best = np.argmin(beyond, axis=1)
    which = np.arange(len(phi))
    return rows[which, best], beyond[which, best]


def _sorted(q: np.ndarray, v: np.ndarray) -> Scan:
    order = np.argsort(v, kind="stable")[:VALLEYS]
    order = order[np.isfinite(v[order])]
    return Scan(q[order], v[order])
