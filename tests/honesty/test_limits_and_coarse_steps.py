"""A limit that a motion breaks is found whatever ``step`` is, where the accuracy of the run does not depend on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manipula as mp

ARM = mp.load("planar-2r")
MOVE = mp.trajectory(mp.paths.joint([[0.0, 0.0], [1.0, -1.0]]), mp.timing.quintic(1.0))
LINE = mp.trajectory(mp.paths.line([1.2, 0.3, 0.0], [0.4, 1.2, 0.0]), mp.timing.quintic(1.0))
STEPS = (1e-3, 0.1, 0.5, 1.0)


def worst(result: mp.Result, quantity: str) -> float:
    return max(abs(c.worst) for c in result.feasibility.checks if c.quantity == quantity)


@pytest.mark.parametrize("step", [0.05, 0.5, 2.0])
def test_a_falling_arm(step: float) -> None:
    limits = {"velocity": 15.0, "acceleration": 100.0, "torque": 1e3, "power": 1e4, "tip": {"velocity": 5.0}}
    falling = mp.Scenario(ARM, q0=[1.0, 2.0], duration=2.0, limits=limits)
    fine, coarse = (mp.simulate(falling.replace(step=h)) for h in (1e-3, step))
    assert fine.ok
    assert coarse.ok
    assert fine.feasible is False
    assert coarse.feasible is False
    for a, b in zip(fine.feasibility.checks, coarse.feasibility.checks):
        assert b.worst == pytest.approx(a.worst, rel=1e-3)
        assert b.ok == a.ok


@pytest.mark.parametrize("step", STEPS)
def test_torques_along_a_motion_of_joints(step: float) -> None:
    run = mp.simulate(mp.Scenario(ARM, MOVE, kind="inverse_dynamics", step=step, limits={"velocity": 1, "torque": 25}))
    assert run.ok
    assert run.feasible is False
    assert worst(run, "velocity") == pytest.approx(1.875, abs=1e-9)
    t = np.linspace(0.0, 1.0, 100_001)
    needed = mp.compile(ARM).inverse_dynamics(*(np.asarray(d) for d in MOVE.derivatives(t, 2)))
    assert worst(run, "torque") == pytest.approx(np.abs(needed).max(), rel=1e-9 if step > 1e-3 else 1e-5)


@pytest.mark.parametrize("step", STEPS)
def test_actuators_along_a_motion_of_joints(step: float) -> None:
    run = mp.simulate(mp.Scenario(ARM, MOVE, kind="inverse_dynamics", step=step, actuator=mp.Actuator(limit=25.0)))
    assert run.status == "failed"
    assert "needs 30.1" in run.reason


@pytest.mark.parametrize("kind", ["kinematic", "inverse_dynamics"])
def test_a_motion_of_the_tip(kind: Any) -> None:
    q0 = mp.solve_ik(ARM, [1.2, 0.3, 0.0]).q
    limits = {"velocity": 100.0, "acceleration": 1e3, "torque": 1e3, "power": 1e4, "tip": {"velocity": 10.0}}
    found = []
    for step in (1e-3, 0.02, 0.5):
        tolerance = 1e-6 if step < 0.1 or kind == "inverse_dynamics" else 1e-1
        run = mp.simulate(mp.Scenario(ARM, LINE, q0=q0, kind=kind, step=step, limits=limits, tolerance=tolerance))
        assert run.ok, run.reason
        assert run.feasible
        found.append([c.worst for c in run.feasibility.checks])
    assert np.allclose(found[1], found[0], rtol=1e-5)
    assert np.allclose(found[2], found[0], rtol=1e-5)


@pytest.mark.parametrize("kind", ["kinematic", "inverse_dynamics"])
def test_where_a_given_motion_stops(kind: Any) -> None:
    q0 = mp.solve_ik(ARM, [1.2, 0.3, 0.0]).q
    whole = mp.simulate(mp.Scenario(ARM, LINE, q0=q0, kind=kind)).q[:, 0]
    limits = {"position": [[float(whole.min()) - 1.0, float(whole[600])], [-9.0, 9.0]]}
    for step in (1e-3, 0.5):
        run = mp.simulate(
            mp.Scenario(ARM, LINE, q0=q0, kind=kind, step=step, limits=limits, stop_at_limits=True, tolerance=1e-1)
        )
        assert run.status == "limit"
        assert "at t = 0.6 s" in run.reason


def test_limits_that_are_asked_about_later() -> None:
    falling = mp.simulate(mp.Scenario(ARM, q0=[1.0, 2.0], duration=2.0, step=0.5))
    assert mp.feasibility(falling, {"velocity": 15.0}).feasible is not True
    moved = mp.simulate(mp.Scenario(ARM, MOVE, kind="inverse_dynamics", step=1.0))
    assert mp.feasibility(moved, {"velocity": 1.0}).feasible is not True


def test_the_verdict_of_a_file(tmp_path: Path) -> None:
    run = mp.simulate(mp.Scenario(ARM, q0=[1.0, 2.0], duration=2.0, step=0.5, limits={"velocity": 15.0}))
    run.save(tmp_path / "run.npz")
    assert mp.load_result(tmp_path / "run.npz").feasible is False


@pytest.mark.parametrize(
    "options", [{}, {"sample": 0.05}, {"sample": 0.3}, {"step": 0.3}, {"integrator": "rk4"}, {"step": 1.0}]
)
def test_when_a_falling_arm_passes_a_limit(options: dict[str, Any]) -> None:
    free = mp.simulate(mp.Scenario(ARM, q0=[0.2, 0.4], duration=1.0, step=1e-4))
    edge = float(free.q[6012, 0])
    limits = {"position": [[edge, 9.0], [-9.0, 9.0]]}
    run = mp.simulate(mp.Scenario(ARM, q0=[0.2, 0.4], duration=1.0, limits=limits, stop_at_limits=True, **options))
    assert run.status == "limit"
    assert "at t = 0.6012 s" in run.reason


def test_a_passage_that_lasts_less_than_a_step() -> None:
    """A joint that leaves its range and comes back between two accepted steps is found."""
    slow = mp.Scenario(ARM, q0=[-np.pi / 2 - 0.3, 0.0], duration=3.0, tolerance=1e-2)
    free = mp.simulate(slow)
    k = int(np.argmax(free.q[:, 0]))
    limits = {"position": [[-9.0, float(free.q[k, 0]) - 1e-4], [-9.0, 9.0]]}
    run = mp.simulate(slow.replace(step=3.0, limits=limits, stop_at_limits=True))
    assert run.status == "limit"
    assert run.feasible is False
    assert abs(float(run.reason.split("t = ")[1].split(" s")[0]) - free.t[k]) < 0.05
