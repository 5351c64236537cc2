"""Every field of a Scenario, in every kind of run, acts or is refused by name."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control, drives, friction
from manipula.errors import DescriptionError
from manipula.motion.formula_motion import formula_motion
from manipula.simulation.run_kinds import ELSEWHERE, EVERY_RUN, RUN_KINDS, acts


def arm(mass: float = 1.0, room: float | None = None) -> mp.Robot:
    """Three joints; with ``room`` [rad] on either side of where they start."""
    robot = mp.planar([0.5, 0.4, 0.3], [2.0, mass, 0.5])
    if room is None:
        return robot
    limits = [dataclasses.replace(j.limits, lower=q - room, upper=q + room) for j, q in zip(robot.joints, Q0)]
    return robot.replace(joints=tuple(dataclasses.replace(j, limits=x) for j, x in zip(robot.joints, limits)))


Q0 = (0.1, 0.6, 0.5)
ARM = arm()
LAWS = (friction.Dahl(50.0, 0.4, 0.1), friction.Coulomb(0.2, width=0.5), None)
JOINTS = formula_motion(["0.1 - 0.4*t", "0.6 + 0.5*sin(2*t)", "0.5 - t^2"], 0.2, space="joint")
TIP = mp.compile(ARM).position(np.array(Q0)) + np.array([1e-4, 0.0, 0.0])
PATH = formula_motion([f"{TIP[0]} - 0.3*t^2", f"{TIP[1]} + 0.2*t", "0"], 0.2)
COMMON: dict[str, Any] = {"robot": ARM, "friction": LAWS, "duration": 0.2, "step": 1e-3}
PLAYED = ((0.0, 0.2), ((1.0, 0.5, 0.2), (0.0, 0.5, 0.1)))
RUNS: dict[str, dict[str, Any]] = {
    "dynamic": {
        "kind": "dynamic",
        "integrator": "rk4",
        "controller": control.ComputedTorque(100.0, 20.0),
        "reference": JOINTS,
        "q0": Q0,
    },
    "free": {"kind": "free", "integrator": "rk4", "q0": Q0},
    "playback": {"kind": "playback", "integrator": "rk4", "torques": PLAYED, "q0": Q0},
    "kinematic": {"kind": "kinematic", "reference": PATH, "q0": Q0},
    "inverse_dynamics": {"kind": "inverse_dynamics", "reference": JOINTS},
    "inverse_dynamics along a path": {"kind": "inverse_dynamics", "reference": PATH, "q0": Q0, "start": "project"},
}
PULLED = (control.FramePosition(), control.JointPosture((0.9, 1.6, 1.5), priority=2, gain=20.0))
BESIDE = {
    "stop_at_limits": {"robot": arm(room=0.02)},
    "bounds": {"tasks": PULLED, "robot": arm(room=0.06)},
}  # what else is there when a field is looked at
OTHER: dict[str, list[Any]] = {  # values that nobody would ask for without wanting something
    "robot": [arm(mass=3.0)],
    "reference": [formula_motion(["0.1 - 0.3*t", "0.6", "0.5"], 0.2, space="joint")],
    "controller": [control.PDGravity(50.0, 10.0)],
    "q0": [(0.2, 0.6, 0.5)],
    "qd0": [(0.3, 0.0, 0.0)],
    "duration": [0.1],
    "step": [5e-4],
    "integrator": ["midpoint"],
    "sample": [0.05],
    "torques": [((0.0, 0.2), ((2.0, 0.0, 0.0), (0.0, 0.0, 0.0)))],
    "model": [arm(mass=3.0)],
    "friction": [()],
    "drives": [(drives.Flexible(200.0, 1.0), None, None)],
    "disturbances": [(mp.Wrench((5.0, 3.0, 0.0, 0.0, 0.0, 0.0)),), (mp.PayloadChange(0.1, 2.0),)],
    "noise": [mp.Noise(1e-3, 1e-3)],
    "encoder": [mp.Encoder(resolution=1e-3)],
    "control_period": [5e-3],
    "switches": [(mp.Switch(time=0.05, controller=control.ComputedTorque(400.0, 40.0)),)],
    "contacts": [(mp.contact.PlaneContact(1e4, radius=2.0),)],
    "base_motion": [mp.BaseMotion(position=("0.1*t^2", "0", "0"))],
    "actuator": [mp.Actuator(limit=0.01), mp.Actuator(delay=0.02)],
    "parameters": [{"L2": 0.3}],
    "vary": [{"friction[0].level": (0.5, 2.0)}, {"controller.kp": (50.0, 60.0)}],
    "tolerance": [1e-13],
    "stop_at_limits": [True],
    "verify": [False],
    "ik_solution": [1],
    "criteria": [(control.Posture((0.0, 1.0, 1.0), gain=5.0),)],
    "gain": [20.0],
    "tasks": [(control.FramePosition(), control.JointPosture((0.0, 1.0, 1.0), priority=2))],
    "bounds": ["motion"],
    "start": ["project"],
    "limits": [{"velocity": 1e-6}],
    "name": ["other"],
}
CASES = [(kind, field, k) for kind in RUNS for field, values in OTHER.items() for k in range(len(values))]
ALSO = {
    "start": ("q0",),
    "reference": ("start", "joints"),
    "qd0": ("qd0",),
    "bounds": ("tasks",),
}  # other words in which a refusal may name it
BASE: dict[str, mp.Result] = {}


def base(kind: str, field: str) -> mp.Result:
    key = f"{kind} {field}" if field in BESIDE else kind
    if key not in BASE:
        BASE[key] = mp.simulate(mp.Scenario(**COMMON | RUNS[kind] | BESIDE.get(field, {})))
        assert BASE[key].ok, BASE[key].reason
    return BASE[key]


def what_is_seen(result: mp.Result) -> list[Any]:
    """Everything a user looks at, with numbers rounded to ten digits so that rounding does not count as an effect."""
    arrays = {k: (v.shape, np.round(v, 10).tobytes()) for k, v in result.arrays.items()}
    estimate = np.isnan(result.error_estimate)
    meta = {k: v for k, v in result.meta.items() if k in ("name", "robot_digest")}
    return [
        result.t.tobytes(),
        arrays,
        result.status,
        result.reason,
        result.notes,
        estimate,
        meta,
        getattr(result, "feasible", None),
    ]


def test_delayed_torques_need_no_choice_of_integrator() -> None:
    """What is left open is chosen so that the rest of the request can be honoured."""
    run = mp.Scenario(**COMMON | RUNS["playback"] | {"integrator": "auto"})
    late = mp.simulate(run.replace(actuator=mp.Actuator(delay=0.05)))
    assert late.ok, late.reason
    assert np.abs(late.q - mp.simulate(run).q).max() > 1e-4


def test_the_table_knows_every_field() -> None:
    fields = {f.name for f in dataclasses.fields(mp.Scenario)}
    own = {name for kind in RUN_KINDS.values() for name in kind.settings}
    assert own | set(EVERY_RUN) == fields
    assert not own & set(EVERY_RUN)
    assert own == set(ELSEWHERE)
    assert set(OTHER) == fields - {"kind"}
    assert set(RUN_KINDS) == {k for k in RUNS if " " not in k}


@pytest.mark.parametrize("kind", RUN_KINDS)
def test_a_kind_names_the_setting_that_it_needs(kind: str) -> None:
    needed = RUN_KINDS[kind].needs
    given = {k: v for k, v in (COMMON | RUNS[kind]).items() if k not in ("reference", "controller", "torques")}
    if not needed:
        mp.simulate(mp.Scenario(**given))
        return
    with pytest.raises(DescriptionError, match=f"'{kind}' needs '{needed}'"):
        mp.simulate(mp.Scenario(**given))


def test_a_scenario_shows_what_was_chosen() -> None:
    shown = repr(mp.Scenario(ARM, q0=Q0, duration=0.2, tolerance=1e-6, gain=0.0))
    assert shown == f"Scenario('{ARM.name}', kind='free', q0=(0.1, 0.6, 0.5), duration=0.2)"


def test_the_page_on_scenarios_names_the_settings_of_every_kind() -> None:
    page = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text()
    for name, kind in RUN_KINDS.items():
        row = re.search(rf"^\| `{name}` \|(.*)\|(.*)\|$", page, re.M)
        assert row, name
        assert row[1].strip().startswith(kind.what)
        assert set(re.findall(r"`(\w+)`", row[2])) == set(kind.settings), name


@pytest.mark.parametrize(("kind", "field", "k"), CASES, ids=lambda x: str(x))
def test_a_request_acts_or_is_refused(kind: str, field: str, k: int) -> None:
    value = OTHER[field][k]
    given = COMMON | RUNS[kind] | BESIDE.get(field, {})
    if given.get(field) == value:
        given.pop(field)  # then what it does is seen from its absence
        value = None
    scenario = mp.Scenario(**(given if value is None else given | {field: value}))
    try:
        result = mp.simulate(scenario)
    except DescriptionError as refusal:
        result, why = None, refusal
    if result is None:
        assert any(name in str(why) for name in (field, *ALSO.get(field, ()))), f"{field} is refused as: {why}"
        return
    assert acts(field, kind.split(" ")[0]), f"{field} was taken by a {kind} run"
    assert what_is_seen(result) != what_is_seen(base(kind, field)), (
        f"{field} = {value!r} changed nothing in a {kind} run"
    )


@pytest.mark.parametrize("kind", sorted(RUNS))
def test_what_a_result_carries_can_be_run_again(kind: str) -> None:
    """The scenario in a result asks for nothing that it would be refused for."""
    from manipula.simulation.files.scenario_file import file_text, load_text

    stored = base(kind, "").scenario
    again = mp.simulate(load_text(file_text(stored)))
    np.testing.assert_allclose(again.q, base(kind, "").q, atol=1e-12)
