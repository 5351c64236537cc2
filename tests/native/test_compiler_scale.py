"""Long graphs: no recursion, compile time and workspace in proportion to length."""

import sys

import numpy as np
import pytest

from manipula import native
from manipula.algebra import ops


def long_function(length):
    """A chain of coupled oscillators: ``length`` operations, values that live short and long."""

    def f(x):
        state = [ops.sin(v) for v in x]
        made, k = 0, 0
        while made < length:
            i, j = k % len(x), (k * 7 + 3) % len(x)
            state[i] = state[i] * 0.5 + state[j] * x[i]
            made += 3
            k += 1
        return np.array(state, object)

    return f


@pytest.mark.parametrize("length", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_deep_graphs_need_no_recursion(length):
    graph = native.trace(long_function(length), {"x": (10,)})
    assert len(graph.operations) > 0.9 * length > 5 * sys.getrecursionlimit()
    assert np.isfinite(graph.evaluate(np.linspace(0.1, 0.4, 10))).all()
    gradient = native.jacobian(long_function(length // 3), "x", inputs={"x": (2,)})
    assert len(gradient.operations) > length // 3


def test_a_long_graph_is_compiled_and_right():
    kernel = native.compile_function(long_function(20_000), {"x": (10,)}, width=4)
    x = np.random.default_rng(0).uniform(-0.4, 0.4, size=(5, 10))
    values = kernel(x)
    np.testing.assert_allclose(values, kernel.python(x), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(kernel(x[2]), values[2])


def test_the_text_of_a_long_graph_is_in_proportion():
    """Functions of bounded length keep LLVM's time linear; here the cause is checked, not the clock."""
    from manipula.native.llvm import compiler as llvm
    from manipula.native.llvm import target

    def longest(length):
        graph = native.trace(long_function(length), {"x": (10,)})
        text = str(llvm.module_text(graph, 4))
        return len(text), max(part.count("\n") for part in text.split("define "))

    short_text, short_function = longest(9_000)
    long_text, long_function_lines = longest(36_000)
    assert long_text < 4.4 * short_text
    assert long_function_lines <= 1.1 * short_function
    assert short_function < 4 * target.SEGMENT
