"""The cycloidal law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from manipula.algebra import ops
from manipula.motion.paths.checks import positive
from manipula.motion.timing.base import FunctionProfile, Profile, TimeLaw


@dataclass(frozen=True)
class Cycloid(TimeLaw):
    """s(t) = L (t/T − sin(2πt/T)/2π): speed and acceleration 0 at both ends.

    Peak speed 2 L/T, peak acceleration 2π L/T².
    """

    duration: float
    kind: ClassVar[str] = "cycloid"

    def __post_init__(self) -> None:
        positive(self.duration, "duration")

    def profile(self, length: float) -> Profile:
        T, turn = self.duration, 2 * math.pi
        return FunctionProfile(lambda t: length * (t / T - ops.sin(turn / T * t) / turn), T)


def cycloid(duration: float) -> Cycloid:
    """The motion takes ``duration`` [s]."""
    return Cycloid(duration)
