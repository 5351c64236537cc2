"""Tasks within bounds of motion and of torque at once: held against every active set there is, and in runs that meet both."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import manipula as mp
from control.arms_and_gains import arm
from manipula import control
from manipula.redundancy.hierarchy import Level, solve_between
from manipula.robot.limits import Limits


def best(J: np.ndarray, b: np.ndarray, C: np.ndarray, low: np.ndarray, high: np.ndarray, E: np.ndarray, e: np.ndarray) -> np.ndarray:  # fmt: skip
    """The least squares within bounds and Ex = e, by trying every active set (smallest ‖x‖ within a set by a tiny weight)."""
    n, found, least = J.shape[1], None, np.inf
    rows, sides = np.vstack([C, -C]), np.concatenate([high, -low])
    for count in range(n + 1):
        for active in combinations(range(len(rows)), count):
            A, a = np.vstack([E, rows[list(active)]]), np.concatenate([e, sides[list(active)]])
            K = np.block([[J.T @ J, A.T], [A, np.zeros((len(A), len(A)))]])
            x = np.linalg.lstsq(K, np.concatenate([J.T @ b, a]), rcond=1e-12)[0][:n]
            if (rows @ x <= sides + 1e-9).all() and np.abs(A @ x - a).max(initial=0.0) < 1e-9:
                cost = float(np.sum((J @ x - b) ** 2))
                if cost < least - 1e-12:
                    found, least = x, cost
    assert found is not None
    return found


def test_two_levels_within_rows_are_the_best_of_all_active_sets() -> None:
    rng, bound = np.random.default_rng(2), 0
    for _ in range(25):
        J1, J2 = rng.normal(size=(1, 3)), rng.normal(size=(3, 3))
        b1, b2, z = rng.normal(size=1) * 5, rng.normal(size=3) * 5, rng.normal(size=3)
        C = np.vstack([np.eye(3), rng.normal(size=(3, 3))])
        low, high = -rng.uniform(0.5, 3, 6), rng.uniform(0.5, 3, 6)
        found = solve_between([Level(J1, b1), Level(J2, b2)], z, C, low, high, [0.0] * 6)
        assert found.optimal == 1.0
        first = best(J1, b1, C, low, high, np.zeros((0, 3)), np.zeros(0))
        np.testing.assert_allclose(J1 @ found.x, J1 @ first, atol=1e-7)
        second = best(J2, b2, C, low, high, J1, J1 @ first)
        np.testing.assert_allclose(found.x, second, atol=2e-6)
        bound += bool((np.abs(C @ found.x - high) < 1e-6).any() or (np.abs(C @ found.x - low) < 1e-6).any())
    assert bound > 10


def weak(effort: Any, velocity: float = 3.0) -> mp.Robot:
    robot = arm("planar-3r")
    return robot.replace(
        joints=tuple(
            replace(j, limits=replace(j.limits, lower=-2.6, upper=1.0, velocity=velocity, effort=float(e)))
            for j, e in zip(robot.joints, effort)
        )
    )


def reaching(robot: mp.Robot, bounds: str) -> mp.Result:
    q0 = np.array([0.3, 0.5, 0.4])
    goal = np.asarray(mp.compile(robot).position([0.9, 0.95, 0.5]))
    law = control.TaskPriorities(
        (control.FramePosition(goal=goal, gain=12.0), control.JointPosture(0.5, priority=2)), bounds=bounds
    )
    return mp.simulate(
        mp.Scenario(
            robot,
            controller=law,
            q0=q0,
            duration=1.0,
            step=5e-4,
            sample=0.01,
            tolerance=1e-3,
            friction=(),
            integrator="rk4",
        )
    )


def test_torques_and_ranges_hold_together() -> None:
    """Each kind of bounds alone breaks the other kind; together both hold, and the tip arrives."""
    holding = np.abs(mp.compile(arm("planar-3r")).gravity([0.3, 0.5, 0.4]))
    robot = weak(1.35 * holding + 1.0, velocity=1.2)
    most = np.array([j.limits.effort for j in robot.joints], float)
    runs = {bounds: reaching(robot, bounds) for bounds in ("motion", "torque", "motion and torque")}
    both = runs["motion and torque"]
    assert both.ok, both.reason
    assert both.task_bounds.min() == 1.0
    assert (np.abs(runs["motion"].tau).max(axis=0) > 1.05 * most).any()
    assert np.abs(runs["torque"].qd).max() > 1.3
    assert (np.abs(both.tau).max(axis=0) <= most * (1 + 1e-9)).all()
    assert np.abs(both.qd).max() <= 1.2 * (1 + 1e-5)
    assert both.q.max() <= 1.0 + 1e-5
    assert np.isclose(np.abs(both.tau).max(axis=0), most, rtol=1e-6).any()
    assert np.abs(both.tip[-1] - both.tip[0]).max() > 0.1


def test_where_torques_do_not_suffice_ranges_are_left_and_torques_are_not() -> None:
    """Motors that cannot stop the arm before its range ends: their limits hold, and it is the range that is left."""
    robot = weak([8.0, 4.0, 1.5])
    robot = robot.replace(gravity=(0.0, 0.0, 0.0))
    law = control.TaskPriorities((control.JointPosture(0.5),), bounds="motion and torque")
    run = mp.simulate(
        mp.Scenario(robot, controller=law, q0=[0.7, 0.0, 0.0], qd0=[2.9, 0.0, 0.0], duration=0.6,
                     step=5e-4, sample=0.01, tolerance=1e-3, friction=(), integrator="rk4")
    )  # fmt: skip
    assert run.ok, run.reason
    assert run.q[:, 0].max() > 1.0
    assert (np.abs(run.tau).max(axis=0) <= np.array([8.0, 4.0, 1.5]) * (1 + 1e-9)).all()
    assert run.feasible is False


def test_both_need_their_limits() -> None:
    law = control.TaskPriorities((control.JointPosture(0.5),), bounds="motion and torque")
    for limits, missing in (
        (Limits(effort=50.0), "limit of position or speed"),
        (Limits(velocity=3.0), "No effort limit"),
    ):
        bare = arm("planar-3r")
        robot = bare.replace(joints=tuple(replace(j, limits=limits) for j in bare.joints))
        with pytest.raises(mp.DescriptionError, match=missing):
            mp.simulate(mp.Scenario(robot, controller=law, q0=[0.1, 0.2, 0.3], duration=0.1))
