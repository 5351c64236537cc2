"""What somebody writes acts or is refused: empty tables, a table of friction for no joint, a model that no controller looks at."""

from __future__ import annotations

import tomllib

import jsonschema
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError
from manipula.formats.toml.schema import robot_schema
from manipula.simulation.checks.requests import check_requests
from manipula.simulation.files.scenario_file import load_text
from manipula.simulation.files.schema import scenario_schema

RUN = 'robot = "planar-2r"\nduration = 0.1\n'
PD = 'controller = { law = "pd", kp = 9, kv = 3, goal = 0.1 }\n'
PROGRAM = 'robot = "planar-2r"\nduration = 0.1\nq0 = [0.1, 0.9]\n[program]\nconstraints = ["y = 0.5"]\n'
EMPTY_IN_RUNS = {
    "friction": "friction = {}\n", "drives": "drives = {}\n", "noise": "noise = {}\n" + PD, "actuator": "actuator = {}\n" + PD,
    "limits": "limits = {}\n", "limits.tip": "limits = { tip = {} }\n", "parameters": "parameters = {}\n", "vary": "vary = {}\n" + PD,
    "constants": "constants = {}\n", "torques": "torques = {}\n", "reference": "reference = {}\n", "controller": "controller = {}\n",
    "model": "model = {}\n" + PD,
}  # fmt: skip
EMPTY_IN_ROBOTS = ("base", "tool", "payload", "parameters", "joint.origin", "joint.link_frame", "joint.limits", "joint.friction", "joint.drive")  # fmt: skip
TREE = '{head}\n[[link]]\nname = "a"\n[[link]]\nname = "b"\nmass = 1.0\n[[joint]]\nname = "j"\ntype = "revolute"\nparent = "a"\nchild = "b"\n{joint}\n'


@pytest.mark.parametrize("field", EMPTY_IN_RUNS)
def test_empty_tables_of_scenarios(field: str) -> None:
    text = RUN + EMPTY_IN_RUNS[field]
    with pytest.raises(DescriptionError, match=r"is empty") as error:
        load_text(text)
    assert error.value.field == field
    assert not jsonschema.Draft202012Validator(scenario_schema()).is_valid(tomllib.loads(text))


@pytest.mark.parametrize("text", ["drives = {}", "parameters = {}", "drives = { joint1 = {} }"])
def test_empty_tables_of_programs(text: str) -> None:
    with pytest.raises(DescriptionError, match=r"is empty"):
        load_text(PROGRAM + text)
    assert not jsonschema.Draft202012Validator(scenario_schema()).is_valid(tomllib.loads(PROGRAM + text))


@pytest.mark.parametrize("field", EMPTY_IN_ROBOTS)
def test_empty_tables_of_robots(field: str) -> None:
    place, _, key = field.rpartition(".")
    text = TREE.format(head="" if place else f"{key} = {{}}", joint=f"{key} = {{}}" if place else "")
    with pytest.raises(DescriptionError, match=r"is empty"):
        mp.from_toml(text)
    assert not jsonschema.Draft202012Validator(robot_schema()).is_valid(tomllib.loads(text))


def test_none_at_a_joint_is_still_said_by_an_empty_table() -> None:
    law = '{ law = "viscous", damping = 0.5 }'
    for text in (f"friction = [{{}}, {law}]\n", f"friction = {{ joint1 = {{}}, joint2 = {law} }}\n"):
        first, second = load_text(RUN + text).friction
        assert first is None
        assert second.damping == 0.5


@pytest.mark.parametrize("field", ["friction", "drives"])
def test_a_mapping_that_names_no_joint(field: str) -> None:
    with pytest.raises(DescriptionError, match=r"names no joint.*the robot's own act") as error:
        mp.Scenario(mp.load("planar-2r"), duration=0.1, **{field: {}})
    assert error.value.field == field


ARM = mp.load("planar-2r")
OTHER = mp.planar([1.0, 1.0], [3.0, 1.0])
MODEL_FREE = [
    control.PD(9.0, 3.0, goal=0.1),
    control.PID(9.0, 3.0, 1.0, goal=0.1),
    control.UserFunction(lambda t, q, qd, target: -qd),
]


@pytest.mark.parametrize("controller", MODEL_FREE, ids=lambda c: c.name)
def test_a_model_that_no_controller_looks_at(controller) -> None:
    with pytest.raises(DescriptionError, match="without a model and would ignore the one given") as error:
        mp.simulate(mp.Scenario(ARM, controller=controller, model=OTHER, duration=0.01))
    assert error.value.field == "model"
    check_requests(mp.Scenario(ARM, controller=controller, model=ARM, duration=0.01))  # the same as none


MODEL_BASED = [
    control.PDGravity(9.0, 3.0, goal=0.1),
    control.LQR((0.1, 0.2)),
    control.GravityCompensation(),
    control.OperationalSpace(9.0, 3.0),
]


@pytest.mark.parametrize("controller", MODEL_BASED, ids=lambda c: c.name)
def test_a_model_that_is_used(controller) -> None:
    check_requests(mp.Scenario(ARM, controller=controller, model=OTHER, duration=0.01))
