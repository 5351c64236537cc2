"""However a robot is made, its fields belong together: what names a body, a frame or a joint names one that is there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.robot.appearance import Visual
from manipula.robot.link import Frame

ARM = mp.planar([0.4, 0.3, 0.2], [1.0, 1.0, 1.0])
HAND = mp.load("panda-hand")


def test_the_robots_that_are_changed_have_what_is_changed() -> None:
    assert ARM.n == 3
    assert HAND.followers
    assert ARM.replace(joints=list(ARM.joints), frames=list(ARM.frames)) == ARM


def joint(robot: mp.Robot, k: int, **changes: Any) -> dict[str, Any]:
    return {"joints": tuple(replace(j, **changes) if i == k else j for i, j in enumerate(robot.joints))}


def follower(**changes: Any) -> dict[str, Any]:
    first = HAND.followers[0]
    return {"followers": (replace(first, **changes), *HAND.followers[1:])}


CASES: dict[str, tuple[mp.Robot, dict[str, Any], str]] = {
    "fewer joints": (ARM, {"joints": ARM.joints[:2]}, "links"),
    "fewer links": (ARM, {"links": ARM.links[:2]}, "links"),
    "fewer of both": (ARM, {"links": ARM.links[:2], "joints": ARM.joints[:2]}, "frames["),
    "no followers": (HAND, {"followers": ()}, ".link"),
    "no frame of the tip": (ARM, {"frames": ()}, "tip"),
    "another tip": (ARM, {"tip": "hand"}, "tip"),
    "a tip that is no name": (ARM, {"tip": ["link1"]}, "tip"),
    "a frame on no body": (ARM, {"frames": (*ARM.frames, Frame("camera", 3))}, "frames"),
    "two frames of one name": (ARM, {"frames": (*ARM.frames, ARM.frames[0])}, "frames"),
    "a shape on no body": (ARM, {"appearance": (Visual(7, "sphere", (0.1,)),)}, "appearance[0].link"),
    "a parent that is not there": (ARM, joint(ARM, 2, parent=5), "joints[2].parent"),
    "a parent that comes later": (ARM, joint(ARM, 1, parent=2), "joints[1].parent"),
    "a parent that is no number": (ARM, joint(ARM, 1, parent="link1"), "joints[1].parent"),
    "two joints of one name": (ARM, joint(ARM, 1, name=ARM.joints[0].name), "joints"),
    "a joint without a name": (ARM, joint(ARM, 1, name=""), "joints"),
    "a kind that is none": (ARM, joint(ARM, 1, kind="screw"), "joints[1].kind"),
    "joints that are none": (ARM, {"joints": ("a", "b", "c")}, "joints"),
    "one joint": (ARM, {"joints": ARM.joints[0]}, "joints"),
    "a leader that is not there": (HAND, follower(leader=HAND.n), "followers[0].leader"),
    "a follower that hangs on itself": (
        HAND,
        follower(joint=replace(HAND.followers[0].joint, parent=HAND.n)),
        "followers",
    ),
    "a posture of another length": (ARM, {"postures": (("home", (0.0, 0.0)),)}, "postures"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_does_not_fit_is_refused_with_its_field(name: str) -> None:
    robot, changes, field = CASES[name]
    with pytest.raises(DescriptionError) as told:
        robot.replace(**changes)
    assert field in (told.value.field or ""), told.value
    with pytest.raises(DescriptionError):
        replace(robot, **changes)
