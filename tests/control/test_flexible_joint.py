"""Control from the motor side of elastic joints, held against closed forms and against equations written down by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import manipula as mp
from manipula import control, drives
from manipula.errors import DescriptionError
from two_rods import LENGTHS, MASSES, two_rods

OUTSIDE = 1e-9
ROTOR, STIFFNESS = 0.05, 500.0
BALANCED = drives.Flexible(stiffness=STIFFNESS, initial_position="balanced")


def elastic_arm() -> mp.Robot:
    robot = mp.planar(lengths=LENGTHS, masses=MASSES)
    return replace(robot, joints=tuple(replace(j, rotor_inertia=ROTOR) for j in robot.joints))


def hinge(inertia: float) -> mp.Robot:
    """One link without gravity whose inertia about its joint is given."""
    robot = mp.planar(lengths=[1.0], masses=[3.0 * inertia], gravity=(0, 0, 0))
    return replace(robot, joints=tuple(replace(j, rotor_inertia=ROTOR) for j in robot.joints))


def test_error_of_the_linearised_joint_obeys_a_law_of_fourth_order() -> None:
    reference = mp.trajectory(mp.paths.joint([[0.0, 0.0], [0.6, -0.5]]), mp.timing.quintic(1.0))
    controller, w = control.FlexibleComputedTorque([10.0, 14.0]), np.array([10.0, 14.0])
    scenario = mp.Scenario(robot=elastic_arm(), drives=BALANCED, controller=controller, reference=reference, q0=[0.1, -0.1],
                           duration=1.0, step=2.5e-4, sample=0.05)  # fmt: skip
    result = mp.simulate(scenario)
    assert result.ok
    start = [reference.derivatives(0.0, 3)[k] - (np.array([0.1, -0.1]) if k == 0 else 0.0) for k in range(4)]
    t = result.t[:, None]
    c = [start[0], start[1] + w * start[0]]  # e = exp(-wt)(c0 + c1 t + c2 t^2 + c3 t^3)
    c.append((start[2] + 2 * w * start[1] + w**2 * start[0]) / 2)
    c.append((start[3] + 3 * w * start[2] + 3 * w**2 * start[1] + w**3 * start[0]) / 6)
    law = np.exp(-w * t) * (c[0] + t * (c[1] + t * (c[2] + t * c[3])))
    assert np.abs(result.error - law).max() <= OUTSIDE
    assert np.abs(result.audit).max() <= OUTSIDE


def test_motor_pd_against_equations_by_hand() -> None:
    goal, kp, kv = np.array([0.3, -0.4]), 200.0, 20.0
    scenario = mp.Scenario(robot=elastic_arm(), drives=BALANCED, controller=control.MotorPD(kp, kv, goal=goal), q0=[0.0, 0.0],
                           duration=0.5, step=1e-4, sample=0.05)  # fmt: skip
    result = mp.simulate(scenario)
    weight = two_rods(goal, goal)[2]

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        q, qd, theta, speed = np.split(x, 4)
        M, h, g = two_rods(q, qd)
        pull = STIFFNESS * (theta - q)
        u = kp * (goal + weight / STIFFNESS - theta) - kv * speed + weight
        return np.concatenate([qd, np.linalg.solve(M, pull - h - g), speed, (u - pull) / ROTOR])

    start = np.concatenate([np.zeros(4), two_rods(np.zeros(2), np.zeros(2))[2] / STIFFNESS, np.zeros(2)])
    judge = solve_ivp(rate, (0.0, 0.5), start, method="LSODA", rtol=1e-12, atol=1e-13, t_eval=result.t)
    assert result.ok
    assert np.abs(result.q - judge.y[:2].T).max() <= OUTSIDE
    assert np.abs(result.motors[:, 0::2] - judge.y[4:6].T).max() <= OUTSIDE
    rest = mp.simulate(scenario.replace(duration=8.0, step=1e-3, sample=1.0))
    assert np.abs(rest.q[-1] - goal).max() <= 1e-8  # without error, though only motors are measured


def test_a_given_motor_position_starts_the_spring_loaded() -> None:
    inertia, theta0, speed0 = 0.3, 0.2, -1.5
    spring = drives.Flexible(stiffness=80.0, damping=0.5, initial_position=theta0, initial_velocity=speed0)
    result = mp.simulate(mp.Scenario(robot=hinge(inertia), drives=spring, q0=[0.1], duration=1.0, sample=0.1))
    A = np.zeros((4, 4))  # q, qd, theta, speed
    A[0, 1] = A[2, 3] = 1.0
    A[1] = np.array([-80.0, -0.5, 80.0, 0.5]) / inertia
    A[3] = np.array([80.0, 0.5, -80.0, -0.5]) / ROTOR
    law = np.array([expm(A * t) @ [0.1, 0.0, theta0, speed0] for t in result.t])
    assert result.ok
    assert np.abs(result.q[:, 0] - law[:, 0]).max() <= OUTSIDE
    assert np.abs(result.motors - law[:, 2:]).max() <= OUTSIDE
    varied = mp.Scenario(robot=hinge(inertia), drives=spring, q0=[0.1], duration=1.0, sample=0.1,
                         vary={"drives[0].initial_position": [theta0, 0.0]})  # fmt: skip
    assert np.array_equal(mp.simulate(varied).q[0], result.q)


def test_a_voltage_is_commanded() -> None:
    inertia, k, R, L, N, i0 = 0.3, 0.05, 0.8, 1e-2, 80.0, 0.7
    motor = drives.DCMotor(k, R, L, gear_ratio=N, command="voltage", initial_current=i0)
    kp, kv, goal = 20.0, 1.0, 0.5
    result = mp.simulate(
        mp.Scenario(robot=hinge(inertia), drives=motor, controller=control.PD(kp, kv, goal=[goal]), q0=[0.0], duration=1.0,
                    step=1e-4, sample=0.1)
    )  # fmt: skip
    J = inertia + ROTOR
    A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, N * k / J], [-kp / L, (-kv - N * k) / L, -R / L]])
    rest = np.array([goal, 0.0, 0.0])
    law = np.array([rest + expm(A * t) @ ([0.0, 0.0, i0] - rest) for t in result.t])
    assert result.ok
    assert np.abs(result.q[:, 0] - law[:, 0]).max() <= OUTSIDE
    assert np.abs(result.motors[:, 0] - law[:, 2]).max() <= OUTSIDE
    np.testing.assert_allclose(result.command[0, 0], kp * goal)  # volts


def test_a_voltage_is_cut() -> None:
    motor = drives.DCMotor(0.05, 0.8, 1e-2, gear_ratio=80.0, voltage=3.0, command="voltage")
    strong, weak = (motor.state_rate(u, 0.0, 0.0, 0.0, (0.0,), 0.1)[0] for u in (50.0, -2.0))
    assert (strong, weak) == (3.0 / 1e-2, -2.0 / 1e-2)


def test_what_does_not_fit_is_refused() -> None:
    robot = elastic_arm()
    rigid = mp.Scenario(robot=robot, controller=control.FlexibleComputedTorque(10.0), duration=1.0,
                        reference=mp.trajectory(mp.paths.joint([[0, 0], [1, 1]]), mp.timing.quintic(1.0)))  # fmt: skip
    with pytest.raises(DescriptionError, match="flexible drive with a motor of its own at every joint"):
        mp.simulate(rigid)
    with pytest.raises(DescriptionError, match="springs without damping"):
        mp.simulate(rigid.replace(drives=drives.Flexible(500.0, damping=1.0)))
    with pytest.raises(DescriptionError, match="would ignore 'initial_position'"):
        drives.Flexible(500.0, motor="sin(t)", initial_position=0.1)
    with pytest.raises(DescriptionError, match="balanced"):
        drives.Flexible(500.0, initial_position="loaded")
    with pytest.raises(DescriptionError, match="command"):
        drives.DCMotor(0.05, 0.8, 1e-2, command="current")


class Curious(control.Controller):
    """Looks at the motors without saying that it measures them."""

    name: ClassVar[str] = "curious"
    space: ClassVar[Any] = "none"

    def torque(self, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any) -> Any:
        return -arm.motors.velocity


class Telling(Curious):
    measures: ClassVar[tuple[str, ...]] = ("motors",)


def test_somebodys_controller_measures_motors_when_it_says_so() -> None:
    spring = drives.Flexible(80.0, initial_position=0.3)
    scenario = mp.Scenario(robot=hinge(0.3), drives=spring, controller=Telling(), q0=[0.1], duration=0.2)
    result = mp.simulate(scenario)
    assert result.ok
    np.testing.assert_allclose(result.command[:, 0], -result.motors[:, 1], atol=1e-12)
    with pytest.raises(DescriptionError, match="measures"):
        mp.simulate(scenario.replace(controller=Curious()))


def test_motor_side_in_files(tmp_path: Any) -> None:
    scenario = mp.Scenario(robot=elastic_arm(), drives=(BALANCED, drives.DCMotor(0.05, 0.8, 1e-2, gear_ratio=80.0, command="voltage")),
                           controller=control.MotorPD([200.0, 20.0], 20.0, goal=[0.3, -0.4]), duration=0.1)  # fmt: skip
    scenario.save(tmp_path / "run.toml")
    assert mp.Scenario.load(tmp_path / "run.toml") == scenario
