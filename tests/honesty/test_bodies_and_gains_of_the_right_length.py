"""Payloads, links and gains of the wrong length are refused with the field, what was found and how many there must be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError, LengthError, ShapeError

ARM = mp.load("planar-2r")
JOINTS = mp.trajectory(mp.paths.joint([[0.0, 0.0], [1.0, -1.0]]), mp.timing.quintic(1.0))
TIP = mp.trajectory(mp.paths.line([1.2, 0.3, 0.0], [1.0, 0.5, 0.0]), mp.timing.quintic(1.0))
TENSORS = [(0.1, 0.1, 0.1, 0.0, 0.0, 0.0), (0.1, 0.1, 0.1), 0.1, ((1.0, 0.0), (0.0, 1.0)), None, "rod"]
CENTRES = [(1.0, 2.0), 1.0, (1.0, 2.0, 3.0, 4.0), None]


@pytest.mark.parametrize("inertia", TENSORS)
def test_inertia_is_three_rows_of_three(inertia) -> None:
    with pytest.raises(DescriptionError, match="inertia of the payload must be 3 rows of 3 numbers"):
        ARM.replace(payload=mp.Payload(1.5, inertia=inertia))
    with pytest.raises(DescriptionError, match="inertia of link 'link1' must be 3 rows of 3 numbers"):
        ARM.replace(links=(replace(ARM.links[0], inertia=inertia), ARM.links[1]))


@pytest.mark.parametrize("com", CENTRES)
def test_centre_of_mass_is_three_numbers(com) -> None:
    with pytest.raises(DescriptionError, match="centre of mass of the payload must be 3 numbers"):
        ARM.replace(payload=mp.Payload(1.5, com=com))
    with pytest.raises(DescriptionError, match="centre of mass of link 'link1' must be 3 numbers"):
        ARM.replace(links=(replace(ARM.links[0], com=com), ARM.links[1]))


def test_lists_and_arrays_become_plain_values() -> None:
    given = mp.Payload(1, com=[0, 0, 0.1], inertia=np.eye(3))  # pyright: ignore[reportArgumentType]
    plain = mp.Payload(1.0, (0.0, 0.0, 0.1), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    assert ARM.replace(payload=given) == ARM.replace(payload=plain)
    assert hash(ARM.replace(payload=given)) == hash(ARM.replace(payload=plain))


@pytest.mark.parametrize("gravity", [(0.0, -9.81), 9.81])
def test_gravity_names_itself(gravity) -> None:
    with pytest.raises(ShapeError, match="Gravity is 3 numbers"):
        ARM.replace(gravity=gravity)


@pytest.mark.parametrize(
    ("field", "needed", "controller"),
    [
        ("rate", "one per parameter is needed (10), found 2", mp.control.SlotineLi(1.0, 1.0, rate=[1, 2])),
        ("rate", "parameter is needed (20), found 10", mp.control.SlotineLi(1, 1, rate=[1] * 10, links=(1, 2))),
        ("kp", "coordinate is needed (2), found 4", mp.control.TaskSpaceComputedTorque(kp=[1, 2, 3, 4], kv=1)),
        ("kv", "coordinate is needed (2), found 3", mp.control.TaskSpaceComputedTorque(kp=1, kv=[1, 2, 3])),
        ("kp", "coordinate is needed (2), found 3", mp.control.OperationalSpace(kp=[1, 2, 3], kv=1)),
        ("stiffness", "coordinate is needed (2), found 5", mp.control.Impedance(stiffness=[1] * 5, damping=1)),
        ("damping", "coordinate is needed (2), found 1", mp.control.Impedance(stiffness=1, damping=[1])),
        ("joint_damping", "joint is needed (2), found 3", mp.control.Impedance(1, 1, joint_damping=[1] * 3)),
    ],
)
def test_gains_are_counted_by_what_they_belong_to(field, needed, controller) -> None:
    with pytest.raises(LengthError) as told:
        mp.Scenario(ARM, TIP if controller.space == "task" else JOINTS, controller, q0=[0.5, 1.0])
    assert told.value.field == f"controller.{field}"
    assert needed in str(told.value)


def test_adapted_links_exist_and_are_named_once() -> None:
    beyond = mp.Scenario(ARM, JOINTS, mp.control.SlotineLi(1.0, 1.0, 1.0, links=(3,)))
    with pytest.raises(DescriptionError, match="names link 3; 'planar-2r' has the links 1 to 2") as told:
        mp.simulate(beyond)
    assert told.value.field == "controller.links"
    with pytest.raises(DescriptionError, match="names link 1 twice"):
        mp.control.SlotineLi(1.0, 1.0, 1.0, links=(1, 1))
