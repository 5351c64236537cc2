r"""Taylor numbers: exact derivatives of any order of any function written over :mod:`manipula.algebra.ops`.

A :class:`Jet` is a truncated power series in one variable :math:`\varepsilon`,

.. math:: x = c_0 + c_1\varepsilon + \dots + c_N\varepsilon^N, \qquad c_k = x^{(k)}/k!

whose coefficients may be floats, SymPy expressions, traced numbers, other jets (mixed derivatives) or float arrays
(a whole grid at once). The recurrences are those of Griewank & Walther, *Evaluating Derivatives*, 2nd ed., §13.2:
each follows from the differential equation of its function, so no step size and no truncation error is involved.

Jets made by nested calls live on different *levels*; a jet of a lower level is a constant to one of a higher level,
so an inner derivative never mistakes the outer variable for its own (perturbation confusion).

An array that meets a jet from outside is a NumPy array of numbers (``axis * qd`` gives an object array of jets); an
array is a coefficient only inside a jet.
"""

from __future__ import annotations

import contextvars
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from manipula.algebra import ops
from manipula.algebra.coefficients import dot, is_zero, over, plus, scaled, times

active_level: contextvars.ContextVar[int] = contextvars.ContextVar("manipula_jet_level", default=0)


class Mask:
    """Outcome of comparing jets over a grid; ``ops.where`` uses it like a single condition."""

    def __init__(self, array: np.ndarray, order: int, level: int) -> None:
        self.array, self.order, self.level = array, order, level

    def select(self, a: Any, b: Any) -> Jet:
        return Jet.where_parts(self, _constant(a, self.order, self.level), _constant(b, self.order, self.level))

    def _combine(self, other: Any, combine: Callable) -> Mask:
        return Mask(combine(self.array, other.array if isinstance(other, Mask) else other), self.order, self.level)

    def __and__(self, other: Any) -> Mask:
        return self._combine(other, np.logical_and)

    def __or__(self, other: Any) -> Mask:
        return self._combine(other, np.logical_or)

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Mask:
        return Mask(~self.array, self.order, self.level)

    def __bool__(self) -> bool:
        return bool(self.array)  # NumPy's own error when there is more than one element

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.array, dtype)


def _constant(c: Any, order: int, level: int) -> Jet:
    if isinstance(c, Jet) and c.level == level:
        return c
    return Jet((c,) + (0.0,) * order, level)


