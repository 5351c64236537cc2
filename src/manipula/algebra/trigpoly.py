r"""Trigonometric polynomials: exact sums of products of sines, cosines and named parameters.

A polynomial is a ``dict`` from a packed monomial to its coefficient. Every variable of a :class:`Ring` owns six bits of
an integer, so multiplying two monomials is adding two integers. A cosine and its sine are neighbours, and after every
product :math:`s^2` becomes :math:`1 - c^2`: with at most one sine of each angle the form is unique, two polynomials are
the same function exactly when their dictionaries are equal, and nothing has to be simplified afterwards.

Coefficients are exact: ``int`` or ``Fraction``. A float becomes the short decimal that Python prints for it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from manipula.errors import BudgetError, TracingError

BITS = 6
MAX_POWER = 15  # of one variable in one description entry; products of four of them still fit the six bits
_FIELD = (1 << BITS) - 1
Coefficient = Any  # int | Fraction
Terms = dict[int, Coefficient]
_NUMBERS = (int, float, Fraction, np.integer, np.floating)


class Ring:
    """The variables that polynomials are made of, and a limit on how many terms one of them may have.

    Attributes:
        keys: what each variable stands for, by index; a cosine is ``("cos", angle)``, followed by ``("sin", angle)``.
        limit: number of terms beyond which a product is refused.
    """

    def __init__(self, limit: int = 2_000_000) -> None:
        self.keys: list[Hashable] = []
        self.limit = limit
        self._index: dict[Hashable, int] = {}
        self._twice_sine = 0  # the bit that is set when a sine has exponent 2
        self.trig_mask = 0

    def _register(self, key: Hashable) -> int:
        index = self._index.get(key)
        if index is None:
            index = self._index[key] = len(self.keys)
            self.keys.append(key)
        return index

    def variable(self, key: Hashable) -> TrigPoly:
        """The polynomial that is one plain variable."""
        return TrigPoly(self, {1 << BITS * self._register(key): 1})

    def angle(self, key: Hashable) -> Angle:
        """An angle: something with a sine and a cosine."""
        cosine = self._register(("cos", key))
        sine = self._register(("sin", key))
        self._twice_sine |= 2 << BITS * sine
        self.trig_mask |= (_FIELD << BITS * cosine) | (_FIELD << BITS * sine)
        return Angle(self, key, cosine)

    def constant(self, value: Any) -> TrigPoly:
        number = exact(value)
        return TrigPoly(self, {0: number} if number else {})

    def exponents(self, monomial: int) -> Iterator[tuple[int, int]]:
        """Index and exponent of every variable in a monomial."""
        index = 0
        while monomial:
            power = monomial & _FIELD
            if power:
                yield index, power
            monomial >>= BITS
            index += 1

    def index(self, key: Hashable) -> int:
        """Index of a variable, -1 when it does not occur."""
        return self._index.get(key, -1)

    def multiply(self, a: Terms, b: Terms) -> Terms:
        """Product of two reduced term dictionaries, reduced."""
        if len(a) > len(b):
            a, b = b, a
        out: Terms = {}
        get = out.get
        for ka, va in a.items():
            for kb, vb in b.items():
                k = ka + kb
                v = get(k)
                out[k] = va * vb if v is None else v + va * vb
        if len(out) > self.limit:
            raise BudgetError(f"A product has {len(out)} terms, more than the limit of {self.limit}.")
        return self.reduce(out)

    def reduce(self, terms: Terms) -> Terms:
        """``s² → 1 − c²`` everywhere, zero coefficients dropped."""
        mask = self._twice_sine
        pending = [k for k in terms if k & mask]
        for k in pending:
            v = terms.pop(k)
            if not v:
                continue
            expanded = [(k, v)]
            while expanded:
                m, w = expanded.pop()
                square = m & mask
                if square:
                    square &= -square  # the lowest sine that is squared
                    rest = m - square
                    expanded.append((rest, w))
                    expanded.append((rest + (square >> BITS), -w))
                else:
                    terms[m] = terms.get(m, 0) + w
        return {k: v for k, v in terms.items() if v}


class TrigPoly:
    """A polynomial of a ring. Arithmetic with numbers and with polynomials of the same ring; immutable by custom."""

    __slots__ = ("ring", "terms")

    def __init__(self, ring: Ring, terms: Terms) -> None:
        self.ring = ring
        self.terms = terms

    def __add__(self, other: Any) -> TrigPoly:
        if not isinstance(other, TrigPoly):
            if not isinstance(other, _NUMBERS):
                return NotImplemented
            if other == 0:
                return self
            other = self.ring.constant(other)
        if not other.terms:
            return self
        if not self.terms:
            return other
        small, large = (self.terms, other.terms) if len(self.terms) < len(other.terms) else (other.terms, self.terms)
        out = large.copy()
        for k, v in small.items():
            w = out.get(k)
            if w is None:
                out[k] = v
            else:
                w = w + v
                if not w:
                    del out[k]
                else:
                    out[k] = w if type(w) is int or w.denominator != 1 else w.numerator
        return TrigPoly(self.ring, out)

    __radd__ = __add__

    def __neg__(self) -> TrigPoly:
        return TrigPoly(self.ring, {k: -v for k, v in self.terms.items()})

    def __pos__(self) -> TrigPoly:
        return self

    def __sub__(self, other: Any) -> TrigPoly:
        return self + (-other)

    def __rsub__(self, other: Any) -> TrigPoly:
        return (-self) + other

    def __mul__(self, other: Any) -> TrigPoly:
        if isinstance(other, TrigPoly):
            if not self.terms or not other.terms:
                return TrigPoly(self.ring, {})
            return TrigPoly(self.ring, self.ring.multiply(self.terms, other.terms))
        if type(other) is float:  # structural zeros and ones of rotations: most products of a recursion
            if other == 0.0:
                return TrigPoly(self.ring, {})
            if other == 1.0:
                return self
        elif not isinstance(other, _NUMBERS):
            return NotImplemented
        number = exact(other)
        if not number:
            return TrigPoly(self.ring, {})
        if number == 1:
            return self
        if type(number) is int:
            return TrigPoly(self.ring, {k: v * number for k, v in self.terms.items()})
        return TrigPoly(self.ring, {k: whole(v * number) for k, v in self.terms.items()})

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> TrigPoly:
        return self * (1 / Fraction(exact(other)))

    def __pow__(self, power: int) -> TrigPoly:
        if not isinstance(power, int) or power < 0:
            raise TracingError(f"A trigonometric polynomial has whole powers only, found {power!r}.")
        out = self.ring.constant(1)
        for _ in range(power):
            out = out * self
        return out

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TrigPoly):
            return self.terms == other.terms
        return isinstance(other, (int, float, Fraction)) and self.terms == ({0: exact(other)} if other else {})

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __bool__(self) -> bool:
        raise TracingError("A trigonometric polynomial has no truth value; use ops.where, or compare with ==.")

    def __repr__(self) -> str:
        return f"TrigPoly({len(self.terms)} terms)"

    def derivative(self, key: Hashable) -> TrigPoly:
        r"""Partial derivative by a variable, or by an angle.

        .. math:: \partial_q\, c^a s^b = b\,c^{a+1}s^{b-1} - a\,c^{a-1}s^{b+1}
        """
        ring = self.ring
        plain, cosine = ring.index(key), ring.index(("cos", key))
        out: Terms = {}
        if cosine >= 0:
            shift = BITS * cosine
            one_c, one_s = 1 << shift, 1 << shift + BITS
            for k, v in self.terms.items():
                a, b = (k >> shift) & _FIELD, (k >> shift + BITS) & _FIELD
                if b:
                    m = k + one_c - one_s
                    out[m] = out.get(m, 0) + b * v
                if a:
                    m = k - one_c + one_s
                    out[m] = out.get(m, 0) - a * v
        if plain >= 0:
            shift = BITS * plain
            for k, v in self.terms.items():
                a = (k >> shift) & _FIELD
                if a:
                    m = k - (1 << shift)
                    out[m] = out.get(m, 0) + a * v
        return TrigPoly(ring, ring.reduce(out))

    def split(self, mask: int) -> dict[int, Terms]:
        """Coefficients by monomials of the variables outside ``mask``: ``Σ outside · inside``."""
        out: dict[int, Terms] = {}
        for k, v in self.terms.items():
            inside = k & mask
            out.setdefault(k - inside, {})[inside] = v
        return out


class Angle:
    """The joint variable of a revolute joint: ``ops.sin(q)`` and ``ops.cos(q)`` give polynomials."""

    __slots__ = ("_cosine", "key", "ring")

    def __init__(self, ring: Ring, key: Hashable, cosine: int) -> None:
        self.ring, self.key, self._cosine = ring, key, cosine

    def cos(self) -> TrigPoly:
        return TrigPoly(self.ring, {1 << BITS * self._cosine: 1})

    def sin(self) -> TrigPoly:
        return TrigPoly(self.ring, {1 << BITS * (self._cosine + 1): 1})


def exact(x: Any) -> Coefficient:
    """An ``int`` when ``x`` is whole, else a ``Fraction``; floats by their shortest decimal form."""
    if type(x) is int or type(x) is Fraction:
        return x
    if isinstance(x, Fraction):
        return x
    number = float(x)
    if number.is_integer() and abs(number) < 2**53:
        return int(number)
    return Fraction(repr(number))


def whole(x: Coefficient) -> Coefficient:
    """The same number, as ``int`` when it is whole: integers multiply ten times faster than fractions."""
    return x.numerator if x.denominator == 1 else x


def total(ring: Ring, products: Iterable[tuple[TrigPoly, TrigPoly]]) -> TrigPoly:
    """``Σ a·b``, without a dictionary for every partial sum."""
    out: Terms = {}
    for a, b in products:
        if a.terms and b.terms:
            for k, v in ring.multiply(a.terms, b.terms).items():
                w = out.get(k)
                out[k] = v if w is None else w + v
    return TrigPoly(ring, {k: v for k, v in out.items() if v})
