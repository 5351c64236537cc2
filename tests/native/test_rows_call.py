"""Kernels called without ceremony: the results of usual calls, to the last bit, and arguments that do not fit are refused."""

from __future__ import annotations

import numpy as np
import pytest

from manipula import native
from manipula.algebra import ops
from manipula.errors import ShapeError


def weighed(q, scale, table, place):
    row = native.lookup(table, place)
    return {"sum": scale * (row[0] * q[0] + row[1] * ops.sin(q[1])), "both": q * scale}


SHAPES = {"q": (2,), "scale": (), "table": ("rows", 2), "place": ()}


@pytest.fixture(scope="module")
def kernel():
    return native.compile_function(weighed, SHAPES, shared=("scale", "table"))


@pytest.mark.parametrize("count", [1, 7, 8, 100])
def test_rows_are_those_of_a_usual_call(kernel, count):
    rng = np.random.default_rng(count)
    q, table, place = rng.normal(size=(count, 2)), rng.normal(size=(5, 2)), np.arange(count) % 5.0
    found = native.RowsCall(kernel)(count, q, np.array(1.5), table, place)
    for a, b in zip(found, kernel(q, 1.5, table, place)):
        np.testing.assert_array_equal(a, np.atleast_1d(b).reshape(a.shape))


def test_rows_around_the_results_are_left_to_the_caller(kernel):
    one = native.RowsCall(native.compile_function(lambda q: 2.0 * q, {"q": (3,)}))
    q = np.arange(12.0).reshape(4, 3)
    found = one(4, q, before=2, behind=3)
    assert found.shape == (9, 3)
    np.testing.assert_array_equal(found[2:6], 2.0 * q)


@pytest.mark.parametrize("wrong", ["q", "table", "place", "dtype", "order"])
def test_arguments_that_do_not_fit_are_refused(kernel, wrong):
    given = {"q": np.zeros((4, 2)), "scale": np.array(1.0), "table": np.zeros((5, 2)), "place": np.zeros(4)}
    if wrong == "dtype":
        given["q"] = given["q"].astype("f4")
    elif wrong == "order":
        given["q"] = np.zeros((2, 4)).T
    else:
        given[wrong] = given[wrong][..., :-1].copy()
    with pytest.raises(ShapeError, match="does not fit"):
        native.RowsCall(kernel)(4, *given.values())


def test_samples_of_one_state():
    def grown(steps, table, x):
        step = lambda i, x: x + native.lookup(table, i)
        return {"x": native.repeat(step, (x,), steps, record=lambda i, x: x).samples}

    kernel = native.compile_function(grown, {"steps": (), "table": ("N",), "x": ()}, shared=("steps", "table"))
    given = np.array(6.0), np.arange(6.0), np.array(1.0)
    np.testing.assert_array_equal(native.RowsCall(kernel)(7, *given), kernel(6, np.arange(6.0), 1.0))


def test_the_kernel_behind_a_function():
    kernel = native.compile_function(lambda q: 2.0 * q, {"q": (3,)})
    assert native.kernel_behind(kernel.fast) is kernel
    assert native.kernel_behind(kernel.described("Twice.")) is kernel
    assert native.kernel_behind(np.sin) is None
    assert native.kernel_behind([].append) is None
