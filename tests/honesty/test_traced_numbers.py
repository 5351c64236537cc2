"""Conditions and NumPy functions on traced numbers: right, or refused; never a constant that nobody asked for."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import manipula as mp
from manipula import native
from manipula.algebra import ops
from manipula.control import UserFunction
from manipula.errors import DescriptionError, ShapeError, TracingError

A, B = np.array([0.7, -0.4, 0.7, -0.4, 0.0]), np.array([0.2, 0.3, -0.5, -0.1, 0.0])


def evaluated(f, *columns):
    names = [f"x{k}" for k in range(len(columns))]
    return native.compile_function(f, dict.fromkeys(names, ()), name="f").python(*columns)


# ---------------------------------------------------------------- conditions
FORMS = {
    "equal": lambda p, q: p == q,
    "differ": lambda p, q: p != q,
    "either": lambda p, q: p ^ q,
    "equal, not": lambda p, q: (p == ~q) == (q == True),  # noqa: E712
    "true": lambda p, q: p == True,  # noqa: E712
    "not true": lambda p, q: p != True,  # noqa: E712
    "false": lambda p, q: False == p,  # noqa: E712, SIM300
    "numpy": lambda p, q: p == np.True_,
    "one": lambda p, q: p == 1,
    "not zero": lambda p, q: p != 0.0,
    "half": lambda p, q: p == 0.5,
    "nothing": lambda p, q: p == None,  # noqa: E711
    "less": lambda p, q: p < q,
    "sum": lambda p, q: p + q > 1,
    "itself": lambda p, q: (p == p) & q,
}


@pytest.mark.parametrize("form", FORMS)
def test_conditions_compare_as_truth_values_do(form):
    combine = FORMS[form]

    def f(a, b):
        result = combine(a > 0, b > 0)
        return result.select(1.0, 2.0) if isinstance(result, native.Condition) else (1.0 if result else 2.0)

    expected = [1.0 if combine(np.bool_(a > 0), np.bool_(b > 0)) else 2.0 for a, b in zip(A, B)]
    if form in ("equal, not",):
        expected = [1.0 if ((a > 0) == (not b > 0)) == (b > 0) else 2.0 for a, b in zip(A, B)]
    if form == "sum":
        expected = [1.0 if int(a > 0) + int(b > 0) > 1 else 2.0 for a, b in zip(A, B)]
    assert np.array_equal(np.broadcast_to(evaluated(f, A, B), A.shape), expected)


def test_arithmetic_of_conditions():
    f = lambda a, b: (a > 0) * 3.0 - 2.0 * (b > 0) + (a > b) / 2 + abs(-(b > 0))
    assert np.array_equal(evaluated(f, A, B), (A > 0) * 3.0 - 2.0 * (B > 0) + (A > B) / 2 + (B > 0) * 1.0)


DECISIONS = {
    "if": lambda x: 1.0 if (x > 0.5) == True else 2.0,  # noqa: E712
    "and": lambda x: 1.0 if x > 0 and x < 1 else 2.0,
    "between": lambda x: 1.0 if 0 < x < 1 else 2.0,
    "not": lambda x: 1.0 if not x > 0 else 2.0,
    "in": lambda x: 1.0 if x in (0.5, 1.0) else 2.0,
    "condition in": lambda x: 1.0 if (x > 0) in (True, False) else 2.0,
    "bool": lambda x: float(bool(x)),
    "max": lambda x: max(x, 0.0),
    "min": lambda x: min([0.0, x]),
    "sorted": lambda x: sorted([x, 0.3])[0],
    "int": lambda x: int(x),
    "float": lambda x: float(x),
    "float of a condition": lambda x: float(x > 0.0),
    "round": lambda x: round(x),
    "round to digits": lambda x: round(x, 2),
    "index": lambda x: [1.0, 2.0][x],
    "range": lambda x: float(len(range(x))),
    "math": lambda x: math.sin(x),
    "remainder": lambda x: x % 1.0,
    "whole": lambda x: 7.0 // x,
    "divmod": lambda x: divmod(x, 2.0)[0],
    "where": lambda x: np.where(x > 0, 1.0, 2.0),
    "any": lambda x: 1.0 if np.any(np.array([x > 0, x > 1])) else 2.0,
    "logical": lambda x: np.logical_and(x > 0, x < 1) * 1.0,
    "format": lambda x: float(f"{x:.3f}"),
    "attribute": lambda x: x.item(),
    "method": lambda x: x.clip(0, 1),
    "array of floats": lambda x: np.asarray([x, x], float)[0],
    "interpolation": lambda x: np.interp(x, [0.0, 1.0], [0.0, 1.0]),
    "inverse": lambda x: np.linalg.inv(np.array([[x, 0.0], [0.0, 1.0]]))[0, 0],
}


@pytest.mark.parametrize("decision", DECISIONS)
def test_decisions_on_traced_numbers_are_refused(decision):
    with pytest.raises(TracingError):
        native.compile_function(lambda x: DECISIONS[decision](x) + 0.0 * x, {"x": ()})


def test_hasattr_on_a_traced_number_says_no():
    seen = []
    native.compile_function(lambda x: (seen.append((hasattr(x, "shape"), hasattr(x > 0, "item"))), x)[1], {"x": ()})
    assert seen == [(False, False)]


# ---------------------------------------------------------------- NumPy
POINTS = {
    1: [(0.3,), (-0.3,), (0.9,), (-2.7,), (1e-3,)],
    2: [(0.3, 0.2), (-0.3, 0.7), (3.0, -4.0), (1e200, 1e200), (0.0, 0.0)],
}
UFUNCS = sorted(
    name
    for name in dir(np)
    if isinstance(getattr(np, name), np.ufunc) and getattr(np, name).nin in (1, 2) and not getattr(np, name).signature
)


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("boxed", [True, False], ids=["arrays", "scalars"])
def test_every_ufunc_is_right_or_refused(name, boxed):
    """Each NumPy function of one or two numbers, as a user's function meets it: entries of arrays, or the numbers themselves."""
    ufunc = getattr(np, name)
    arity = ufunc.nin

    def f(*x):
        result = ufunc(*([np.array([v]) for v in x] if boxed else x))
        return np.ravel(result)[0] + 0.0 * x[0]

    try:
        graph = native.trace(f, {f"x{k}": () for k in range(arity)}, name)
    except TracingError:
        return
    with np.errstate(all="ignore"):
        for point in POINTS[arity]:
            wanted = float(ufunc(*point))
            assert np.isclose(graph.evaluate(*point), wanted, rtol=1e-15, atol=0.0, equal_nan=True), (name, point)


