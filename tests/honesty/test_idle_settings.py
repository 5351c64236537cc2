"""Settings that would do nothing are refused, and frames that do not exist are told with their place in the file."""

from __future__ import annotations

import pytest

import manipula as mp
from manipula.errors import DescriptionError, UnknownNameError
from manipula.simulation.files.scenario_file import load_text

HEAD = 'robot = "planar-2r"\nduration = 0.1\nq0 = [0.1, 0.2]\n'
GRAVITY = '[controller]\nlaw = "gravity"\n'


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('[[contacts]]\nkind = "plane"\nstiffness = 10\nframe = "elbow"\n', "run.toml:9, contacts[0].frame", "'elbow'"),
        ('[[contacts]]\nkind = "end_stop"\nstiffness = 10\njoints = ["joint1", "joint3"]\nlow = -1\n', "run.toml:9, contacts[0].joints[1]", "mean 'joint"),
        ('[limits.points."link2@x"]\nvelocity = 1\n', "run.toml:6, limits.points.link2@x", "link3@0.1,0,0"),
        ('[[disturbances]]\nkind = "wrench"\nwrench = [1, 0, 0, 0, 0, 0]\nframe = "elbow"\n', "run.toml:9, disturbances[0].frame", "'elbow'"),
        ('[[contacts]]\nkind = "plane"\nstiffness = 10\nslip_speed = 0.1\n', "run.toml:9, contacts[0].slip_speed", "friction"),
    ],
)  # fmt: skip
def test_in_files(text: str, place: str, words: str) -> None:
    with pytest.raises(DescriptionError) as error:
        load_text(HEAD + GRAVITY + text, file="run.toml")
    assert str(error.value).startswith(place)
    assert words in str(error.value)


def test_the_frame_of_a_task_by_its_line() -> None:
    text = '[controller]\nlaw = "task_priorities"\n[[controller.tasks]]\ntask = "frame_position"\nframe = "elbow"\ngoal = [0.5, 0.5, 0]\n'
    with pytest.raises(UnknownNameError) as error:
        load_text(HEAD + text, file="run.toml")
    assert error.value.field == "controller.tasks[0].frame"
    assert str(error.value).startswith("run.toml:8, ")


@pytest.mark.parametrize("bounds", ["none", "torque"])
def test_an_approach_without_bounds_of_motion(bounds: str) -> None:
    posture = (mp.control.JointPosture(0.1),)
    with pytest.raises(DescriptionError, match="never act") as error:
        mp.control.TaskPriorities(posture, bounds=bounds, approach=5.0)
    assert error.value.field == "approach"
    assert mp.control.TaskPriorities(posture, bounds="motion", approach=5.0).approach == 5.0


def test_a_slip_speed_without_friction() -> None:
    with pytest.raises(DescriptionError) as error:
        mp.contact.PlaneContact(10.0, slip_speed=0.1)
    assert error.value.field == "slip_speed"
    assert mp.contact.PlaneContact(10.0, friction=0.2, slip_speed=0.1).slip_speed == 0.1
