"""Secondary criteria: exact gradients, better costs, and a tip that does not notice."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp
from control.arms_and_gains import arm, integrate
from manipula import control
from manipula.control import Arm
from manipula.redundancy.null_space import REGISTRY, Criterion
from manipula.redundancy.pseudoinverse import null_space_times, pseudoinverse_times

Q0 = np.deg2rad([90.0, -40.0, -40.0, -40.0, -30.0])
CRITERIA: dict[str, Criterion] = {
    "posture": control.Posture(tuple(np.deg2rad([60.0, -10.0, -10.0, -60.0, -60.0]))),
    "joint_limits": control.JointLimits(gain=40.0),
    "manipulability": control.Manipulability(gain=2.0),
    "minimum_torque": control.MinimumTorque(gain=2e-6),
    "obstacle_distance": control.ObstacleDistance(centre=(0.2, 1.3, 0.0), radius=0.4, gain=8.0),
}
STILL = 1e-9  # m: the tip's drift over 400 RK4 steps of a flow in its null space
DIFFERENCE = 2e-8  # central differences with a step of 1e-6


def model() -> Arm:
    return Arm(arm("arora-5r"))


def test_every_criterion_has_an_example() -> None:
    assert set(CRITERIA) == set(REGISTRY)
    assert all(type(CRITERIA[name]) is kind for name, kind in REGISTRY.items())


@pytest.mark.parametrize("name", sorted(CRITERIA))
def test_directions_are_descents(name: str) -> None:
    criterion, own = CRITERIA[name], model()
    q = Q0 + 0.1 * np.sin(np.arange(5))
    h = 1e-6
    slope = np.array(
        [(float(criterion.cost(own, q + h * d)) - float(criterion.cost(own, q - h * d))) / (2 * h) for d in np.eye(5)]
    )
    scale = 1.0 + abs(float(criterion.cost(own, q)))
    np.testing.assert_allclose(
        criterion.direction(own, q).astype(float), -criterion.gain * slope, atol=DIFFERENCE * criterion.gain * scale
    )


@pytest.mark.parametrize("name", sorted(CRITERIA))
def test_null_space_motion_improves_the_cost_and_leaves_the_tip(name: str) -> None:
    criterion, own = CRITERIA[name], model()

    def flow(q: np.ndarray) -> np.ndarray:
        return np.asarray(null_space_times(own.task_jacobian(q), criterion.direction(own, q)), float)

    q, h = Q0.copy(), 0.02
    start, before = own.position(q).astype(float), float(criterion.cost(own, q))
    costs = [before]
    for _ in range(25):
        k1 = flow(q)
        k2 = flow(q + 0.5 * h * k1)
        k3 = flow(q + 0.5 * h * k2)
        k4 = flow(q + h * k3)
        q = q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        costs.append(float(criterion.cost(own, q)))
    assert np.all(np.diff(costs) <= 1e-12)
    assert costs[-1] < before - 1e-6
    assert np.abs(own.position(q).astype(float) - start).max() <= 1e-6  # RK4 with h = 20 ms


def floats(x: np.ndarray) -> np.ndarray:
    return np.asarray(x, float)


def test_projections() -> None:
    rng = np.random.default_rng(2)
    J, z, v = rng.normal(size=(3, 7)), rng.normal(size=7), rng.normal(size=3)
    np.testing.assert_allclose(floats(pseudoinverse_times(J, v)), np.linalg.pinv(J) @ v, atol=1e-13)
    np.testing.assert_allclose(floats(null_space_times(J, z)), z - np.linalg.pinv(J) @ J @ z, atol=1e-13)
    np.testing.assert_allclose(J @ floats(null_space_times(J, z)), 0.0, atol=1e-13)
    A = rng.normal(size=(7, 7))
    W = A @ A.T + np.eye(7)
    x = floats(pseudoinverse_times(J, v, weight=W))
    np.testing.assert_allclose(J @ x, v, atol=1e-12)
    N = np.linalg.svd(J)[2][3:]  # least W-norm: W x is orthogonal to every null-space direction
    np.testing.assert_allclose(N @ W @ x, 0.0, atol=1e-11)
    damped = floats(pseudoinverse_times(J, v, 0.25))
    np.testing.assert_allclose(damped, J.T @ np.linalg.solve(J @ J.T + 0.25 * np.eye(3), v), atol=1e-13)


def test_dynamic_loop_uses_the_null_space_without_moving_the_tip() -> None:
    robot = arm("zlajpah-5r")
    tip = mp.compile(robot).position(Q0)
    reference = mp.trajectory(mp.paths.line(tip, tip + np.array([-0.05, 0.05, 0.0])), mp.timing.quintic(1.0))
    posture = control.Posture(tuple(Q0 + np.array([0.3, -0.3, 0.2, -0.2, 0.1])), gain=30.0)
    ends = []
    for criteria in ((), (posture,)):
        controller = control.TaskSpaceComputedTorque(100.0, 20.0, null_damping=12.0, criteria=criteria)
        scenario = mp.Scenario(
            robot=robot, controller=controller, reference=reference, q0=Q0, duration=1.0, integrator="rk4", verify=False
        )
        t, q, _, _ = integrate(scenario)
        assert np.abs(mp.compile(robot).position(q) - reference.position(t)).max() <= STILL
        ends.append(float(posture.cost(Arm(robot), q[-1])))
    assert ends[1] < 0.8 * ends[0]
