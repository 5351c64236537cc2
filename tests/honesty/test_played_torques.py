"""Torques that are played act as given: their times increase and cover the run, for nobody knows what they are outside."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError

ROBOT = mp.load("planar-2r")


def played(times: list[float], duration: float = 0.5) -> mp.Result:
    return mp.simulate(mp.Scenario(ROBOT, torques=(times, np.ones((len(times), 2))), q0=(0.1, 0.2), duration=duration))


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([0.0, 0.3], "from 0 to 0.3 s, the run lasts from 0 to 0.5 s"),
        ([0.1, 0.5], "from 0.1 to 0.5 s"),
        ([0.7, 0.9], "from 0.7 to 0.9 s"),
        ([1.0, 0.0], r"torques.times\[1\].*Times must increase; 0 s follows 1 s"),
        ([0.0, 0.2, 0.2, 0.5], r"torques.times\[2\].*increase"),
    ],
)
def test_times_that_do_not_cover_the_run_are_refused(times: list[float], message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        played(times)


@pytest.mark.parametrize("times", [[0.0, 0.5], [-1.0, 2.0], [0.0, 0.5 - 1e-12]])
def test_times_that_cover_it_act(times: list[float]) -> None:
    result = played(times)
    assert result.ok
    assert np.allclose(result.command, 1.0)
