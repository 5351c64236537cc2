"""A gain that is given acts as it is written; one that is computed is refused where somebody else's number would be dropped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError, LengthError

ARM = mp.load("planar-2r")
GAIN = [[100.0, 20.0, 30.0, 4.0], [5.0, 60.0, 7.0, 8.0]]
STATE = {"q0": [0.1, 0.2], "qd0": [0.3, -0.1], "duration": 0.02}


def first_torques(**more: Any) -> np.ndarray:
    return mp.simulate(mp.Scenario(ARM, **STATE | more)).tau[..., 0, :]


def test_a_given_gain_is_the_gain() -> None:
    x = np.array([0.1, 0.2, 0.3, -0.1])
    expected = mp.compile(ARM).gravity(np.zeros(2)) - np.array(GAIN) @ x
    assert np.allclose(first_torques(controller=control.LQR(goal=[0, 0], gain=GAIN)), expected, atol=1e-9)
    assert np.allclose(first_torques(controller=control.LQR(goal=[0, 0], gain=np.array(GAIN))), expected, atol=1e-9)


def test_entries_of_a_given_gain_vary() -> None:
    both = first_torques(controller=control.LQR(goal=[0, 0], gain=GAIN), vary={"controller.gain[0][0]": [100.0, 130.0]})
    assert both[1, 0] - both[0, 0] == pytest.approx(-30.0 * 0.1)
    assert both[1, 1] == both[0, 1]


@pytest.mark.parametrize(
    "gain", [[[1, 2], [3, 4]], [GAIN[0]], [*GAIN, GAIN[0]], [[1, 2, 3, 4], [1, 2, 3]], [1, 2, 3, 4]]
)
def test_a_gain_of_another_shape_is_refused(gain: Any) -> None:
    with pytest.raises((LengthError, DescriptionError), match=r"gain"):
        mp.simulate(mp.Scenario(ARM, controller=control.LQR(goal=[0, 0], gain=gain), **STATE))


def test_weights_beside_a_gain_are_refused() -> None:
    with pytest.raises(DescriptionError, match="effort_weight"):
        control.LQR(goal=[0, 0], gain=GAIN, effort_weight=0.01)
    given = mp.Scenario(ARM, controller=control.LQR(goal=[0, 0], gain=GAIN), **STATE)
    with pytest.raises(DescriptionError, match="effort_weight"):
        mp.simulate(given.replace(vary={"controller.effort_weight": [0.1, 0.2]}))


def test_a_computed_gain_cannot_be_varied() -> None:
    computed = mp.Scenario(ARM, controller=control.LQR(goal=[0, 0]), **STATE)
    with pytest.raises(DescriptionError, match=r"gain\[0\]\[0\].*computed"):
        mp.simulate(computed.replace(vary={"controller.gain[0][0]": [0.0, 0.3]}))
    weighed = mp.simulate(computed.replace(vary={"controller.effort_weight": [0.1, 0.2]}))
    assert np.abs(weighed.tau[0] - weighed.tau[1]).max() > 1e-3


def test_scenario_files_keep_the_gain(tmp_path: Any) -> None:
    scenario = mp.Scenario(ARM, controller=control.LQR(goal=[0, 0], gain=GAIN), **STATE)
    scenario.save(tmp_path / "run.toml")
    assert np.array_equal(mp.simulate(mp.Scenario.load(tmp_path / "run.toml")).tau, mp.simulate(scenario).tau)
