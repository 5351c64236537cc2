"""Selections that would do nothing, keys and gears that a sliding joint or a rotor cannot have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError

ARM = """
name = "slider"
[[link]]
name = "base"
[[link]]
name = "cart"
mass = 1.0
[[link]]
name = "hand"
mass = 0.5
[[joint]]
name = "slide"
type = "prismatic"
parent = "base"
child = "cart"
axis = [1, 0, 0]
{slide}
[[joint]]
name = "turn"
type = "revolute"
parent = "cart"
child = "hand"
axis = [0, 1, 0]
{turn}
"""


def loaded(folder: Path, slide: str = "", turn: str = "", **choices: object) -> mp.Robot:
    (folder / "arm.toml").write_text(ARM.format(slide=slide, turn=turn))
    return mp.load(str(folder / "arm.toml"), **choices)


def test_degrees_of_a_length_are_refused(tmp_path: Path) -> None:
    """A slide of 40° was read as 0.7 m."""
    for key in (
        "position_deg = [-10, 40]",
        "velocity_deg = 3",
        "acceleration_deg = 3",
        "jerk_deg = 2",
        "upper_deg = 3",
    ):
        with pytest.raises(DescriptionError, match=rf"arm.toml:\d+, .*{key.split()[0]}.*slides; give '.*' in metres"):
            loaded(tmp_path, slide=f"limits = {{ {key} }}")
        assert loaded(tmp_path, turn=f"limits = {{ {key} }}").n == 2
    with pytest.raises(DescriptionError, match=r"offset_deg.*slides"):
        loaded(tmp_path, slide='follows = "turn"\noffset_deg = 10')
    metres = loaded(tmp_path, slide="limits = { position = [-0.1, 0.4] }")
    assert (metres.joints[0].limits.lower, metres.joints[0].limits.upper) == (-0.1, 0.4)


def test_degrees_of_a_length_are_refused_in_dh_rows() -> None:
    row = '[dh]\nconvention = "standard"\n[[dh.rows]]\njoint = "{}"\nalpha_deg = 90\nmass = 1\nlimits = {{ position_deg = [0, 9] }}\n'
    assert mp.from_toml(row.format("revolute")).joints[0].limits.upper == np.deg2rad(9)
    with pytest.raises(DescriptionError, match=r"position_deg.*slides"):
        mp.from_toml(row.format("prismatic"))


def test_a_rotor_behind_a_gear_of_zero_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="gear ratio of joint 'turn' is 0"):
        loaded(tmp_path, turn="rotor_inertia = 1e-4\ngear_ratio = 0")
    assert loaded(tmp_path, turn="rotor_inertia = 1e-4\ngear_ratio = -50").joints[1].armature == pytest.approx(0.25)


def test_held_and_left_out_is_refused_unless_something_follows(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="'turn' is held and left out"):
        loaded(tmp_path, lock={"turn": 0.1}, drop=["turn"])
    assert loaded(tmp_path, drop=["turn"]).joint_names == ("slide",)
    assert loaded(tmp_path, lock={"turn": 0.1}).joint_names == ("slide",)


def test_leaving_out_every_joint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="No joint is left without slide"):
        loaded(tmp_path, drop=["slide"])
