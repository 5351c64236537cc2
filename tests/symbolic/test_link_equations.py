"""What belongs to one link, against the compiled model and numerical differentiation; identities between the parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

import manipula as mp
from coupled_pairs import follower_of_a as pair
from manipula.algebra.symbols import evaluate
from manipula.errors import ShapeError, UnknownNameError
from manipula.robot.robot import Robot
from manipula.symbolic.equations import Equations
from symbolic.arms import puma560, random_dh, random_state, random_tree, scara, two_link

EXACT = 1e-12
RNG = np.random.default_rng(20)
ROBOTS: dict[str, Robot] = {
    "scara": mp.load("scara-khang"),
    "puma560": mp.load("puma560"),
    "planar": mp.planar([0.5, 0.4, 0.3], [2.0, 1.5, 1.0], payload=0.5),
    "tree": random_tree(RNG, 5, oblique=True),
    "coupled": pair("ratio = 0.5\noffset_deg = 90\naxis = [0, 1, 0]"),
    "rack and pinion": pair("ratio = 0.05\naxis = [1, 0, 0]", "prismatic"),
    "oblique, with rotors and a payload": random_dh(RNG, 4, True, "standard"),
}
SOME = pytest.mark.parametrize("name", ROBOTS)


def _links(robot: Robot) -> range:
    return range(1, len(robot.bodies) + 1)


def numbers(eq: Equations, expression: Any, state: tuple, parameters: dict[str, float] | None = None) -> np.ndarray:
    """A SymPy expression or matrix at a state, by walking its tree."""
    table = {str(s): float(v) for symbols, part in zip((eq.q, eq.qd, eq.qdd), state) for s, v in zip(symbols, part)}
    known: dict[Any, Any] = {}
    flat = [evaluate(e, table | (parameters or {}), known) for e in sympy.Matrix([expression])]
    return np.array(flat, dtype=float).reshape(getattr(expression, "shape", ()))


def _scaled(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.max(np.abs(found - expected)) / max(1.0, float(np.max(np.abs(expected)))))


@pytest.fixture(scope="module")
def solved() -> dict[str, tuple]:
    """Equations, compiled model and a random state of every robot."""
    return {
        name: (mp.equations(robot), mp.compile(robot), random_state(np.random.default_rng(4), robot.n))
        for name, robot in ROBOTS.items()
    }


@SOME
def test_poses_and_their_rates(solved: dict, name: str) -> None:
    eq, model, (q, qd, qdd) = solved[name]
    for k in _links(eq.robot):
        frame = eq.robot.bodies[k - 1].name
        T = numbers(eq, eq.T(k), (q, qd, qdd))
        assert _scaled(T, model.pose(q, frame)) < EXACT
        assert np.array_equal(numbers(eq, eq.A(k), (q, qd, qdd)), T[:3, :3])
        assert np.array_equal(numbers(eq, eq.p(k), (q, qd, qdd))[:, 0], T[:3, 3])
        body = model.jacobian(q, frame, expressed_in="body") @ qd
        assert _scaled(numbers(eq, eq.angular_velocity(k), (q, qd, qdd))[:, 0], body[3:]) < EXACT


@SOME
def test_slopes_of_poses(solved: dict, name: str) -> None:
    """U = dT/dq: every column of the Jacobian follows from it, and SymPy's own derivative is the same."""
    eq, model, state = solved[name]
    for k in _links(eq.robot):
        T, J = numbers(eq, eq.T(k), state), model.jacobian(state[0], eq.robot.bodies[k - 1].name)
        for j in range(1, eq.robot.n + 1):
            U = numbers(eq, eq.U(k, j), state)
            spin = U[:3, :3] @ T[:3, :3].T
            column = [*U[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]]
            assert _scaled(np.array(column), J[:, j - 1]) < EXACT
            assert not U[3].any()
    by_sympy = numbers(eq, eq.T(2).diff(eq.q[0]), state)
    assert _scaled(numbers(eq, eq.U(2, 1), state), by_sympy) < EXACT


