"""Joints of URDF that are not simply driven: mimic, floating, planar; and which frame of a file is the tip."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.formats.mjcf import from_mjcf
from manipula.formats.urdf import from_urdf, to_urdf
from manipula.physics.kinematics import poses
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot.limits import Limits
from strategies import random_robot, random_state

GRIPPERS = Path(__file__).parent.parent / "data" / "coupled" / "two_grippers.urdf"
SAME = 1e-12  # of the largest entry
LIMIT = '<limit lower="-2" upper="3" effort="9" velocity="4"/>'
INERTIAL = '<inertial><mass value="2"/><origin xyz="0.1 0.2 0.3"/><inertia ixx="1" iyy="1.2" izz="1.3" ixy="0.1" ixz="0.2" iyz="0.3"/></inertial>'


def link(name: str) -> str:
    return f'<link name="{name}">{INERTIAL}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    place = '<origin xyz="0.3 0.1 0.2" rpy="0.5 0.2 0.1"/><axis xyz="0 3 4"/>'
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{place}{inside}</joint>'


def robot_text(*inside: str) -> str:
    return f'<robot name="r">{"".join(inside)}</robot>'


def chain(second: str, third: str, first: str = LIMIT) -> str:
    """base –a→ A –b→ B –c→ C"""
    return robot_text(
        link("base"), *map(link, "ABC"), joint("a", "revolute", "base", "A", first), joint("b", "revolute", "A", "B", second),
        joint("c", "prismatic", "B", "C", third),
    )  # fmt: skip


def mimic(leader: str, ratio: float = 1.0, offset: float = 0.0) -> str:
    return f'{LIMIT}<mimic joint="{leader}" multiplier="{ratio}" offset="{offset}"/>'


def assert_pinocchio_agrees(text: str, robot: mp.Robot) -> None:
    """Pinocchio's own reduced dynamics where it couples joints."""
    pin: Any = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(text, mimic=True)
    assert model.nv == robot.n
    order = [robot.joint_names.index(name) for name in model.names if name in robot.joint_names]
    for seed in range(4):
        q, v, a = random_state(np.random.default_rng(seed), robot.n)
        data = model.createData()
        tau = pin.rnea(model, data, q[order], v[order], a[order])
        ours = np.array(inverse_dynamics(robot, q, v, a), float)[order]
        assert np.abs(tau - ours).max(initial=0.0) <= SAME * max(1.0, np.abs(tau).max(initial=0.0))
        pin.framesForwardKinematics(model, data, q[order])
        for f in model.frames:
            if str(f.type) == "BODY":
                X = np.array(poses(robot, q, (f.name,))[0], float)
                np.testing.assert_allclose(X, data.oMf[model.getFrameId(f.name, f.type)].homogeneous, atol=SAME)


@pytest.mark.parametrize("text", [
    chain(mimic("a", -0.5, 0.3), LIMIT), chain(LIMIT, mimic("a", 2.0, -0.1)), chain(mimic("a"), mimic("a", 0.3)),
])  # fmt: skip
def test_coupled_joints_have_pinocchios_dynamics(text: str) -> None:
    assert_pinocchio_agrees(text, from_urdf(text))


def test_a_follower_may_follow_a_follower() -> None:
    robot = from_urdf(chain(mimic("a", 2.0, 0.5), mimic("b", -3.0, 0.25)))
    assert robot.joint_names == ("a",)
    assert [(f.name, f.ratio, f.offset) for f in robot.followers] == [("b", 2.0, 0.5), ("c", -6.0, -1.25)]
    assert_pinocchio_agrees(chain(mimic("a", 2.0, 0.5), mimic("a", -6.0, -1.25)), robot)


def test_the_range_of_a_follower_is_its_leaders_too() -> None:
    limits = from_urdf(chain(mimic("a", -4.0, 1.0), LIMIT)).joints[0].limits
    assert (limits.lower, limits.upper, limits.velocity) == (-0.5, 0.75, 1.0)  # −2 ≤ 1 − 4 q ≤ 3


