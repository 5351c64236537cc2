"""A part that can never act is refused in every kind of run, with what keeps it from acting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control, drives
from manipula.errors import DescriptionError

ARM = mp.planar([0.5, 0.4, 0.3], [2.0, 1.0, 0.5])
Q0 = (0.1, 0.6, 0.5)
JOINTS = mp.formula_motion(["0.1 - 0.4*t", "0.6 + 0.5*sin(2*t)", "0.5 - t^2"], 0.2, space="joint")
TIP = mp.compile(ARM).position(np.array(Q0))
PATH = mp.formula_motion([f"{TIP[0]} - 0.3*t^2", f"{TIP[1]} + 0.2*t", "0"], 0.2)
RUNS: dict[str, dict[str, Any]] = {
    "dynamic": {"controller": control.ComputedTorque(100.0, 20.0), "reference": JOINTS, "q0": Q0},
    "free": {"q0": Q0},
    "playback": {"torques": ((0.0, 0.2), ((1.0, 0.5, 0.2), (0.0, 0.5, 0.1))), "q0": Q0},
    "kinematic": {"kind": "kinematic", "reference": PATH, "q0": Q0},
    "inverse_dynamics": {"kind": "inverse_dynamics", "reference": JOINTS},
}
PUSH = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
IDLE: list[tuple[str, dict[str, Any], str]] = [
    ("late wrench", {"disturbances": mp.Wrench(PUSH, start=0.2)}, r"disturbances\[0\].*is over"),
    ("early wrench", {"disturbances": mp.Wrench(PUSH, start=-2.0, stop=-1.0)}, r"disturbances\[0\]|stop|start"),
    ("no force", {"disturbances": mp.Wrench((0, 0, 0, 0, 0, 0))}, r"disturbances\[0\].*zero"),
    ("no force in words", {"disturbances": mp.Wrench((0, 0, 0, 0, 0, "0*3"))}, r"disturbances\[0\].*zero"),
    ("late payload", {"disturbances": mp.PayloadChange(0.5, 1.0)}, r"disturbances\[0\].*is over"),
    ("payload of nothing", {"disturbances": mp.PayloadChange(0.1, 0.0)}, r"disturbances\[0\].*0 kg"),
    ("no limits", {"stop_at_limits": True}, "stop_at_limits"),
]


@pytest.mark.parametrize("kind", sorted(RUNS))
@pytest.mark.parametrize(("_name", "part", "words"), IDLE, ids=lambda x: x if isinstance(x, str) else "")
def test_what_can_never_act_is_refused(kind: str, _name: str, part: dict[str, Any], words: str) -> None:
    with pytest.raises(DescriptionError, match=words):
        mp.simulate(mp.Scenario(ARM, duration=0.2, **RUNS[kind] | part))


def test_zero_length_is_refused_where_it_is_made() -> None:
    with pytest.raises(DescriptionError, match="never act"):
        mp.Wrench(PUSH, start=0.1, stop=0.1)


def test_noise_without_size_and_motors_that_obey_nobody() -> None:
    with pytest.raises(DescriptionError, match="seed"):
        mp.simulate(mp.Scenario(ARM, duration=0.2, noise=mp.Noise(seed=5), **RUNS["dynamic"]))
    motor = drives.Flexible(200.0, 1.0, motor="0.1*t")
    for kind in ("dynamic", "playback"):
        with pytest.raises(DescriptionError, match=r"drives\[1\].*prescribed"):
            mp.simulate(mp.Scenario(ARM, duration=0.2, drives=(None, motor, None), **RUNS[kind]))
    assert mp.simulate(mp.Scenario(ARM, duration=0.02, q0=Q0, drives=(None, motor, None))).ok


def test_constants_and_parameters_that_nothing_uses() -> None:
    from manipula.simulation.files.scenario_file import load_text

    text = 'robot = "planar-2r"\nq0 = ["a", 0.0]\nduration = 0.1\n[constants]\na = 0.1\n'
    assert load_text(text).q0 == (0.1, 0.0)
    with pytest.raises(DescriptionError, match=r"constants\.b.*not used"):
        load_text(text + "b = 3\n")
    arm = mp.planar([1.0, 0.8], [2.0, 1.5])
    with pytest.raises(DescriptionError, match=r"parameters\.heigth"):
        mp.programmed_motion(arm, ["x = 1.3"], parameters={"heigth": 1.0})


def test_two_numbers_for_two_joints_are_a_range_or_one_each() -> None:
    arm = mp.planar([1.0, 0.8], [2.0, 1.5])
    with pytest.raises(DescriptionError, match=r"limits\.position.*range or one for each"):
        mp.Scenario(arm, duration=0.1, limits={"position": [-1.0, 2.0]})
    mp.Scenario(arm, duration=0.1, limits={"position": [[-1.0, 2.0], [-1.0, 2.0]]})


@pytest.mark.parametrize("kind", ["free", "inverse_dynamics"])
def test_a_run_stops_at_the_limits_of_its_scenario(kind: str) -> None:
    """They stand in the place of the robot's own, also where that has none, or has free parameters."""
    box = [[-9.0, 9.0], [-9.0, 9.0], [0.495, 9.0]]
    result = mp.simulate(mp.Scenario(ARM, duration=0.2, limits={"position": box}, stop_at_limits=True, **RUNS[kind]))
    assert result.status == "limit", result.reason
    wide = replace(ARM.joints[2].limits, lower=-5.0, upper=5.0)
    arm = ARM.replace(joints=(*ARM.joints[:2], replace(ARM.joints[2], limits=wide)))
    result = mp.simulate(mp.Scenario(arm, duration=0.2, limits={"position": box}, stop_at_limits=True, **RUNS[kind]))
    assert result.status == "limit", result.reason
