"""Equations against independent judges: Pinocchio, the numeric recursions, and the identities of mechanics."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from manipula.errors import BudgetError, DescriptionError, ShapeError, UnknownNameError
from manipula.formats.catalog import catalog_names, load_catalog
from manipula.formats.dh import from_dh
from manipula.formats.planar import planar
from manipula.physics import energy, kinematics, newton_euler, regressor
from manipula.robot.robot import Robot
from manipula.symbolic.equations import Equations, equations
from manipula.symbolic.exact import rational_sine_cosine
from oracles import Judge, scaled_error
from symbolic.arms import (
    S,
    numbers,
    panda_like,
    puma560,
    random_dh,
    random_state,
    random_tree,
    scara,
    two_link,
)

AGREEMENT = 1e-12  # relative to the largest entry: the goal for every arm
LEVELS = ("raw", "compact", "lumped", "base", "recursive")
SMALL_ARMS = ("abdelsatar-2r", "arora-5r", "jarzebowska-4", "planar-3r", "puma560", "scara-khang", "stanford", "ur5e")


def _robots() -> dict[str, Robot]:
    rng = np.random.default_rng(7)
    chains = {f"dh-{n}-{kind}-{c}": random_dh(rng, n, kind == "oblique", c) for n in (1, 2, 3)
              for kind in ("right", "oblique") for c in ("standard", "modified")}  # fmt: skip
    trees = {
        f"tree-{n}-{kind}": random_tree(rng, n, kind == "oblique")
        for n, kind in ((2, "oblique"), (4, "right"), (3, "oblique"))
    }
    return chains | trees


ROBOTS = _robots()


def _numeric(robot: Robot) -> tuple[Robot, dict[str, float]]:
    values = {name: 0.7 + 0.13 * i for i, name in enumerate(robot.parameters)}
    return (robot.with_parameters(**values) if values else robot), values


@pytest.mark.parametrize("name", ROBOTS)
def test_every_part_agrees_with_pinocchio(name: str) -> None:
    robot, rng = ROBOTS[name], np.random.default_rng(3)
    judge, eq, state = Judge(robot), equations(robot), random_state(rng, robot.n)
    q, qd, qdd = state
    assert scaled_error(numbers(eq, eq.M, state), judge.mass_matrix(q)) < AGREEMENT
    assert scaled_error(numbers(eq, eq.g, state)[:, 0], judge.gravity(q)) < AGREEMENT
    assert scaled_error(numbers(eq, eq.tau, state)[:, 0], judge.inverse_dynamics(q, qd, qdd)) < AGREEMENT
    assert scaled_error(numbers(eq, eq.T(), state), judge.pose(q)) < AGREEMENT
    assert scaled_error(numbers(eq, eq.jacobian(), state), judge.jacobian(q)) < AGREEMENT
    assert scaled_error(numbers(eq, eq.potential_energy, state), energy.potential_energy(robot, q)) < AGREEMENT


@pytest.mark.parametrize("name", [n for n in SMALL_ARMS if n in catalog_names()])
def test_catalog_arms_agree_with_pinocchio(name: str) -> None:
    given = load_catalog(name)
    robot, values = _numeric(given)
    eq, state = equations(given), random_state(np.random.default_rng(5), given.n)
    assert scaled_error(numbers(eq, eq.tau, state, values)[:, 0], Judge(robot).inverse_dynamics(*state)) < AGREEMENT


@pytest.mark.parametrize("name", ["dh-3-right-standard", "dh-3-oblique-modified", "tree-4-right"])
def test_identities_of_mechanics(name: str) -> None:
    robot = ROBOTS[name]
    eq, state = equations(robot), random_state(np.random.default_rng(4), robot.n)
    _q, qd, qdd = state
    M, C, h, g = (numbers(eq, x, state) for x in (eq.M, eq.C, eq.h, eq.g))
    rate = sum((eq.M.diff(eq.q[k]) * eq.qd[k] for k in range(robot.n)), sympy.zeros(robot.n))
    skew = numbers(eq, rate, state) - 2 * C
    assert np.max(np.abs(skew + skew.T)) < 1e-10
    assert scaled_error(C @ qd, h[:, 0]) < AGREEMENT
    assert scaled_error(numbers(eq, eq.kinetic_energy, state), qd @ M @ qd / 2) < AGREEMENT
    slope = sympy.Matrix([eq.potential_energy.diff(x) for x in eq.q])
    assert scaled_error(numbers(eq, slope, state), g) < AGREEMENT
    assert scaled_error(numbers(eq, eq.tau, state), M @ qdd[:, None] + h + g) < AGREEMENT


def _tau(eq: Equations, state: tuple[np.ndarray, ...], values: dict[str, float]) -> np.ndarray:
    table = dict(values)
    if eq.level != "recursive":
        for name, formula in eq.definitions.items():
            table[name] = float(numbers(eq, formula, state, table))
        return numbers(eq, eq.tau, state, table)[:, 0]
    symbols = [*eq.names.q, *eq.names.qd, *eq.names.qdd]
    known = {s: sympy.Float(v) for s, v in zip(symbols, np.concatenate(state))} | {
        S(k): sympy.Float(v) for k, v in values.items()
    }
    for symbol, formula in eq.assignments:
        known[symbol] = sympy.sympify(formula.xreplace(known)).evalf()
        table[symbol.name] = float(known[symbol])
    return numbers(eq, eq.tau, state, table)[:, 0]


@pytest.mark.parametrize(
    "robot", [scara(), two_link(), ROBOTS["dh-3-oblique-standard"], ROBOTS["tree-4-right"]], ids=str
)
def test_levels_are_the_same_equations(robot: Robot) -> None:
    numeric, values = _numeric(robot)
    state = random_state(np.random.default_rng(6), robot.n)
    expected = newton_euler.inverse_dynamics(numeric, *state)
    for level in LEVELS:
        assert scaled_error(_tau(equations(robot, level), state, values), expected) < AGREEMENT, level


def test_symbolic_inertia_of_the_puma() -> None:
    eq = equations(puma560(), inertia="symbolic")
    rng = np.random.default_rng(8)
    values = {str(s): float(v) for s, v in zip(eq.parameters, rng.uniform(0.2, 1, size=len(eq.parameters)))}
    assert len([n for n in values if n[0] in "mI"]) == 60
    rows = []
    for i in range(6):
        m, h = values[f"m{i + 1}"], np.array([values[f"m{a}{i + 1}"] for a in "xyz"])
        J = np.array([[values[f"I{''.join(sorted(a + b))}{i + 1}"] for b in "xyz"] for a in "xyz"])
        c = h / m
        rows.append({"mass": m, "com": c, "inertia": J - m * (c @ c * np.eye(3) - np.outer(c, c))})
    lengths = [(0, 0, 0), (0, -np.pi / 2, 0), (values["a2"], 0, values["d3"]), (values["a3"], -np.pi / 2, values["d4"]),
               (0, np.pi / 2, 0), (0, -np.pi / 2, 0)]  # fmt: skip
    robot = from_dh([{"a": a, "alpha": al, "d": d} | row for (a, al, d), row in zip(lengths, rows)], "modified",
                    gravity=(0, 0, -values["g"]))  # fmt: skip
    state = random_state(rng, 6)
    expected = newton_euler.inverse_dynamics(robot, *state)
    M, g, C = (numbers(eq, x, state, values) for x in (eq.M, eq.g, eq.C))
    assert scaled_error(M @ state[2] + C @ state[1] + g[:, 0], expected) < AGREEMENT


def _terms(eq: Equations) -> int:
    d, n = eq.formulas.derivation, eq.robot.n
    return sum(len(d.terms(d.M[i, j])) for i in range(n) for j in range(i, n))


def test_puma_mass_matrix_is_short() -> None:
    assert _terms(equations(puma560(), inertia="symbolic")) <= 1351
    assert _terms(equations(puma560(), "base", inertia="symbolic")) <= 642


BASE_COUNTS = [("puma560", puma560(), 36), ("seven joints", panda_like(), 43)]


@pytest.mark.parametrize(("name", "robot", "known"), BASE_COUNTS, ids=[c[0] for c in BASE_COUNTS])
def test_base_constants_of_known_arms(name: str, robot: Robot, known: int) -> None:
    """36 for the Puma [Gautier & Khalil 1990], 43 for the Panda [Gaz et al. 2019]."""
    assert len(equations(robot, "base", inertia="symbolic").definitions) == known


@pytest.mark.parametrize(
    "name", ["dh-3-right-standard", "dh-3-oblique-modified", "dh-2-right-modified", "tree-4-right", "tree-3-oblique"]
)
def test_number_of_base_constants_is_the_rank_of_the_regressor(name: str) -> None:
    robot, rng = ROBOTS[name], np.random.default_rng(9)
    bare = robot.replace(joints=tuple(_without_rotor(j) for j in robot.joints), payload=None)
    stacked = np.vstack([regressor.regressor(bare, *random_state(rng, robot.n)) for _ in range(40)])
    sizes = np.linalg.svd(stacked, compute_uv=False)
    rank = int(np.sum(sizes > 1e-9 * sizes[0]))
    assert len(equations(bare, "base", inertia="symbolic").definitions) == rank


def _without_rotor(joint):
    import dataclasses

    return dataclasses.replace(joint, rotor_inertia=0.0)


def test_planar_arm_of_many_joints_has_polynomially_many_terms() -> None:
    n = 9
    names = [[S(f"{letter}{i}") for i in range(1, n + 1)] for letter in ("l", "m", "c", "J")]
    eq = equations(planar(*names), "lumped")
    entry = eq.formulas.M[0][0]
    assert len(getattr(entry, "terms", ())) == n * (n - 1) // 2 + 1  # one cosine a pair of links, and a constant


def test_mass_matrix_does_not_pay_for_the_rest() -> None:
    eq = equations(scara())
    _ = eq.M
    done = set(eq._derivation.__dict__)
    assert "christoffel" not in done
    assert "g" not in done
    assert "_base" not in eq.__dict__


def test_symbolic_twist() -> None:
    rows = [
        {"a": S("a1"), "alpha": S("alpha1"), "mass": S("m1"), "com": (S("x1"), 0, 0)},
        {"a": S("a2"), "mass": S("m2")},
    ]
    robot = from_dh(rows, "standard", gravity=(0, 0, -S("g")))
    numeric, values = _numeric(robot)
    eq, state = equations(robot), random_state(np.random.default_rng(2), 2)
    assert (
        scaled_error(numbers(eq, eq.tau, state, values)[:, 0], newton_euler.inverse_dynamics(numeric, *state))
        < AGREEMENT
    )
    assert eq.M.has(sympy.cos(S("alpha1")))


def test_generalised_forces_do_the_work_of_the_applied_ones() -> None:
    robot = ROBOTS["dh-3-oblique-standard"]
    eq, state = equations(robot), random_state(np.random.default_rng(1), 3)
    force, moment = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, -0.7])
    Q = numbers(eq, eq.generalised_forces("tip", force, moment), state)[:, 0]
    v, w = numbers(eq, eq.velocity(), state)[:, 0], numbers(eq, eq.angular_velocity(expressed_in="base"), state)[:, 0]
    assert Q @ state[1] == pytest.approx(force @ v + moment @ w, rel=1e-12)


def test_angular_velocity_in_link_axes() -> None:
    robot = ROBOTS["dh-3-right-standard"]
    eq, state = equations(robot), random_state(np.random.default_rng(1), 3)
    A = eq.A(2)
    rate = sum((A.diff(eq.q[k]) * eq.qd[k] for k in range(3)), sympy.zeros(3))
    hat = numbers(eq, A.T * rate, state)
    w = numbers(eq, eq.angular_velocity(2), state)[:, 0]
    assert np.allclose([hat[2, 1], hat[0, 2], hat[1, 0]], w, atol=1e-12)
    assert np.allclose(
        numbers(eq, eq.p(2), state)[:, 0], kinematics.position(robot, state[0], robot.links[1].name), atol=1e-12
    )


def test_friction_and_payload() -> None:
    robot = planar([S("l1"), S("l2")], [S("m1"), S("m2")], payload=S("mp"), damping=[S("b1"), 0.25])
    eq = equations(robot)
    assert eq.friction[0] == S("b1") * eq.qd[0]
    assert eq.friction[1] == sympy.Rational(1, 4) * eq.qd[1]
    assert S("mp") in eq.M[1, 1].free_symbols
    assert sympy.expand(eq.M[1, 1] - (S("m2") * S("l2") ** 2 / 3 + S("mp") * S("l2") ** 2)) == 0


def test_a_rational_angle_is_the_angle() -> None:
    for angle in np.linspace(-7, 7, 57):
        s, c = rational_sine_cosine(float(angle))
        assert s * s + c * c == 1
        assert abs(float(s) - np.sin(angle)) < 4e-16
        assert abs(float(c) - np.cos(angle)) < 4e-16


def test_a_robot_too_large_is_refused_with_an_estimate_and_advice() -> None:
    rows = [{"a": 0.1, "alpha": (-1) ** i * np.pi / 2, "d": 0.2, "mass": 1.0} for i in range(12)]
    robot = from_dh(rows, "modified", name="snake")
    with pytest.raises(BudgetError, match=r"'snake' \(12 joints\) would have about .* terms.*level='recursive'"):
        _ = equations(robot, inertia="symbolic").M
    eq = equations(robot, "recursive")
    state = random_state(np.random.default_rng(0), 12)
    assert scaled_error(_tau(eq, state, {}), newton_euler.inverse_dynamics(robot, *state)) < AGREEMENT
    with pytest.raises(DescriptionError, match="sequence of assignments"):
        _ = eq.M


def test_wrong_requests_are_named() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'compact'"):
        equations(scara(), "compat")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UnknownNameError, match="inertial parameters"):
        equations(scara(), inertia="all")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ShapeError, match="a link from 1 to 4"):
        equations(scara()).T(5)
    with pytest.raises(UnknownNameError, match="frame"):
        equations(scara()).T("nowhere")


def test_parameters_may_be_called_like_joint_variables() -> None:
    robot = from_dh([{"a": S("q1"), "mass": S("dq1")}], "standard", gravity=(0, -S("ddq1"), 0))
    eq = equations(robot)
    assert [str(x) for x in eq.q] == ["joint1"]
    assert eq.M[0, 0] == S("dq1") * S("q1") ** 2
