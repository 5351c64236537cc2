"""How much slower a motion must be is told only where it was seen: the stretched motion, as it acts, keeps its limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control, friction, timing
from manipula.simulation.stored.store import load_result

ARM = mp.load("planar-2r")
POINTS = [[0.2, 0.3], [1.0, 0.5]]


def move(duration: float, points: Any = POINTS) -> Any:
    return mp.trajectory(mp.paths.joint(points), timing.quintic(duration))


NOT_GIVEN: dict[str, mp.Scenario] = {
    "free fall": mp.Scenario(ARM, q0=[1.0, 2.0], duration=0.5, limits={"velocity": 2.0}),
    "played torques": mp.Scenario(
        ARM, q0=[1.0, 2.0], duration=0.5, torques=((0.0, 0.5), ((1.0, 0.0), (0.0, 1.0))), limits={"velocity": 2.0}
    ),
    "a goal": mp.Scenario(
        ARM,
        controller=control.PDGravity(60.0, 8.0, goal=[1.0, 0.0]),
        q0=[0.0, 0.0],
        duration=0.5,
        limits={"velocity": 0.5},
    ),
    "off the reference": mp.Scenario(
        ARM, move(0.5), control.ComputedTorque(100.0, 20.0), q0=[0.5, 0.0], limits={"velocity": 1.0}
    ),
    "payload change": mp.Scenario(
        ARM, move(0.4), kind="inverse_dynamics", disturbances=mp.PayloadChange(0.1, 1.0), limits={"torque": 30.0}
    ),
    "wrench for a while": mp.Scenario(
        ARM,
        move(0.4),
        kind="inverse_dynamics",
        disturbances=mp.Wrench((0, -3, 0, 0, 0, 0), start=0.1),
        limits={"torque": 25.0},
    ),
}


@pytest.mark.parametrize("which", sorted(NOT_GIVEN))
def test_what_does_not_stretch_is_not_promised(which: str) -> None:
    verdict = mp.feasibility(mp.simulate(NOT_GIVEN[which]))
    assert verdict.feasible is False
    assert np.isnan(verdict.slow_down)
    assert verdict.to_dict()["slow_down"] is None
    assert "makes it feasible" not in verdict.text()
    assert "does not help" not in verdict.text()


GIVEN: dict[str, dict[str, Any]] = {
    "velocity": {"limits": {"velocity": 1.7}},
    "jerk": {"limits": {"jerk": 400.0, "acceleration": 9.0}},
    "torque": {"limits": {"torque": 32.0}},
    "power": {"limits": {"power": 17.0}},
    "tip": {"limits": {"tip": {"velocity": 1.1, "acceleration": 9.0}}},
    "wrench": {"limits": {"torque": 33.0}, "disturbances": mp.Wrench((0, -0.5, 0, 0, 0, 0))},
    "friction": {"limits": {"torque": 33.0}, "friction": friction.Viscous(2.0)},
}


@pytest.mark.parametrize("which", sorted(GIVEN))
def test_the_number_told_is_enough_and_not_too_much(which: str) -> None:
    scenario = mp.Scenario(ARM, move(0.4), kind="inverse_dynamics", **GIVEN[which])
    verdict = mp.feasibility(mp.simulate(scenario))
    k = verdict.slow_down
    assert 1.0 < k < 100.0
    assert f"by {k:.6g} makes" in verdict.reason
    assert float(f"{k:.6g}") == k
    slower, faster = (mp.simulate(scenario.replace(reference=move(0.4 * f), duration=0.4 * f)) for f in (k, 0.99 * k))
    assert slower.feasible
    assert mp.feasibility(slower).feasible
    assert not faster.feasible


def test_a_wrench_that_is_too_much_at_any_speed() -> None:
    scenario = mp.Scenario(
        ARM, move(0.4), kind="inverse_dynamics", disturbances=mp.Wrench((0, -12, 0, 0, 0, 0)), limits={"torque": 30.0}
    )
    verdict = mp.feasibility(mp.simulate(scenario))
    assert verdict.slow_down == np.inf
    assert "wrenches" in verdict.reason


def test_a_limit_that_asks_for_ages_is_not_one_that_nothing_helps() -> None:
    verdict = mp.feasibility(move(0.4), {"velocity": [3.0, 1e-9]})
    assert np.isnan(verdict.slow_down)
    assert "times as long" in verdict.reason
    assert "gravity" not in verdict.reason


def test_trajectories_are_stretched_by_the_number_told() -> None:
    for limits in ({"velocity": 1.7}, {"acceleration": 9.0}, {"jerk": 400.0}, {"torque": 32.0}):
        k = mp.feasibility(move(0.4), limits, robot=ARM).slow_down
        assert mp.feasibility(move(0.4 * k), limits, robot=ARM).feasible
        assert mp.feasibility(move(0.4 * k), limits, robot=ARM, samples=3457).feasible


def test_a_tracked_reference() -> None:
    scenario = mp.Scenario(ARM, move(0.4), control.ComputedTorque(100.0, 20.0), limits={"velocity": 2.0})
    k = mp.feasibility(mp.simulate(scenario)).slow_down
    assert 1.0 < k < 3.0
    assert mp.simulate(scenario.replace(reference=move(0.4 * k), duration=0.4 * k)).feasible


@pytest.mark.parametrize(
    "law", [pytest.param(friction.Coulomb(12.0), marks=pytest.mark.slow), friction.Coulomb(6.0), ()]
)
def test_a_stored_result_says_the_same(law: Any, tmp_path: Any) -> None:
    points = [[0.2, 0.3], [1.0, -0.5], [1.5, 0.4]]
    scenario = mp.Scenario(
        ARM, move(0.5, points), kind="inverse_dynamics", friction=law, limits={"torque": 30.0}, step=5e-3
    )
    result = mp.simulate(scenario)
    result.save(tmp_path / "run.npz")
    live, stored = mp.feasibility(result), mp.feasibility(load_result(tmp_path / "run.npz"))
    assert (live.slow_down, live.reason) == (stored.slow_down, stored.reason)
