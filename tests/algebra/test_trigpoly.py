"""Trigonometric polynomials: exact algebra, derivatives, and folding that changes the form but never the function."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manipula.algebra.trig_fold import TrigFolder, combine
from manipula.algebra.trigpoly import Ring, TrigPoly
from manipula.errors import BudgetError, TracingError

ROUNDOFF = 1e-12  # a dozen terms of size 10
JOINTS = 3
ANGLES = tuple(((j, 1),) for j in range(JOINTS))


def _value(p: TrigPoly, q: np.ndarray, x: float) -> float:
    total = 0.0
    for monomial, coefficient in p.terms.items():
        term = float(coefficient)
        for index, power in p.ring.exponents(monomial):
            key = p.ring.keys[index]
            if key == "x":
                term *= x**power
            else:
                kind, angle = key  # pyright: ignore
                a = sum(k * q[j] for j, k in angle)
                term *= (math.cos(a) if kind == "cos" else math.sin(a)) ** power
        total += term
    return total


def _folded_value(folded: list, q: np.ndarray) -> float:
    total = 0.0
    for coefficient, factors in folded:
        term = float(coefficient)
        for kind, angle, power in factors:
            a = sum(k * q[j] for j, k in angle)
            term *= (math.cos(a) if kind == "c" else math.sin(a)) ** power
        total += term
    return total


def _ring() -> tuple[Ring, list, TrigPoly]:
    ring = Ring()
    return ring, [ring.angle(a) for a in ANGLES], ring.variable("x")


@st.composite
def polynomials(draw: st.DrawFn, ring: Ring, angles: list, x: TrigPoly) -> TrigPoly:
    total = ring.constant(0)
    for _ in range(draw(st.integers(1, 4))):
        term = ring.constant(draw(st.integers(-4, 4)))
        for angle in angles:
            c, s = draw(st.integers(0, 2)), draw(st.integers(0, 2))
            term = term * angle.cos() ** c * angle.sin() ** s
        total = total + term * x ** draw(st.integers(0, 2))
    return total


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_arithmetic_is_that_of_the_functions(data: st.DataObject) -> None:
    ring, angles, x = _ring()
    a, b = data.draw(polynomials(ring, angles, x)), data.draw(polynomials(ring, angles, x))
    q, t = np.array([0.3, -1.1, 2.0]), 0.7
    va, vb = _value(a, q, t), _value(b, q, t)
    assert _value(a + b, q, t) == pytest.approx(va + vb, abs=ROUNDOFF)
    assert _value(a * b, q, t) == pytest.approx(va * vb, abs=1e-9)
    assert _value(a - 0.25 * b, q, t) == pytest.approx(va - 0.25 * vb, abs=ROUNDOFF)
    assert (a - a) == 0
    assert (a + b) * (a - b) == a * a - b * b


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_derivatives_agree_with_central_differences(data: st.DataObject) -> None:
    ring, angles, x = _ring()
    p = data.draw(polynomials(ring, angles, x))
    q, t, step = np.array([0.3, -1.1, 2.0]), 0.7, 1e-5
    shift = np.array([step, 0, 0])
    slope = (_value(p, q + shift, t) - _value(p, q - shift, t)) / (2 * step)
    assert _value(p.derivative(ANGLES[0]), q, t) == pytest.approx(slope, abs=1e-6)
    slope = (_value(p, q, t + step) - _value(p, q, t - step)) / (2 * step)
    assert _value(p.derivative("x"), q, t) == pytest.approx(slope, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from([((0,), (1,), (2,)), ((0, 1), (2,)), ((0, 1, 2),)]))
def test_folding_keeps_the_function_and_never_lengthens(data: st.DataObject, groups: tuple) -> None:
    ring, angles, x = _ring()
    p = data.draw(polynomials(ring, angles, x)) * 1
    ones = [tuple((j, 1) for j in g[a:b]) for g in groups for a in range(len(g)) for b in range(a + 1, len(g) + 1)]
    folder = TrigFolder(ring, ANGLES, groups, ones)
    q = np.array([0.3, -1.1, 2.0])
    for _, trig in p.split(folder.mask).items():
        folded = folder.fold(trig)
        assert _folded_value(folded, q) == pytest.approx(_value(TrigPoly(ring, trig), q, 0.0), abs=1e-10)
        if len(groups) == JOINTS:  # without sums of angles the unfolded form is one of the candidates
            assert len(folded) <= len(trig)


def test_the_textbook_forms_appear() -> None:
    ring, (q1, q2, _), _ = _ring()
    folder = TrigFolder(ring, ANGLES, ((0, 1), (2,)), [((0, 1),), ((1, 1),), ((0, 1), (1, 1)), ((2, 1),)])
    both = ((0, 1), (1, 1))
    assert folder.fold((q1.cos() * q2.cos() - q1.sin() * q2.sin()).terms) == [(1, (("c", both, 1),))]
    assert folder.fold((q1.sin() * q2.cos() + q1.cos() * q2.sin()).terms) == [(1, (("s", both, 1),))]
    assert folder.fold((1 - q1.cos() ** 2).terms) == [(1, (("s", ((0, 1),), 2),))]
    product = 3 * q1.cos() * (q1.cos() * q2.cos() - q1.sin() * q2.sin())
    assert folder.fold(product.terms) == [(3, (("c", ((0, 1),), 1), ("c", both, 1)))]


def test_sines_and_cosines_are_exact() -> None:
    _, (q1, *_), _ = _ring()
    s, c = q1.sin(), q1.cos()
    assert s * s + c * c == 1
    assert s**4 == (1 - c**2) ** 2
    assert 0.1 * c + 0.2 * c == Fraction(3, 10) * c  # decimals stay decimals
    assert hash(s * s) == hash(1 - c * c)


def test_what_has_no_meaning_is_refused() -> None:
    *_, x = _ring()
    with pytest.raises(TracingError, match="truth value"):
        bool(x)
    with pytest.raises(TracingError, match="whole powers"):
        x**-1
    with pytest.raises(TypeError, match="unsupported operand"):
        x + "a"
    small = Ring(limit=10)
    p = sum((small.variable(f"v{k}") for k in range(1, 8)), small.variable("v0"))
    with pytest.raises(BudgetError, match="limit of 10"):
        p * p


def test_sums_of_angles_combine() -> None:
    assert combine(((0, 1), (1, 1)), ((1, 1), (2, 1)), -1) == ((0, 1), (2, -1))
