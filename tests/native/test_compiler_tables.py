"""Tables: baked and run-time data, in loops, their derivatives, against SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline, PPoly

from manipula import native
from manipula.errors import ShapeError, UnknownNameError

CLOSE = 1e-12  # of the size of the coefficients: Horner's rule with and without fused operations


def random_table(seed, pieces=6, components=3, degree=5):
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.uniform(0.1, 1.0, pieces + 1)), rng.normal(size=(pieces, components, degree + 1))


def scipy_values(breaks, coefficients, x, order=0):
    poly = PPoly(np.moveaxis(coefficients, -1, 0)[::-1], breaks)
    inside = np.clip(x, breaks[0], np.nextafter(breaks[-1], -np.inf))
    values = poly(inside, order)
    outside = (x < breaks[0]) | (x > breaks[-1])
    return np.where(outside[:, None], 0.0, values) if order else values


def arguments(breaks):
    return np.concatenate([np.linspace(breaks[0] - 0.5, breaks[-1] + 0.5, 41), breaks[1:-1]])


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 6), st.integers(0, 5))
def test_baked_tables_against_scipy(seed, pieces, components, degree):
    breaks, coefficients = random_table(seed, pieces, components, degree)
    table = native.table(breaks, coefficients)
    kernel = native.compile_function(lambda x: (table(x), table.derivative()(x), table.derivative(2)(x)), {"x": ()})
    x = arguments(breaks)
    scale = np.abs(coefficients).max() * (degree + 1) ** 3
    for order, (ours, interpreted) in enumerate(zip(kernel(x), kernel.python(x))):
        expected = scipy_values(breaks, coefficients, x, order)
        np.testing.assert_allclose(ours, expected, rtol=0, atol=CLOSE * scale)
        np.testing.assert_allclose(interpreted, expected, rtol=0, atol=CLOSE * scale)
        np.testing.assert_allclose(table.derivative(order)(x), expected, rtol=0, atol=CLOSE * scale)
    for k in (0, 7, 20):
        for alone, together in zip(kernel(x[k]), kernel(x)):
            np.testing.assert_array_equal(alone, together[k])


def test_run_time_tables_need_no_new_code():
    def f(x, b, c):
        table = native.table(b, c)
        return table(x), table.derivative()(x)

    kernel = native.compile_function(f, {"x": (), "b": ("m+1",), "c": ("m", 3, 6)}, shared=("b", "c"))
    for seed, pieces in ((1, 6), (2, 1), (3, 200)):
        breaks, coefficients = random_table(seed, pieces)
        x = arguments(breaks)
        for order, (ours, interpreted) in enumerate(
            zip(kernel(x, breaks, coefficients), kernel.python(x, breaks, coefficients))
        ):
            expected = scipy_values(breaks, coefficients, x, order)
            np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-10)
            np.testing.assert_allclose(interpreted, expected, rtol=0, atol=1e-10)
        one = kernel(x[5], breaks, coefficients)
        np.testing.assert_array_equal(one[0], kernel(x, breaks, coefficients)[0][5])


def test_run_time_lengths_must_fit():
    kernel = native.compile_function(
        lambda x, b, c: native.table(b, c)(x), {"x": (), "b": ("m+1",), "c": ("m", 3, 6)}, shared=("b", "c")
    )
    breaks, coefficients = random_table(0)
    with pytest.raises(ShapeError, match="'c' has shape"):
        kernel(0.1, breaks, coefficients[:-1])
    with pytest.raises(ShapeError, match=r"expected \(m, 3, 6\)"):
        kernel(0.1, breaks, coefficients[:, :2])


def test_differentiating_a_table_is_its_derivative():
    breaks, coefficients = random_table(4)
    table = native.table(breaks, coefficients)
    kernel = native.compile_function(lambda x: (native.derivative(table(x), x), table.derivative()(x)), {"x": ()})
    by_rule, by_table = kernel(arguments(breaks)[1:-1])
    np.testing.assert_allclose(by_rule, by_table, rtol=1e-12, atol=1e-12)


def test_tables_inside_loops():
    breaks, coefficients = random_table(8, components=2)

    def f(x, n, b, c):
        table = native.table(b, c)
        return native.repeat(lambda i, y: 0.5 * y + 0.01 * table(y)[1] + 0.1, (x,), n).state[0]

    inputs = {"x": (), "n": (), "b": ("m+1",), "c": ("m", 2, 6)}
    kernel = native.compile_function(f, inputs, shared=("n", "b", "c"))
    table = native.table(breaks, coefficients)
    x = np.linspace(0.0, 4.0, 6)
    expected = [native.repeat(lambda i, y: 0.5 * y + 0.01 * table(y)[1] + 0.1, (v,), 12).state[0] for v in x]
    np.testing.assert_allclose(kernel(x, 12, breaks, coefficients), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.python(x, 12, breaks, coefficients), expected, rtol=1e-12)


def test_lookup_never_leaves_the_array():
    numbers = np.random.default_rng(0).normal(size=(6, 2, 3))

    def f(i, a):
        return native.lookup(numbers, i), native.lookup(a, i)

    kernel = native.compile_function(f, {"i": (), "a": ("m", 2, 3)}, shared=("a",))
    i = np.array([-np.inf, -3.0, 0.0, 0.9, 2.5, 5.0, 5.9, 6.0, 1e300, np.inf, np.nan, -0.0])
    expected = numbers[[0, 0, 0, 0, 2, 5, 5, 5, 5, 5, 0, 0]]
    for result in (*kernel(i, numbers), *kernel.python(i, numbers), native.lookup(numbers, i)):
        np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(kernel(3.2, numbers[:1])[1], numbers[0])
    with pytest.raises(ShapeError, match="'a' has shape"):
        kernel(1.0, numbers[:0])


def test_lengths_that_need_not_agree_are_safe():
    """Breaks and coefficients with independent lengths: too few rows repeat the last one."""
    kernel = native.compile_function(
        lambda x, b, c: native.table(b, c)(x), {"x": (), "b": ("k",), "c": ("m", 2)}, shared=("b", "c")
    )
    x = np.array([0.5, 1.5, 2.5, 9.0])
    breaks, rows = np.arange(4.0), np.array([[1.0, 0.0], [2.0, 0.0]])
    np.testing.assert_array_equal(kernel(x, breaks, rows), [1.0, 2.0, 2.0, 2.0])
    np.testing.assert_array_equal(kernel.python(x, breaks, rows), [1.0, 2.0, 2.0, 2.0])
    np.testing.assert_array_equal(kernel(x, breaks[:1], rows[:1]), 1.0)


def test_equal_tables_share_their_search():
    breaks, coefficients = random_table(3)

    def f(x):
        one, other = native.table(breaks, coefficients), native.table(breaks.copy(), coefficients.copy())
        return one(x) + other(x), other.derivative()(x)

    codes = [op.code for op in native.trace(f, {"x": ()}).operations]
    assert codes.count("locate") == 1
    assert codes.count("gather") == 1 + coefficients[0].size


def test_interpolation():
    x = np.array([0.0, 0.5, 0.6, 2.0, 3.0])
    y = np.random.default_rng(0).normal(size=(5, 2))
    grid = np.linspace(0, 3, 31)
    linear, cubic = native.interpolate(x, y), native.interpolate(x, y[:, 0], "cubic")
    kernel = native.compile_function(lambda t: (linear(t), cubic(t), cubic.derivative(2)(t)), {"t": ()})
    a, b, c = kernel(grid)
    np.testing.assert_allclose(a, np.column_stack([np.interp(grid, x, y[:, k]) for k in range(2)]), atol=1e-14)
    spline = CubicSpline(x, y[:, 0])
    np.testing.assert_allclose(b, spline(grid), atol=1e-13)
    np.testing.assert_allclose(c[1:-1], spline(grid, 2)[1:-1], atol=1e-11)
    assert cubic(0.7) == pytest.approx(spline(0.7), rel=1e-13)


def test_not_a_number_flows_through():
    breaks, coefficients = random_table(1, components=5)
    kernel = native.compile_function(native.table(breaks, coefficients), {"x": ()})
    values = kernel(np.array([np.nan, 1.0, np.inf, -np.inf, 2.0]))
    assert np.isnan(values[0]).all()
    assert np.isfinite(values[1:]).all()


def test_mistakes_are_named():
    with pytest.raises(ShapeError, match="increasing"):
        native.table([0.0, 2.0, 1.0], np.zeros((2, 3)))
    with pytest.raises(ShapeError, match="2 pieces"):
        native.table([0.0, 1.0, 2.0], np.zeros((3, 3)))
    with pytest.raises(ShapeError, match="coefficients of shape"):
        native.table([0.0, 1.0], np.zeros(1))
    with pytest.raises(UnknownNameError, match="cubic"):
        native.interpolate([0, 1], [0, 1], "cubik")


@pytest.mark.parametrize("components", [None, 3])
def test_one_number_and_an_array_of_numbers_give_the_same(components: int | None) -> None:
    rng = np.random.default_rng(0)
    breaks = np.sort(rng.random(6))
    table = native.table(breaks, rng.normal(size=(5, 4) if components is None else (5, components, 4)))
    for order in range(5):
        slope = table.derivative(order) if order else table
        for x in [*rng.uniform(-0.3, 1.3, 50).tolist(), *breaks.tolist(), float("nan"), float("inf"), -float("inf")]:
            assert np.array_equal(slope(x), slope(np.array([x]))[0], equal_nan=True), (order, x)
