"""Digital control: commands held over a control period, encoders, delays; held against sampled-data theory and LSODA."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import solve_discrete_are

import manipula as mp
from manipula import control, drives
from manipula.errors import BudgetError, DescriptionError
from manipula.simulation.loops.fixed import noise_of
from manipula.simulation.loops.setup import prepare_run
from two_rods import LENGTHS, MASSES, two_rods

OUTSIDE = 1e-9
INERTIA, T = 0.4, 0.004


def hinge() -> mp.Robot:
    """One link without gravity: a double integrator."""
    return mp.planar(lengths=[1.0], masses=[3.0 * INERTIA], gravity=(0, 0, 0))


def held(x: np.ndarray, u: float, h: float) -> np.ndarray:
    """A double integrator after h under a constant torque."""
    return np.array([x[0] + h * x[1] + h * h / 2 * u / INERTIA, x[1] + h * u / INERTIA])


def regulator(**more: Any) -> mp.Scenario:
    usual: dict[str, Any] = {
        "controller": control.PD(40.0, 6.0, goal=[0.5]), "control_period": T, "sample": T, "duration": 0.4, "q0": [0.0],
    }  # fmt: skip
    return mp.Scenario(robot=hinge(), qd0=[0.3], **{**usual, **more})


@pytest.mark.parametrize("step", [0.004, 0.001, 0.0015, 0.01])
def test_a_held_command_is_the_sampled_data_loop(step: float) -> None:
    result = mp.simulate(regulator(step=step))
    x, law = np.array([0.0, 0.3]), []
    for _ in result.t:
        law.append(x)
        x = held(x, 40.0 * (0.5 - x[0]) - 6.0 * x[1], T)
    assert result.ok
    assert np.abs(np.hstack([result.q, result.qd]) - law).max() <= 1e-12
    np.testing.assert_allclose(result.command[:, 0], [40.0 * (0.5 - a) - 6.0 * b for a, b in law], atol=1e-10)


def test_the_states_of_a_controller_change_at_the_instants() -> None:
    result = mp.simulate(regulator(controller=control.PID(40.0, 90.0, 6.0, goal=[0.5])))
    x, z, law = np.array([0.0, 0.3]), 0.0, []
    for _ in result.t:
        law.append(x)
        u, z = 40.0 * (0.5 - x[0]) - 6.0 * x[1] + z, z + T * 90.0 * (0.5 - x[0])
        x = held(x, u, T)
    assert result.ok
    assert np.abs(np.hstack([result.q, result.qd]) - law).max() <= 1e-12


@pytest.mark.parametrize("delay", [0.3 * T, T, 1.4 * T, 2.0 * T])
def test_a_delay_of_any_part_of_a_period(delay: float) -> None:
    result = mp.simulate(regulator(actuator=mp.Actuator(delay=delay), step=T / 3))
    whole, part = int(delay / T + 1e-9), delay % T if delay % T > 1e-12 and T - delay % T > 1e-12 else 0.0
    x, law, asked = np.array([0.0, 0.3]), [], []
    for k in range(len(result.t)):
        law.append(x)
        asked.append(40.0 * (0.5 - x[0]) - 6.0 * x[1])
        old, new = asked[max(0, k - whole - 1)], asked[max(0, k - whole)]
        x = held(held(x, old, part), new, T - part)
    assert result.ok
    assert np.abs(np.hstack([result.q, result.qd]) - law).max() <= 1e-11


def test_discrete_lqr_has_the_cost_of_its_riccati_equation() -> None:
    A, B = np.array([[1.0, T], [0.0, 1.0]]), np.array([[T * T / 2], [T]]) / INERTIA
    Q, R = np.diag([100.0, 1.0]), np.array([[0.01]])
    P = solve_discrete_are(A, B, Q, R)
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    result = mp.simulate(regulator(controller=control.LQR([0.0], gain=K), q0=[0.2], duration=4.0))
    x = np.hstack([result.q, result.qd])
    cost = np.einsum("ki,ij,kj", x, Q, x) + R[0, 0] * np.sum(result.command[:, 0] ** 2)
    assert result.ok
    np.testing.assert_allclose(cost, x[0] @ P @ x[0], rtol=OUTSIDE)


def accelerations(q: np.ndarray, qd: np.ndarray, u: np.ndarray) -> np.ndarray:
    M, h, g = two_rods(q, qd)
    return np.linalg.solve(M, u - h - g)


def test_an_arm_against_lsoda_from_instant_to_instant() -> None:
    period, goal, kp, kv = 0.01, np.array([0.4, -0.6]), np.array([60.0, 20.0]), np.array([10.0, 3.0])
    robot = mp.planar(lengths=LENGTHS, masses=MASSES)
    controller = control.PD(kp, kv, goal=goal)
    result = mp.simulate(
        mp.Scenario(robot=robot, controller=controller, q0=[0.1, 0.2], duration=0.5, control_period=period, sample=period, step=2.5e-4)
    )  # fmt: skip
    x, law = np.array([0.1, 0.2, 0.0, 0.0]), []
    for k in range(len(result.t)):
        law.append(x)
        u = kp * (goal - x[:2]) - kv * x[2:]
        rate = lambda t, y, u=u: np.concatenate([y[2:], accelerations(y[:2], y[2:], u)])
        x = solve_ivp(rate, (k * period, (k + 1) * period), x, method="LSODA", rtol=1e-12, atol=1e-13).y[:, -1]
    assert result.ok
    assert np.abs(np.hstack([result.q, result.qd]) - law).max() <= OUTSIDE
    assert np.abs(result.audit).max() <= OUTSIDE


@pytest.mark.parametrize("filter_time", [None, 0.01])
def test_encoders_count_and_speeds_come_from_differences(filter_time: float | None) -> None:
    r = 1e-3
    encoder = mp.Encoder(resolution=r, velocity="difference", filter_time=filter_time)
    result = mp.simulate(regulator(encoder=encoder, tolerance=1e-6))
    x, law, share = np.array([0.0, 0.3]), [], 1.0 if filter_time is None else 1.0 - np.exp(-T / filter_time)
    before, v = 0.0, 0.0
    for _ in result.t:
        law.append(x)
        y = r * np.floor(x[0] / r + 0.5)
        v, before = v + share * ((y - before) / T - v), y
        x = held(x, 40.0 * (0.5 - y) - 6.0 * v, T)
    assert result.ok
    assert np.abs(np.hstack([result.q, result.qd]) - law).max() <= 1e-11
    off = mp.simulate(regulator())
    assert np.abs(off.q - result.q).max() > 1e-4


def test_noise_is_drawn_once_a_period_and_motors_have_their_own() -> None:
    scenario = regulator(noise=mp.Noise(1e-3, 1e-2, seed=4), step=T / 4)
    result, noise = mp.simulate(scenario), noise_of(prepare_run(scenario), 0)
    assert noise.shape == (len(result.t), 2)
    x, law = np.array([0.0, 0.3]), []
    for shake in noise:
        law.append(x)
        x = held(x, 40.0 * (0.5 - x[0] - shake[0]) - 6.0 * (x[1] + shake[1]), T)
    assert np.abs(np.hstack([result.q, result.qd]) - law).max() <= 1e-11
    robot = hinge()
    robot = replace(robot, joints=tuple(replace(j, rotor_inertia=0.1) for j in robot.joints))
    elastic = mp.Scenario(robot=robot, controller=control.MotorPD(40.0, 6.0, goal=[0.5]), drives=drives.Flexible(500.0), duration=0.1,
                          control_period=T, sample=T, noise=mp.Noise(1e-3, 1e-2))  # fmt: skip
    shaken, quiet = mp.simulate(elastic), mp.simulate(elastic.replace(noise=mp.Noise()))
    told, own = noise_of(prepare_run(elastic), 0), shaken.motors
    assert told.shape[1] == 4
    np.testing.assert_allclose(
        shaken.command[:, 0], 40 * (0.5 - own[:, 0] - told[:, 2]) - 6 * (own[:, 1] + told[:, 3]), atol=1e-9
    )
    assert np.abs(shaken.q - quiet.q).max() > 1e-5


def test_a_batch_is_its_runs() -> None:
    encoder = mp.Encoder(resolution=1e-4, velocity="difference", filter_time=0.01)
    scenario = regulator(encoder=encoder, vary={"controller.kp": [30.0, 40.0], "encoder.filter_time": [0.02, 0.01]})
    both = mp.simulate(scenario)
    alone = mp.simulate(scenario.replace(vary=None))
    assert np.array_equal(both.q[1], alone.q)
    assert np.array_equal(both.command[1], alone.command)


class Watchful:
    """Pushes the harder the more often it was asked."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def reset(self) -> None:
        self.times.clear()

    def __call__(self, t: Any, q: Any, qd: Any, target: Any) -> Any:
        self.times.append(float(t))
        return 1e-3 * len(self.times) + 0.0 * qd


