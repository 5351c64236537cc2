"""Two routes to the same numbers: formulas derived in symbols and lowered, and the recursions compiled directly."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from manipula.errors import ShapeError, UnknownNameError
from manipula.formats.catalog import catalog_names, load_catalog
from manipula.formats.planar import planar
from manipula.model import compile
from manipula.robot.robot import Robot
from manipula.symbolic.equations import equations
from oracles import Judge, scaled_error
from symbolic.arms import S, puma560, random_state, random_tree, scara, two_link

AGREEMENT = 1e-12  # relative to the largest entry; the formulas of M sum a few hundred products
STATES = 50
FUNCTIONS = {
    "M": ("mass_matrix", 1), "C": ("coriolis_matrix", 2), "h": ("bias", 2), "g": ("gravity", 1), "tau": ("inverse_dynamics", 3),
    "kinetic_energy": ("kinetic_energy", 2), "potential_energy": ("potential_energy", 1),
}  # fmt: skip


def _states(n: int) -> np.ndarray:
    return np.random.default_rng(12).uniform(-3, 3, size=(3, STATES, n))


def _values(robot: Robot) -> dict[str, float]:
    return {name: 0.6 + 0.17 * k for k, name in enumerate(robot.parameters)}


@pytest.mark.parametrize(
    "robot",
    [two_link(), scara(), load_catalog("puma560"), random_tree(np.random.default_rng(3), 4, True)],
    ids=lambda robot: robot.name,
)
def test_formulas_and_recursions_give_the_same_numbers(robot: Robot) -> None:
    values = _values(robot)
    model = compile(robot.with_parameters(**values) if values else robot)
    eq, states = equations(robot), _states(robot.n)
    for part, (function, count) in FUNCTIONS.items():
        kernel = eq.compile(part, values)
        assert list(kernel.graph.inputs) == ["q", "qd", "qdd"][:count]
        found, expected = kernel(*states[:count]), getattr(model, function)(*states[:count])
        assert found.shape == expected.shape
        assert scaled_error(found, expected) < AGREEMENT, part


@pytest.mark.parametrize("level", ["raw", "lumped", "base", "recursive"])
def test_levels_compute_their_own_constants_first(level: str) -> None:
    robot = scara()
    values = _values(robot)
    kernel = equations(robot, level).compile("tau", values)  # pyright: ignore[reportArgumentType]
    states = _states(robot.n)
    assert scaled_error(kernel(*states), compile(robot.with_parameters(**values)).inverse_dynamics(*states)) < AGREEMENT


@pytest.mark.parametrize("name", [n for n in catalog_names() if not load_catalog(n).followers])
def test_catalog_arms_by_their_recursion_agree_with_pinocchio(name: str) -> None:
    robot = load_catalog(name)
    values = _values(robot)
    judge = Judge(robot.with_parameters(**values) if values else robot)
    states = _states(robot.n)
    found = equations(robot, "recursive").compile("tau", values)(*states)
    for k in range(0, STATES, 10):
        assert scaled_error(found[k], judge.inverse_dynamics(*states[:, k])) < AGREEMENT


@pytest.mark.parametrize("name", ["panda", "iiwa14", "gen3"])
def test_seven_joints_in_closed_form_agree_with_pinocchio(name: str) -> None:
    robot, judge = load_catalog(name), Judge(load_catalog(name))
    eq, q = equations(robot), _states(7)[0]
    M, g = eq.compile("M")(q), eq.compile("g")(q)
    for k in range(0, STATES, 10):
        assert scaled_error(M[k], judge.mass_matrix(q[k])) < AGREEMENT
        assert scaled_error(g[k], judge.gravity(q[k])) < AGREEMENT


def test_parameters_are_the_same_at_every_level() -> None:
    compact, recursive = (equations(puma560(), level, inertia="symbolic") for level in ("compact", "recursive"))
    assert recursive.parameters == compact.parameters
    table, states = np.random.default_rng(4).uniform(0.2, 1, len(compact.parameters)), _states(6)
    q, qd, qdd = states
    expected = np.einsum("kij,kj->ki", compact.compile("M")(q, table), qdd) + compact.compile("g")(q, table)
    expected += np.einsum("kij,kj->ki", compact.compile("C")(q, qd, table), qd)
    assert scaled_error(recursive.compile("tau")(*states, table), expected) < AGREEMENT


def test_free_parameters_are_the_last_argument_and_broadcast() -> None:
    robot = two_link()
    eq, (q, qd, qdd) = equations(robot), random_state(np.random.default_rng(1), 2)
    tables = np.random.default_rng(2).uniform(0.3, 2, size=(4, len(eq.parameters)))
    found = eq.compile("tau")(q, qd, qdd, tables)
    for row, table in zip(found, tables):
        numeric = robot.with_parameters(**{s.name: float(v) for s, v in zip(eq.parameters, table)})
        assert scaled_error(row, compile(numeric).inverse_dynamics(q, qd, qdd)) < AGREEMENT
    some = eq.compile("M", {"m1": 2.0})
    assert some.graph.inputs["parameters"] == (len(eq.parameters) - 1,)


def test_derivatives_taken_by_sympy_are_the_compiled_derivatives() -> None:
    robot = load_catalog("puma560")
    eq, states = equations(robot), _states(6)
    slope = eq.compile(eq.g.jacobian(eq.q))
    expected = compile(robot).inverse_dynamics_derivatives(states[0], 0 * states[0], 0 * states[0])[0]
    assert scaled_error(slope(states[0]), expected) < AGREEMENT


def test_friction_is_lowered() -> None:
    eq = equations(planar([1.0, 0.5], [2.0, 1.0], damping=[0.3, S("b")]))
    qd = np.array([2.0, -4.0])
    assert eq.compile("friction", {"b": 0.25})(np.zeros(2), qd) == pytest.approx([0.6, -1.0], rel=1e-15)


def test_wrong_requests_are_named() -> None:
    eq = equations(two_link())
    with pytest.raises(UnknownNameError, match="'kinetic_energy'"):
        eq.compile("kinetic_enrgy")
    with pytest.raises(UnknownNameError, match="Did you mean 'm1'"):
        eq.compile("M", {"m11": 1.0})
    with pytest.raises(ShapeError, match="found list"):
        eq.compile([sympy.Integer(1)])


def test_matrices_of_one_joint_stay_matrices() -> None:
    robot = planar([0.5], [2.0])
    eq, model, q, qd = equations(robot), compile(robot), np.array([[0.1], [0.4]]), np.ones((2, 1))
    assert np.allclose(eq.compile("M")(q), model.mass_matrix(q), rtol=1e-14)
    assert eq.compile("C")(q, qd).shape == model.coriolis_matrix(q, qd).shape == (2, 1, 1)
