"""How sure an estimate is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from manipula.algebra.arguments import number
from manipula.errors import DescriptionError


def normal_interval(estimates: np.ndarray, deviation: np.ndarray, confidence: float) -> np.ndarray:
    """(..., 2) the interval that holds the truth with that probability when errors are normal: estimate ± z·deviation."""
    half = stats.norm.ppf(0.5 + confidence / 2) * deviation
    return np.stack([estimates - half, estimates + half], axis=-1)


def confidence_level(value: Any) -> float:
    """A probability, neither 0 nor 1."""
    level = number(value, "confidence")
    if not 0.0 < level < 1.0:
        raise DescriptionError(f"The confidence lies between 0 and 1, found {level!r}.", field="confidence")
    return level
