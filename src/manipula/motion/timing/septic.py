"""The rest-to-rest polynomial of degree 7."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from manipula.motion.paths.checks import positive
from manipula.motion.timing.base import PiecewiseProfile, Profile, TimeLaw

_FIRST = (0, 0, 0, 0, 35, -84, 70, -20)  # about σ = 0
_SECOND = (1 / 2, 35 / 16, 0, -35 / 4, 0, 21, 0, -20)  # about σ = ½; two expansions keep rounding at 1e-16


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
        rows = [[length * c / T**k for k, c in enumerate(row)] for row in (_FIRST, _SECOND)]
        return PiecewiseProfile([0.0, T / 2, T], rows)


def septic(duration: float) -> Septic:
    """The motion takes ``duration`` [s]."""
    return Septic(duration)
