"""Models, kernels and equations travel to other processes and are copied: what arrives computes the same bits."""

from __future__ import annotations

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import manipula as mp
from manipula import native
from model_answers import work

ARM = mp.load("puma560")
Q, QD = np.linspace(-1.0, 1.0, 6), np.linspace(0.5, -0.5, 6)
WAYS = {"pickle": lambda x: pickle.loads(pickle.dumps(x)), "deepcopy": copy.deepcopy, "copy": copy.copy}  # noqa: S301


@pytest.fixture(params=WAYS)
def sent(request):
    return WAYS[request.param]


def test_a_model_that_was_used_travels(sent):
    model = mp.compile(ARM)
    expected = model.mass_matrix(Q), model.position(Q), model.jacobian(Q, "link3")
    arrived = sent(model)
    assert arrived.robot == ARM
    found = arrived.mass_matrix(Q), arrived.position(Q), arrived.jacobian(Q, "link3")
    assert all(np.array_equal(a, b) for a, b in zip(found, expected))


@pytest.mark.parametrize("function", ["mass_matrix", "inverse_dynamics_derivatives"])
def test_a_kernel_of_a_model_travels(sent, function):
    """Also one that was found in the cache and never traced here."""
    kernel = mp.compile(ARM).kernel(function)
    arguments = (Q, QD, Q)[: len(kernel.graph.inputs)]
    arrived = sent(kernel)
    assert arrived.graph.digest() == kernel.graph.digest()
    assert arrived.operation_count() == kernel.operation_count()
    for found, expected in zip(np.atleast_1d(arrived(*arguments)), np.atleast_1d(kernel(*arguments))):
        assert np.array_equal(found, expected)


def test_a_kernel_with_loops_and_tables_travels(sent):
    def f(x, steps, breaks, values):
        table, baked = native.table(breaks, values), native.table(np.array([0.0, 1.0, 2.0]), np.ones((2, 1, 3)))
        step = lambda i, y: y + 0.01 * (table(0.1 * i) + baked(0.2 * i)) * y
        done = native.repeat(step, (x,), steps, record=lambda i, y: y, every=2)
        return {"last": done.state[0], "samples": done.samples}

    shapes = {"x": (1,), "steps": (), "breaks": ("m+1",), "values": ("m", 1, 2)}
    kernel = native.compile_function(f, shapes, name="f", shared=("steps", "breaks", "values"))
    given = np.array([[1.0], [2.0]]), 10.0, np.array([0.0, 0.5, 2.0]), np.arange(4.0).reshape(2, 1, 2)
    expected, found = kernel(*given), sent(kernel)(*given)
    assert all(np.array_equal(a, b) for a, b in zip(found, expected))


@pytest.mark.parametrize("level", ["raw", "compact", "lumped", "base"])
def test_equations_travel(sent, level):
    robot = mp.load("planar-2r")
    eq = mp.equations(robot, level, inertia="symbolic", right_angles="given", limit=5000, progress=lambda *_: None)
    assert eq.M is not None
    arrived = sent(eq)
    assert (arrived.level, arrived.inertia, arrived.right_angles) == (level, "symbolic", "given")
    assert arrived._budget == eq._budget
    assert arrived.M == eq.M
    assert arrived.text() == eq.text()


@pytest.mark.parametrize("name", ["panda", "planar-2r", "stanford"])
def test_robots_and_scenarios_travel(sent, name):
    robot = mp.load(name)
    assert robot.digest
    arrived = sent(robot)
    assert arrived == robot
    assert hash(arrived) == hash(robot)
    if not robot.parameters:
        scenario = mp.Scenario(
            robot, q0=np.zeros(robot.n), duration=0.1, disturbances=(mp.Wrench((1.0, 0, 0, 0, 0, 0)),)
        )
        assert sent(scenario) == scenario


def test_a_traced_number_does_not_travel():
    with pytest.raises(mp.TracingError, match="cannot be stored"):
        native.trace(lambda x: pickle.dumps(x), {"x": ()})


def test_a_worker_computes_with_what_it_was_sent():
    model = mp.compile(ARM)
    expected = work(model, Q)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(work, (model, Q))
    assert all(np.array_equal(a, b) for a, b in zip(found, expected))