@SOME
def test_centres_of_mass_and_potential_energies(solved: dict, name: str) -> None:
    eq, model, state = solved[name]
    weight, total, slope = np.asarray(eq.robot.gravity, float), 0.0, np.zeros(eq.robot.n)
    for k in _links(eq.robot):
        P = numbers(eq, eq.pseudo_inertia(k), state)
        T = numbers(eq, eq.T(k), state)
        r = numbers(eq, eq.com(k), state)[:, 0]
        assert _scaled(P[3, 3] * r, (T @ P[:, 3])[:3]) < EXACT
        V = numbers(eq, eq.link_potential_energy(k), state)
        assert pytest.approx(-P[3, 3] * float(weight @ r), rel=EXACT, abs=EXACT) == V
        origin, spin = np.split(model.jacobian(state[0], eq.robot.bodies[k - 1].name) @ state[1], 2)
        v = origin + np.cross(spin, r - T[:3, 3])
        assert _scaled(numbers(eq, eq.com_velocity(k), state)[:, 0], v) < EXACT
        turned = numbers(eq, eq.com_velocity(k, "body"), state)[:, 0]
        assert _scaled(T[:3, :3] @ turned, v) < EXACT
        total += float(V)
        slope -= [
            weight @ (numbers(eq, eq.U(k, j), state) @ P[:, 3])[:3] for j in range(1, eq.robot.n + 1)
        ]  # Arora (3.37)
    assert total == pytest.approx(float(model.potential_energy(state[0])), rel=EXACT, abs=EXACT)
    assert _scaled(slope, model.gravity(state[0])) < EXACT


@SOME
def test_mass_matrix_and_energies_from_traces(solved: dict, name: str) -> None:
    r"""M_jk = Σ tr(U_ij P_i U_ikᵀ) + rotors, T_i = ½ Σ tr(U_ij P_i U_ikᵀ) qd_j qd_k + its rotor, Σ T_i = T."""
    eq, model, state = solved[name]
    q, qd, _ = state
    n, total, M = eq.robot.n, 0.0, np.zeros((eq.robot.n, eq.robot.n))
    moved = np.vstack([np.eye(n), *([f.ratio * np.eye(n)[f.leader]] for f in eq.robot.followers)])
    for k in _links(eq.robot):
        P = numbers(eq, eq.pseudo_inertia(k), state)
        assert np.array_equal(P, P.T)
        U = [numbers(eq, eq.U(k, j), state) for j in range(1, n + 1)]
        rotor = float(eq.robot.moving_joints[k - 1].armature) * np.outer(moved[k - 1], moved[k - 1])
        own = np.array([[np.trace(a @ P @ b.T) for b in U] for a in U]) + rotor
        energy = float(numbers(eq, eq.link_kinetic_energy(k), state))
        assert energy == pytest.approx(qd @ own @ qd / 2, rel=EXACT, abs=EXACT)
        total, M = total + energy, M + own
    assert _scaled(M, model.mass_matrix(q)) < EXACT
    assert total == pytest.approx(float(model.kinetic_energy(q, qd)), rel=EXACT)


@SOME
def test_christoffel_symbols_give_the_coriolis_matrix(solved: dict, name: str) -> None:
    eq, model, state = solved[name]
    q, qd, _ = state
    every = range(1, eq.robot.n + 1)
    h = np.array([[[float(numbers(eq, eq.christoffel(k, i, j), state)) for j in every] for i in every] for k in every])
    assert np.array_equal(h, h.transpose(0, 2, 1))
    assert _scaled(h @ qd, model.coriolis_matrix(q, qd)) < EXACT
    assert _scaled(np.einsum("kij,i,j", h, qd, qd), model.bias(q, qd)) < EXACT


