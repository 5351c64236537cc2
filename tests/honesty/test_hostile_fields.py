"""Every field of a scenario takes what it is for, or refuses with an error of this package that names the field."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError, ManipulaError, ShapeError

ARM = mp.planar([0.5, 0.4, 0.3], [2.0, 1.0, 0.5])
MOVE = mp.joint_move([0.0, 0.0, 0.0], [0.1, 0.1, 0.1], velocity=1.0, acceleration=2.0, jerk=8.0)


def named(field: str, value: Any, error: Exception) -> None:
    assert field in str(error), f"{field} = {value!r}: {error}"


HOSTILE: tuple[Any, ...] = (
    None, True, False, "a", "", float("nan"), float("inf"), -1, 0, 1.5, 1e300, 1e-300, 10**400, [], {}, {"a": 1}, {1: 2}, [1.0], [1.0] * 7,
    [[1.0], [2.0, 3.0]], ["a", "b", "c"], (None, None, None), np.zeros(3, complex), b"x", object(), object, lambda t: t,
)  # fmt: skip
COMMON: dict[str, Any] = {"robot": ARM, "duration": 0.01, "step": 5e-3, "verify": False}
BASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "free": (mp.Scenario, {**COMMON, "q0": (0.1, 0.6, 0.5), "integrator": "rk4"}),
    "dynamic": (mp.Scenario, {**COMMON, "controller": control.PDGravity(50.0, 10.0), "reference": MOVE}),
    "programmed": (
        mp.ProgramScenario,
        {**COMMON, "robot": mp.planar([1.0, 0.8], [2.0, 1.5]), "constraints": ["x = 1.3"], "q0": (0.3, 0.8), "start": "project"},
    ),
}  # fmt: skip
CASES = [(kind, f.name) for kind, (cls, _) in BASES.items() for f in dataclasses.fields(cls)]


@pytest.mark.parametrize(("kind", "field"), CASES)
def test_a_hostile_value_runs_or_is_refused_by_name(kind: str, field: str) -> None:
    make, base = BASES[kind]
    for value in HOSTILE:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                scenario = make(**{**base, field: value})
                scenario.run() if kind == "programmed" else mp.simulate(scenario)
            except ManipulaError as error:
                named(field, value, error)


@pytest.mark.parametrize("value", [True, "1", None, [0.01], float("nan")])
@pytest.mark.parametrize("field", ["duration", "step", "tolerance"])
def test_a_time_is_a_number(field: str, value: Any) -> None:
    if field == "duration" and value is None:
        return
    with pytest.raises(DescriptionError, match=field):
        mp.Scenario(**{**COMMON, field: value})
    motion = mp.programmed_motion(mp.planar([1.0, 0.8], [2.0, 1.5]), ["x = 1.3"])
    with pytest.raises(DescriptionError, match=field):
        motion.run([0.3, 0.8], start="project", **{field: value})


RUN_FIELDS = ("q0", "qd0", "duration", "step", "formulation", "stabilisation", "gain", "start", "sample", "parameters", "friction",
              "integrator", "tolerance", "verify")  # fmt: skip


@pytest.mark.parametrize("field", RUN_FIELDS)
def test_arguments_of_a_programmed_run(field: str) -> None:
    motion = mp.programmed_motion(mp.planar([1.0, 0.8], [2.0, 1.5]), ["x = 1.3"])
    base = {"q0": [0.3, 0.8], "duration": 0.01, "step": 5e-3, "start": "project", "verify": False}
    for value in HOSTILE if field != "q0" else HOSTILE[1:]:  # all joints at zero stand in for no posture
        try:
            motion.run(**{**base, field: value})
        except ManipulaError as error:
            named(field, value, error)


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({"controller.kq": [1.0, 2.0]}, "controller.kp"),
        ({"controller.kp": [[1.0], [2.0, 3.0]]}, "controller.kp.*different lengths"),
        ({"controller.kp": ["a", "b"]}, "controller.kp"),
        ({"controller.kp": [1.0, float("nan")]}, "controller.kp.*finite"),
        ({"controller.kp": []}, "controller.kp"),
        ({"controller.kp": [1.0, 2.0], "controller.kv": [1.0, 2.0, 3.0]}, "kp.* has 2.*kv.* has 3"),
        ({"controller.kp": np.ones((2, 5))}, "controller.kp.*shape"),
        ({"controller.kp": np.ones((2, 3, 2))}, "controller.kp.*shape"),
        ({"disturbances[0].start": [0.0, 0.02]}, r"disturbances\[0\].*run 1.*never act"),
        ({"disturbances[0].stop": [0.008, 0.001]}, r"disturbances\[0\].*run 1.*never act"),
        ({"disturbances[0].start": [0.0, 0.02], "disturbances[0].stop": [1.0, 1.0]}, r"disturbances\[0\].*when the run of 0.01 s is over"),
        ({"disturbances[1].time": [0.0, 0.5]}, r"disturbances\[1\].*run 1.*is over"),
        ({"disturbances[1].mass": [1.0, -2.0]}, r"disturbances\[1\].mass.*-2"),
        ({"actuator.limit": [1.0, -2.0]}, "actuator.limit.*-2"),
    ],
)  # fmt: skip
def test_what_varies_is_held_against_the_run(vary: Any, words: str) -> None:
    parts = (mp.Wrench((1.0, 0, 0, 0, 0, 0), start=0.002, stop=0.009), mp.PayloadChange(0.004, 1.0))
    with pytest.raises((DescriptionError, ShapeError), match=words):
        mp.simulate(mp.Scenario(**BASES["dynamic"][1], disturbances=parts, actuator=mp.Actuator(limit=50.0), vary=vary))


def test_played_torques_are_numbers() -> None:
    bad = ([0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, float("nan"), 0.0]])
    with pytest.raises(DescriptionError, match=r"torques.values\[1\]\[1\].*finite"):
        mp.simulate(mp.Scenario(ARM, torques=bad, duration=0.01))
