"""Constant speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from manipula.algebra.arguments import positive
from manipula.motion.timing.base import PiecewiseProfile, Profile, TimeLaw


@dataclass(frozen=True)
class ConstantSpeed(TimeLaw):
    """s(t) = v t; starts and stops at once, so only a reference that is already moving follows it exactly."""

    speed: float
    kind: ClassVar[str] = "constant_speed"

    def __post_init__(self) -> None:
        positive(self.speed, "speed")

    def profile(self, length: float) -> Profile:
        return PiecewiseProfile([0.0, length / self.speed], [[0.0, self.speed]])


def constant_speed(speed: float) -> ConstantSpeed:
    """The whole path at ``speed`` [m/s]; T = length/speed."""
    return ConstantSpeed(speed)
