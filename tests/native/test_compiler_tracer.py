"""Tracing: what is written down, what is simplified away, what is refused."""

import operator
from typing import Any

import numpy as np
import pytest

from manipula import native
from manipula.algebra import ops
from manipula.errors import TracingError


def graph_of_scalars(f, count=3):
    return native.trace(f, dict.fromkeys("xyzuvw"[:count], ()))


def codes(f, count=3):
    return [op.code for op in graph_of_scalars(f, count).operations if op.code not in ("input", "const")]


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y, z: x + 0.0,
        lambda x, y, z: 0 + x,
        lambda x, y, z: x * 1.0,
        lambda x, y, z: x - 0,
        lambda x, y, z: -operator.neg(x),
        lambda x, y, z: x / 1.0,
        lambda x, y, z: x**1,
        lambda x, y, z: (-x) * (-1.0),
        lambda x, y, z: (x - x) + x,
        lambda x, y, z: 0.0 * y + x,
        lambda x, y, z: (y - z) + (z - y) + x,
        lambda x, y, z: ops.where(y < z, x, x),
    ],
)
def test_trivial_operations_leave_the_argument(f):
    assert codes(f) == []


@pytest.mark.parametrize(
    ("f", "left"),
    [
        (lambda x, y, z: (x + y) * (y + x), ["add", "mul"]),
        (lambda x, y, z: x * y - y * x + z * x, ["mul"]),
        (lambda x, y, z: ops.sin(x) ** 2 + ops.sin(x), ["sin", "mul", "add"]),
        (lambda x, y, z: x + (-y), ["sub"]),
        (lambda x, y, z: -(x - y), ["sub"]),
        (lambda x, y, z: (-x) * y + z, ["mul", "sub"]),
        (lambda x, y, z: 2.0 * (3.0 * x), ["mul"]),
        (lambda x, y, z: -(2.0 * x), ["mul"]),
        (lambda x, y, z: x / 4.0, ["mul"]),
        (lambda x, y, z: ops.cos(-x) + ops.cos(x), ["cos", "add"]),
        (lambda x, y, z: ops.sin(-x) + ops.sin(x) + y, []),
        (lambda x, y, z: x**4, ["mul", "mul"]),
        (lambda x, y, z: x**-1, ["div"]),
        (lambda x, y, z: x**0.5, ["sqrt"]),
        (lambda x, y, z: x**0, []),
    ],
)
def test_rules(f, left):
    assert codes(f) == left


def test_what_is_not_returned_is_not_kept():
    def f(x, y, z):
        for _ in range(100):
            y = ops.exp(y) * z
        return x * x

    assert codes(f) == ["mul"]


def test_constants_are_folded():
    graph = graph_of_scalars(lambda x, y, z: x * ops.sin(0.3) * 2.0 + ops.sqrt(2.0) / 3.0)
    constants = [op.data for op in graph.operations if op.code == "const"]
    assert sorted(constants) == sorted([np.sin(0.3) * 2.0, np.sqrt(2.0) / 3.0])


def test_negative_zero_is_a_number_of_its_own():
    kernel = native.compile_function(lambda x: np.array([ops.where(x > 0, -0.0, 0.0)], object), {"x": ()})
    assert np.signbit(kernel(1.0)[0])
    assert not np.signbit(kernel(-1.0)[0])


def test_object_arrays_of_nodes_behave_like_arrays():
    def f(q, p):
        R = np.array([[ops.cos(q), -ops.sin(q)], [ops.sin(q), ops.cos(q)]], dtype=object)
        return (R @ p) * np.float64(2.0) + np.array([1.0, 2.0]) @ R - np.float64(1.0)

    kernel = native.compile_function(f, {"q": (), "p": (2,)})
    q, p = 0.3, np.array([0.4, -0.7])
    np.testing.assert_allclose(kernel(q, p), f(q, p).astype(float), rtol=1e-15)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: 1.0 if x > 0 else 2.0,
        lambda x: float(x),
        lambda x: int(x),
        lambda x: [1, 2, 3][x],
        lambda x: range(x),
        lambda x: x and 1.0,
        lambda x: max(x, 0.0),
        lambda x: complex(x),
        lambda x: round(x),
        lambda x: 1.0 if x == 0 else x,
    ],
)
def test_control_flow_on_a_traced_number_says_what_to_do(f):
    with pytest.raises(TracingError, match=r"ops\.where"):
        native.trace(f, {"x": ()})


def test_a_number_of_another_trace_is_refused():
    kept = []
    native.trace(lambda x: kept.append(x) or x, {"x": ()})
    for f in (lambda y: y + kept[0], lambda y: kept[0], lambda y: ops.where(y > 0, kept[0], y), lambda y: y < kept[0]):
        with pytest.raises(TracingError):
            native.trace(f, {"y": ()})


