"""What an argument of a public function may be: numbers, whole numbers, flags and choices, with errors that name the argument."""

from __future__ import annotations

import inspect
import sys
from abc import ABC
from collections.abc import Iterable
from typing import Any

import numpy as np

from manipula.errors import BudgetError, DescriptionError, ShapeError, printable

LARGEST = 1e60  # of a length, mass or inertia; products of five such numbers still fit a double
SMALLEST = 1e-60  # of what must be greater than 0
MAX_NUMBERS = 6_400_000


def is_masked(value: Any) -> bool:
    """Is it a masked array, or a list that holds one? ``numpy.ma`` is not imported for the question: without it there is none."""
    if type(value) is np.ndarray or "numpy.ma" not in sys.modules:
        return False
    return isinstance(value, np.ma.MaskedArray) or (isinstance(value, (list, tuple)) and any(map(is_masked, value)))


def real_array(values: Any, name: str) -> np.ndarray:
    """``values`` as a float array; texts, truth values, complex numbers, masked arrays and uneven rows are refused."""
    if type(values) is np.ndarray and values.dtype == np.float64:
        return values
    if is_masked(values):
        raise DescriptionError(
            f"'{name}' is a masked array; every number is needed (its filled(...) has them).", field=name
        )
    try:
        raw = np.asarray(values)
        if raw.dtype.kind in "fiu":
            return raw.astype(float)
        if raw.dtype.kind == "O" and not any(isinstance(v, (str, bytes, bool, np.bool_)) for v in raw.ravel()):
            return raw.astype(float)
    except (TypeError, ValueError, OverflowError, RuntimeError, AttributeError):
        pass
    raise DescriptionError(f"'{name}' must be numbers in equal rows; found {printable(repr(values), 60)}.", field=name)


def finite_array(values: Any, name: str) -> np.ndarray:
    """``values`` as a new float array; nan, infinities and things that are not numbers are named in the error."""
    array = real_array(values, name)
    if array is values:
        array = array.copy()
    if array.size > MAX_NUMBERS:
        raise BudgetError(f"'{name}' has {array.size} numbers; at most {MAX_NUMBERS} are allowed.", field=name)
    good = np.abs(array) <= LARGEST
    if not good.all():
        worst = np.argwhere(~good)[0]
        place = "".join(f"[{i}]" for i in worst)
        raise DescriptionError(
            f"'{name}{place}' is {array[tuple(worst)]}; it must be a finite number, at most {LARGEST:g} in size.",
            field=name,
        )
    return array


def number(value: Any, name: str) -> float:
    """One finite number."""
    if type(value) is float and -LARGEST <= value <= LARGEST:
        return value
    array = finite_array(value, name)
    if array.shape != ():
        raise ShapeError(f"'{name}' must be one number; found shape {array.shape}.")
    return float(array)


def positive(value: Any, name: str) -> float:
    """One number greater than 0."""
    found = number(value, name)
    if found <= 0:
        raise DescriptionError(f"'{name}' is {found}; it must be greater than 0.", field=name)
    if found < SMALLEST:
        raise DescriptionError(f"'{name}' is {found}; the smallest that is allowed is {SMALLEST:g}.", field=name)
    return found


def between(value: Any, name: str, low: float, high: float) -> float:
    """One number low ≤ x ≤ high."""
    found = number(value, name)
    if not low <= found <= high:
        raise DescriptionError(f"'{name}' is {found:g}; it must lie between {low:g} and {high:g}.", field=name)
    return found


def whole_number(value: Any, name: str, low: int, high: int) -> int:
    """A whole number low ≤ k ≤ high; neither a text nor a truth value, and 3.0 only as 3."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise DescriptionError(f"'{name}' must be a whole number; found {printable(repr(value), 60)}.", field=name)
    if not low <= value <= high:
        raise BudgetError(f"'{name}' is {value}; allowed is {low} to {high}.", field=name)
    return int(value)


def flag(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise DescriptionError(f"'{name}' must be True or False; found {printable(repr(value), 60)}.", field=name)
    return bool(value)


def choice(value: Any, name: str, allowed: Iterable[str]) -> str:
    """One of several words."""
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        found = f"'{printable(value, 60)}'" if isinstance(value, str) else printable(repr(value), 60)
        raise DescriptionError(f"'{name}' is {found}; allowed: {', '.join(words)}.", field=name)
    return value


def rows_of(values: Any, name: str) -> tuple[Any, ...]:
    """The entries of a list, tuple or array; a text or a single thing is refused."""
    if isinstance(values, (list, tuple)) or (isinstance(values, np.ndarray) and values.ndim):
        return tuple(values)
    raise DescriptionError(f"'{name}' must be a list; found {printable(repr(values), 60)}.", field=name)


def function_of(value: Any, name: str, *arguments: str) -> Any:
    """A function that can be called with the named arguments by position."""
    if not callable(value) or isinstance(value, type):
        raise DescriptionError(
            f"'{name}' must be a function of ({', '.join(arguments)}); found {printable(repr(value), 60)}.", field=name
        )
    try:
        inspect.signature(value).bind(*arguments)
    except TypeError:
        raise DescriptionError(
            f"'{name}' must take {len(arguments)} arguments: ({', '.join(arguments)}).", field=name
        ) from None
    except ValueError:  # built in, its signature is not known
        pass
    return value


class Extensible:
    """What somebody may extend, with ``ABC`` beside it: a class whose methods cannot be called like those that it replaces is refused."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        roots = (c for c in reversed(cls.__mro__) if ABC in c.__bases__ and issubclass(c, Extensible))
        _check_overrides(cls, next(roots, cls))


def _check_overrides(kind: type, base: type) -> None:
    if kind.__module__.partition(".")[0] == "manipula":
        return
    for name, method in vars(kind).items():
        inherited = getattr(base, name, None)
        if name.startswith("_") or not inspect.isfunction(method) or not inspect.isfunction(inherited):
            continue
        arguments = tuple(inspect.signature(inherited).parameters)
        try:
            inspect.signature(method).bind(*arguments)
        except TypeError:
            raise DescriptionError(
                f"'{name}' of {kind.__name__} must take ({', '.join(arguments)}), like that of {base.__name__}; "
                f"found {inspect.signature(method)}.",
                field=name,
            ) from None
