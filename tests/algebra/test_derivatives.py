"""Taylor numbers against mpmath (high order), SymPy (exact) and calculus rules."""

from __future__ import annotations

import copy
import math

import mpmath
import numpy as np
import pytest
import sympy

from manipula import native
from manipula.algebra import ops
from manipula.algebra.derivatives import derivatives, directional, gradient, jacobian
from manipula.algebra.jet import Jet
from manipula.errors import ShapeError

ROUNDOFF = 1e-12  # relative to the largest coefficient: recurrences of at most 12 terms
ORDER = 10

UNARY = {
    "sin": (mpmath.sin, 0.7),
    "cos": (mpmath.cos, 0.7),
    "tan": (mpmath.tan, 0.4),
    "asin": (mpmath.asin, 0.3),
    "acos": (mpmath.acos, -0.2),
    "atan": (mpmath.atan, 0.8),
    "exp": (mpmath.exp, -0.5),
    "log": (mpmath.log, 1.7),
    "sinh": (mpmath.sinh, 0.6),
    "cosh": (mpmath.cosh, 0.6),
    "tanh": (mpmath.tanh, 0.9),
    "sqrt": (mpmath.sqrt, 1.3),
}


def taylor(f, x, order):
    """Coefficients from mpmath with 60 digits."""
    with mpmath.workdps(60):
        return [float(c) for c in mpmath.taylor(f, mpmath.mpf(x), order)]


def close(a, b, tolerance=ROUNDOFF):
    a, b = np.asarray(a, float), np.asarray(b, float)
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(1.0, np.abs(b).max()))


@pytest.mark.parametrize("name", UNARY)
def test_functions_match_mpmath_to_tenth_order(name):
    reference, x = UNARY[name]
    close(getattr(ops, name)(Jet.variable(x, ORDER)).coefficients, taylor(reference, x, ORDER))


COMPOSITE = {
    "rational": (lambda x, m: (x**3 - 2 * x + 1) / (1 + x * x), 0.6),
    "powers": (lambda x, m: x**2.5 + x ** (-3) + 2.0**x + (1 + x) ** x, 1.2),
    "nested": (lambda x, m: m.sin(m.exp(x) * m.sqrt(1 + x * x)) / (2 + m.cos(x)), 0.3),
    "kinematic": (lambda x, m: m.atan2(m.sin(x) + 0.3, 1.5 - m.cos(2 * x)), 0.4),
    "subtract from": (lambda x, m: 3 - x - (1 - x) / (2 - x), 0.4),
}


@pytest.mark.parametrize("name", COMPOSITE)
def test_compositions_match_mpmath(name):
    f, x = COMPOSITE[name]
    close(f(Jet.variable(x, ORDER), ops).coefficients, taylor(lambda u: f(u, mpmath), x, ORDER), 1e-11)


def test_derivatives_are_factorials_times_coefficients():
    close(derivatives(lambda x: ops.exp(2 * x), 0.3, 6), [2**k * math.exp(0.6) for k in range(7)])


def test_integer_powers_are_exact_at_zero():
    assert list((Jet.variable(0.0, 4) ** 3).coefficients) == [0, 0, 0, 1, 0]
    assert derivatives(lambda x: x**0, 0.0, 2) == [1.0, 0.0, 0.0]


def test_negative_base_and_singular_points_raise():
    with pytest.raises(ValueError, match="no real power"):
        Jet.variable(-1.0, 2) ** 0.5
    with pytest.raises(ZeroDivisionError):
        ops.sqrt(Jet.variable(0.0, 2))
    with pytest.raises(ZeroDivisionError):
        1.0 / Jet.variable(0.0, 2)
    with pytest.raises(ValueError, match="must be 0 or more"):
        Jet.variable(0.0, -1)
    with pytest.raises(TypeError, match="real number"):
        math.sin(Jet.variable(0.5, 2))  # would lose the derivative silently


