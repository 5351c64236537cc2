"""How sure an estimate is."""

from __future__ import annotations

import numpy as np
from scipy import stats


def normal_interval(estimates: np.ndarray, deviation: np.ndarray, confidence: float) -> np.ndarray:
    """(..., 2) the interval that holds the truth with that probability when errors are normal: estimate ± z·deviation."""
    half = stats.norm.ppf(0.5 + confidence / 2) * deviation
    return np.stack([estimates - half, estimates + half], axis=-1)
