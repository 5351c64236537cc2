"""Derivatives of graphs against mpmath, Taylor numbers and each other."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manipula import native
from manipula.algebra import derivatives, ops
from manipula.errors import TracingError, UnknownNameError

EXACT = 1e-13  # of the size of the derivative: a few roundings per operation of short formulas


def of_one(name):
    return lambda x: getattr(ops, name)(x)


UNARY = {
    **{
        n: of_one(n)
        for n in ["sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "sinh", "cosh", "tanh", "sqrt"]
    },
    "whole and half powers": lambda x: x**5 - x**-3 + x**1.5,
    "general powers": lambda x: x**1.3 + 2.0**x + x**x,
    "quotient": lambda x: (1.0 + x) / (2.0 + x * x),
    "abs": lambda x: ops.abs(x - 0.5),
}


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_elementary_functions_against_mpmath(name, mode):
    f = UNARY[name]
    graph = native.jacobian(f, "x", inputs={"x": ()}, mode=mode)
    by_hand = {
        "abs": lambda x: abs(x - 0.5),
    }
    exact = by_hand.get(name, getattr(mpmath, name, f))
    for x in (0.23, 0.61, 0.87):
        with mpmath.workdps(50):
            expected = float(mpmath.diff(exact, mpmath.mpf(x)))
        assert graph.evaluate(x) == pytest.approx(expected, rel=EXACT)
        assert native.compile_graph(graph)(x) == pytest.approx(expected, rel=EXACT)


def arm(q, a):
    """A function with everything that is differentiable."""
    s, c = ops.sin(q[0] + q[1]), ops.cos(q[1] * q[2])
    r = ops.sqrt(1.0 + q[2] ** 2)
    x = s * c / r + ops.atan2(q[0], r) * ops.exp(-q[1])
    y = ops.where(q[0] > a, x * q[2], ops.tanh(x)) + ops.minimum(q[1], q[2]) ** 2
    return np.array([x, y, ops.maximum(x, y) * a, q[0] * a], object)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=4, max_size=4))
def test_forward_reverse_and_taylor_numbers_agree(values):
    q, a = np.array(values[:3]), values[3]
    forward = native.jacobian(arm, ["q", "a"], inputs={"q": (3,), "a": ()}, mode="forward")
    reverse = native.jacobian(arm, ["q", "a"], inputs={"q": (3,), "a": ()}, mode="reverse")
    J, J_a = forward.evaluate(q, a)
    for ours, theirs in zip((J, J_a), reverse.evaluate(q, a)):
        np.testing.assert_allclose(ours, theirs, rtol=EXACT, atol=EXACT)
    expected = np.asarray(derivatives.jacobian(lambda x: arm(x[:3], x[3]), np.array(values)), float)
    np.testing.assert_allclose(np.column_stack([J, J_a]), expected, rtol=EXACT, atol=EXACT)


def test_derivatives_are_nodes_that_can_be_differentiated_again():
    def hessian(q):
        V = ops.sin(q[0]) * q[1] ** 3 + ops.exp(q[0] * q[1])
        return native.derivative(native.derivative(V, q), q)

    kernel = native.compile_function(hessian, {"q": (2,)})
    x, y = 0.3, 0.7
    e = np.exp(x * y)
    mixed = 3 * np.cos(x) * y**2 + e * (1 + x * y)
    expected = [[-np.sin(x) * y**3 + y * y * e, mixed], [mixed, 6 * np.sin(x) * y + x * x * e]]
    np.testing.assert_allclose(kernel(np.array([x, y])), expected, rtol=EXACT)


def test_intermediate_values_can_be_the_variables():
    def f(x):
        u = ops.exp(x)
        return native.derivative(u**3 * x, u)

    assert native.trace(f, {"x": ()}).evaluate(0.4) == pytest.approx(3 * np.exp(0.8) * 0.4, rel=EXACT)


def test_derivatives_share_the_function_and_use_sparsity():
    def f(q):
        return np.array([ops.sin(q[0]) * q[1], q[1] * q[2], q[3]], object)

    J = native.jacobian(f, "q", inputs={"q": (4,)})
    assert J.operation_count()["total"] == 3  # sin, cos, cos·q₁: everything else is an input or a constant
    zeros = [J.operations[v] for v in J.output_values["dout_dq"]]
    assert sum(op.code == "const" and op.data == 0.0 for op in zeros) == 7


def test_time_derivative():
    def f(q, qd):
        x = np.array([ops.cos(q[0]) * q[1], 3.0, q[0]], object)
        return native.time_derivative(x, {q[0]: qd[0], q[1]: qd[1]})

    kernel = native.compile_function(f, {"q": (2,), "qd": (2,)})
    q, qd = np.array([0.3, 0.5]), np.array([-0.2, 0.9])
    expected = [-np.sin(q[0]) * qd[0] * q[1] + np.cos(q[0]) * qd[1], 0.0, qd[0]]
    np.testing.assert_allclose(kernel(q, qd), expected, rtol=EXACT)


def test_reverse_is_cheap_for_one_output_of_many_inputs():
    def f(x):
        return sum(ops.sin(a * b) for a, b in zip(x, x[1:]))

    count = native.trace(f, {"x": (50,)}).operation_count()["total"]
    gradient = native.jacobian(f, "x", inputs={"x": (50,)}).operation_count()["total"]
    assert gradient <= 4 * count  # the cheap gradient principle


def test_a_loop_is_differentiated():
    """Newton's square root: d√a/da = 1/(2√a), also where the states of a batch take different numbers of steps."""

    def root(a):
        return native.until(lambda x: 0.5 * (x + a / x), (1.0,), lambda x: abs(x * x - a) <= 1e-15 * a).state[0]

    kernel = native.compile_graph(native.jacobian(root, "a", inputs={"a": ()}))
    a = np.array([0.1, 1.1, 2.0, 30.0, 1e4])
    np.testing.assert_allclose(kernel(a), 0.5 / np.sqrt(a), rtol=1e-12)  # of the last step, which has converged
    np.testing.assert_allclose(kernel.python(a), 0.5 / np.sqrt(a), rtol=1e-12)