SUPPORTED = ("arctan2", "hypot", "arcsin", "arccos", "arctan", "sin", "exp", "sqrt", "square", "absolute", "floor", "ceil", "trunc",
             "exp2", "radians", "degrees", "deg2rad", "power", "reciprocal", "add", "true_divide")  # fmt: skip


@pytest.mark.parametrize("name", SUPPORTED)
def test_common_ufuncs_are_compiled(name):
    ufunc = getattr(np, name)
    native.trace(lambda *x: ufunc(*x), {f"x{k}": () for k in range(ufunc.nin)})


def test_functions_of_arrays():
    x = np.array([0.3, -1.2, 0.8])
    for f in (np.linalg.norm, np.sum, np.prod, np.mean, lambda v: np.dot(v, v), lambda v: np.cross(v, v[::-1])[0]):
        kernel = native.compile_function(lambda v, f=f: f(v), {"v": (3,)}, name="f")
        assert np.allclose(kernel.python(x), f(x), rtol=1e-15)
    for f in (np.max, np.sort, np.argmax, np.median, np.isfinite, lambda v: np.linalg.det(np.outer(v, v))):
        with pytest.raises(TracingError):
            native.compile_function(lambda v, f=f: np.ravel(f(v))[0] + v[0], {"v": (3,)}, name="f")


