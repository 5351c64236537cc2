"""A path or time law that somebody wrote, asked for positions alone and for derivatives: both must be the same motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra.scattered import Scattered
from manipula.errors import DescriptionError
from manipula.identity import is_own

PLACES = 16
SAME = 1e-7  # of the largest value
NEAR = 1e-6  # of the duration, on either side of a place
SLOPE = 1e-2  # of the largest velocity: what a difference quotient may miss


def check_own_reference(reference: Any, field: str = "reference") -> None:
    """Code that catches exceptions or looks at types may give another motion when it is differentiated, without anybody noticing.

    Raises:
        DescriptionError: when positions differ, or velocities are not the rate of the positions at most places (a corner is one of few).
    """
    if reference is None or is_own(reference):
        return
    T = float(reference.duration)
    t = T * Scattered(4).uniform(0.02, 0.98, PLACES)
    with np.errstate(all="ignore"):
        alone = [np.asarray(reference.derivatives(t + side * NEAR * T, 0), float)[0] for side in (-1.0, 0.0, 1.0)]
        both = np.asarray(reference.derivatives(t, 2), float)
    size = 1e-12 + float(np.nanmax(np.abs(alone[1]), initial=0.0))
    if np.any(np.abs(both[0] - alone[1]) > SAME * size):
        raise DescriptionError(
            "Differentiated it passes other positions than by itself (does it catch exceptions, or look at types?); write it with "
            "manipula.algebra.ops.",
            field=field,
        )
    slope = (alone[2] - alone[0]) / (2.0 * NEAR * T)
    fast = 1e-9 * size / (NEAR * T) + SLOPE * float(np.nanmax(np.abs(slope), initial=0.0))
    if np.mean((np.abs(both[1] - slope) > fast).any(axis=-1)) > 0.5:
        raise DescriptionError(
            "Its velocity is not the rate at which its position changes (does it catch exceptions, or look at types?); write it with "
            "manipula.algebra.ops.",
            field=field,
        )
