"""External wrenches as numbers: formulas evaluated, functions asked, tables read, turned into axes of the world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from manipula.algebra import ops
from manipula.algebra.expression import parse
from manipula.algebra.linear import array, zeros
from manipula.algebra.ops import Scalar
from manipula.errors import DescriptionError, printable
from manipula.simulation.plant.disturbances import STATE_NAMES, Wrench, WrenchTable
from manipula.simulation.plant.surroundings import FrameMotion


def acting(d: Wrench | WrenchTable, t: Scalar, at: Callable[[], FrameMotion] | None = None) -> np.ndarray:
    """The six components of a wrench at time t in axes of the world, zero when it does not act.

    Args:
        at: gives the motion of its frame, for a wrench that depends on it.
    """
    if isinstance(d, WrenchTable):
        values: Any = d.at(t)
    else:
        on = (t >= d.start) & (t <= d.stop)
        if isinstance(on, (bool, np.bool_)) and not on:  # a formula need not be a number where it does not act
            return np.zeros(6)
        values = array([ops.where(on, v, 0.0) for v in _components(d, t, at)])
    if d.axes == "base":
        return values
    assert at is not None
    R = at().R
    return array([*(R @ values[:3]), *(R @ values[3:])])


def _components(d: Wrench, t: Scalar, at: Callable[[], FrameMotion] | None) -> list[Any]:
    """Force and moment as numbers, formulas evaluated, a function asked."""
    if callable(d.wrench):
        assert at is not None
        f = at()
        X = zeros(4, 4)
        X[:3, :3], X[:3, 3], X[3, 3] = f.R, f.p, 1.0
        found: Any = d.wrench(t, array(X), array([*f.v, *f.w]))
        if np.shape(found) != (6,):
            raise DescriptionError(
                f"The function of a wrench gives six numbers, found {printable(repr(found), 60)}.", field="disturbances"
            )
        return list(found)
    known: dict[str, Any] = {"t": t}
    if d.needs_state and any(isinstance(v, str) for v in d.wrench):
        assert at is not None
        f = at()
        known |= dict(zip(STATE_NAMES, (*f.p, *f.v, *roll_pitch_yaw(f.R), *f.w)))
    return [parse(v, tuple(known)).evaluate(known) if isinstance(v, str) else v for v in d.wrench]


def roll_pitch_yaw(R: np.ndarray) -> tuple[Scalar, Scalar, Scalar]:
    """Roll, pitch and yaw of a rotation of any scalar; at a pitch of ±π/2 roll and yaw are not unique."""
    level = ops.sqrt(R[2, 1] * R[2, 1] + R[2, 2] * R[2, 2])
    return ops.atan2(R[2, 1], R[2, 2]), ops.atan2(-R[2, 0], level), ops.atan2(R[1, 0], R[0, 0])
