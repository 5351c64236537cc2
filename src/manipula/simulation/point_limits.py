"""Limits of points other than the tip, as they are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manipula.algebra.arguments import number
from manipula.errors import DescriptionError, printable, unknown_name
from manipula.simulation.point_motion import Point, read_point
from manipula.simulation.stated_limits import TIP_QUANTITIES

PointLimits = tuple[tuple[Point, dict[str, float]], ...]


def read_points(given: Any) -> PointLimits:
    """``{"elbow": {"velocity": 0.5}, ("link3", (0.1, 0, 0)): {"jerk": 9}}`` as points with their limits.

    Raises:
        DescriptionError: what is no point, no quantity of a point, or no limit.
    """
    if given is None:
        return ()
    if not isinstance(given, Mapping) or not given:
        raise DescriptionError(
            f"Limits by point are needed, {{'elbow': {{'velocity': 0.5}}}}; found {printable(repr(given), 80)}.",
            field="points",
        )
    out = []
    for key, wanted in given.items():
        where = read_point(key) if isinstance(key, str) else read_point(point=key)
        assert where is not None
        if not isinstance(wanted, Mapping) or not wanted:
            raise DescriptionError(
                f"Limits of a point are named: {{'velocity': 0.5}}; found {printable(repr(wanted), 80)}.",
                field="points",
            )
        for quantity in wanted:
            if quantity not in TIP_QUANTITIES:
                raise unknown_name("quantity of a point", quantity, TIP_QUANTITIES, field="points")
        sizes = {q: number(v, f"points.{q}") for q, v in wanted.items()}
        for quantity, size in sizes.items():
            if size < 0:
                raise DescriptionError(f"A limit is a number, zero or more; found {quantity} {size:g}.", field="points")
        out.append((where, sizes))
    return tuple(out)
