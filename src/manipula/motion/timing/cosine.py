"""Half a cosine wave."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from manipula.algebra import ops
from manipula.motion.paths.checks import positive
from manipula.motion.timing.base import FunctionProfile, Profile, TimeLaw


@dataclass(frozen=True)
class Cosine(TimeLaw):
    """s(t) = L/2 (1 − cos πt/T): speed 0 at both ends; the acceleration jumps there.

    Peak speed π/2 L/T, peak acceleration π²/2 L/T².
    """

    duration: float
    kind: ClassVar[str] = "cosine"

    def __post_init__(self) -> None:
        positive(self.duration, "duration")

    def profile(self, length: float) -> Profile:
        w = math.pi / self.duration
        return FunctionProfile(lambda t: length / 2 * (1.0 - ops.cos(w * t)), self.duration)


def cosine(duration: float) -> Cosine:
    """The motion takes ``duration`` [s]."""
    return Cosine(duration)
