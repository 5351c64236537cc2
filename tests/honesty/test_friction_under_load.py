"""Friction that grows with the load of its joint: the load, the friction and the acceleration belong together, or the run says so."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import manipula as mp
from manipula import friction
from manipula.physics.mechanism import mechanism_of
from manipula.physics.reactions import normal_forces

MASS, ARM, WIDTH, G = 2.0, 0.5, 0.05, 9.81
PENDULUM = mp.planar([1.0], [MASS], com=[ARM], inertia=[0.1])
ABOUT_JOINT = 0.1 + MASS * ARM**2


def law_with(gain: float, width: float = WIDTH) -> friction.LoadDependent:
    """A pendulum with this law at full speed feeds back m·c/J · μ·d/2 of a change of its load."""
    return friction.LoadDependent(gain * ABOUT_JOINT / (MASS * ARM), diameter=2.0, width=width)


def exact_load(q: float, qd: float, s: float, tau: float = 0.0) -> list[float]:
    r"""Positive roots of :math:`\|a - w s f\| = f` with a the force without friction and w the answer to a torque."""
    free = (tau - MASS * G * ARM * np.cos(q)) / ABOUT_JOINT
    a = np.array([-MASS * ARM * qd**2 + MASS * G * np.sin(q), MASS * ARM * free + MASS * G * np.cos(q)])
    w = np.array([0.0, MASS * ARM / ABOUT_JOINT])
    roots = np.roots([1.0 - (w @ w) * s * s, 2.0 * (a @ w) * s, -(a @ a)])
    return sorted(r.real for r in roots if abs(r.imag) < 1e-12 and r.real > 0.0)


@pytest.mark.parametrize("gain", [0.3, 0.9, 0.99])
def test_the_load_is_the_root_of_its_own_equation(gain: float) -> None:
    law = law_with(gain)
    result = mp.simulate(
        mp.Scenario(PENDULUM, friction=(law,), q0=[0.3], qd0=[-4.0], duration=0.3, step=1e-4, sample=0.01)
    )
    assert result.ok, result.reason
    for k in range(len(result.t)):
        q, qd = float(result.q[k, 0]), float(result.qd[k, 0])
        (expected,) = exact_load(q, qd, law.coefficient * np.tanh(qd / WIDTH))
        assert abs(result.loads[k, 0] - expected) <= 1e-9 * expected


@pytest.mark.parametrize("gain", [1.0, 1.5, 4.0])
def test_a_gain_of_one_or_more_is_singular_and_names_the_joint(gain: float) -> None:
    law = law_with(gain, width=1e-9)
    assert len(exact_load(0.3, -4.0, -law.coefficient)) != 1 or gain == 1.0
    result = mp.simulate(mp.Scenario(PENDULUM, friction=(law,), q0=[0.3], qd0=[-4.0], duration=0.1))
    assert result.status == "singular", result.reason
    assert PENDULUM.joint_names[0] in result.reason
    assert "gain" in result.reason


@pytest.mark.parametrize("integrator", ["rk4", "dop853", "rodas"])
def test_a_run_from_rest_ends_as_singular_too(integrator: str) -> None:
    """At rest friction is 0 and has no gain; it is told from where the arm goes."""
    law = friction.LoadDependent(coefficient=8.0, diameter=1.0)
    arm = mp.load("planar-2r")
    result = mp.simulate(mp.Scenario(arm, q0=[0.3, 0.3], duration=0.1, friction=law, integrator=integrator))
    assert result.status == "singular", result.reason
    assert "friction in joint 'joint1'" in result.reason


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_the_instant_at_which_the_gain_reaches_one_is_named(integrator: str) -> None:
    """Friction fades in with speed: the pendulum is driven from rest until there is no unique acceleration left."""
    drive = -60.0
    law = law_with(1.6, width=0.5)

    def rate(t: float, x: np.ndarray) -> list[float]:
        s = law.coefficient * np.tanh(x[1] / 0.5)
        return [x[1], (drive - MASS * G * ARM * np.cos(x[0]) - s * exact_load(x[0], x[1], s, drive)[0]) / ABOUT_JOINT]

    def full(t: float, x: np.ndarray) -> float:
        return 1.6 * abs(np.tanh(x[1] / 0.5)) - 1.0

    full.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    exact = solve_ivp(rate, (0, 2), [0.0, 0.0], events=full, rtol=1e-9, atol=1e-12)
    instant = float(exact.t_events[0][0])
    result = mp.simulate(
        mp.Scenario(PENDULUM, friction=(law,), q0=[0.0], qd0=[0.0], torques=([0.0, 1.0], [[drive], [drive]]), duration=0.2,
                    integrator=integrator, step=1e-3)
    )  # fmt: skip
    assert result.status == "singular", result.reason
    named = float(result.reason.split("t = ")[1].split(" ")[0])
    assert abs(named - instant) <= 2.5e-3


def test_many_joints_close_the_loop_together() -> None:
    """Loads are those of the motion, friction is that of the loads, torques balance: with much friction, in every sample."""
    robot = mp.planar([0.5, 0.4, 0.3], [2.0, 1.5, 1.0])
    laws = tuple(friction.LoadDependent(0.5, diameter=0.2, width=0.05) for _ in range(3))
    result = mp.simulate(mp.Scenario(robot, friction=laws, q0=[0.5, -0.7, 0.4], qd0=[1.0, -2.0, 3.0], duration=0.1))
    assert result.ok, result.reason
    for k in range(0, len(result.t), 10):
        loads = np.asarray(normal_forces(robot, result.q[k], result.qd[k], result.qdd[k]), float)
        np.testing.assert_allclose(result.loads[k], loads, rtol=1e-9)
        expected = [law.torque(v, (), f) for law, v, f in zip(laws, result.qd[k], loads)]
        np.testing.assert_allclose(result.friction[k], expected, rtol=1e-9, atol=1e-12)
    assert np.abs(result.audit).max() <= 1e-8


@pytest.mark.parametrize("formulation", ["gpme", "multipliers"])
def test_programs_solve_the_same_loop(formulation: str) -> None:
    robot = mp.planar([0.5, 0.4, 0.3], [2.0, 1.5, 1.0])
    program = "y - 0.2"

    def run(coefficient: float) -> mp.Result:
        laws = [friction.LoadDependent(coefficient, diameter=0.4, width=0.05)] * 3
        motion = mp.programmed_motion(robot, [program], friction=laws)
        return motion.run([0.9, -0.9, -0.4], [0.5, -2.0, 3.0], 0.05, 1e-3, formulation, start="project")  # pyright: ignore[reportArgumentType]

    good = run(0.25)
    assert good.ok, good.reason
    for k in range(0, len(good.t), 10):
        loads = np.asarray(normal_forces(robot, good.q[k], good.qd[k], good.qdd[k]), float)
        np.testing.assert_allclose(good.loads[k], loads, rtol=1e-8)
        expected = 0.25 * loads * 0.2 * np.tanh(good.qd[k] / 0.05)
        np.testing.assert_allclose(good.friction[k], expected, rtol=1e-8, atol=1e-12)
    bad = run(8.0)
    assert bad.status == "singular", bad.reason
    assert "friction in joint" in bad.reason


@pytest.mark.parametrize("name", ["panda", "scara-khang", "stanford"])
def test_the_answer_of_the_loads_to_accelerations_is_their_slope(name: str) -> None:
    from manipula.physics.reactions import bearing_forces, bearing_response

    robot = mp.load(name)
    mechanism = mechanism_of(robot)
    rng = np.random.default_rng(3)
    q, qd = rng.normal(size=(2, robot.n))
    slope = bearing_response(mechanism, q)
    still = np.asarray(bearing_forces(mechanism, q, qd, np.zeros(robot.n)), float)
    for j in range(robot.n):
        pushed = np.asarray(bearing_forces(mechanism, q, qd, np.eye(robot.n)[j]), float)
        np.testing.assert_allclose(
            np.asarray(slope[:, :, j], float), pushed - still, atol=1e-12 * (1 + np.abs(pushed).max())
        )


def test_a_force_on_the_tip_loads_the_bearings() -> None:
    """A pull along a hanging pendulum adds to its weight, and to the friction."""
    law = friction.LoadDependent(0.1, diameter=0.1, width=0.05)
    pull = mp.Wrench((0.0, -30.0, 0.0, 0.0, 0.0, 0.0))
    result = mp.simulate(
        mp.Scenario(PENDULUM, friction=(law,), q0=[-np.pi / 2], qd0=[0.0], disturbances=(pull,), duration=0.01)
    )
    np.testing.assert_allclose(result.loads[:, 0], MASS * G + 30.0, rtol=1e-9)


def test_stiff_bristles_under_load_can_be_integrated_implicitly() -> None:
    """At rest a vertical axis carries no load across it: the length of that force has no slope, and yet the run begins."""
    law = friction.LuGre(1e3, 3.0, 0.4, 0.05, 0.15, 0.1, diameter=0.08)
    robot = mp.from_dh([{"d": 0.3, "a": 0.4, "mass": 3.0, "com": (-0.2, 0.0, 0.0), "inertia": [0.01, 0.04, 0.04, 0, 0, 0]}],
                       "modified")  # fmt: skip
    runs = [
        mp.simulate(mp.Scenario(robot, friction=(law,), torques=([0, 0.2], [[0.0], [0.5]]), q0=[0.0], qd0=[0.0], duration=0.2,
                                integrator=method, step=1e-4, sample=0.01))
        for method in ("rk4", "rodas")
    ]  # fmt: skip
    assert runs[1].ok, runs[1].reason
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-7)