def test_a_controller_in_python_is_asked_at_the_instants() -> None:
    result = mp.simulate(regulator(controller=control.UserFunction(Watchful()), step=T / 5, duration=0.1))
    assert result.ok
    assert "once a control period (every 0.004 s)" in " ".join(result.notes)
    np.testing.assert_allclose(result.command[:, 0], 1e-3 * np.arange(1, len(result.t) + 1), atol=1e-12)


class Counting(control.Controller):
    """Pushes every third period: its state is a counter."""

    name: ClassVar[str] = "counting"
    space: ClassVar[Any] = "none"

    def states(self, n: int) -> int:
        return 1

    def torque(self, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any) -> Any:
        from manipula.algebra import ops

        return np.array([ops.where(state[0] < 0.5, 1.0, 0.0)])

    def update(self, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any, period: Any) -> Any:
        from manipula.algebra import ops

        return np.array([ops.where(state[0] > 1.5, 0.0, state[0] + 1.0)])


def test_somebodys_digital_controller_is_compiled() -> None:
    result = mp.simulate(regulator(controller=Counting()))
    assert result.ok
    assert not any("Python" in note for note in result.notes)
    assert np.array_equal(result.command[:6, 0], [1, 0, 0, 1, 0, 0])
    with pytest.raises(DescriptionError, match="give one: control_period"):
        mp.simulate(regulator(controller=Counting(), control_period=None))


