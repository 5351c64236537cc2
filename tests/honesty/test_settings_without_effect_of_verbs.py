"""Settings of verbs that would do nothing are refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.redundancy.null_space import Posture

ARM = mp.load("planar-3r")
LINE = mp.trajectory(mp.paths.line([0.6, 0.2, 0.0], [0.5, 0.4, 0.0]), mp.timing.quintic(1.0))


def test_the_gain_of_a_self_motion_that_nothing_asks_for() -> None:
    with pytest.raises(DescriptionError, match=r"gain: The gain is the strength of the self-motion"):
        mp.track(ARM, LINE, limits=False, gain=3.0)
    with pytest.raises(DescriptionError, match=r"gain: .* 'planar-3' states no limits of position"):
        mp.track(mp.planar([0.4, 0.3, 0.2], [1.0, 1.0, 1.0], name="planar-3"), LINE, gain=3.0)
    posture = Posture(goal=(0.1, 0.2, 0.3))
    weak, strong = (
        mp.track(ARM, LINE, limits=False, criteria=(posture,), gain=g, q0=[1.2, -1.5, -0.6]) for g in (0.0, 8.0)
    )
    assert weak.ok
    assert strong.ok
    assert abs(weak.q[-1] - strong.q[-1]).max() > 1e-3


def test_samples_of_a_motion_that_has_its_own() -> None:
    move = mp.joint_move([0.0, 0.2, 0.1], [0.3, 0.4, 0.2], velocity=1.0, acceleration=4.0, jerk=40.0)
    scenario = mp.Scenario(ARM, move, mp.control.ComputedTorque(100, 20), q0=[0.0, 0.2, 0.1])
    with pytest.raises(DescriptionError, match=r"samples: A result is judged on its own samples"):
        mp.feasibility(mp.simulate(scenario), {"velocity": 5.0}, samples=11)
    with pytest.raises(DescriptionError, match="samples"):
        mp.feasibility(move, {"velocity": 5.0}, samples=1)
    assert mp.feasibility(move, {"velocity": 5.0}, samples=11).feasible


@pytest.mark.parametrize("method", ["auto", "gauss_newton"])
@pytest.mark.parametrize("most", [1, 10, 50, 3000])
def test_no_more_iterations_are_made_than_are_asked_for(most: int, method: str) -> None:
    """Of all starts together, for each target; four starts race for a single one."""
    model = mp.compile(mp.load("gen3-6dof"))  # no closed form
    targets = model.pose(np.random.default_rng(777021).uniform(-2.0, 2.0, (12, 6)))
    targets[6:, :3, 3] *= 1.05
    batch = mp.solve_ik(model, targets, method, max_iterations=most)
    assert np.max(batch.iterations) <= most
    for X in targets[4:8]:
        assert mp.solve_ik(model, X, method, max_iterations=most).iterations <= max(most, 4)
        assert mp.solve_ik(model, X, method, max_iterations=most, all_solutions=True).iterations <= max(most, 4)


def test_too_few_iterations_are_no_reason_to_call_a_target_unreachable() -> None:
    model = mp.compile(mp.load("gen3-6dof"))
    targets = model.pose(np.random.default_rng(777022).uniform(-2.0, 2.0, (12, 6)))
    failed = [r for X in targets if not (r := mp.solve_ik(model, X, max_iterations=4)).ok]
    assert failed
    assert {r.status for r in failed} == {"not_converged"}
    assert all("iterations were not enough" in r.reason for r in failed)
    assert set(mp.solve_ik(model, targets, max_iterations=4).status) == {"solved", "not_converged"}


def test_the_frame_of_functions_that_have_none(tmp_path: Path) -> None:
    arm = mp.planar([0.4, 0.3, 0.2], [1.0, 1.0, 1.0])
    with pytest.raises(DescriptionError, match=r"frame: None of mass_matrix, gravity is taken at a frame"):
        mp.export(arm, "c", tmp_path, ["mass_matrix", "gravity"], frame="link1")
    assert mp.export(arm, "c", tmp_path, ["mass_matrix", "position"], frame="link1")


@pytest.mark.parametrize("kind", ["position", "orientation"])
def test_a_length_where_nothing_is_compared(kind: str) -> None:
    arm = mp.load("ur5e")
    with pytest.raises(DescriptionError, match="length: A length compares metres with radians"):
        mp.manipulability(arm, [0.1] * 6, kind, length=2.0)
    pose = [mp.manipulability(arm, [0.1] * 6, "pose", length=x).condition for x in (None, 1.0, 2.0)]
    assert pose[0] == pose[1] != pose[2]


@pytest.mark.parametrize("budget", [True, 0, -1, 1.5, "many"])
def test_a_budget_is_a_number_of_bytes(budget: Any, tmp_path: Path) -> None:
    mp.simulate(mp.Scenario(ARM, q0=[0.1, 0.2, 0.3], duration=0.01)).save(tmp_path / "run.npz")
    with pytest.raises(DescriptionError, match="'budget'"):
        mp.load_result(tmp_path / "run.npz", budget=budget)


def test_a_small_number_of_terms_is_told() -> None:
    with pytest.raises(mp.BudgetError, match=r"about [1-9]\d* terms at level 'compact', more than the limit of 3"):
        _ = mp.equations(mp.load("planar-2r"), limit=3).M
