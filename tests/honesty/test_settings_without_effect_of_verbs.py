"""Settings of verbs that would do nothing are refused by name."""

from __future__ import annotations

import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.redundancy.null_space import Posture

ARM = mp.load("planar-3r")
LINE = mp.trajectory(mp.paths.line([0.6, 0.2, 0.0], [0.5, 0.4, 0.0]), mp.timing.quintic(1.0))


def test_the_gain_of_a_self_motion_that_nothing_asks_for() -> None:
    with pytest.raises(DescriptionError, match=r"gain: The gain is the strength of the self-motion"):
        mp.track(ARM, LINE, limits=False, gain=3.0)
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
