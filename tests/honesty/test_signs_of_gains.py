"""Gains, stiffnesses, dampings, masses and times below zero are refused where they are given, in every part that declares one."""

from __future__ import annotations

from typing import Any

import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.parts.declared import FieldDeclaration
from manipula.registries import KINDS

# what may be below zero, and why
EITHER_SIGN = {
    "offset": "a torque of either direction", "rest": "a position", "initial_position": "a position", "goal": "a position", "start": "a position or a time",
    "low": "a position", "high": "a position", "about": "a point", "u": "a parameter", "initial_velocity": "a speed", "start_velocity": "a speed",
    "goal_velocity": "a speed", "start_acceleration": "of either direction", "goal_acceleration": "of either direction",
    "dc_motor.gear_ratio": "a gear may reverse", "dc_motor.initial_current": "a current of either direction",
    "slotine_li.wrong_by": "too little is as wrong as too much", "wrench.stop": "held against its start", "wrench_table.scale": "turns the table over",
    "payload.time": "before the run began", "helix.pitch": "descends", "piecewise_jerk.pattern": "jerks of either direction",
    "table.times": "increase from 0, which the law looks at", "table.breaks": "increase", "pose_table.breaks": "increase",
}  # fmt: skip
NUMBERS = ("number", "one per joint", "numbers", "whole number", "whole numbers")
FIELDS = [
    pytest.param(name, d, id=f"{name}.{d.name}")
    for kind in KINDS.values()
    for name in kind.registry
    for d in kind.fields(name)
    if d.field.kind in NUMBERS
]


@pytest.mark.parametrize(("name", "d"), FIELDS)
def test_a_number_declares_that_it_is_not_negative(name: str, d: FieldDeclaration) -> None:
    least = d.field.least if d.field.least is not None else d.field.above
    assert (least is not None and least >= 0.0) or d.name in EITHER_SIGN or f"{name}.{d.name}" in EITHER_SIGN


@pytest.mark.parametrize("law", ["pd", "pd_gravity", "pid", "computed_torque", "feedforward_pd", "cascade", "momentum_observer", "motor_pd",
                                 "task_space_computed_torque", "operational_space", "admittance", "torque_table"])  # fmt: skip
@pytest.mark.parametrize("gain", ["kp", "kv"])
def test_a_negative_gain_is_refused(law: str, gain: str) -> None:
    part: Any = KINDS["controller"].registry[law]
    needed = {
        "ki": 1.0,
        "observer_gain": 5.0,
        "mass": 1.0,
        "damping": 1.0,
        "stiffness": 1.0,
        "torques": "0,1,1\n1,2,2\n",
    }
    given = {d.name: needed.get(d.name, 2.0) for d in KINDS["controller"].fields(law) if d.required}
    for value in (-5.0, (3.0, -5.0)):
        with pytest.raises(DescriptionError, match=rf"'{gain}.*must be at least 0.*found -5") as error:
            part(**given | {gain: value})
        assert error.value.field == gain


def test_the_way_to_positive_feedback_is_a_given_matrix() -> None:
    away = mp.control.LQR([0.0, 0.0], gain=[[-5.0, 0.0, 0.0, 0.0], [0.0, -5.0, 0.0, 0.0]])
    arm = mp.planar([0.5, 0.4], [1.0, 1.0], gravity=(0, 0, 0))
    found = mp.simulate(mp.Scenario(arm, controller=away, q0=[0.01, 0.01], duration=0.3, sample=0.1)).check()
    assert (abs(found.q[-1]) > abs(found.q[0])).any()
