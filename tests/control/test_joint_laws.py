"""Feedforward, cascades at two rates, observers of external torques: against closed forms and equations in other hands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from control.arms_and_gains import arm, quintic
from manipula import control, friction
from manipula.redundancy.arm import Arm

OUTSIDE = 1e-9
INERTIA, T = 0.4, 0.004


def hinge() -> mp.Robot:
    return mp.planar(lengths=[1.0], masses=[3.0 * INERTIA], gravity=(0, 0, 0))


def test_feedforward_follows_without_error_and_decays_like_pd() -> None:
    """On the reference the torques of the model are all that is needed; off it PD acts alone."""
    robot, start = arm("scara-khang"), [0.0, 0.0, 0.0, 0.0]
    scenario = mp.Scenario(robot=robot, controller=control.FeedforwardPD(60.0, 12.0), reference=quintic("scara-khang", start),
                           friction=friction.Viscous(0.4), duration=1.0, sample=0.1)  # fmt: skip
    result = mp.simulate(scenario)
    assert result.ok
    assert np.abs(result.error).max() <= OUTSIDE
    from oracles import Judge

    judge = Judge(robot)
    at = scenario.reference.derivatives(0.3, 2)
    q, qd = at[0] + 0.01, at[1] - 0.02
    said = Arm(robot, friction=(friction.Viscous(0.4),) * 4)
    target = control.Target(*at)
    tau = control.FeedforwardPD(60.0, 12.0).torque(said, 0.3, q, qd, target, np.zeros(0))
    expected = judge.inverse_dynamics(*at) + 0.4 * at[1] - 60.0 * 0.01 + 12.0 * 0.02
    np.testing.assert_allclose(np.asarray(tau, float), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("every", [1, 4])
def test_a_cascade_has_two_rates(every: int) -> None:
    controller = control.Cascade(8.0, 5.0, 20.0, every=every, goal=[0.5])
    result = mp.simulate(
        mp.Scenario(robot=hinge(), controller=controller, q0=[0.0], qd0=[0.3], duration=0.4, control_period=T, sample=T)
    )
    x, z, wanted, law = np.array([0.0, 0.3]), 0.0, 0.0, []
    for k in range(len(result.t)):
        law.append(x)
        if k % every == 0:
            wanted = 8.0 * (0.5 - x[0])
        u, z = 5.0 * (wanted - x[1]) + z, z + T * 20.0 * (wanted - x[1])
        x = np.array([x[0] + T * x[1] + T * T / 2 * u / INERTIA, x[1] + T * u / INERTIA])
    assert result.ok
    assert np.abs(np.hstack([result.q, result.qd]) - law).max() <= 1e-12
    assert not any("Python" in note for note in result.notes)


def residuals(scenario: mp.Scenario, result: Any) -> np.ndarray:
    said: Any = scenario.controller
    rows = zip(result.q, result.qd, result.controller_states)
    return np.array([np.asarray(said.residual(Arm(scenario.robot), *row), float) for row in rows])


@pytest.mark.parametrize("compensate", [False, True])
def test_the_residual_is_the_external_torque_through_a_filter(compensate: bool) -> None:
    """A constant moment about the only joint: r = tau (1 - exp(-K t)), also while the arm swings."""
    K, push = 30.0, 2.5
    robot = mp.planar(lengths=[1.0], masses=[3.0 * INERTIA])
    scenario = mp.Scenario(
        robot=robot, controller=control.MomentumObserver(60.0, 12.0, K, compensate=compensate, goal=[0.4]), q0=[0.1], qd0=[0.7],
        duration=1.0, sample=0.05, step=2.5e-4, disturbances=(mp.Wrench((0, 0, 0, 0, 0, push), start=0.2),),
    )  # fmt: skip
    result = mp.simulate(scenario)
    law = np.where(result.t < 0.2, 0.0, push * (1.0 - np.exp(-K * np.maximum(result.t - 0.2, 0.0))))
    assert result.ok
    assert np.abs(residuals(scenario, result)[:, 0] - law).max() <= OUTSIDE


def test_a_push_that_is_compensated_leaves_no_error() -> None:
    robot = arm("planar-2r")
    left = {}
    for compensate in (False, True):
        scenario = mp.Scenario(
            robot=robot, controller=control.MomentumObserver(100.0, 30.0, 20.0, compensate=compensate, goal=[0.4, -0.5]), q0=[0.4, -0.5],
            duration=5.0, sample=0.5, disturbances=(mp.Wrench((3.0, -4.0, 0, 0, 0, 0)),),
        )  # fmt: skip
        result = mp.simulate(scenario)
        left[compensate] = np.abs(result.q[-1] - [0.4, -0.5]).max()
        pushed = mp.compile(robot).jacobian(result.q[-1])[:3].T @ [3.0, -4.0, 0.0]
        np.testing.assert_allclose(residuals(scenario, result)[-1], pushed, atol=1e-5)
    assert left[False] > 1e-2
    assert left[True] < 1e-6
