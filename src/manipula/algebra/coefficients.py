"""Arithmetic of the coefficients of a power series: floats, symbols, traced numbers, arrays over a grid, or series themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np


def _is_series(x: Any) -> TypeGuard[Any]:
    return hasattr(type(x), "coefficients")


def is_zero(c: Any) -> bool:
    """True only for a plain number 0; an array or symbol that happens to vanish is not looked at."""
    return isinstance(c, (float, int)) and c == 0


def times(a: Any, b: Any) -> Any:
    """``a b``; an array meets every coefficient of a series."""
    if isinstance(b, np.ndarray) and _is_series(a):
        return a.map(lambda c: times(c, b))
    if isinstance(a, np.ndarray) and _is_series(b):
        return b.map(lambda c: times(a, c))
    return a * b


def plus(a: Any, b: Any) -> Any:
    """``a + b``; an array is added to the value of a series."""
    if isinstance(b, np.ndarray) and _is_series(a):
        return type(a)((plus(a.coefficients[0], b), *a.coefficients[1:]), a.level)
    if isinstance(a, np.ndarray) and _is_series(b):
        return plus(b, a)
    return a + b


def over(a: Any, b: Any) -> Any:
    """``a / b``; a vanishing float divisor raises ZeroDivisionError: the function has no derivative there."""
    if isinstance(b, np.ndarray) and _is_series(a):
        return a.map(lambda c: over(c, b))
    if isinstance(a, np.ndarray) and _is_series(b):
        return times(a, 1.0 / b)
    if isinstance(b, np.floating):
        return a / float(b)
    return a / b


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """Σ a_i b_i without the terms that are structurally zero."""
    total: Any = None
    for x, y in zip(a, b):
        if not (is_zero(x) or is_zero(y)):
            product = times(x, y)
            total = product if total is None else plus(total, product)
    return 0.0 if total is None else total


def scaled(c: Any, factor: float) -> Any:
    """``c`` times a number."""
    return 0.0 if is_zero(c) else c * factor