def test_limits_are_held_against_both_sides_of_an_instant() -> None:
    """The largest torque stands just after an instant that no sample shows."""
    scenario = regulator(sample=0.07, duration=0.35, limits={"torque": 18.0})
    assert mp.simulate(scenario).feasible is False
    assert mp.simulate(scenario.replace(limits={"torque": 18.3})).feasible is True


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(DescriptionError, match="choose a fixed-step integrator"):
        mp.simulate(regulator(integrator="dop853"))
    with pytest.raises(DescriptionError, match="control_period"):
        mp.simulate(mp.Scenario(robot=hinge(), q0=[0.1], duration=0.1, control_period=T))
    with pytest.raises(DescriptionError, match="encoder"):
        mp.simulate(mp.Scenario(robot=hinge(), q0=[0.1], duration=0.1, encoder=mp.Encoder(resolution=1e-3)))
    with pytest.raises(DescriptionError, match="would never act"):
        mp.Encoder(filter_time=0.1)
    for bad in (0.0, -1.0, float("nan"), "fast"):
        with pytest.raises(DescriptionError, match="control_period"):
            regulator(control_period=bad)
    with pytest.raises(BudgetError, match="longer control_period"):
        regulator(control_period=1e-12)


def test_digital_control_in_files(tmp_path: Any) -> None:
    scenario = regulator(encoder=mp.Encoder(resolution=[2e-4], velocity="difference", filter_time=0.005), actuator=mp.Actuator(delay=0.001))  # fmt: skip
    scenario.save(tmp_path / "run.toml")
    assert mp.Scenario.load(tmp_path / "run.toml") == scenario
