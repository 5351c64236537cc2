"""A component of a wrench to which no joint can give way never acts: told, and refused where nothing of the wrench acts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError

ARM = mp.planar([0.4, 0.3], [1.0, 1.0])


def run(robot: mp.Robot, *wrenches: Any, **more: Any) -> mp.Result:
    return mp.simulate(
        mp.Scenario(robot=robot, disturbances=wrenches, duration=0.05, **{"q0": np.full(robot.n, 0.3)} | more)
    )


@pytest.mark.parametrize(
    ("wrench", "words"),
    [
        ((0, 0, 5, 0, 0, 0), "the force along z"),
        ((0, 0, 0, "t", 2, 0), "the moment about x, y"),
        ((0, 0, "sin(t)", 1, 0, 0), "the force along z and the moment about x"),
    ],
)
def test_a_wrench_that_can_never_act_is_refused(wrench: Any, words: str) -> None:
    with pytest.raises(DescriptionError, match=words) as told:
        run(ARM, mp.Wrench(wrench))
    assert told.value.field == "disturbances[0]"


def test_a_part_that_can_never_act_is_told() -> None:
    result = run(ARM, mp.Wrench((1, 0, 5, 0, 0, 0)), mp.Wrench((1, 0, 0, 0, 0, 1)))
    told = [note for note in result.notes if "give way" in note]
    assert len(told) == 1
    assert "disturbances[0]" in told[0]
    assert "the force along z in any" in told[0]
    move = mp.trajectory(mp.paths.joint([[0.0, 0.2], [0.3, 0.5]]), mp.timing.quintic(0.05))
    result = run(ARM, mp.Wrench((1, 0, 5, 0, 0, 0)), reference=move, kind="inverse_dynamics", q0=None)
    assert any("the force along z" in note for note in result.notes)


def test_what_acts_is_not_told() -> None:
    assert not any("give way" in note for note in run(ARM, mp.Wrench((1, 1, 0, 0, 0, 1))).notes)
    for robot in (mp.load("panda"), mp.load("panda-hand")):
        assert not any("give way" in note for note in run(robot, mp.Wrench((1, 1, 1, 1, 1, 1))).notes)


def test_what_acts_is_what_changes_the_motion() -> None:
    """The judge is the run itself: a component acts when the motion is another one."""
    calm = run(ARM).q[-1]
    for k in range(6):
        wrench = [0.0] * 6
        wrench[k], wrench[0] = 5.0, 1.0
        result = run(ARM, mp.Wrench(tuple(wrench)))
        alone = run(ARM, mp.Wrench((1, 0, 0, 0, 0, 0))).q[-1]
        silent = any("give way" in note for note in result.notes)
        assert silent == bool(k and np.array_equal(result.q[-1], alone))
        assert not np.array_equal(result.q[-1], calm)