def test_derivatives_inside_a_loop():
    """Newton's method that takes the derivative of its residual itself: x·eˣ = a."""

    def lambert(a):
        def step(x):
            residual = x * ops.exp(x) - a
            return x - residual / native.derivative(residual, x)[()]

        return native.until(step, (0.5,), lambda x: abs(x * ops.exp(x) - a) < 1e-14, 40).state[0]

    kernel = native.compile_function(lambert, {"a": ()})
    a = np.array([0.1, 1.0, 2.0, np.e, 7.0])
    x = kernel(a)
    np.testing.assert_allclose(x * np.exp(x), a, rtol=1e-13)
    assert x[3] == pytest.approx(1.0, rel=1e-13)


def test_nested_loops_are_differentiated():
    def orbit(q, n):
        def step(i, x, v):
            inner = native.repeat(lambda j, y: 0.9 * y + 0.1 * x * q[1], (v,), 3).state[0]
            return x + 0.1 * inner, v - 0.1 * ops.sin(x) * q[2]

        return np.array(native.repeat(step, (q[0], 0.5), n).state, object)

    graph = native.jacobian(orbit, "q", inputs={"q": (3,), "n": ()}, shared=("n",))
    q = np.array([0.5, 0.8, 0.3])
    expected = np.asarray(derivatives.jacobian(lambda x: orbit(x, 20), q), float)
    np.testing.assert_allclose(native.compile_graph(graph)(q, 20), expected, rtol=EXACT)
    np.testing.assert_allclose(graph.evaluate(q, 20), expected, rtol=EXACT)


def test_mistakes_are_named():
    graph = native.trace(lambda q: q, {"q": (2,)})
    with pytest.raises(UnknownNameError, match="qd"):
        native.jacobian(graph, "qd")
    with pytest.raises(UnknownNameError, match="sideways"):
        native.jacobian(graph, "q", mode="sideways")
    with pytest.raises(TracingError, match="float"):
        native.trace(lambda q: native.derivative(q, 1.0), {"q": (2,)})
    with pytest.raises(TracingError, match="forward"):
        native.jacobian(
            lambda x: native.repeat(lambda i, y: y * x, (x,), 3).state[0], "x", inputs={"x": ()}, mode="reverse"
        )


def test_one_newton_step_after_a_flat_loop_carries_the_derivative_of_a_root() -> None:
    """x³ + a x = b: the loop counts as a constant, the step after it does not."""

    def root(a, b):
        def step(x, change):
            new = x - (x * x * x + a * x - b) / (3.0 * x * x + a)
            return new, abs(new - x)

        (x, _), _ = native.until(step, (1.0, 1.0), lambda x, change: change < 1e-9, flat=True)
        return x - (x * x * x + a * x - b) / (3.0 * x * x + a)

    def slopes(a, b):
        return native.derivative(np.array([root(a, b)]), np.array([a, b]))[0]

    found = native.compile_function(slopes, {"a": (), "b": ()})(2.0, 5.0)
    x = next(r.real for r in np.roots([1.0, 0.0, 2.0, -5.0]) if abs(r.imag) < 1e-12)
    np.testing.assert_allclose(found, [-x / (3 * x * x + 2.0), 1.0 / (3 * x * x + 2.0)], rtol=1e-12)


def test_a_number_in_an_array_of_its_own_has_a_derivative() -> None:
    def f(x):
        y = np.empty(2, object)
        y[0], y[1] = x[..., 1], x[0] * x[1]  # the first is an array without axes
        return {"J": native.derivative(y, x), "rate": native.time_derivative(y, {x[0]: 2.0, x[1]: 3.0})}

    J, rate = native.compile_function(f, {"x": (2,)})(np.array([5.0, 7.0]))
    assert np.array_equal(J, [[0.0, 1.0], [7.0, 5.0]])
    assert np.array_equal(rate, [3.0, 29.0])


@pytest.mark.parametrize("odd", ["text", None, [1.0]])
def test_derivatives_of_what_is_no_number_are_refused(odd) -> None:
    def f(x):
        y = np.empty(2, object)
        y[0], y[1] = odd, x[0]
        return native.derivative(y, x)

    with pytest.raises(TracingError, match="derivatives are of traced numbers"):
        native.compile_function(f, {"x": (1,)})
