"""Constant speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from manipula.algebra.arguments import LARGEST
from manipula.motion.timing.base import PiecewiseProfile, Profile, TimeLaw
from manipula.parts.field import Number


@dataclass(frozen=True)
class ConstantSpeed(TimeLaw):
    """s(t) = v t; starts and stops at once, so only a reference that is already moving follows it exactly."""

    speed: Annotated[float, Number("m/s", "speed v", above=0.0, most=LARGEST)]
    kind: ClassVar[str] = "constant_speed"

    def profile(self, length: float) -> Profile:
        return PiecewiseProfile([0.0, length / self.speed], [[0.0, self.speed]])


def constant_speed(speed: float) -> ConstantSpeed:
    """The whole path at ``speed`` [m/s]; T = length/speed."""
    return ConstantSpeed(speed)
