r"""Rest-to-rest laws of a given duration: :math:`s(t) = L\,f(\sigma),\ \sigma = t/T`, with f from 0 to 1.

| law | f(σ) | at rest at both ends | peak of ṡ [L/T] | peak of s̈ [L/T²] |
|---|---|---|---|---|
| cubic | 3σ² − 2σ³ | ṡ (s̈ jumps) | 1.5 | 6 |
| quintic | 10σ³ − 15σ⁴ + 6σ⁵ | ṡ, s̈ | 1.875 | 5.7735 |
| septic | 35σ⁴ − 84σ⁵ + 70σ⁶ − 20σ⁷ | ṡ, s̈, jerk | 2.1875 | 7.5132 |
| cosine | (1 − cos πσ)/2 | ṡ (s̈ jumps) | π/2 | π²/2 |
| cycloid | σ − sin(2πσ)/2π | ṡ, s̈ | 2 | 2π |
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.motion.timing.base import LONGEST, SHORTEST, FunctionProfile, PiecewiseProfile, Profile, TimeLaw
from manipula.parts.field import Number

# powers of σ on equal pieces of [0, 1], each about its start; two expansions of the septic keep rounding at 1e-16
POLYNOMIALS: dict[str, tuple[tuple[float, ...], ...]] = {
    "cubic": ((0, 0, 3, -2),),
    "quintic": ((0, 0, 0, 10, -15, 6),),
    "septic": ((0, 0, 0, 0, 35, -84, 70, -20), (1 / 2, 35 / 16, 0, -35 / 4, 0, 21, 0, -20)),
}
FUNCTIONS: dict[str, Callable[[Any, float, float], Any]] = {  # of t, L, T
    "cosine": lambda t, L, T: L / 2 * (1.0 - ops.cos(math.pi / T * t)),
    "cycloid": lambda t, L, T: L * (t / T - ops.sin(2 * math.pi / T * t) / (2 * math.pi)),
}


@dataclass(frozen=True)
class RestToRest(TimeLaw):
    """The motion takes ``duration`` T [s], whatever the length."""

    duration: Annotated[float, Number("s", "duration T of the motion", least=SHORTEST, most=LONGEST)]

    def profile(self, length: float) -> Profile:
        T = self.duration
        if self.kind in FUNCTIONS:
            f = FUNCTIONS[self.kind]
            return FunctionProfile(lambda t: f(t, length, T), T, looked_at=False)
        rows = POLYNOMIALS[self.kind]
        breaks = np.linspace(0.0, T, len(rows) + 1)
        return PiecewiseProfile(breaks, [[length * c / T**k for k, c in enumerate(row)] for row in rows])


class Cubic(RestToRest):
    """s(t) = L (3σ² − 2σ³): speed 0 at both ends; the acceleration jumps there."""

    kind: ClassVar[str] = "cubic"


class Quintic(RestToRest):
    """s(t) = L (10σ³ − 15σ⁴ + 6σ⁵): speed and acceleration 0 at both ends."""

    kind: ClassVar[str] = "quintic"


class Septic(RestToRest):
    """s(t) = L (35σ⁴ − 84σ⁵ + 70σ⁶ − 20σ⁷): speed, acceleration and jerk 0 at both ends."""

    kind: ClassVar[str] = "septic"


class Cosine(RestToRest):
    """s(t) = L/2 (1 − cos πσ): speed 0 at both ends; the acceleration jumps there."""

    kind: ClassVar[str] = "cosine"


class Cycloid(RestToRest):
    """s(t) = L (σ − sin(2πσ)/2π): speed and acceleration 0 at both ends."""

    kind: ClassVar[str] = "cycloid"


def cubic(duration: float) -> Cubic:
    """The rest-to-rest polynomial of degree 3; the motion takes ``duration`` [s]."""
    return Cubic(duration)


def quintic(duration: float) -> Quintic:
    """The rest-to-rest polynomial of degree 5; the motion takes ``duration`` [s]."""
    return Quintic(duration)


def septic(duration: float) -> Septic:
    """The rest-to-rest polynomial of degree 7; the motion takes ``duration`` [s]."""
    return Septic(duration)


def cosine(duration: float) -> Cosine:
    """Half a cosine wave; the motion takes ``duration`` [s]."""
    return Cosine(duration)


def cycloid(duration: float) -> Cycloid:
    """The cycloidal law; the motion takes ``duration`` [s]."""
    return Cycloid(duration)
