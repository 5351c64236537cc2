"""Coupled joints and selections: what is asked of a URDF can be asked of TOML and of the catalog."""

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.formats.load import to_text

HAND = 'name = "hand"\n[[link]]\nname = "base"\n' + "".join(
    f"""[[link]]
name = "{link}"
mass = 0.5
com = [0.1, 0, 0]
inertia = [0.01, 0.01, 0.01]
[[joint]]
name = "{joint}"
type = "prismatic"
parent = "base"
child = "{link}"
axis = {axis}
limits = {{ lower = 0.0, upper = {upper} }}
friction = {{ law = "viscous", damping = {damping} }}
{more}
"""
    for link, joint, axis, upper, damping, more in [
        ("left", "f1", "[0, 1, 0]", 0.05, 2.0, ""),
        ("right", "f2", "[0, -1, 0]", 0.04, 3.0, 'follows = "f1"'),
    ]
)


def damping_and_range(robot):
    (joint,) = robot.joints
    return joint.friction.damping, joint.limits.upper


@pytest.mark.parametrize("words", [{"drop": ["f2"]}, {"drop": "right"}, {"chain": ("base", "left")}])
def test_a_follower_is_left_out_with_its_friction_and_range(words, tmp_path):
    file = tmp_path / "hand.toml"
    file.write_text(HAND)
    assert damping_and_range(mp.load(file)) == (5.0, 0.04)
    robot = mp.load(file, **words)
    assert damping_and_range(robot) == (2.0, 0.05)
    assert robot.followers == ()
    assert not any(note.startswith("joint 'f2'") for note in robot.notes)
    said = {"drop": 'drop = ["right"]\n', "chain": 'chain = ["base", "left"]\n'}[next(iter(words))]
    file.write_text(said + HAND)
    assert damping_and_range(mp.load(file)) == (2.0, 0.05)
    with pytest.raises(
        DescriptionError, match=r"since the robot was built: leave both out, or hold both \(lock=\{'f1': …\}\)"
    ):
        mp.from_toml(HAND).select(**words)


def test_the_hand_of_the_catalog_loses_a_finger():
    for words in ({"drop": ["panda_finger_joint2"]}, {"chain": ("panda_link0", "panda_leftfinger")}):
        robot = mp.load("panda-hand", **words)
        assert (robot.n, robot.followers) == (8, ())


def test_a_selection_of_the_file_and_one_of_the_caller_both_count(tmp_path):
    file = tmp_path / "hand.toml"
    file.write_text("lock = { panda_joint1 = 0.3 }\n" + to_text(mp.load("panda-hand"), ".toml"))
    robot = mp.load(file, drop=["panda_finger_joint2"])
    same = mp.load("panda-hand", drop=["panda_finger_joint2"], lock={"panda_joint1": 0.3})
    assert robot.joint_names == same.joint_names
    assert robot.joint_names[0] == "panda_joint2"
    q = np.linspace(-0.5, 0.5, robot.n)
    np.testing.assert_allclose(mp.compile(robot).gravity(q), mp.compile(same).gravity(q), atol=1e-13)


def test_what_to_do_about_a_leader_beyond_the_chain_is_said_and_works(tmp_path):
    file = tmp_path / "hand.toml"
    turned = '\n[[link]]\nname = "turned"\nmass = 1.0\n[[joint]]\nname = "t"\ntype = "revolute"\nparent = "base"\nchild = "turned"'
    right = 'parent = "base"\nchild = "right"'
    file.write_text(
        HAND.replace(right, right.replace("base", "turned")).replace('name = "hand"', 'name = "hand"' + turned)
    )
    with pytest.raises(
        DescriptionError, match=r"Hold that one, which holds both \(lock=\{'f1': …\} counts outside the chain too\)"
    ):
        mp.load(file, chain=("base", "right"))
    with pytest.raises(DescriptionError, match=r"outside the chain: lock=\{'f1': 0.02\}"):
        mp.load(file, chain=("base", "right"), lock={"f2": 0.02})
    robot = mp.load(file, chain=("base", "right"), lock={"f1": 0.02})
    assert robot.joint_names == ("t",)
    assert "joint 'f1' is held at 0.02." in robot.notes
    assert "joint 'f2' follows 'f1' and is held with it." in robot.notes
    robot = mp.load(file, drop=["f1"], lock={"f1": 0.02})
    assert robot.joint_names == ("t",)
    assert "joint 'f1' is held at 0.02 and left out." in robot.notes


def test_only_robots_are_saved(tmp_path):
    with pytest.raises(DescriptionError, match="A robot is saved, found ur5e"):
        mp.save("ur5e", tmp_path / "abc.toml")
