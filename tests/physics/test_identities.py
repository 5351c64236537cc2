"""Laws of mechanics that hold for every robot, on random chains and trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from manipula.algebra.derivatives import directional, gradient
from manipula.algebra.derivatives import jacobian as derivative
from manipula.physics import articulated, composite, newton_euler
from manipula.physics.composite import inverse_mass_matrix, mass_matrix
from manipula.physics.coriolis import coriolis_matrix
from manipula.physics.energy import kinetic_energy, potential_energy
from manipula.physics.joint_transform import joint_transforms
from manipula.physics.lagrange_euler import lagrange_euler
from manipula.physics.mechanism import MovingBase, mechanism_of
from manipula.physics.newton_euler import bias, gravity, inverse_dynamics, nonlinear_effects
from manipula.physics.regressor import parameters, regressor
from manipula.robot.robot import Robot
from strategies import random_state, robots

ROUNDOFF = 1e-12  # up to 6 joints; sums of some hundred products, each error divided by the largest entry involved
PER_CONDITION = 1e-14  # solving with M loses as many digits as its condition number has

Moving = tuple[Robot, np.ndarray, np.ndarray, np.ndarray]


@st.composite
def moving_robots(draw: Any, max_joints: int = 6, **features: bool) -> Moving:
    """A robot and a state."""
    robot = draw(robots(max_joints=max_joints, limits=False, friction=False, **features))
    return robot, *random_state(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), robot.n)


def laws(examples: int):
    """Reproducible Hypothesis runs: the same robots on every machine."""
    return settings(max_examples=examples, deadline=None, derandomize=True, database=None)


def close(value: Any, reference: Any, size: float = 1.0) -> bool:
    value, reference = np.asarray(value, float), np.asarray(reference, float)
    size = max(size, np.max(np.abs(reference), initial=1.0))
    return bool(np.max(np.abs(value - reference), initial=0.0) <= ROUNDOFF * size)


@laws(40)
@given(moving_robots(massless=False))
def test_mass_matrix_is_symmetric_and_positive_definite(case: Moving) -> None:
    robot, q, _, _ = case
    M = mass_matrix(robot, q)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0.0


@laws(60)
@given(moving_robots())
def test_the_base_carries_what_accelerations_ask_for(case: Moving) -> None:
    """The power of the base is that of its whole wrench about the outer origin, also where the first links hand to the base what no joint feels."""
    robot, q, qd, qdd = case
    rng = np.random.default_rng(3)
    v, w, a, alpha = rng.uniform(-1.0, 1.0, (4, 3))
    base = MovingBase(v, w, a, alpha)
    moving = replace(mechanism_of(robot), base=base)
    free, expand = moving.free, (lambda x: x) if moving.coupling is None else moving.coupling.expand
    at = joint_transforms(free, expand(q))
    force, moment = newton_euler.joint_wrenches(free, expand(q), expand(qd), expand(qdd))
    power = 0.0
    for b, turn, f, n in zip(free.bodies, at, force, moment):
        if b.parent < 0:
            f, n = turn.matrix() @ f, turn.matrix() @ n
            power += f @ v + (n + np.cross(turn.p, f)) @ w
    assert close(composite.base_power(moving, q, qd, qdd), power)
    lean = replace(moving.lean, base=base)
    assert close(composite.base_power(lean, q, qd, qdd) + newton_euler.fixed_power(moving.lean_base, base), power)
    for law in (inverse_dynamics, mass_matrix):
        arguments = (q, qd, qdd) if law is inverse_dynamics else (q,)
        assert close(law(lean, *arguments), law(moving, *arguments))


@laws(40)
@given(moving_robots())
def test_kinetic_energy_is_the_quadratic_form_of_the_mass_matrix(case: Moving) -> None:
    robot, q, qd, _ = case
    assert close(kinetic_energy(robot, q, qd), 0.5 * qd @ mass_matrix(robot, q) @ qd)


@laws(30)
@given(moving_robots())
def test_mass_matrix_is_the_second_derivative_of_the_kinetic_energy(case: Moving) -> None:
    robot, q, qd, _ = case
    M = derivative(lambda v: gradient(lambda u: kinetic_energy(robot, q, u), v), qd)
    assert close(M, mass_matrix(robot, q))


@laws(40)
@given(moving_robots())
def test_coriolis_matrix_gives_the_bias_and_keeps_the_rate_of_the_mass_matrix_skew(case: Moving) -> None:
    robot, q, qd, _ = case
    C = coriolis_matrix(robot, q, qd)
    M_rate = directional(lambda x: mass_matrix(robot, x), q, qd)
    assert close(C @ qd, bias(robot, q, qd))
    S = M_rate - 2.0 * C
    assert close(S, -S.T, size=float(np.max(np.abs(C))))


@laws(25)
@given(moving_robots(max_joints=5))
def test_coriolis_matrix_is_made_of_christoffel_symbols(case: Moving) -> None:
    r"""Γ_ijk = ½(∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i); C_ij = Σ_k Γ_ijk q̇_k."""
    robot, q, qd, _ = case
    dM = derivative(lambda x: mass_matrix(robot, x), q)  # [i, j, k] = ∂M_ij/∂q_k
    symbols = 0.5 * (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1))
    assert close(coriolis_matrix(robot, q, qd), symbols @ qd)
    assert close(lagrange_euler(robot, q).h_ijk, symbols)


@laws(40)
@given(moving_robots())
def test_gravity_is_the_slope_of_the_potential_energy(case: Moving) -> None:
    robot, q, _, _ = case
    assert close(gravity(robot, q), gradient(lambda x: potential_energy(robot, x), q))


@laws(25)
@given(moving_robots(max_joints=5))
def test_inverse_dynamics_is_lagranges_equation(case: Moving) -> None:
    """d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q, every derivative exact, the recursion nowhere used."""
    robot, q, qd, qdd = case
    n = robot.n

    def momentum(x: np.ndarray) -> np.ndarray:
        return gradient(lambda u: kinetic_energy(robot, x[:n], u), x[n:])

    rate = directional(momentum, np.concatenate([q, qd]), np.concatenate([qd, qdd]))
    force = gradient(lambda x: kinetic_energy(robot, x, qd) - potential_energy(robot, x), q)
    assert close(inverse_dynamics(robot, q, qd, qdd), rate - force)


@laws(40)
@given(moving_robots())
def test_inverse_dynamics_is_the_equation_of_motion(case: Moving) -> None:
    robot, q, qd, qdd = case
    M, h, g = mass_matrix(robot, q), bias(robot, q, qd), gravity(robot, q)
    assert close(inverse_dynamics(robot, q, qd, qdd), M @ qdd + h + g)
    assert close(nonlinear_effects(robot, q, qd), h + g)


@laws(40)
@given(moving_robots(massless=False))
def test_forward_after_inverse_dynamics_is_the_identity(case: Moving) -> None:
    robot, q, qd, qdd = case
    tau = inverse_dynamics(robot, q, qd, qdd)
    M = mass_matrix(robot, q)
    allowed = PER_CONDITION * np.linalg.cond(M) * max(1.0, np.max(np.abs(qdd)), np.max(np.abs(np.linalg.solve(M, tau))))
    for forward in (composite.forward_dynamics, articulated.forward_dynamics):
        assert np.max(np.abs(forward(robot, q, qd, tau) - qdd)) <= allowed
    assert np.max(np.abs(inverse_mass_matrix(robot, q) @ M - np.eye(robot.n))) <= PER_CONDITION * np.linalg.cond(M)


@laws(30)
@given(moving_robots())
def test_energy_changes_by_the_power_of_the_joints(case: Moving) -> None:
    robot, q, qd, qdd = case
    n = robot.n

    def energy(x: np.ndarray) -> Any:
        return kinetic_energy(robot, x[:n], x[n:]) + potential_energy(robot, x[:n])

    rate = directional(energy, np.concatenate([q, qd]), np.concatenate([qd, qdd]))
    powers = inverse_dynamics(robot, q, qd, qdd) * qd
    assert close(rate, powers.sum(), size=float(np.abs(powers).sum()))


@laws(30)
@given(moving_robots())
def test_torques_are_linear_in_the_inertial_parameters(case: Moving) -> None:
    robot, q, qd, qdd = case
    rotors = np.array([j.armature for j in robot.joints]) * qdd
    assert close(regressor(robot, q, qd, qdd) @ parameters(robot) + rotors, inverse_dynamics(robot, q, qd, qdd))


@laws(20)
@given(moving_robots())
def test_mass_matrix_does_not_depend_on_the_first_joint(case: Moving) -> None:
    """Turning or sliding the whole arm about its first axis changes no inertia (for a chain)."""
    robot, q, _, _ = case
    if robot.parents.count(-1) != 1:
        return
    turned = q.copy()
    turned[0] += 1.234
    assert close(mass_matrix(robot, turned), mass_matrix(robot, q))


def test_rotor_inertia_sits_on_the_diagonal() -> None:
    from dataclasses import replace

    from strategies import random_robot

    rng = np.random.default_rng(3)
    robot = random_robot(rng, 5, tree=True)
    rotors = rng.uniform(0.1, 1.0, 5)
    ratios = rng.uniform(-5.0, 5.0, 5)
    joints = tuple(
        replace(j, rotor_inertia=float(r), gear_ratio=float(k)) for j, r, k in zip(robot.joints, rotors, ratios)
    )
    geared = robot.replace(joints=joints)
    q, qd, _ = random_state(rng, 5)
    assert close(mass_matrix(geared, q) - mass_matrix(robot, q), np.diag(ratios**2 * rotors))
    assert close(bias(geared, q, qd), bias(robot, q, qd))