def test_a_mimic_of_a_fixed_joint_stands_still() -> None:
    text = chain(mimic("a", 2.0, 0.5), LIMIT, first=LIMIT).replace('name="a" type="revolute"', 'name="a" type="fixed"')
    robot = from_urdf(text)
    assert (robot.joint_names, robot.followers) == (("c",), ())
    still = from_urdf(chain(LIMIT, LIMIT), lock={"a": 0.0, "b": 0.5})
    assert (
        np.abs(np.array(poses(robot, [0.2], ("C",))[0], float) - np.array(poses(still, [0.2], ("C",))[0], float)).max()
        < SAME
    )
    fixed = from_urdf(chain(LIMIT, LIMIT).replace('name="b" type="revolute"', 'name="b" type="fixed"').replace(
        f'{LIMIT}</joint><joint name="c"', f'{mimic("a")}</joint><joint name="c"'))  # fmt: skip
    assert "joint 'b' is fixed; its <mimic> does nothing." in fixed.notes


@pytest.mark.parametrize(("text", "reason"), [
    (chain(mimic("b"), LIMIT), "follows itself"),
    (chain(mimic("c"), mimic("b")), "follows itself"),
    (chain(mimic("d"), LIMIT), "No joint .* named 'd'"),
    (chain('<mimic multiplier="2"/>', LIMIT), "'joint' is missing"),
    (chain('<mimic joint="a" multiplier="nan"/>', LIMIT), "not a decimal number"),
    (chain('<mimic joint="a" multiplyer="2"/>', LIMIT), "Did you mean 'multiplier'"),
    (chain(mimic("a") + '<mimic joint="a"/>', LIMIT), "second <mimic>"),
])  # fmt: skip
def test_what_cannot_be_followed(text: str, reason: str) -> None:
    with pytest.raises(DescriptionError, match=reason):
        from_urdf(text)


@pytest.mark.parametrize("text", [
    GRIPPERS.read_text(encoding="utf-8"), chain(mimic("a", -0.5, 0.3), LIMIT), chain(mimic("c"), LIMIT), chain(mimic("a", 2.0, 0.5), mimic("b", -3.0, 0.25)),
])  # fmt: skip
def test_what_is_written_is_read_again(text: str) -> None:
    robot = from_urdf(text.replace('rpy="0.5 0.2 0.1"', ""))  # angles are written rounded
    back = from_urdf(to_urdf(robot))
    assert back == robot
    assert '<mimic joint="' in to_urdf(robot)
    if 'joint="c"' not in text:  # Pinocchio wants leaders nearer to the base than their followers
        assert_pinocchio_agrees(to_urdf(robot), robot)


def around_zero(limits: Limits) -> Limits:
    """Ranges that couplings without offset leave something in common."""
    lower, upper = (None if v is None else abs(v) for v in (limits.lower, limits.upper))
    return replace(limits, lower=None if lower is None else -lower, upper=upper)


def test_random_couplings_are_written_and_read() -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        free = random_robot(rng, 6, tree=True, oblique=bool(seed % 2), limits=True, fixed=True)
        free = free.replace(joints=tuple(replace(j, limits=around_zero(j.limits)) for j in free.joints))
        leaders = rng.permutation(6)[:2]
        text = to_urdf(free)
        for follower in set(range(6)) - {int(i) for i in leaders}:
            name, leader = free.joint_names[follower], free.joint_names[int(rng.choice(leaders))]
            head, tail = text.split(f'<joint name="{name}"', 1)
            text = f'{head}<joint name="{name}"' + tail.replace(
                "</joint>", f'<mimic joint="{leader}" multiplier="{rng.normal()}"/></joint>', 1
            )
        robot = from_urdf(text)
        assert (robot.n, len(robot.followers)) == (2, 4)
        back = from_urdf(to_urdf(robot))
        assert (back.joint_names, [f.name for f in back.followers]) == (
            robot.joint_names,
            [f.name for f in robot.followers],
        )
        q, v, a = random_state(rng, 2)
        x, y = (np.array(inverse_dynamics(r, q, v, a), float) for r in (robot, back))
        assert np.abs(x - y).max() <= SAME * max(1.0, np.abs(x).max())
        assert [f.joint.limits for f in back.followers] == [f.joint.limits for f in robot.followers]
        assert [(f.ratio, f.offset, f.leader) for f in back.followers] == [
            (f.ratio, f.offset, f.leader) for f in robot.followers
        ]
        assert [j.limits for j in back.joints] == [j.limits for j in robot.joints]


def test_postures_are_written_and_read() -> None:
    robot = replace(from_urdf(GRIPPERS), postures=(("home", (0.1, -0.2, 0.03)), ("a & b", (0.0, 0.0, 0.0))))
    assert from_urdf(to_urdf(robot)) == robot
    with pytest.raises(DescriptionError, match="3 number"):
        from_urdf(to_urdf(robot).replace('q="0.1 -0.2 0.03"', 'q="0.1 -0.2"'))