def test_outputs_have_names_and_shapes():
    graph = native.trace(lambda x: {"a": x, "b": np.outer(x, x), "c": 1.5}, {"x": (2,)})
    assert graph.outputs == {"a": (2,), "b": (2, 2), "c": ()}
    assert native.trace(lambda x: (x, x[0]), {"x": (2,)}).outputs == {"out0": (2,), "out1": ()}
    assert native.trace(lambda x: x, {"x": (2,)}).outputs == {"out": (2,)}


def test_a_result_that_is_no_number_is_named():
    with pytest.raises(TracingError, match="output 'b' of f"):
        native.trace(lambda x: {"a": x, "b": "text"}, {"x": ()})


@pytest.mark.parametrize("nothing", [(), {}])
def test_a_function_that_returns_nothing_is_refused(nothing):
    with pytest.raises(TracingError, match="returns nothing"):
        native.trace(lambda x: nothing, {"x": ()})


def test_conditions_combine_and_are_outputs_too():
    def f(x, y):
        return (x < y) & ~(x > 0.5) | (y >= 2.0) & True

    kernel = native.compile_function(f, {"x": (), "y": ()})
    x, y = np.meshgrid([-1.0, 0.2, 0.7, 3.0], [-2.0, 0.5, 2.0, 9.0])
    expected = ((x < y) & ~(x > 0.5)) | (y >= 2.0)
    np.testing.assert_array_equal(kernel(x, y), expected.astype(float))
    np.testing.assert_array_equal(kernel.python(x, y), expected.astype(float))


def test_operation_count_counts_each_kind():
    graph = graph_of_scalars(lambda x, y, z: ops.sin(x) * y + ops.sqrt(z) / (x - y) - ops.exp(ops.atan2(x, z)))
    count = graph.operation_count()
    assert count == {"add": 3, "mul": 1, "div": 1, "neg": 0, "sqrt": 1, "trig": 2, "other": 1, "total": 9}


def test_every_function_of_one_number_reaches_the_code():
    names = [
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "exp",
        "log",
        "sinh",
        "cosh",
        "tanh",
        "sqrt",
        "floor",
        "sign",
        "abs",
    ]

    def f(x):
        return np.array([getattr(ops, name)(x) for name in names], object)

    kernel = native.compile_function(f, {"x": ()})
    x = np.linspace(0.05, 0.95, 7)
    expected = np.array([[float(getattr(ops, name)(v)) for name in names] for v in x])
    np.testing.assert_allclose(kernel(x), expected, rtol=5e-16)
    np.testing.assert_allclose(kernel.python(x), expected, rtol=5e-16)


def test_functions_of_two_numbers():
    def f(x, y):
        pairs = [ops.atan2(x, y), ops.minimum(x, y), ops.maximum(x, y), ops.atan2(0.3, x), ops.minimum(0.1, y)]
        return np.array([*pairs, abs(x) ** y, 2.0**y, abs(x) ** 1.7, x**3, x**-2], object)

    kernel = native.compile_function(f, {"x": (), "y": ()})
    x, y = np.random.default_rng(1).normal(size=(2, 9))
    expected = np.array([f(a, b).astype(float) for a, b in zip(x, y)])
    np.testing.assert_allclose(kernel(x, y), expected, rtol=1e-15)
    np.testing.assert_allclose(kernel.python(x, y), expected, rtol=1e-15)


def test_a_function_traced_once_gives_the_graph_of_one_traced_at_every_place() -> None:
    """Loops inside it, constants and what it takes from outside included; and it is called once."""
    calls = []

    def run(once: bool, x: Any, p: Any) -> Any:
        def f(t: Any, y: Any) -> np.ndarray:
            calls.append(once)
            inner = native.repeat(lambda i, z: (0.5 * z + ops.sin(t) * y[0] + p,), (y[1],), 3).state[0]
            return np.array([y[1] * p + inner, ops.where(y[0] > t, inner, 2.0), 3.0 * p, 0.25], object)

        g = native.traced_once(f) if once else f
        first = g(0.0, x)
        second = g(p, np.array([first[0], first[1], first[2], x[3]], object))
        return np.concatenate([second, g(x[0] * p, x - second)])

    kernels = [
        native.compile_function(lambda x, p, once=once: run(once, x, p), {"x": (4,), "p": ()}, "once")
        for once in (False, True)
    ]
    assert (calls.count(False), calls.count(True)) == (3, 1)
    assert kernels[0].operation_count() == kernels[1].operation_count()
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (5, 4))
    assert np.array_equal(kernels[0](x, 0.7), kernels[1](x, 0.7))
    assert np.array_equal(kernels[0].python(x[0], 0.7), kernels[1].python(x[0], 0.7))
