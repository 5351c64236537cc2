"""Random programs: one state, four or eight side by side, one function or many, the interpreter: all agree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manipula import native
from manipula.algebra import ops
from manipula.native.llvm import target

EXACT = ("add", "sub", "mul", "div", "neg", "abs", "sqrt", "floor", "sign", "minimum", "maximum", "select", "scale")
SMOOTH = ("add", "sub", "mul", "sin", "cos", "tanh", "exp", "atan", "atan2", "scale", "select")
INPUTS = 5
CLOSE = 1e-14  # what the interpreter must meet on programs that do not amplify rounding

constants = st.sampled_from([0.5, -2.0, 3.0, 0.1, 1.0, -1.0, 0.0, 7.25])


def programs(codes, largest=40):
    line = st.tuples(st.sampled_from(codes), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), constants)
    return st.lists(line, min_size=1, max_size=largest)


def apply(code, a, b, c, number):
    if code == "add":
        return a + b
    if code == "sub":
        return a - b
    if code == "mul":
        return a * b
    if code == "div":
        return a / b
    if code == "neg":
        return -a
    if code == "scale":
        return number * a
    if code == "select":
        return ops.where(a < b, c, a)
    if code in ("minimum", "maximum", "atan2"):
        return getattr(ops, code)(a, b)
    return getattr(ops, code)(a)


def function_of(program, damp=False):
    """The last ten values of a program; ``damp`` keeps values of the order of one."""

    def f(x):
        values = list(x)
        for code, i, j, k, number in program:
            a, b, c = (values[-1 - n % min(len(values), 20)] for n in (i, j, k))
            y = apply(code, a, b, c, number)
            values.append(0.5 * ops.tanh(y) + 0.1 * a if damp else y)
        return np.array(values[-10:], object)

    return f


STATES = np.random.default_rng(5).normal(size=(11, INPUTS)).round(3)


def bits(x):
    return np.ascontiguousarray(x).view(np.uint64)


def assert_same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    both_nan = np.isnan(a) & np.isnan(b)  # the payload of a NaN is no result
    np.testing.assert_array_equal(np.where(both_nan, 0, bits(a)), np.where(both_nan, 0, bits(b)))


@pytest.fixture(autouse=True)
def _without_cache(monkeypatch):
    monkeypatch.setenv("MANIPULA_CACHE", "off")


@settings(max_examples=25, deadline=None)
@given(programs((*EXACT, *SMOOTH)), st.sampled_from([4, 8]))
def test_one_state_and_a_batch_give_the_same_bits(program, width):
    kernel = native.compile_function(function_of(program), {"x": (INPUTS,)}, width=width)
    batch = kernel(STATES)
    assert_same_bits([kernel(x) for x in STATES], batch)
    assert_same_bits(kernel(STATES[:3]), batch[:3])


@settings(max_examples=25, deadline=None)
@given(programs(EXACT))
def test_interpreter_and_machine_code_give_the_same_bits_without_fused_operations(program):
    graph = native.trace(function_of(program), {"x": (INPUTS,)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(target, "processor", lambda: target.Processor(4, False))
        patch.setenv("MANIPULA_CACHE", "off")
        np.testing.assert_array_equal(native.compile_graph(graph)(STATES), graph.evaluate(STATES))


@settings(max_examples=20, deadline=None)
@given(programs(SMOOTH))
def test_interpreter_and_machine_code_agree(program):
    graph = native.trace(function_of(program, damp=True), {"x": (INPUTS,)})
    np.testing.assert_allclose(native.compile_graph(graph)(STATES), graph.evaluate(STATES), rtol=CLOSE, atol=CLOSE)


@settings(max_examples=20, deadline=None)
@given(programs((*EXACT, *SMOOTH)), st.integers(1, 12))
def test_cutting_into_functions_changes_no_bit(program, length):
    graph = native.trace(function_of(program), {"x": (INPUTS,)})
    whole = native.compile_graph(graph)(STATES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(target, "INLINE", 0)
        patch.setattr(target, "SEGMENT", length)
        kernel = native.compile_graph(graph)
        assert_same_bits(kernel(STATES), whole)
        assert_same_bits(kernel(STATES[4]), whole[4])


@settings(max_examples=15, deadline=None)
@given(programs((*EXACT, *SMOOTH)))
def test_a_graph_used_inside_a_function_is_that_function(program):
    graph = native.trace(function_of(program), {"x": (INPUTS,)})
    again = native.trace(lambda x: native.inline(graph, x), {"x": (INPUTS,)})
    np.testing.assert_array_equal(graph.evaluate(STATES), again.evaluate(STATES))
    assert again.operation_count()["total"] <= graph.operation_count()["total"]


@pytest.mark.parametrize("length", [3, 7, 1000])
def test_sine_and_cosine_of_one_angle_may_stand_far_apart(length, monkeypatch):
    monkeypatch.setattr(target, "INLINE", 0)
    monkeypatch.setattr(target, "SEGMENT", length)

    def f(x):
        sines = ops.sin(x)
        y = sines[0]
        for k in range(20):
            y = y * x[k % INPUTS] + sines[(k + 1) % INPUTS]
        return np.array([y, *(ops.cos(x) * y)], object)

    kernel = native.compile_function(f, {"x": (INPUTS,)})
    values = kernel(STATES)
    np.testing.assert_allclose(values, kernel.python(STATES), rtol=CLOSE, atol=CLOSE)
    assert_same_bits([kernel(x) for x in STATES], values)
