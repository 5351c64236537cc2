"""A part that a kind of run would not look at is refused, not dropped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError

ARM = mp.load("planar-2r")
MOVE = mp.joint_move([0.0, 0.0], [1.0, 0.5], velocity=1.0, acceleration=2.0, jerk=8.0)
TORQUES = (np.array([0.0, 1.0]), np.zeros((2, 2)))
PD = control.PDGravity(50.0, 10.0)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"reference": MOVE}, "free run follows no reference"),
        ({"reference": MOVE, "torques": TORQUES}, "playback run follows no reference"),
        ({"reference": MOVE, "kind": "inverse_dynamics", "controller": PD}, "has no controller"),
        ({"controller": PD, "torques": TORQUES}, "has no controller"),
        (
            {"controller": PD, "reference": MOVE, "kind": "dynamic", "torques": TORQUES},
            "'playback'; this run is of kind 'dynamic'",
        ),
        ({"controller": control.PD(50.0, 10.0, goal=(0.1, 0.2)), "reference": MOVE}, "goal of its own"),
        ({"controller": control.GravityCompensation(), "reference": MOVE}, "'gravity' follows no reference"),
    ],
)
def test_what_would_be_ignored_is_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(DescriptionError, match=words):
        mp.simulate(mp.Scenario(robot=ARM, duration=0.01, **asked))