@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_joints_of_several_degrees_of_freedom(kind: str) -> None:
    text = robot_text(
        link("world"), link("base"), *map(link, "AB"), joint("free", kind, "world", "base"), joint("a", "revolute", "base", "A", LIMIT),
        joint("b", "prismatic", "A", "B", LIMIT),
    )  # fmt: skip
    with pytest.raises(DescriptionError) as caught:
        from_urdf(text)
    for word in (f"A {kind} joint", "joint 'free'", "lock={'free': 0}", "drop=['free']", "chain=('base', TIP)"):
        assert word in str(caught.value)
    held = from_urdf(text, lock={"free": 0})
    assert held == replace(from_urdf(text.replace(kind, "fixed")), notes=held.notes)
    assert from_urdf(text, chain=("base", "B")).joint_names == ("a", "b")
    with pytest.raises(DescriptionError, match=f"is {kind}; it can be held only where the file puts it"):
        from_urdf(text, lock={"free": 0.1})
    aside = robot_text(
        link("base"), *map(link, "AB"), joint("a", "revolute", "base", "A", LIMIT), joint("wheels", kind, "A", "B")
    )
    assert from_urdf(aside, drop=["wheels"]).joint_names == ("a",)
    assert from_urdf(aside, chain=("base", "A")).tip == "A"


FIXED = [
    joint("base_fixed", "fixed", "B0", "base"),
    joint("flange_fixed", "fixed", "A", "flange"),
    joint("tool_fixed", "fixed", "flange", "tool0"),
]


def arm(*more: str) -> str:
    """B0 with the static leaf "base"; a flange and tool0 behind the last joint, as in files of ROS-Industrial."""
    names = ("B0", "base", "A", "flange", "tool0")
    return robot_text(*map(link, names), joint("a", "revolute", "B0", "A", LIMIT), *FIXED, *more)


def test_the_tip_is_the_only_leaf_that_moves_with_the_last_joint() -> None:
    assert from_urdf(arm()).tip == "tool0"
    assert from_urdf(arm(link("eye"), joint("eye_fixed", "fixed", "A", "eye"))).tip is None
    middle = arm(
        link("C"), link("eye"), joint("b", "revolute", "tool0", "C", LIMIT), joint("eye_fixed", "fixed", "A", "eye")
    )
    assert from_urdf(middle).tip == "C"  # the camera moves with another joint
    assert from_urdf(GRIPPERS).tip is None
    assert from_urdf(robot_text(link("base"), link("tool0"), joint("f", "fixed", "base", "tool0"))).tip is None


def test_every_candidate_is_listed_with_how_to_choose() -> None:
    robot = from_urdf(arm(link("ft_frame"), joint("ft_fixed", "fixed", "A", "ft_frame")))
    with pytest.raises(
        DescriptionError, match=r"could be its tip \(A, flange, tool0, ft_frame\); name one: tip='tool0'"
    ):
        _ = robot.tip_frame
    assert from_urdf(to_urdf(robot), tip="tool0").tip_frame.link == 0
    hand = """<mujoco><worldbody><body name="arm"><joint/><geom size="1"/><body name="palm"><geom size="1"/>
      <body name="left"><joint type="slide"/><geom size="1"/></body><body name="right"><joint type="slide"/><geom size="1"/></body>
      </body></body></worldbody></mujoco>"""
    with pytest.raises(DescriptionError, match=r"\(left, right, palm\); name one: tip='palm'"):
        _ = from_mjcf(hand).tip_frame


def test_a_fixed_link_is_left_out_while_reading_and_select_says_so(tmp_path):
    mass = '<inertial><mass value="{}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path = tmp_path / "arm.urdf"
    path.write_text(
        f'<robot name="a"><link name="base"/><link name="arm">{mass.format(2)}</link><link name="hand">{mass.format(1)}</link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>'
        '<joint name="weld" type="fixed"><parent link="arm"/><child link="hand"/></joint></robot>'
    )
    assert mp.load(path, drop=["hand"]).links[0].mass == 2.0
    with pytest.raises(DescriptionError, match=r"'hand' is fixed to 'arm'.* load\(…, drop=\['hand'\]\)"):
        mp.load(path).select(drop=["hand"])
    with pytest.raises(DescriptionError, match="No joint or link named 'glove'"):
        mp.load(path).select(drop=["glove"])
