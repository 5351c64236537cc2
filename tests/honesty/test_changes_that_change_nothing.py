"""What is given and does nothing is refused or told: zero is a number like any other, an empty part is a slip, and what the state decides is in the notes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import contact, control
from manipula.errors import DescriptionError
from manipula.simulation.files.scenario_file import load_text

ARM = mp.load("planar-2r")
PD = control.PD(50.0, 10.0, goal=(0.5, 0.2))
OTHER = control.PD(5.0, 1.0, goal=(0.5, 0.2))
PUSH = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
REST = [0.0] * 6


def run(**given: Any) -> mp.Result:
    return mp.simulate(mp.Scenario(ARM, **{"duration": 0.05, "step": 5e-3, "verify": False, **given}))


def test_an_encoder_that_measures_the_state_itself() -> None:
    for given in ({}, {"velocity": "exact"}, {"resolution": None}):
        with pytest.raises(DescriptionError, match="never act"):
            mp.Encoder(**given)
    with pytest.raises(DescriptionError, match=r"run\.toml:3, encoder.*never act"):
        load_text('robot = "planar-2r"\nduration = 0.1\nencoder = { velocity = "exact" }\ncontroller = { law = "pd", kp = 1, kv = 1, goal = 0 }\n',
                  file="run.toml")  # fmt: skip
    plain = mp.Scenario(ARM, duration=0.1, controller=PD)
    assert replace(plain.encoder, resolution=0.1) == mp.Encoder(0.1)
    assert "encoder" not in repr(plain)


@pytest.mark.parametrize(
    "zero", [{"noise": mp.Noise(0.0, 0.0)}, {"actuator": mp.Actuator()}, {"actuator": mp.Actuator(delay=0.0)}]
)
def test_zero_noise_and_zero_delay_are_none(zero: dict[str, Any]) -> None:
    np.testing.assert_array_equal(run(controller=PD, **zero).q, run(controller=PD).q)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"base_motion": mp.BaseMotion()}, "base_motion"),
        ({"base_motion": mp.BaseMotion(position=(0.0, "0*2", 0.0))}, "base_motion"),
        ({"disturbances": mp.PayloadChange(0.01, 0.0, tool=(0.0, 0.0, 0.0))}, "disturbances[0]"),
        ({"disturbances": (mp.PayloadChange(-2.0, 1.0), mp.PayloadChange(-1.0, 2.0))}, "disturbances[0].time"),
        ({"disturbances": mp.WrenchTable.of([0.0, 0.05, 0.1], [REST, REST, PUSH])}, "disturbances[0]"),
        ({"disturbances": mp.WrenchTable.of([-0.2, 0.0, 0.1], [PUSH, REST, REST])}, "disturbances[0]"),
        ({"disturbances": mp.WrenchTable.of([0.0, 0.06, 0.1], [REST, PUSH, PUSH], interpolation="held")}, "disturbances[0]"),
        ({"controller": PD, "switches": (mp.Switch(time=0.02, controller=OTHER), mp.Switch(time=0.01, controller=PD))}, "switches[0].time"),
        ({"controller": PD, "switches": (mp.Switch(time=0.02, controller=OTHER), mp.Switch(time=0.02, controller=PD))}, "switches[0].time"),
    ],
)  # fmt: skip
def test_parts_that_can_never_act(given: dict[str, Any], field: str) -> None:
    with pytest.raises(DescriptionError, match="never act") as error:
        run(**given)
    assert error.value.field == field


@pytest.mark.parametrize(
    "given",
    [
        {"base_motion": mp.BaseMotion(position=("0.01*t", 0.0, 0.0))},
        {"base_motion": mp.BaseMotion(rotation=(0.0, 0.0, 0.3))},
        {"base_motion": mp.BaseMotion(), "vary": {"base_motion.position[0]": [0.0, 1.0]}},
        {"disturbances": mp.WrenchTable.of([0.0, 0.06, 0.1], [REST, PUSH, PUSH])},
        {"disturbances": mp.WrenchTable.of([-0.2, 0.01, 0.1], [PUSH, REST, REST], interpolation="held")},
        {"disturbances": (mp.PayloadChange(-2.0, 1.0, tool=(0.1, 0, 0)), mp.PayloadChange(-1.0, 2.0))},
        {"disturbances": (mp.PayloadChange(0.01, 0.0, tool=(0.1, 0, 0)), mp.PayloadChange(0.02, 0.0, tool=(0, 0, 0)))},
        {"controller": PD, "switches": (mp.Switch(time=0.01, controller=OTHER), mp.Switch(time=0.02, controller=PD))},
    ],
)  # fmt: skip
def test_their_neighbours_act(given: dict[str, Any]) -> None:
    assert run(**given).notes in ((), ("switches[0] happened at t = 0.01 s.", "switches[1] happened at t = 0.02 s."))


NOTHING = "so that it changes nothing."


@pytest.mark.parametrize("law", [PD, replace(PD)])
def test_a_switch_to_the_gains_in_force(law: Any) -> None:
    told = f"switches[0]: these gains are in force already, {NOTHING}"
    assert told in run(controller=PD, switches=mp.Switch(time=0.01, controller=law)).notes
    assert told not in run(controller=PD, switches=mp.Switch(time=0.01, controller=OTHER)).notes
    back = (mp.Switch(time=0.01, controller=OTHER), mp.Switch(time=0.02, controller=law))
    assert not any(NOTHING in n for n in run(controller=PD, switches=back).notes)


def test_a_load_that_is_carried_already() -> None:
    told = "disturbances[1]: the tip carries this load already, " + NOTHING
    twice = (mp.PayloadChange(0.01, 1.0), mp.PayloadChange(0.02, 1.0))
    assert run(disturbances=twice).notes == (told,)
    loaded = ARM.replace(payload=mp.Payload(1.0))
    result = mp.simulate(mp.Scenario(loaded, duration=0.05, verify=False, disturbances=mp.PayloadChange(0.01, 1.0)))
    assert result.notes == ("disturbances[0]: the tip carries this load already, " + NOTHING,)
    moved = (mp.PayloadChange(0.01, 1.0), mp.PayloadChange(0.02, 1.0, com=(0.1, 0, 0)))
    assert run(disturbances=moved).notes == ()
    retooled = (mp.PayloadChange(0.01, 1.0), mp.PayloadChange(0.02, 1.0, tool=(0.1, 0, 0)))
    assert run(disturbances=retooled).notes == ()
    move = mp.joint_move([0.0, 0.0], [0.1, 0.1], velocity=5, acceleration=50, jerk=900)
    given = mp.simulate(mp.Scenario(ARM, reference=move, kind="inverse_dynamics", disturbances=twice))
    assert told in given.notes


def test_a_delay_as_long_as_the_run() -> None:
    assert any(
        n.startswith("actuator.delay: 0.05 s") for n in run(controller=PD, actuator=mp.Actuator(delay=0.05)).notes
    )
    assert not any("actuator" in n for n in run(controller=PD, actuator=mp.Actuator(delay=0.045)).notes)


def test_wrenches_without_any_work() -> None:
    told = ("disturbances: their wrenches did no work at all on the arm.",)
    assert run(disturbances=mp.Wrench(("t - t", 0, 0, 0, 0, 0))).notes == told
    assert run(disturbances=(mp.Wrench(PUSH), mp.Wrench([-v for v in PUSH]))).notes == told
    assert run(disturbances=mp.Wrench(("1e-9*t", 0, 0, 0, 0, 0))).notes == ()
    batch = run(disturbances=mp.Wrench(PUSH), vary={"disturbances[0].wrench[0]": [0.0, 1.0]})
    assert "disturbances: in 1 of 2 runs their wrenches did no work at all on the arm." in batch.notes


@pytest.mark.parametrize("law", [None, PD, control.UserFunction(lambda t, q, qd, target: [float(-q[0]), 0.0])])
def test_planes_that_nothing_touched(law: Any) -> None:
    """One that is touched at the start, or later, is not spoken of; nor are end stops."""
    told = "contacts: the arm touched none of them."
    plane = lambda y: contact.PlaneContact(1e3, point=(0.0, y, 0.0), normal=(0.0, 1.0, 0.0))
    assert told in run(controller=law, contacts=plane(-9.0)).notes
    assert told not in run(controller=law, contacts=plane(1e-3), q0=[0.0, 0.0]).notes
    assert told not in run(controller=law, contacts=plane(-1e-3), q0=[0.0, 0.0], qd0=[-1.0, 0.0]).notes
    assert told not in run(controller=law, contacts=contact.EndStop(1e4, low=-3.0, high=3.0)).notes
    weightless = ARM.replace(gravity=(0.0, 0.0, 0.0))
    pressed = mp.Scenario(weightless, duration=0.01, verify=False, contacts=plane(0.1), q0=[0.0, 0.0])
    assert told not in mp.simulate(pressed).notes


def test_a_gain_that_drives_away_is_told() -> None:
    """The rate in the note is that of the run: errors of a small start grow by e^(rate·t)."""
    arm = mp.planar([0.5, 0.4], [1.0, 1.0], gravity=(0, 0, 0))
    away = control.LQR([0.0, 0.0], gain=[[-5.0, 0.0, 0.0, 0.0], [0.0, -5.0, 0.0, 0.0]])
    scenario = mp.Scenario(arm, controller=away, q0=[1e-9, -3e-9], duration=0.6, sample=0.1, verify=False)
    result = mp.simulate(scenario)
    (note,) = [n for n in result.notes if n.startswith("controller.gain")]
    rate = float(note.split("e^(t·")[1].split("/s)")[0])
    size = np.linalg.norm(result.q, axis=1)
    assert np.log(size[-1] / size[-4]) / 0.3 == pytest.approx(rate, rel=1e-2)
    back = control.LQR([0.0, 0.0], gain=[[5.0, 0.0, 1.0, 0.0], [0.0, 5.0, 0.0, 1.0]])
    assert mp.simulate(scenario.replace(controller=back)).notes == ()
    undamped = control.LQR([0.0, 0.0], gain=[[5.0, 0.0, 0.0, 0.0], [0.0, 5.0, 0.0, 0.0]])
    assert mp.simulate(scenario.replace(controller=undamped)).notes == ()


def test_torques_of_a_model_that_are_taken_for_volts() -> None:
    motor = mp.drives.DCMotor(torque_constant=0.3, resistance=0.8, inductance=0.02, gear_ratio=10.0, command="voltage")
    settings: Any = {"drives": (None, motor)}
    told = "drives: the command of {} is a voltage; torques that '{}' computes from the model of the arm act there as volts."
    second = ARM.joint_names[1]
    goal = [0.1, 0.1]
    modelled = (mp.control.PDGravity(5, 1, goal=goal), mp.control.PID(5, 1, 1, goal=goal, gravity=True))
    for law in modelled:
        assert told.format(second, law.name) in run(controller=law, **settings).notes
        assert run(controller=law, drives=(None, replace(motor, command="torque"))).notes == ()
    for law in (mp.control.PD(5, 1, goal=goal), mp.control.PID(5, 1, 1, goal=goal)):
        assert run(controller=law, **settings).notes == ()
