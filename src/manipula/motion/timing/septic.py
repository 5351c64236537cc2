"""The rest-to-rest polynomial of degree 7."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from manipula.motion.paths.checks import positive
from manipula.motion.timing.base import PiecewiseProfile, Profile, TimeLaw

_COEFFICIENTS = (0, 0, 0, 0, 35, -84, 70, -20)


@dataclass(frozen=True)
class Septic(TimeLaw):
    """s(t) = L (35σ⁴ − 84σ⁵ + 70σ⁶ − 20σ⁷), σ = t/T: speed, acceleration and jerk 0 at both ends.

    Peak speed 2.1875 L/T, peak acceleration 7.5132 L/T².
    """

    duration: float
    kind: ClassVar[str] = "septic"

    def __post_init__(self) -> None:
        positive(self.duration, "duration")

    def profile(self, length: float) -> Profile:
        T = self.duration
        return PiecewiseProfile([0.0, T], [[length * c / T**k for k, c in enumerate(_COEFFICIENTS)]])


def septic(duration: float) -> Septic:
    """The motion takes ``duration`` [s]."""
    return Septic(duration)
