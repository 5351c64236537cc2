"""Jerk-limited rest-to-rest motion: the double S."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from manipula.algebra.arguments import LARGEST
from manipula.motion.timing.base import PiecewiseProfile, Profile, TimeLaw, jerk_pieces
from manipula.parts.field import Number


@dataclass(frozen=True)
class DoubleS(TimeLaw):
    """Fastest rest-to-rest motion under limits of speed, acceleration and jerk.

    Seven phases of jerk +j 0 −j 0 −j 0 +j; the speed is two S curves around a cruise. T_j is the length of a jerk phase,
    T_a of the whole acceleration [Biagiotti & Melchiorri, *Trajectory Planning for Automatic Machines*, §3.4.2]:

    - limits of v (and a) reached: T_j = a/j, T_a = T_j + v/a if v j ≥ a², else T_j = √(v/j), T_a = 2 T_j;
      the cruise takes L/v − T_a;
    - too short to reach v: T_a = T_j/2 + √(T_j²/4 + L/a) with T_j = a/j while that is at least 2 T_j,
      else T_j = ∛(L/2j), T_a = 2 T_j.
    """

    v_max: Annotated[float, Number("m/s", "largest speed", above=0.0, most=LARGEST)]
    a_max: Annotated[float, Number("m/s²", "largest acceleration", above=0.0, most=LARGEST)]
    j_max: Annotated[float, Number("m/s³", "largest jerk", above=0.0, most=LARGEST)]
    kind: ClassVar[str] = "double_s"

    def profile(self, length: float) -> Profile:
        return double_s_profile(length, self.v_max, self.a_max, self.j_max)


def double_s_phases(length: float, v: float, a: float, j: float) -> tuple[float, float, float, float]:
    """Lengths of a jerk phase, of constant acceleration and of the cruise of :class:`DoubleS` over a length, and the jerk."""
    if v * j >= a * a:
        rise, ramp = a / j, a / j + v / a
    else:
        rise = math.sqrt(v / j)
        ramp = 2 * rise
    cruise = length / v - ramp
    if cruise < 0:
        cruise = 0.0
        if length >= 2 * a**3 / j**2:
            rise = a / j
            ramp = rise / 2 + math.sqrt(rise**2 / 4 + length / a)
        else:
            rise = (length / (2 * j)) ** (1 / 3)
            ramp = 2 * rise
    steady = ramp - 2 * rise
    steady = steady if steady > 1e-12 * ramp else 0.0
    cruise = cruise if cruise > 1e-12 * ramp else 0.0
    # the jerk that makes the phases add up to the length exactly; differs from j_max by rounding only
    return rise, steady, cruise, length / (rise * (rise + steady) * (2 * rise + steady + cruise))


def double_s_profile(length: float, v: float, a: float, j: float) -> PiecewiseProfile:
    """:class:`DoubleS` over a length, for limits v, a, j."""
    return PiecewiseProfile(*double_s_pieces(length, v, a, j))


def double_s_pieces(length: float, v: float, a: float, j: float) -> tuple[list[float], list[list[float]]]:
    """Breaks and coefficients of :func:`double_s_profile`."""
    rise, steady, cruise, jerk = double_s_phases(length, v, a, j)
    phases = [rise, steady, rise, cruise, rise, steady, rise]
    return jerk_pieces(phases, [jerk, 0.0, -jerk, 0.0, -jerk, 0.0, jerk])


def double_s(v_max: float, a_max: float, j_max: float) -> DoubleS:
    """Limits of speed [m/s], acceleration [m/s²] and jerk [m/s³]."""
    return DoubleS(v_max, a_max, j_max)