def test_christoffel_symbols_are_those_of_the_papers() -> None:
    """The mean of Khang and Trung's (2.12) with i and j exchanged, and Arora's traces (3.36, corrected)."""
    eq = mp.equations(two_link())
    q, M = list(eq.q), eq.M
    for k, i, j in np.ndindex(2, 2, 2):
        khang = [sympy.diff(M[k, a], q[b]) - sympy.diff(M[i, j], q[k]) / 2 for a, b in ((i, j), (j, i))]
        found = eq.christoffel(k + 1, i + 1, j + 1)
        assert sympy.simplify(found - sum(khang) / 2) == 0
        arora = sum(
            (eq.U(p, i + 1).diff(q[j]) * eq.pseudo_inertia(p) * eq.U(p, k + 1).T).trace() for p in (1, 2)
        )  # fmt: skip
        assert sympy.simplify(sympy.expand_trig(found - arora)) == 0


def test_uniform_rods_have_the_pseudo_inertia_that_arora_prints() -> None:
    a, m = sympy.symbols("a2 m2")
    P = mp.equations(two_link()).pseudo_inertia(2)
    assert sympy.Matrix([[m * a**2 / 3, 0, 0, -m * a / 2], [0] * 4, [0] * 4, [-m * a / 2, 0, 0, m]]) == P


@pytest.mark.parametrize("level", ["raw", "lumped", "base", "recursive"])
def test_links_are_the_same_at_every_level(level: str) -> None:
    robot = scara()
    eq, compact = mp.equations(robot, level), mp.equations(robot)  # pyright: ignore[reportArgumentType]
    state = random_state(np.random.default_rng(8), 4)
    values = {name: 0.3 + 0.1 * i for i, name in enumerate(robot.parameters)}
    for what in ("T", "com", "com_velocity", "pseudo_inertia", "link_kinetic_energy", "link_potential_energy"):
        found, expected = (numbers(e, getattr(e, what)(3), state, values) for e in (eq, compact))
        assert _scaled(np.asarray(found), np.asarray(expected)) < EXACT


@pytest.mark.parametrize("robot", [puma560(symbolic=False), ROBOTS["coupled"], ROBOTS["tree"]], ids=lambda r: r.name)
def test_links_with_symbolic_inertia(robot: Robot) -> None:
    """Ten symbols about the joint-centred frame: V = -m g·r_C and T by traces hold for any of their values."""
    eq = mp.equations(robot, inertia="symbolic")
    k = 2
    state = random_state(np.random.default_rng(3), robot.n)
    values = {str(s): v for s, v in zip(eq.parameters, np.random.default_rng(1).uniform(0.5, 2, len(eq.parameters)))}
    P, r = numbers(eq, eq.pseudo_inertia(k), state, values), numbers(eq, eq.com(k), state, values)[:, 0]
    assert P[3, 3] == values[f"m{k}"]
    assert _scaled(P[3, 3] * r, (numbers(eq, eq.T(k), state) @ P[:, 3])[:3]) < EXACT
    V = numbers(eq, eq.link_potential_energy(k), state, values)
    assert pytest.approx(-P[3, 3] * float(np.asarray(robot.gravity, float) @ r), rel=EXACT) == V
    U = sum(numbers(eq, eq.U(k, j), state) * state[1][j - 1] for j in range(1, robot.n + 1))
    energy = numbers(eq, eq.link_kinetic_energy(k), state, values)
    assert energy == pytest.approx(np.trace(U @ P @ U.T) / 2, rel=EXACT)


def test_wrong_links_and_joints_are_named() -> None:
    eq = mp.equations(two_link())
    for wrong in (0, 3, True, 1.0, None):
        with pytest.raises(ShapeError, match="a link from 1 to 2"):
            eq.com(wrong)  # pyright: ignore[reportArgumentType]
        with pytest.raises(ShapeError, match="a joint from 1 to 2"):
            eq.U(1, wrong)  # pyright: ignore[reportArgumentType]
        with pytest.raises(ShapeError, match="a joint from 1 to 2"):
            eq.christoffel(1, wrong, 1)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UnknownNameError, match="moving link"):
        eq.pseudo_inertia("tool9")
    with pytest.raises(UnknownNameError, match="axes"):
        eq.com_velocity(1, "world")  # pyright: ignore[reportArgumentType]
