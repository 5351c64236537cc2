"""Constant jerk in phases, scaled to the length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from manipula.algebra.arguments import finite_array, rows_of
from manipula.errors import DescriptionError
from manipula.motion.timing.base import PiecewiseProfile, Profile, TimeLaw, checked_duration, from_jerks


@dataclass(frozen=True)
class PiecewiseJerk(TimeLaw):
    """The jerk is k·(pattern) over phases that are fixed fractions of T; k makes s(T) the length.

    The default pattern +1, −1, +1 over ¼, ½, ¼ of T is the law of Khang & Trung's SCARA example (its third branch
    with the sign that makes it C²): jerk ±a with a = 32 L/T³, at rest at both ends.
    """

    duration: float
    pattern: tuple[float, ...] = (1.0, -1.0, 1.0)
    fractions: tuple[float, ...] = (0.25, 0.5, 0.25)
    kind: ClassVar[str] = "piecewise_jerk"

    def __post_init__(self) -> None:
        checked_duration(self.duration, "duration")
        pattern, fractions = finite_array(self.pattern, "pattern"), finite_array(self.fractions, "fractions")
        if pattern.ndim != 1 or pattern.shape != fractions.shape or not len(pattern):
            raise DescriptionError(
                f"'pattern' and 'fractions' must hold one number a phase; found {pattern.shape} and {fractions.shape}."
            )
        if np.any(fractions <= 0) or abs(float(fractions.sum()) - 1) > 1e-9:
            raise DescriptionError("'fractions' must be greater than 0 and add up to 1.", field="fractions")
        s, v, a = self._unit().evaluate(1.0, 2, "left")
        if s <= 0 or np.any(self._unit().evaluate(np.linspace(0, 1, 201), 1)[1] < -1e-9 * s):
            raise DescriptionError("This 'pattern' moves backwards.", field="pattern")
        if abs(v) > 1e-9 * s or abs(a) > 1e-9 * s:
            raise DescriptionError("This 'pattern' does not end at rest.", field="pattern")

    def _unit(self) -> PiecewiseProfile:
        return from_jerks(self.fractions, self.pattern)

    def profile(self, length: float) -> Profile:
        T = self.duration
        unit = float(self._unit().evaluate(1.0, 0)[0])
        k = length / (unit * T**3)
        return from_jerks([f * T for f in self.fractions], [k * j for j in self.pattern])


def piecewise_jerk(
    duration: float,
    pattern: Sequence[float] = (1.0, -1.0, 1.0),
    fractions: Sequence[float] = (0.25, 0.5, 0.25),
) -> PiecewiseJerk:
    """The motion takes ``duration`` [s]; the jerk follows ``pattern`` over ``fractions`` of it."""
    return PiecewiseJerk(duration, rows_of(pattern, "pattern"), rows_of(fractions, "fractions"))
