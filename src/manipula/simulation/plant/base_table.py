r"""The motion of a base as a table of polynomials, and its derivatives.

A motion in task space is three coordinates, or where it says how it is turned seven: x y z and a quaternion, whose length is divided out
(``motion/pose_motion.py``). The table meets position, velocity and acceleration of the motion to 1e-12 of their size, or to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula import native
from manipula.algebra.ops import Scalar
from manipula.motion.piecewise import PiecewiseTrajectory
from manipula.motion.pose_motion import COORDINATES, PoseMotion
from manipula.motion.pose_table import PoseTable, rotation_series
from manipula.redundancy.orientation import TurnTarget, turn_target

TOLERANCE = 1e-12
LAST = 2e-12  # of a time of size 1: so long the last piece goes on, for a run that ends with its base but for rounding


def table_of(motion: Any) -> PiecewiseTrajectory:
    """The motion as pieces of polynomials of degree 5, with three coordinates, or seven where it is turned."""
    if isinstance(motion, PiecewiseTrajectory) and motion.dimension in (3, COORDINATES):
        return motion
    if isinstance(motion, PoseTable):
        return motion.table
    turned = getattr(motion, "has_orientation", False)
    table = (PoseMotion(motion) if turned else motion).to_piecewise(TOLERANCE)
    missing = 3 - table.dimension
    if missing <= 0:
        return table
    return PiecewiseTrajectory(table.breaks, np.pad(table.coefficients, ((0, 0), (0, 0), (0, missing))), "task")


def start_of_motion(motion: Any) -> PiecewiseTrajectory:
    """A table of one piece that begins like the motion: with its position, velocity and acceleration."""
    turned = getattr(motion, "has_orientation", False)
    if isinstance(motion, PoseTable):
        motion, turned = motion.table, False
    p, v, a = PoseMotion(motion).start if turned else np.asarray(motion.derivatives(0.0, 2), float)
    coefficients = np.zeros((1, 6, max(3, len(p))))
    coefficients[0, :3, : len(p)] = p, v, 0.5 * a
    return PiecewiseTrajectory(np.array([0.0, float(motion.duration)]), coefficients, "task")


def table_for_a_run(motion: Any) -> PiecewiseTrajectory:
    """The same for a run that may end where the motion does, with a speed: rounding of its last instant does not stop the base."""
    table = table_of(motion)
    breaks = table.breaks.copy()
    breaks[-1] += LAST * (1.0 + breaks[-1])
    return PiecewiseTrajectory(breaks, table.coefficients, "task")


def tabled_state(table: PiecewiseTrajectory, t: Scalar) -> tuple[Any, Any, Any, TurnTarget | None]:
    """Origin, its velocity and acceleration, and how the base is turned, where the table says so."""
    read = native.table(*table.native_table())
    rows = [read(t), read.derivative(1)(t), read.derivative(2)(t)]
    p, v, a = (np.asarray(row)[:3] for row in rows)
    return p, v, a, turn_target(*(row[3:] for row in rows)) if table.dimension == COORDINATES else None


def motion_rates(motion: Any, t: np.ndarray, order: int, side: Any = "right") -> tuple[np.ndarray, np.ndarray | None]:
    """The motion itself and its derivatives at times t (S,): (order + 1, S, 3), and the same of R (order + 1, S, 3, 3) or None."""
    end = float(motion.duration)
    t = np.where(t <= end + LAST * (1.0 + end), np.minimum(t, end), t)
    exact = getattr(motion, "rotation_rates", None)
    if motion.dimension == COORDINATES or (getattr(motion, "has_orientation", False) and exact is None):
        rows = table_of(motion).derivatives(t, order, side)
        return rows[..., :3], rotation_series(rows[..., 3:])
    p, R = np.asarray(motion.derivatives(t, order, side), float), None
    if exact is not None and motion.has_orientation:
        R = np.asarray(exact(t, order, side), float)
    full = np.zeros((order + 1, len(t), 3))
    full[..., : p.shape[-1]] = p
    return full, R
