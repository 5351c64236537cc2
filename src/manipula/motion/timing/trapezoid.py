"""Trapezoidal speed: accelerate, cruise, brake."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from manipula.algebra.arguments import LARGEST
from manipula.motion.timing.base import PiecewiseProfile, Profile, TimeLaw
from manipula.parts.field import Number


@dataclass(frozen=True)
class Trapezoid(TimeLaw):
    """Fastest rest-to-rest motion under limits of speed and acceleration.

    With a and d the accelerations of start and stop, the peak speed is v = min(v_max, √(2 L a d/(a + d))); it is a
    triangle when the second is smaller. T = L/v + v/2 (1/a + 1/d).
    """

    v_max: Annotated[float, Number("m/s", "largest speed", above=0.0, most=LARGEST)]
    a_max: Annotated[float, Number("m/s²", "largest acceleration", above=0.0, most=LARGEST)]
    d_max: Annotated[float | None, Number("m/s²", "largest deceleration; none: a_max", above=0.0, most=LARGEST)] = None
    kind: ClassVar[str] = "trapezoid"

    def profile(self, length: float) -> Profile:
        a, d = self.a_max, self.a_max if self.d_max is None else self.d_max
        v = min(self.v_max, math.sqrt(2 * length * a * d / (a + d)))
        up, down = v / a, v / d
        cruise = max(0.0, length / v - (up + down) / 2)
        times, rows = [0.0, up], [[0.0, 0.0, a / 2]]
        if cruise > 1e-12 * (up + down):
            rows.append([v * up / 2, v, 0.0])
            times.append(up + cruise)
        rows.append([length - v * down / 2, v, -d / 2])
        return PiecewiseProfile([*times, times[-1] + down], rows)


def trapezoid(v_max: float, a_max: float, d_max: float | None = None) -> Trapezoid:
    """Limits of speed [m/s], acceleration and (if different) deceleration [m/s²]."""
    return Trapezoid(v_max, a_max, d_max)