def test_coefficients_may_be_symbols():
    x = sympy.Symbol("x")
    found = derivatives(lambda u: ops.sin(u) * ops.sqrt(1 + u**2) / u, x, 3)
    f = sympy.sin(x) * sympy.sqrt(1 + x**2) / x
    for k, expression in enumerate(found):
        assert abs(float((expression - sympy.diff(f, x, k)).subs(x, 0.83))) < ROUNDOFF


def test_symbols_and_jets_multiply_from_both_sides():
    a = sympy.Symbol("a")
    left, right = a * Jet.variable(2.0, 1), Jet.variable(2.0, 1) * a
    assert isinstance(left, Jet)
    assert left.coefficients == right.coefficients == (2.0 * a, 1.0 * a)


def test_a_grid_of_points_at_once():
    grid = np.linspace(-1.0, 1.0, 7)
    f = lambda u: ops.where(u < 0.0, ops.exp(u), 1 + u + 0.5 * u * u) * ops.where(u > 0.5, 2.0, 1.0)
    together = derivatives(f, grid, 3)
    for i, x in enumerate(grid):
        close([d[i] for d in together], derivatives(f, float(x), 3))


def test_grid_masks_combine():
    u = Jet.variable(np.array([-2.0, 0.0, 2.0]), 1)
    inside = (u > -1.0) & (u < 1.0)
    np.testing.assert_array_equal(inside, [False, True, False])
    np.testing.assert_array_equal(~inside | (u > 0.0), [True, False, True])
    chosen = ops.where(inside, u, -u)
    np.testing.assert_array_equal(chosen.coefficients[1], [-1.0, 1.0, -1.0])


def test_where_minimum_maximum_abs_sign_floor():
    f = lambda x: ops.maximum(x * x, 1.0) + ops.minimum(0.0, x) + ops.abs(x) + ops.sign(x) * x + ops.floor(x)
    close(derivatives(f, -1.7, 2), [f(-1.7), 2 * -1.7 + 1 - 1 - 1, 2.0])
    close(derivatives(f, 0.4, 2), [f(0.4), 2.0, 0.0])
    assert derivatives(ops.abs, 0.0, 1) == [0.0, 0.0]


def test_object_arrays_multiply_with_float_matrices():
    rng = np.random.default_rng(3)
    R, S = rng.normal(size=(3, 3)), rng.normal(size=3)
    spiral = lambda u: R @ np.array([ops.cos(u), ops.sin(u), u]) + S * u
    for k, found in enumerate(derivatives(spiral, 0.4, 3)):
        wave = [math.cos(0.4 + k * math.pi / 2), math.sin(0.4 + k * math.pi / 2), [0.4, 1, 0, 0][k]]
        close(found, R @ np.array(wave) + S * [0.4, 1, 0, 0][k])


def test_float_arrays_times_a_jet_is_an_array_of_jets():
    u = Jet.variable(2.0, 1)
    for product in (np.ones(3) * u, u * np.ones(3), np.float64(1.0) * np.array([u, u, u])):
        assert product.shape == (3,)
        assert product[1].coefficients == (2.0, 1.0)
    assert isinstance(np.float64(3.0) * u, Jet)


def test_nested_derivatives_do_not_confuse_their_variables():
    inner = lambda x: derivatives(lambda y: x + y, 1.0, 1)[1]
    assert derivatives(lambda x: x * inner(x), 1.0, 1)[1] == 1.0  # Siskind & Pearlmutter's example; 2 when confused
    mixed = derivatives(lambda x: derivatives(lambda y: ops.sin(x * y) * x, 0.7, 2)[2], 0.4, 2)[2]
    x, y = sympy.symbols("x y")
    expected = sympy.diff(sympy.sin(x * y) * x, y, 2, x, 2).subs({x: 0.4, y: 0.7})
    assert abs(mixed - float(expected)) < ROUNDOFF