# ---------------------------------------------------------------- controllers
ARM = mp.planar([0.5, 0.4], masses=[2.0, 1.0])


def run(function, **more):
    return mp.simulate(
        mp.Scenario(ARM, controller=UserFunction(function), q0=[0.3, 0.2], duration=0.02, verify=False, **more)
    )


ANGLE = np.array([3.0, 2.0])
CONTROLLERS = {
    "arctan2": (lambda t, q, qd, _: -ANGLE * np.arctan2(np.sin(q), np.cos(q)), True),
    "hypot": (lambda t, q, qd, _: -ANGLE * np.hypot(q, qd), True),
    "clip": (lambda t, q, qd, _: np.clip(-ANGLE * q, -0.5, 0.5), False),
    "sign": (lambda t, q, qd, _: -ANGLE * np.sign(q), False),
    "maximum": (lambda t, q, qd, _: np.maximum(-ANGLE * q, -0.1), False),
    "where": (lambda t, q, qd, _: np.where(q > 0.25, -1.0, 1.0), False),
    "finite": (lambda t, q, qd, _: np.where(np.isnan(q), 0.0, -ANGLE * q), False),
    "heaviside": (lambda t, q, qd, _: -np.heaviside(q, 0.5), False),
    "item": (lambda t, q, qd, _: [-q[0].item(), -float(q[1])], False),
    "remainder": (lambda t, q, qd, _: -ANGLE * ((q + np.pi) % (2 * np.pi) - np.pi), False),
    "sorted": (lambda t, q, qd, _: -ANGLE * q[np.argsort(q)], False),
    "condition": (lambda t, q, qd, _: [ops.where((q[0] > 0) == (qd[0] > 0), -1.0, 1.0), -q[1]], True),
}


@pytest.mark.parametrize("case", CONTROLLERS)
def test_a_controller_runs_compiled_or_in_python_with_the_same_answer(case):
    function, compiled = CONTROLLERS[case]
    found = run(function)
    assert found.status == "finished"
    assert any("ran in Python" in note for note in found.notes) != compiled
    q, qd = found.q, found.qd
    for k in (0, len(q) // 2, len(q) - 1):
        assert np.allclose(found.command[k], function(found.t[k], q[k], qd[k], None), rtol=1e-12, atol=1e-12)


IN_PYTHON = (lambda u: u, lambda u: np.where(np.isfinite(np.asarray(u, float)), u, u))


@pytest.mark.parametrize("route", IN_PYTHON, ids=["traced", "in Python"])
def test_torques_that_are_none_are_refused(route):
    for torques in ([1.0], [1.0, 2.0, 3.0], 5.0, [[1.0, 2.0]], []):
        with pytest.raises(ShapeError, match=r"controller gives torques of shape .* expected \(2,\)"):
            run(lambda t, q, qd, _, u=torques: route(u))
    for torques in ([None, 1.0], ["a", "b"], [1j, 0.0]):
        with pytest.raises(DescriptionError, match="no real numbers"):
            run(lambda t, q, qd, _, u=torques: (route(q * 0.0), u)[1])
    with pytest.raises(DescriptionError, match="masked"):
        run(lambda t, q, qd, _: (route(q), np.ma.array([1.0, 2.0], mask=[0, 1]))[1])


@pytest.mark.parametrize("route", IN_PYTHON, ids=["traced", "in Python"])
def test_a_controller_that_writes_into_the_state_is_refused(route):
    def wraps(t, q, qd, target):
        route(q)
        q -= 0.1
        return -q

    def clears(t, q, qd, target):
        route(q)
        qd[0] = 0.0
        return -q

    for function, integrator in itertools.product((wraps, clears), ("rk4", "dop853")):
        with pytest.raises(DescriptionError, match="writes into q or qd"):
            run(function, integrator=integrator)