class Jet:
    """A truncated Taylor series; behaves like a number.

    Args:
        coefficients: :math:`c_0 … c_N`, where :math:`c_k` is the k-th derivative divided by k!.
        level: variable the series is in; jets of one level are in the same variable.
    """

    __slots__ = ("coefficients", "level")

    def __init__(self, coefficients: Sequence[Any], level: int | None = None) -> None:
        self.coefficients: tuple[Any, ...] = tuple(coefficients)
        self.level = next_level(self.coefficients) if level is None else level

    @classmethod
    def variable(cls, x: Any, order: int, direction: Any = 1.0, level: int | None = None) -> Jet:
        """The independent variable at ``x``: :math:`x + d\\,\\varepsilon` truncated after ``order``."""
        if order < 0:
            raise ValueError(f"The order of a Taylor number is {order}; it must be 0 or more.")
        level = next_level((x, direction)) if level is None else level
        return cls((x, direction, *(0.0,) * (order - 1))[: order + 1], level)

    @property
    def order(self) -> int:
        return len(self.coefficients) - 1

    def value(self) -> Any:
        """The number itself without any derivative, through all levels."""
        c = self.coefficients[0]
        return c.value() if isinstance(c, Jet) else c

    def derivative(self, k: int = 1) -> Any:
        """The k-th derivative, :math:`k!\\,c_k`."""
        return scaled(self.coefficients[k], float(math.factorial(k))) if k > 1 else self.coefficients[k]

    def constant(self, c: Any) -> Jet:
        """``c`` (a number, or an array over this jet's grid) as a constant of the same level and order."""
        return _constant(c, self.order, self.level)

    def __repr__(self) -> str:
        return f"Jet({list(self.coefficients)!r}, level={self.level})"

    def __reduce__(self) -> Any:
        return Jet, (self.coefficients, self.level)

    def map(self, f: Callable[[Any], Any]) -> Jet:
        """``f`` of every coefficient."""
        return Jet([f(c) for c in self.coefficients], self.level)

    def _with(self, other: Any) -> tuple[Jet, Jet] | None:
        """Both operands on the higher level and to the shorter order; None for arrays (NumPy takes over)."""
        if isinstance(other, Jet):
            if other.level == self.level:
                n = min(len(self.coefficients), len(other.coefficients))
                if len(self.coefficients) == len(other.coefficients):
                    return self, other
                return Jet(self.coefficients[:n], self.level), Jet(other.coefficients[:n], self.level)
            if other.level > self.level:
                return _constant(self, other.order, other.level), other
            return self, _constant(other, self.order, self.level)
        if isinstance(other, np.ndarray):
            return None
        return self, _constant(other, self.order, self.level)

    # arithmetic ------------------------------------------------------------------------------------------------

    def __neg__(self) -> Jet:
        return self.map(lambda c: -c)

    def __pos__(self) -> Jet:
        return self

    def __add__(self, other: Any) -> Any:
        pair = self._with(other)
        if pair is None:
            return NotImplemented
        a, b = pair
        return Jet([plus(x, y) for x, y in zip(a.coefficients, b.coefficients)], a.level)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        pair = self._with(other)
        if pair is None:
            return NotImplemented
        a, b = pair
        return Jet([plus(x, -y) for x, y in zip(a.coefficients, b.coefficients)], a.level)

    def __rsub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else -self + other

    def __mul__(self, other: Any) -> Any:
        pair = self._with(other)
        if pair is None:
            return NotImplemented
        a, b = pair[0].coefficients, pair[1].coefficients
        return Jet([dot(a[: k + 1], b[k::-1]) for k in range(len(a))], pair[0].level)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        """q_k = (a_k − Σ_{j<k} q_j b_{k−j}) / b_0."""
        pair = self._with(other)
        if pair is None:
            return NotImplemented
        a, b = pair[0].coefficients, pair[1].coefficients
        q: list[Any] = []
        for k in range(len(a)):
            rest = plus(a[k], -dot(q, b[k:0:-1])) if k else a[0]
            q.append(over(rest, b[0]))
        return Jet(q, pair[0].level)

    def __rtruediv__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else _constant(other, self.order, self.level) / self

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, np.ndarray):
            return NotImplemented
        if isinstance(exponent, (float, np.floating, np.integer)) and float(exponent).is_integer():
            exponent = int(exponent)
        if isinstance(exponent, int):
            return self._integer_power(exponent)
        if isinstance(exponent, Jet):
            return (exponent * ops.log(self)).exp()
        return self._constant_power(exponent)

    def __rpow__(self, base: Any) -> Any:
        return NotImplemented if isinstance(base, np.ndarray) else (self * ops.log(base)).exp()

    def _integer_power(self, exponent: int) -> Jet:
        """Repeated squaring: exact also where the value is 0."""
        if exponent < 0:
            return 1.0 / self._integer_power(-exponent)
        result, square = _constant(1.0, self.order, self.level), self
        while exponent:
            if exponent & 1:
                result = result * square
            exponent >>= 1
            if exponent:
                square = square * square
        return result

    def _constant_power(self, r: Any) -> Jet:
        """y = a^r from a y' = r a' y: k a_0 y_k = Σ_{j=1..k} (r j − (k − j)) a_j y_{k−j}."""
        a = self.coefficients
        if isinstance(a[0], (float, int)) and a[0] < 0:
            raise ValueError(f"A negative number ({a[0]}) has no real power {r}.")
        y = [a[0] ** r]
        for k in range(1, len(a)):
            total = dot([times(a[j], r * j - (k - j)) for j in range(1, k + 1)], y[::-1])
            y.append(over(total, a[0] * float(k)))
        return Jet(y, self.level)

    # functions -------------------------------------------------------------------------------------------------

    def _weighted(self) -> list[Any]:
        """j a_j for j = 1…N: the derivative's coefficients."""
        return [scaled(c, float(j)) for j, c in enumerate(self.coefficients)][1:]

    def _integral(self, value: Any, slope: Callable[[Jet], Jet] | None = None, rate: Jet | None = None) -> Jet:
        """The series with this value whose derivative is a'·slope(a) (or ``rate``)."""
        if self.order == 0:
            return Jet((value,), self.level)
        if rate is None and slope is not None:
            lower = Jet(self.coefficients[:-1], self.level)
            rate = Jet(self._weighted(), self.level) * slope(lower)
        assert rate is not None
        return Jet([value, *(scaled(c, 1.0 / (k + 1)) for k, c in enumerate(rate.coefficients))], self.level)

    def exp(self) -> Jet:
        """y' = a' y."""
        w, y = self._weighted(), [ops.exp(self.coefficients[0])]
        for k in range(1, self.order + 1):
            y.append(scaled(dot(w[:k], y[::-1]), 1.0 / k))
        return Jet(y, self.level)

    def log(self) -> Jet:
        return self._integral(ops.log(self.coefficients[0]), lambda a: 1.0 / a)

    def sqrt(self) -> Jet:
        """y² = a: y_k = (a_k − Σ_{0<j<k} y_j y_{k−j}) / (2 y_0)."""
        a, y = self.coefficients, [ops.sqrt(self.coefficients[0])]
        for k in range(1, len(a)):
            rest = plus(a[k], -dot(y[1:], y[:0:-1]))
            y.append(0.0 if is_zero(rest) else over(rest, times(2.0, y[0])))
        return Jet(y, self.level)

    def _pair(self, s: Any, c: Any, sign: float) -> tuple[Jet, Jet]:
        """s' = a' c, c' = sign·a' s (circular for −1, hyperbolic for +1)."""
        w, sines, cosines = self._weighted(), [s], [c]
        for k in range(1, self.order + 1):
            s_k, c_k = dot(w[:k], cosines[::-1]), dot(w[:k], sines[::-1])
            sines.append(scaled(s_k, 1.0 / k))
            cosines.append(scaled(c_k, sign / k))
        return Jet(sines, self.level), Jet(cosines, self.level)

    def sin(self) -> Jet:
        return self._pair(ops.sin(self.coefficients[0]), ops.cos(self.coefficients[0]), -1.0)[0]

    def cos(self) -> Jet:
        return self._pair(ops.sin(self.coefficients[0]), ops.cos(self.coefficients[0]), -1.0)[1]

    def sinh(self) -> Jet:
        return self._pair(ops.sinh(self.coefficients[0]), ops.cosh(self.coefficients[0]), 1.0)[0]

    def cosh(self) -> Jet:
        return self._pair(ops.sinh(self.coefficients[0]), ops.cosh(self.coefficients[0]), 1.0)[1]

    def _tangent(self, value: Any, sign: float) -> Jet:
        """y' = a' (1 + sign·y²): tan for +1, tanh for −1 (no overflow for large arguments)."""
        w, y, v = self._weighted(), [value], [1.0 + sign * (value * value)]
        for k in range(1, self.order + 1):
            y.append(scaled(dot(w[:k], v[::-1]), 1.0 / k))
            v.append(scaled(dot(y, y[::-1]), sign))
        return Jet(y, self.level)

    def tan(self) -> Jet:
        return self._tangent(ops.tan(self.coefficients[0]), 1.0)

    def tanh(self) -> Jet:
        return self._tangent(ops.tanh(self.coefficients[0]), -1.0)

    def asin(self) -> Jet:
        return self._integral(ops.asin(self.coefficients[0]), lambda a: 1.0 / (1.0 - a * a).sqrt())

    def acos(self) -> Jet:
        return self._integral(ops.acos(self.coefficients[0]), lambda a: -1.0 / (1.0 - a * a).sqrt())

    def atan(self) -> Jet:
        return self._integral(ops.atan(self.coefficients[0]), lambda a: 1.0 / (1.0 + a * a))

    def atan2(self, other: Any) -> Any:
        """atan2(y, x)' = (x y' − y x') / (x² + y²)."""
        pair = self._with(other)
        if pair is None:
            return NotImplemented
        y, x = pair
        value = ops.atan2(y.coefficients[0], x.coefficients[0])
        if y.order == 0:
            return Jet((value,), y.level)
        y0, x0 = Jet(y.coefficients[:-1], y.level), Jet(x.coefficients[:-1], y.level)
        dy, dx = Jet(y._weighted(), y.level), Jet(x._weighted(), y.level)
        return y._integral(value, rate=(x0 * dy - y0 * dx) / (x0 * x0 + y0 * y0))

    def ratan2(self, other: Any) -> Any:
        return _constant(other, self.order, self.level).atan2(self)

    def floor(self) -> Jet:
        return _constant(ops.floor(self.coefficients[0]), self.order, self.level)

    def sign(self) -> Jet:
        return _constant(ops.sign(self.coefficients[0]), self.order, self.level)

    def __abs__(self) -> Jet:
        """sign(a)·a; at 0 the derivative is 0, the middle of the two one-sided ones."""
        s = ops.sign(self.coefficients[0])
        return Jet([ops.abs(self.coefficients[0]), *(times(c, s) for c in self.coefficients[1:])], self.level)

    def minimum(self, other: Any) -> Any:
        return ops.where(self <= other, self, other)

    def maximum(self, other: Any) -> Any:
        return ops.where(self >= other, self, other)

    rminimum, rmaximum = minimum, maximum

    # comparisons look at the value only --------------------------------------------------------------------------

    def _compare(self, other: Any, compare: Callable[[Any, Any], Any]) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        other_value = other.value() if isinstance(other, Jet) else other
        answer = compare(self.value(), other_value)
        if isinstance(answer, np.ndarray):
            top = max((j for j in (self, other) if isinstance(j, Jet)), key=lambda j: j.level)
            return Mask(answer, top.order, top.level)
        return answer

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, operator.ge)

    def __eq__(self, other: Any) -> Any:
        return self._compare(other, operator.eq)

    def __ne__(self, other: Any) -> Any:
        return self._compare(other, operator.ne)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self.value() != 0)

    @staticmethod
    def where_parts(condition: Any, a: Any, b: Any) -> Jet:
        """``a`` where the condition holds, else ``b``, coefficient by coefficient."""
        top = max((j for j in (a, b) if isinstance(j, Jet)), key=lambda j: j.level)
        x, y = (_constant(j, top.order, top.level) for j in (a, b))
        choose = np.where if isinstance(condition, Mask) else ops.where
        plain = condition.array if isinstance(condition, Mask) else condition

        def pick(u: Any, v: Any) -> Any:
            if isinstance(u, Jet) or isinstance(v, Jet):
                return Jet.where_parts(condition, u, v)
            return 0.0 if is_zero(u) and is_zero(v) else choose(plain, u, v)

        return Jet([pick(u, v) for u, v in zip(x.coefficients, y.coefficients)], top.level)


def next_level(parts: Sequence[Any]) -> int:
    """A level above every derivative now being taken and above every number in ``parts``."""
    return 1 + max([active_level.get(), *(c.level for c in parts if isinstance(c, Jet))])
