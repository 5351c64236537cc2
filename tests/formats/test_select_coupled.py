"""Coupled joints and selections: what is asked of a URDF can be asked of TOML and of the catalog."""

import numpy as np
import pytest

import manipula as mp
from coupled_pairs import hand
from manipula.errors import DescriptionError
from manipula.formats.load import to_text
from manipula.robot.friction import Viscous
from manipula.simulation.files.scenario_file import load_text

HAND = hand()


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


def test_load_and_select_hold_a_leader_within_the_range_of_its_follower(tmp_path):
    file = tmp_path / "hand.toml"
    file.write_text(HAND)
    found = r"cannot be held at 0\.045: its range is 0 … 0\.04"
    with pytest.raises(DescriptionError, match=found + ", where its follower 'f2' keeps its own"):
        mp.load(file, lock={"f1": 0.045})
    with pytest.raises(DescriptionError, match=found):
        mp.load(file).select(lock={"f1": 0.045})
    assert mp.load(file, lock={"f1": 0.04}).n == mp.load(file).select(lock={"f1": 0.04}).n == 0


def test_a_follower_of_a_follower_narrows_too(tmp_path):
    more = """
[[link]]
name = "third"
mass = 0.1
[[joint]]
name = "f3"
type = "prismatic"
parent = "base"
child = "third"
follows = "f2"
ratio = -2.0
offset = 0.01
limits = { lower = -0.05, upper = 0.01 }
"""
    file = tmp_path / "hand.toml"
    file.write_text(HAND + more)
    with pytest.raises(DescriptionError, match=r"its range is 0 … 0\.03, where its follower 'f3'"):
        mp.load(file, lock={"f1": 0.035})
    assert mp.load(file).joints[0].limits.upper == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ('mimic = "f1"', "joint\\[1\\].mimic: 'mimic' is a word of URDF; here a coupling is follows ="),
        ('follows = "f1"\nmultiplier = -1.0', "'multiplier' is a word of URDF; here a coupling is ratio"),
    ],
)
def test_the_words_of_urdf_are_answered_with_ours(words, found):
    with pytest.raises(DescriptionError, match=found):
        mp.from_toml(hand(words))


def test_friction_of_a_follower_is_given_to_its_leader():
    leader, follower = "panda_finger_joint1", "panda_finger_joint2"
    found = f"Joint '{follower}' follows '{leader}' and has no friction law of its own: give it to '{leader}'"
    with pytest.raises(DescriptionError, match=found):
        mp.Scenario(mp.load("panda-hand"), friction={follower: Viscous(1.0)}, duration=1.0)
    with pytest.raises(DescriptionError, match=found) as caught:
        load_text(f'robot = "panda-hand"\nduration = 1.0\n[friction.{follower}]\nlaw = "viscous"\ndamping = 1.0\n')
    assert caught.value.field == f"friction.{follower}"


def test_a_chain_from_a_frame_names_the_link_that_carries_it():
    with pytest.raises(
        DescriptionError, match=r"fixed to 'panda_link7': begin there, chain=\('panda_link7', 'panda_leftfinger'\)"
    ):
        mp.load("panda-hand", chain=("panda_link8", "panda_leftfinger"))
    assert mp.load("panda-hand", chain=("panda_link7", "panda_leftfinger")).joint_names == ("panda_finger_joint1",)


def branches(followers: dict[str, str], order: str) -> str:
    """Joints 1 … 6 as URDF in the given order: 2 hangs on 1, 3 on 2, 4 and 5 on the base, 6 on 5; ``followers`` by name of their leader."""
    parents = {"1": 0, "2": 1, "3": 2, "4": 0, "5": 0, "6": 5}
    body = '<inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx=".01" iyy=".02" izz=".02" ixy="0" ixz="0" iyz="0"/></inertial>'
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{parents[k]}"/><child link="l{k}"/><origin xyz="0.{k} 0 0.1"/>'
        f'<axis xyz="{int(k in "135")} {int(k in "24")} {int(k in "356")}"/>'
        + (f'<mimic joint="j{followers[k]}" multiplier="-0.5"/>' if k in followers else "")
        + "</joint>"
        for k in order
    )
    return f'<robot name="r"><link name="l0"/>{"".join(f"""<link name="l{k}">{body}</link>""" for k in "123456")}{joints}</robot>'


@pytest.mark.parametrize(
    ("followers", "order", "names"),
    [
        ({"2": "4"}, "123456", ("j1", "j3", "j4", "j5", "j6")),  # 3 hangs on a follower and comes before others
        ({"5": "1"}, "561234", ("j6", "j1", "j2", "j3", "j4")),  # the first joint of q hangs on a follower
        ({"4": "1", "2": "6", "5": "3"}, "412563", ("j1", "j6", "j3")),
    ],
)
def test_the_order_of_q_survives_writing_and_selecting(followers, order, names, tmp_path):
    robot = mp.from_urdf(branches(followers, order))
    assert robot.joint_names == names
    for suffix in ("toml", "urdf", "xml"):
        mp.save(robot, tmp_path / f"arm.{suffix}")
        back = mp.load(tmp_path / f"arm.{suffix}")
        assert (back.joint_names, back.frame_names) == (robot.joint_names, robot.frame_names)
        assert [f.name for f in back.followers] == [f.name for f in robot.followers]
    assert mp.load(tmp_path / "arm.toml") == robot
    assert robot.select(lock={names[-1]: 0.3}).joint_names == names[:-1]
    assert mp.load(tmp_path / "arm.toml", lock={names[-1]: 0.3}).joint_names == names[:-1]
