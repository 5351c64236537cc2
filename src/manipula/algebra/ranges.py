r"""Ranges of numbers: what a formula can give where its argument lies between two ends.

:math:`f([a, b]) \supseteq \{f(x) : a \le x \le b\}`, every operation on arrays of ranges at once. What is computed is never too small (but
for rounding); it is too large where a number occurs twice (:math:`x - x`). As coefficients of Taylor numbers ranges give ranges of derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from manipula.algebra.jet import Jet

HALF_TURN = np.pi


class Unsure:
    """Outcome of comparing ranges: ``yes`` where it holds for certain, ``no`` where it certainly does not; neither: it depends."""

    def __init__(self, yes: Any, no: Any) -> None:
        self.yes, self.no = np.asarray(yes, bool), np.asarray(no, bool)

    def select(self, a: Any, b: Any) -> Range:
        """``a`` where the condition holds, else ``b``; both together, and torn, where that is not certain."""
        a, b = as_range(a), as_range(b)
        low = np.where(self.yes, a.low, np.where(self.no, b.low, np.minimum(a.low, b.low)))
        high = np.where(self.yes, a.high, np.where(self.no, b.high, np.maximum(a.high, b.high)))
        torn = np.where(self.yes, a.torn, np.where(self.no, b.torn, True))
        return Range(low, high, torn)

    def __and__(self, other: Any) -> Unsure:
        other = as_unsure(other)
        return Unsure(self.yes & other.yes, self.no | other.no)

    def __or__(self, other: Any) -> Unsure:
        other = as_unsure(other)
        return Unsure(self.yes | other.yes, self.no & other.no)

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Unsure:
        return Unsure(self.no, self.yes)

    def __bool__(self) -> bool:
        raise TypeError("A comparison of ranges is no single answer.")


class Range:
    """Numbers between ``low`` and ``high``, arrays of one shape.

    Attributes:
        torn: where what was computed need not be continuous, so that a derivative says nothing of the change.
    """

    __array_priority__ = 1000
    __array_ufunc__ = None

    def __init__(self, low: Any, high: Any, torn: Any = False) -> None:
        self.low, self.high = np.asarray(low, float), np.asarray(high, float)
        bad = np.isnan(self.low) | np.isnan(self.high)
        if bad.any():
            self.low, self.high = np.where(bad, -np.inf, self.low), np.where(bad, np.inf, self.high)
            torn = torn | bad
        self.torn = np.asarray(torn, bool)

    @property
    def size(self) -> np.ndarray:
        """The largest absolute value."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def _monotonic(self, f: Callable[[np.ndarray], np.ndarray], torn: Any = False) -> Range:
        return Range(f(self.low), f(self.high), self.torn | torn)

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low, self.torn)

    def __pos__(self) -> Range:
        return self

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Jet):
            return NotImplemented  # a coefficient beside a series
        other = as_range(other)
        return Range(self.low + other.low, self.high + other.high, self.torn | other.torn)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Jet):
            return NotImplemented  # a coefficient beside a series
        return self + -as_range(other)

    def __rsub__(self, other: Any) -> Range:
        return as_range(other) - self

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Jet):
            return NotImplemented  # a coefficient beside a series
        if other is self:
            return self**2
        other = as_range(other)
        products = [_product(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        low = np.minimum(np.minimum(*products[:2]), np.minimum(*products[2:]))
        return Range(low, np.maximum(np.maximum(*products[:2]), np.maximum(*products[2:])), self.torn | other.torn)

    __rmul__ = __mul__

    def _inverse(self) -> Range:
        pole = (self.low <= 0.0) & (self.high >= 0.0)
        low, high = np.where(pole, 1.0, self.low), np.where(pole, 1.0, self.high)
        return Range(
            np.where(pole, np.where(self.low == 0.0, 1.0 / np.where(self.high > 0.0, self.high, 1.0), -np.inf), 1.0 / high),
            np.where(pole, np.where(self.high == 0.0, 1.0 / np.where(self.low < 0.0, self.low, 1.0), np.inf), 1.0 / low),
            self.torn | pole,
        )  # fmt: skip

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Jet):
            return NotImplemented  # a coefficient beside a series
        return self * as_range(other)._inverse()

    def __rtruediv__(self, other: Any) -> Range:
        return as_range(other) * self._inverse()

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, Jet):
            return NotImplemented  # a coefficient beside a series
        if isinstance(exponent, Range):
            return (exponent * self.log()).exp()
        if not float(exponent).is_integer():
            base = Range(np.maximum(self.low, 0.0), np.maximum(self.high, 0.0), self.torn | (self.low < 0.0))
            return (
                base._monotonic(lambda x: x**exponent)
                if exponent > 0
                else base._monotonic(lambda x: x**-exponent)._inverse()
            )
        k = int(exponent)
        if k < 0:
            return (self**-k)._inverse()
        if k % 2:
            return self._monotonic(lambda x: x**k)
        a, b = self.low**k, self.high**k
        through = (self.low <= 0.0) & (self.high >= 0.0)
        return Range(np.where(through, 0.0 if k else 1.0, np.minimum(a, b)), np.maximum(a, b), self.torn)

    def __rpow__(self, base: Any) -> Range:
        return (self * np.log(base)).exp()

    def exp(self) -> Range:
        return self._monotonic(np.exp)

    def log(self) -> Range:
        """Of the positive part."""
        low, high = np.maximum(self.low, 0.0), np.maximum(self.high, 0.0)
        return Range(np.log(low), np.log(high), self.torn | (self.low <= 0.0))

    def sqrt(self) -> Range:
        return Range(np.sqrt(np.maximum(self.low, 0.0)), np.sqrt(np.maximum(self.high, 0.0)), self.torn | (self.low < 0.0))  # fmt: skip

    def sin(self) -> Range:
        return (self - HALF_TURN / 2).cos()

    def cos(self) -> Range:
        """A top at every even multiple of π, a bottom at every odd one."""
        first = np.ceil(self.low / HALF_TURN)
        inside = np.floor(self.high / HALF_TURN) - first  # 0: one extremum, 1 or more: both kinds
        wild = ~np.isfinite(self.low) | ~np.isfinite(self.high) | (inside >= 1.0)
        a, b = np.cos(np.where(wild, 0.0, self.low)), np.cos(np.where(wild, 0.0, self.high))
        even = np.mod(first, 2.0) == 0.0
        top, bottom = wild | ((inside == 0.0) & even), wild | ((inside == 0.0) & ~even)
        return Range(np.where(bottom, -1.0, np.minimum(a, b)), np.where(top, 1.0, np.maximum(a, b)), self.torn)

    def tan(self) -> Range:
        pole = np.floor(self.high / HALF_TURN - 0.5) != np.floor(self.low / HALF_TURN - 0.5)
        a, b = np.tan(self.low), np.tan(self.high)
        return Range(np.where(pole, -np.inf, a), np.where(pole, np.inf, b), self.torn | pole)

    def _within(self, f: Callable[[np.ndarray], np.ndarray], down: bool = False) -> Range:
        low, high = np.clip(self.low, -1.0, 1.0), np.clip(self.high, -1.0, 1.0)
        ends = (f(high), f(low)) if down else (f(low), f(high))
        return Range(*ends, self.torn | (self.low < -1.0) | (self.high > 1.0))

    def asin(self) -> Range:
        return self._within(np.arcsin)

    def acos(self) -> Range:
        return self._within(np.arccos, down=True)

    def atan(self) -> Range:
        return self._monotonic(np.arctan)

    def sinh(self) -> Range:
        return self._monotonic(np.sinh)

    def cosh(self) -> Range:
        return abs(self)._monotonic(np.cosh)

    def tanh(self) -> Range:
        return self._monotonic(np.tanh)

    def atan2(self, other: Any) -> Range:
        return _whole_turn(self, as_range(other))

    def ratan2(self, other: Any) -> Range:
        return _whole_turn(as_range(other), self)

    def floor(self) -> Range:
        low, high = np.floor(self.low), np.floor(self.high)
        return Range(low, high, self.torn | (low != high))

    def sign(self) -> Range:
        low, high = np.sign(self.low), np.sign(self.high)
        return Range(low, high, self.torn | (low != high))

    def __abs__(self) -> Range:
        through = (self.low <= 0.0) & (self.high >= 0.0)
        a, b = np.abs(self.low), np.abs(self.high)
        return Range(np.where(through, 0.0, np.minimum(a, b)), np.maximum(a, b), self.torn)

    def minimum(self, other: Any) -> Range:
        other = as_range(other)
        return Range(np.minimum(self.low, other.low), np.minimum(self.high, other.high), self.torn | other.torn)

    def maximum(self, other: Any) -> Range:
        other = as_range(other)
        return Range(np.maximum(self.low, other.low), np.maximum(self.high, other.high), self.torn | other.torn)

    rminimum, rmaximum = minimum, maximum

    def __lt__(self, other: Any) -> Unsure:
        other = as_range(other)
        return Unsure(self.high < other.low, self.low >= other.high)

    def __le__(self, other: Any) -> Unsure:
        other = as_range(other)
        return Unsure(self.high <= other.low, self.low > other.high)

    def __gt__(self, other: Any) -> Unsure:
        return ~(self <= other)

    def __ge__(self, other: Any) -> Unsure:
        return ~(self < other)


def as_range(x: Any) -> Range:
    """A number as a range of its own."""
    return x if isinstance(x, Range) else Range(x, x)


def as_unsure(condition: Any) -> Unsure:
    """A plain condition as one that is certain."""
    return condition if isinstance(condition, Unsure) else Unsure(condition, np.logical_not(condition))


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a·b, with 0·∞ = 0."""
    return np.where((a == 0.0) | (b == 0.0), 0.0, a * b)


def _whole_turn(y: Range, x: Range) -> Range:
    """atan2: exact on the right half plane, else anything."""
    right = x.low > 0.0
    slope = y / Range(np.where(right, x.low, 1.0), np.where(right, x.high, 1.0))
    low, high = np.arctan(slope.low), np.arctan(slope.high)
    return Range(np.where(right, low, -np.pi), np.where(right, high, np.pi), y.torn | x.torn | ~right)
