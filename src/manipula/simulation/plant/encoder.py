"""What is measured of joints and motors: positions in whole steps, speeds from their differences."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

from manipula.algebra import ops
from manipula.algebra.fields import freeze, per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.errors import DescriptionError
from manipula.parts.checks import check_part
from manipula.parts.field import AnglePerJoint, Choice, PerJoint

VELOCITIES = ("exact", "difference")


@dataclass(frozen=True)
class Encoder:
    r"""Positions :math:`y_k = r\,\mathrm{round}(q(t_k)/r)` in steps of the resolution r; speeds as they are, or as drives make them:

    .. math:: v_k = v_{k-1} + \left(1 - e^{-T/\tau}\right)\left(\frac{y_k - y_{k-1}}{T} - v_{k-1}\right),\qquad v_0 = 0

    read once every control period T. Where motors are measured, their encoders are of the same kind. Noise is added before.
    """

    resolution: Annotated[
        Any, AnglePerJoint("rad or m", "smallest step of a measured position; none: continuous", above=0.0)
    ] = None
    velocity: Annotated[str, Choice("how speeds are measured", *VELOCITIES)] = "exact"
    filter_time: Annotated[
        Any, PerJoint("s", "time constant τ of the filter behind the difference; none: no filter", above=0.0)
    ] = None

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)
        if self.filter_time is not None and self.velocity == "exact":
            raise DescriptionError(
                'The filter smooths speeds made from differences of positions; with velocity = "exact" it would never act.',
                field="filter_time",
            )
        if not self.acts:
            raise DescriptionError(
                'It measures the state itself and would never act: give a resolution, or velocity = "difference"; without an encoder '
                "positions and speeds are measured as they are.",
                field="resolution",
            )

    @classmethod
    def perfect(cls) -> Encoder:
        """The one that a run has when none is given: the state itself is measured."""
        made = object.__new__(cls)
        for f in fields(cls):
            object.__setattr__(made, f.name, f.default)
        return made

    @property
    def acts(self) -> bool:
        """Does it measure anything else than the state itself?"""
        return self.resolution is not None or self.velocity != "exact"

    def position(self, q: Vector, n: int) -> Vector:
        """Measured positions; of several groups of n joints or motors behind each other."""
        if self.resolution is None:
            return q
        steps = list(per_joint(self.resolution, n)) * (len(q) // n)
        return array([r * ops.floor(v / r + 0.5) for v, r in zip(q, steps)])

    def speed(self, before: Vector, position: Vector, speed: Vector, period: Scalar, n: int) -> Vector:
        """The speed told at an instant, from the measured position, and position and speed told a period before."""
        raw = (position - before) / period
        if self.filter_time is None:
            return array(raw)
        share = [1.0 - ops.exp(-period / tau) for tau in per_joint(self.filter_time, n)] * (len(position) // n)
        return array([v + a * (new - v) for v, a, new in zip(speed, share, raw)])


PERFECT = Encoder.perfect()
