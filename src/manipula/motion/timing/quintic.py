"""The rest-to-rest polynomial of degree 5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from manipula.motion.paths.checks import positive
from manipula.motion.timing.base import PiecewiseProfile, Profile, TimeLaw

_COEFFICIENTS = (0, 0, 0, 10, -15, 6)


@dataclass(frozen=True)
class Quintic(TimeLaw):
    """s(t) = L (10σ³ − 15σ⁴ + 6σ⁵), σ = t/T: speed and acceleration 0 at both ends.

    Peak speed 1.875 L/T, peak acceleration 5.7735 L/T².
    """

    duration: float
    kind: ClassVar[str] = "quintic"

    def __post_init__(self) -> None:
        positive(self.duration, "duration")

    def profile(self, length: float) -> Profile:
        T = self.duration
        return PiecewiseProfile([0.0, T], [[length * c / T**k for k, c in enumerate(_COEFFICIENTS)]])


def quintic(duration: float) -> Quintic:
    """The motion takes ``duration`` [s]."""
    return Quintic(duration)
