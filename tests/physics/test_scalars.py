"""One text of the physics, every kind of number: floats, symbols, Taylor numbers, traced numbers and machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

from manipula.algebra.jet import Jet
from manipula.formats.planar import planar
from manipula.native import compile_function, trace
from manipula.physics import articulated, composite
from manipula.physics.coriolis import coriolis_matrix
from manipula.physics.derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from manipula.physics.energy import kinetic_energy, potential_energy
from manipula.physics.kinematics import jacobian, jacobian_rate, pose, poses, position
from manipula.physics.lagrange_euler import lagrange_euler
from manipula.physics.mechanism import mechanism_of, prepare, regrouped
from manipula.physics.newton_euler import bias, gravity, inverse_dynamics, nonlinear_effects
from manipula.physics.planar import planar_arm, planar_model
from manipula.physics.reactions import joint_reactions, normal_forces
from manipula.physics.regressor import regressor
from manipula.robot.robot import Robot
from strategies import random_robot, random_state

SAME = 1e-13  # the same operations, at most in another order; scaled by the largest entry
SOLVED = 1e-11  # the same after a division by M, whose condition number here is below 1000

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "pose": lambda r, q, qd, x: pose(r, q),
    "poses": lambda r, q, qd, x: poses(r, q, ("tip", "base")),
    "position": lambda r, q, qd, x: position(r, q),
    "jacobian": lambda r, q, qd, x: jacobian(r, q),
    "jacobian, body": lambda r, q, qd, x: jacobian(r, q, expressed_in="body"),
    "jacobian_rate": lambda r, q, qd, x: jacobian_rate(r, q, qd),
    "jacobian_rate, body": lambda r, q, qd, x: jacobian_rate(r, q, qd, expressed_in="body"),
    "mass_matrix": lambda r, q, qd, x: composite.mass_matrix(r, q),
    "inverse_mass_matrix": lambda r, q, qd, x: composite.inverse_mass_matrix(r, q),
    "coriolis_matrix": lambda r, q, qd, x: coriolis_matrix(r, q, qd),
    "bias": lambda r, q, qd, x: bias(r, q, qd),
    "gravity": lambda r, q, qd, x: gravity(r, q),
    "nonlinear_effects": lambda r, q, qd, x: nonlinear_effects(r, q, qd),
    "inverse_dynamics": lambda r, q, qd, x: inverse_dynamics(r, q, qd, x),
    "inverse_dynamics, regrouped": lambda r, q, qd, x: inverse_dynamics(regrouped(mechanism_of(r)), q, qd, x),
    "forward_dynamics, composite": lambda r, q, qd, x: composite.forward_dynamics(r, q, qd, x),
    "forward_dynamics, articulated": lambda r, q, qd, x: articulated.forward_dynamics(r, q, qd, x),
    "kinetic_energy": lambda r, q, qd, x: kinetic_energy(r, q, qd),
    "potential_energy": lambda r, q, qd, x: potential_energy(r, q),
    "regressor": lambda r, q, qd, x: regressor(r, q, qd, x),
    "joint_reactions": lambda r, q, qd, x: joint_reactions(r, q, qd, x),
    "normal_forces": lambda r, q, qd, x: normal_forces(r, q, qd, x),
    "lagrange_euler, M": lambda r, q, qd, x: lagrange_euler(r, q).M,
    "lagrange_euler, h": lambda r, q, qd, x: lagrange_euler(r, q).bias(qd),
    "lagrange_euler, g": lambda r, q, qd, x: lagrange_euler(r, q).g,
    "inverse_dynamics_derivatives": lambda r, q, qd, x: np.stack(inverse_dynamics_derivatives(r, q, qd, x)),
    "forward_dynamics_derivatives": lambda r, q, qd, x: np.stack(forward_dynamics_derivatives(r, q, qd, x)),
}
SOLVING = ("inverse_mass_matrix", "forward_dynamics")


def close(name: str, value: Any, reference: Any) -> bool:
    value, reference = np.asarray(value, float), np.asarray(reference, float)
    assert value.shape == reference.shape
    size = max(1.0, float(np.max(np.abs(reference))))
    return bool(np.max(np.abs(value - reference)) <= (SOLVED if name.startswith(SOLVING) else SAME) * size)


def numbers(values: Any, read: Callable[[Any], float]) -> np.ndarray:
    raw = np.asarray(values, dtype=object)
    out = np.empty(raw.shape)
    for k in np.ndindex(raw.shape):
        out[k] = read(raw[k])
    return out


CHAIN = random_robot(
    np.random.default_rng(71), 3, oblique=True, drives=True, base=True, tool=True, gravity=True, payload=True
)
TREE = random_robot(np.random.default_rng(72), 4, tree=True, oblique=True, drives=True, tool=True)


@pytest.mark.parametrize("robot", [CHAIN, TREE], ids=["chain", "tree"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_taylor_numbers_carry_the_value(name: str, robot: Robot) -> None:
    f = FUNCTIONS[name]
    state = random_state(np.random.default_rng(1), robot.n)
    moving = [np.array([Jet((float(v), 1.0), 1) for v in part], object) for part in state]
    read = lambda y: float(y.coefficients[0]) if isinstance(y, Jet) else float(y)
    assert close(name, numbers(f(robot, *moving), read), f(robot, *state))


@pytest.mark.parametrize("name", [f for f in FUNCTIONS if not f.startswith("forward_dynamics_derivatives")])
def test_symbols_with_numbers_put_in(name: str) -> None:
    """SymPy expressions of q, q̇ and the third argument, evaluated afterwards (two joints: symbols grow fast)."""
    f = FUNCTIONS[name]
    robot = random_robot(np.random.default_rng(73), 2, oblique=True, drives=True, tool=True)
    state = random_state(np.random.default_rng(2), 2)
    symbols = [np.array(sympy.symbols(f"{letter}1:3", real=True), object) for letter in ("q", "u", "x")]
    values = {s: sympy.Float(float(v), 30) for part, numeric in zip(symbols, state) for s, v in zip(part, numeric)}
    read = lambda y: float(sympy.N(y.xreplace(values))) if isinstance(y, sympy.Basic) else float(y)
    assert close(name, numbers(f(robot, *symbols), read), f(robot, *state))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_traced_numbers_without_the_compiler(name: str) -> None:
    """The graph, run operation by operation in plain Python (``Kernel.python``)."""
    f = FUNCTIONS[name]
    n = TREE.n
    kernel = compile_function(lambda *x: f(TREE, *x), {"q": (n,), "qd": (n,), "x": (n,)}, name=name.split(",")[0])
    rng = np.random.default_rng(3)
    states = [random_state(rng, n) for _ in range(3)]
    batch = [np.stack([s[k] for s in states]) for k in range(3)]
    expected = np.stack([np.asarray(f(TREE, *s), float) for s in states])
    assert close(name, kernel.python(*batch), expected)
    assert close(name, kernel(*batch), expected)
    for k, s in enumerate(states):
        assert np.array_equal(kernel(*s), kernel(*batch)[k])  # one state and the same state in a batch: the same bits


def test_planar_model_on_every_scalar() -> None:
    arm = planar_arm(planar([0.5, 0.4, 0.3], [2.0, 1.5, 1.0], payload=0.7))
    rng = np.random.default_rng(4)
    q, qd = rng.uniform(-2, 2, (2, 3))
    expected = planar_model(arm, q, qd)
    jets = planar_model(arm, *(np.array([Jet((float(v), 1.0), 1) for v in part], object) for part in (q, qd)))
    kernel = compile_function(
        lambda a, b: planar_model(arm, a, b)._asdict(), {"q": (3,), "qd": (3,)}, name="planar_model"
    )
    read = lambda y: float(y.coefficients[0]) if isinstance(y, Jet) else float(y)
    for reference, jet, native in zip(expected, jets, kernel(q, qd)):
        assert close("planar", numbers(jet, read), reference)
        assert close("planar", native, reference)


def test_parameters_may_be_traced_too() -> None:
    """A robot with free masses: ``prepare(robot, values)`` puts any scalar in their place."""
    m1, m2, l = sympy.symbols("m1 m2 l", positive=True)
    robot = planar([l, l], [m1, m2])
    q, qd, qdd = np.array([0.3, -0.7]), np.array([1.0, 0.4]), np.array([-0.2, 0.9])
    f = lambda p: inverse_dynamics(prepare(robot, dict(zip(("m1", "m2", "l"), p))), q, qd, qdd)
    kernel = compile_function(f, {"p": (3,)}, name="torque_of_parameters")
    for p in ([1.0, 2.0, 0.5], [3.0, 0.1, 1.2]):
        expected = inverse_dynamics(robot.with_parameters(m1=p[0], m2=p[1], l=p[2]), q, qd, qdd)
        assert close("parameters", kernel(np.array(p)), expected)


def test_no_function_branches_on_a_number() -> None:
    """An ``if`` on a traced number raises; tracing all of them proves that there is none."""
    n = CHAIN.n
    for name, f in FUNCTIONS.items():
        graph = trace(lambda *x, f=f: f(CHAIN, *x), {"q": (n,), "qd": (n,), "x": (n,)}, name="traced")
        assert graph.operations, name
