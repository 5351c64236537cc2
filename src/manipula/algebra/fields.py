"""Fields of frozen parts (gains, weights): plain values, and one number for all joints or one per joint."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from manipula.algebra.arguments import is_masked
from manipula.algebra.linear import array
from manipula.errors import DescriptionError, unknown_name


def freeze(instance: Any) -> None:
    """Make the fields of a frozen dataclass plain: lists and arrays become tuples, whole numbers become floats."""
    for f in fields(instance):
        object.__setattr__(instance, f.name, _plain(getattr(instance, f.name)))


def check_field_names(instance: Any, names: Iterable[str]) -> None:
    """Refuse names that are no fields of a dataclass.

    Raises:
        UnknownNameError: with the nearest field.
    """
    known = {f.name for f in fields(instance)}
    for name in names:
        if name not in known:
            raise unknown_name(f"field of {type(instance).__name__}", name, sorted(known))


def _plain(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float, np.floating, np.integer)):
        try:
            return float(value)
        except OverflowError:  # a whole number beyond all floats
            return float("inf") if value > 0 else float("-inf")
    if is_masked(value):
        raise DescriptionError(
            "A masked array is no list of numbers; every number is needed (its filled(...) has them)."
        )
    if isinstance(value, np.ndarray) and not value.ndim:
        return _plain(value[()])
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple(_plain(v) for v in value)
    return value


def per_joint(gain: Any, n: int) -> np.ndarray:
    """A gain as a vector: one number for all, or one for each."""
    if isinstance(gain, tuple):
        return array(gain)
    return array([gain] * n)