def test_jets_of_one_level_are_in_the_same_variable():
    a, b = Jet.variable(1.0, 2), Jet.variable(3.0, 2)
    assert (a * b).coefficients == (3.0, 4.0, 1.0)


def rosenbrock(x):
    return sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2 for i in range(len(x) - 1))


def test_gradient_hessian_and_direction():
    symbols = sympy.symbols("x:4")
    point = [0.3, -0.8, 1.1, 0.6]
    at = dict(zip(symbols, point))
    g = [float(sympy.diff(rosenbrock(symbols), s).subs(at)) for s in symbols]
    H = np.array(sympy.hessian(rosenbrock(symbols), symbols).subs(at), float)
    close(gradient(rosenbrock, point), g)
    hessian = jacobian(lambda x: gradient(rosenbrock, x), point)
    assert hessian.dtype == float
    close(hessian, H)
    d = np.array([1.0, -2.0, 0.5, 0.0])
    close(directional(rosenbrock, point, d), np.dot(g, d))
    close(directional(rosenbrock, point, d, order=2), d @ H @ d)


def test_jacobian_shapes_and_constants():
    f = lambda x: np.array([[x[0] * x[1], 2.0, x[2]], [ops.sin(x[0]), x[1], 0.0]], object)
    J = jacobian(f, [0.5, 2.0, 1.0])
    assert J.shape == (2, 3, 3)
    close(J[0], [[2.0, 0.5, 0.0], [0, 0, 0], [0, 0, 1]])
    close(J[1], [[math.cos(0.5), 0, 0], [0, 1, 0], [0, 0, 0]])


def test_jacobian_through_a_branch_takes_the_branch():
    f = lambda x: np.array([ops.where(x[0] > x[1], x[0] ** 2, 3 * x[1]), ops.atan2(x[1], x[0])])
    close(jacobian(f, [2.0, 1.0]), [[4.0, 0.0], [-0.2, 0.4]])
    close(jacobian(f, [1.0, 2.0])[0], [0.0, 3.0])


def test_jacobian_of_a_jacobian_over_time():
    """d/dt J(q(t)) by nesting equals the product rule J' q̇."""
    tip = lambda q: np.array([ops.cos(q[0]) + ops.cos(q[0] + q[1]), ops.sin(q[0]) + ops.sin(q[0] + q[1])])
    q, qd = np.array([0.4, 0.9]), np.array([0.7, -1.2])
    rate = directional(lambda x: jacobian(tip, x), q, qd)
    H = jacobian(lambda x: jacobian(tip, x), q)
    close(np.asarray(rate, float), H @ qd)


def test_derivatives_of_traced_numbers_become_machine_code():
    def curve(x):
        inner = lambda u: ops.where(u > 0, x * ops.sin(u) * u, ops.exp(u)) + x / (2 + u) - x + x**2 * u
        return np.array(derivatives(inner, x, 3))

    compiled = native.compile_function(curve, {"x": ()})
    for x in (0.7, -0.4):
        close(compiled(x), curve(x))
    slope = lambda q: jacobian(lambda p: np.array([ops.cos(p[0]) * p[1], ops.atan2(p[1], p[0]), q[0] * p[1]]), q)
    q = np.array([0.3, 0.8])
    close(native.compile_function(slope, {"q": (2,)})(q), slope(q))


def test_wrong_shapes_are_named():
    with pytest.raises(ShapeError, match="direction has shape"):
        directional(rosenbrock, [1.0, 2.0], [1.0])
    with pytest.raises(ShapeError, match="scalar function"):
        gradient(lambda x: x, [1.0, 2.0])


def test_values_survive_copying_and_show_themselves():
    jet = Jet.variable(1.5, 2)
    again = copy.deepcopy(jet)
    assert again.coefficients == jet.coefficients
    assert "1.5" in repr(jet)
    assert ops.value(Jet.variable(jet, 1)) == 1.5
