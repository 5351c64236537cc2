"""A table of times and arc lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from manipula.errors import DescriptionError, LengthError
from manipula.motion.timing.base import PiecewiseProfile, Profile, TimeLaw
from manipula.parts.field import Choice, Field, Numbers


@dataclass(frozen=True)
class TableLaw(TimeLaw):
    """s(t) through given points, never going back.

    ``linear``: constant speed between the points. ``monotone`` (default): piecewise cubic with continuous speed that
    cannot overshoot [Fritsch & Carlson 1980], at rest wherever the table rests. ``spline``: continuous acceleration,
    starting and ending at rest; refused when it would run backwards.
    """

    times: Annotated[tuple[float, ...], Numbers("s", "times from 0, increasing")]
    s: Annotated[
        tuple[float, ...],
        Numbers(
            "m or 1",
            "arc lengths (or fractions of the path) from 0, never decreasing",
            least=0.0,
            example=(0.0, 0.3, 0.7, 1.0),
        ),
    ]
    interpolation: Annotated[
        str,
        Choice(
            "linear: constant speed; monotone: smooth speed, no overshoot; spline: smooth acceleration",
            "linear",
            "monotone",
            "spline",
        ),
    ] = "monotone"
    unit: Annotated[
        str, Field("choice", "", "what s is measured in", choices=("length", "fraction"), example="fraction")
    ] = "length"
    kind: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        super().__post_init__()
        t, s = np.array(self.times), np.array(self.s)
        if t.shape != s.shape or len(t) < 2:
            raise LengthError(
                f"'times' and 's' must be two equal rows; found {len(t)} and {len(s)} numbers.", field="s"
            )
        if t[0] != 0 or np.any(np.diff(t) <= 0):
            raise DescriptionError("'times' must start at 0 and increase.", field="times")
        if s[0] != 0 or np.any(np.diff(s) < 0) or s[-1] <= 0:
            raise DescriptionError("'s' must start at 0 and never decrease.", field="s")

    def profile(self, length: float) -> Profile:
        t, s = np.array(self.times), np.array(self.s)
        end = length if self.unit == "length" else 1.0
        if abs(s[-1] - end) > 1e-6 * end:
            raise DescriptionError(
                f"The table of '{self.unit}' ends at s = {s[-1]:.9g}; it must end at {end:.9g}.", field="s"
            )
        s *= length / s[-1]
        if self.interpolation == "linear":
            return PiecewiseProfile(t, np.column_stack([s[:-1], np.diff(s) / np.diff(t)]))
        from scipy.interpolate import CubicSpline, PchipInterpolator

        if self.interpolation == "monotone":
            return PiecewiseProfile(t, PchipInterpolator(t, s).c[::-1].T)
        profile = PiecewiseProfile(t, CubicSpline(t, s, bc_type="clamped").c[::-1].T)
        if np.any(profile.evaluate(np.linspace(0, t[-1], 20 * len(t)), 1)[1] < -1e-9 * length / t[-1]):
            raise DescriptionError("A spline through this table would run backwards; use interpolation='monotone'.")
        return profile


def table(
    times: Sequence[float],
    s: Sequence[float],
    interpolation: Literal["linear", "monotone", "spline"] = "monotone",
    unit: Literal["length", "fraction"] = "length",
) -> TableLaw:
    """Arc lengths ``s`` [m], or fractions of the path, at ``times`` [s], both from 0."""
    return TableLaw(times, s, interpolation, unit)  # pyright: ignore[reportArgumentType]
