"""The rest-to-rest polynomial of degree 3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from manipula.motion.paths.checks import positive
from manipula.motion.timing.base import PiecewiseProfile, Profile, TimeLaw

_COEFFICIENTS = (0, 0, 3, -2)


@dataclass(frozen=True)
class Cubic(TimeLaw):
    """s(t) = L (3σ² − 2σ³), σ = t/T: speed 0 at both ends; the acceleration jumps there.

    Peak speed 1.5 L/T, peak acceleration 6 L/T².
    """

    duration: float
    kind: ClassVar[str] = "cubic"

    def __post_init__(self) -> None:
        positive(self.duration, "duration")

    def profile(self, length: float) -> Profile:
        T = self.duration
        return PiecewiseProfile([0.0, T], [[length * c / T**k for k, c in enumerate(_COEFFICIENTS)]])


def cubic(duration: float) -> Cubic:
    """The motion takes ``duration`` [s]."""
    return Cubic(duration)
