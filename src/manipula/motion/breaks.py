"""Which piece a number lies on, among increasing breaks."""

from __future__ import annotations

from typing import Literal

import numpy as np

Side = Literal["right", "left"]


def located(breaks: np.ndarray, x: np.ndarray, slack: float, side: Side) -> tuple[np.ndarray, np.ndarray]:
    """Numbers (N,) between the first and the last break, taken onto a break within ``slack``; and the pieces they lie on.

    On a break ``side="right"`` is the piece behind it, ``"left"`` the one before; the last break has the last piece only.
    """
    last = len(breaks) - 1
    near = np.clip(np.searchsorted(breaks, x), 1, last)
    near -= x - breaks[near - 1] < breaks[near] - x
    x = np.where(np.abs(x - breaks[near]) <= slack, breaks[near], x)
    return x, np.clip(np.searchsorted(breaks, x, side=side) - 1, 0, last - 1)


def located_one(breaks: np.ndarray, x: float, slack: float, side: Side) -> tuple[float, int]:
    """The same for one number in plain numbers."""
    last = len(breaks) - 1
    near = min(max(int(breaks.searchsorted(x)), 1), last)
    before, after = breaks.item(near - 1), breaks.item(near)
    closest = before if x - before < after - x else after
    x = closest if abs(x - closest) <= slack else x
    return x, min(max(int(breaks.searchsorted(x, side=side)) - 1, 0), last - 1)
