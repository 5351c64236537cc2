"""Constant jerk in phases, scaled to the length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from manipula.errors import DescriptionError, LengthError
from manipula.motion.timing.base import LONGEST, SHORTEST, PiecewiseProfile, Profile, TimeLaw, from_jerks
from manipula.parts.field import Number, Numbers


@dataclass(frozen=True)
class PiecewiseJerk(TimeLaw):
    """The jerk is k·(pattern) over phases that are fixed fractions of T; k makes s(T) the length.

    The default pattern +1, −1, +1 over ¼, ½, ¼ of T is the law of Khang & Trung's SCARA example (its third branch
    with the sign that makes it C²): jerk ±a with a = 32 L/T³, at rest at both ends.
    """

    duration: Annotated[float, Number("s", "duration T of the motion", least=SHORTEST, most=LONGEST)]
    pattern: Annotated[tuple[float, ...], Numbers("1", "jerk of every phase, relative to the others")] = (
        1.0,
        -1.0,
        1.0,
    )
    fractions: Annotated[
        tuple[float, ...], Numbers("1", "share of the duration that every phase takes; they add up to 1", above=0.0)
    ] = (0.25, 0.5, 0.25)
    kind: ClassVar[str] = "piecewise_jerk"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.pattern) != len(self.fractions) or not self.pattern:
            raise LengthError(
                f"'pattern' and 'fractions' must hold one number per phase; found {len(self.pattern)} and {len(self.fractions)}.",
                field="fractions",
            )
        if abs(sum(self.fractions) - 1) > 1e-9:
            raise DescriptionError("'fractions' must add up to 1.", field="fractions")
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
    duration: float, pattern: Sequence[float] = (1.0, -1.0, 1.0), fractions: Sequence[float] = (0.25, 0.5, 0.25)
) -> PiecewiseJerk:
    """The motion takes ``duration`` [s]; the jerk follows ``pattern`` over ``fractions`` of it."""
    return PiecewiseJerk(duration, pattern, fractions)  # pyright: ignore[reportArgumentType]
