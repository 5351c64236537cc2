"""What is written can be read: by us, by MuJoCo, and with the mechanics it had; else it is refused with the reason."""

from __future__ import annotations

import math

import numpy as np
import pytest
from typer.testing import CliRunner

import manipula as mp
from manipula.algebra import rotation
from manipula.algebra.pose import Pose
from manipula.cli.app import app
from manipula.errors import DescriptionError
from manipula.formats.catalog import catalog_names, load_catalog
from manipula.formats.dh import to_dh
from manipula.formats.mjcf import from_mjcf, to_mjcf
from manipula.formats.table import to_table
from manipula.formats.toml import dh_to_toml
from manipula.formats.urdf import from_urdf, to_urdf
from manipula.physics.composite import mass_matrix
from manipula.physics.kinematics import pose
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot.build import FrameDraft, JointDraft, LinkDraft, build_robot
from strategies import random_body, random_pose, random_robot, random_state

KEPT = 1e-12  # of the largest torque or coordinate


def same_mechanics(one, other, rng, frames=()):
    state = random_state(rng, one.n)
    tau, found = (np.array(inverse_dynamics(r, *state), float) for r in (one, other))
    assert np.abs(found - tau).max() <= KEPT * max(1.0, np.abs(tau).max())
    for frame in (None, *frames):
        X, Y = (np.array(pose(r, state[0], frame) if frame else pose(r, state[0]), float) for r in (one, other))
        assert np.abs(X - Y).max() <= KEPT * max(1.0, np.abs(X).max())


ROS = ("base", "tool0", "flange", "world", "tip", "tool", "camera_link")


def ros_arm(rng, n: int = 4):
    """An arm as ROS describes it: a root called base_link, a frame called base beside it, frames at the flange."""
    links, joints = [LinkDraft("base_link", described=False)], []
    for i in range(n):
        links.append(LinkDraft(f"link_{i + 1}", *random_body(rng)))
        joints.append(JointDraft(f"joint_{i + 1}", "revolute", links[-2].name, links[-1].name, random_pose(rng)))
    frames = [FrameDraft(name, links[k].name, random_pose(rng)) for name, k in zip(ROS, (0, n, n, 0, n, n, 2))]
    return build_robot("ros", links, joints, frames=frames, tip="tool0")


def test_mjcf_with_the_frames_of_ros_loads_again():
    """Also with one called "world", which in MJCF is the ground."""
    robot = ros_arm(rng := np.random.default_rng(23))
    for tip in ("tool0", "world"):
        named = robot.replace(tip=tip)
        written = to_mjcf(named)
        pytest.importorskip("mujoco").MjModel.from_xml_string(written)
        again = from_mjcf(written)
        assert again.tip == tip
        same_mechanics(named, again, rng, ROS)


@pytest.mark.parametrize("link", [1, 2, 3])
def test_a_link_called_world_is_no_body_of_mjcf(link):
    written = to_urdf(ros_arm(np.random.default_rng(29), 3)).replace('"world"', '"ground"')
    robot = from_urdf(written.replace(f'"link_{link}"', '"world"'))
    with pytest.raises(DescriptionError, match="'world'"):
        to_mjcf(robot)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_tables_with_the_frames_of_ros_load_again(convention, tmp_path):
    rng = np.random.default_rng(19)
    robot = ros_arm(rng)
    (tmp_path / "arm.urdf").write_text(to_urdf(robot), encoding="utf-8")
    out = tmp_path / "arm.toml"
    done = CliRunner().invoke(app, ["convert", str(tmp_path / "arm.urdf"), str(out), "--dh", convention])
    assert done.exit_code == 0, done.output
    again = mp.load(out)
    assert set(ROS) <= set(again.frame_names)
    assert again.base_link.name == "base_link"
    same_mechanics(robot, again, rng, frames=ROS)


@pytest.mark.parametrize(
    "name", [n for n in catalog_names() if load_catalog(n).is_numeric and load_catalog(n).is_chain]
)
def test_catalog_arms_survive_a_table(name):
    rng = np.random.default_rng(20)
    robot = load_catalog(name)
    for convention in ("standard", "modified"):
        same_mechanics(robot, mp.from_toml(dh_to_toml(to_dh(robot, convention))), rng)


pytestmark = pytest.mark.usefixtures("folder_for_the_log_of_mujoco")


def accepted_by_mujoco(robot, rng, tolerance=1e-10):
    """MuJoCo compiles the file and computes the same torques; our own reader gets the same robot."""
    mujoco = pytest.importorskip("mujoco")
    text = to_mjcf(robot)
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(model)
    index = [model.joint(n).dofadr[0] for n in robot.joint_names]
    q, qd, qdd = random_state(rng, robot.n)
    data.qpos[[model.joint(n).qposadr[0] for n in robot.joint_names]] = q
    data.qvel[index] = qd
    mujoco.mj_forward(model, data)
    M, acceleration = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    mujoco.mj_fullM(model, data, M)
    acceleration[index] = qdd
    truth = (M @ acceleration + data.qfrc_bias)[index]
    tau = np.array(inverse_dynamics(robot, q, qd, qdd), float)
    assert np.abs(tau - truth).max() <= tolerance * max(1.0, np.abs(truth).max())
    same_mechanics(robot, from_mjcf(text), rng)


def test_planar_arms_are_made_of_bodies_that_exist():
    arms = (
        mp.planar([1.0, 0.5], [1.0, 0.5]),
        mp.planar([0.4, 0.3, 0.2], [2, 1, 1], [0.1, 0.1, 0.1], [0.03, 0.01, 0.0]),
    )
    for robot in arms:
        assert not [f for f in mp.doctor(robot).findings if f.severity in ("warning", "error")]
        accepted_by_mujoco(robot, np.random.default_rng(3), 1e-12)
        for link in from_mjcf(to_mjcf(robot)).links:
            assert link.inertia[0][0] == 0.0  # what MuJoCo demands above zero is not taken for a property of the arm


def test_planar_dynamics_only_know_the_moment_about_z():
    robot = mp.planar([0.6], [1.5], [0.2], [0.07])
    assert mass_matrix(robot, [0.3])[0, 0] == pytest.approx(1.5 * 0.04 + 0.07, rel=1e-15)


@pytest.mark.parametrize("seed", range(12))
def test_joints_with_massless_links_between_are_one_body(seed):
    """Universal and spherical joints as hinges: MuJoCo wants their joints in the body that has the mass."""
    rng = np.random.default_rng(seed)
    links, joints = [LinkDraft("base", described=False)], []
    for i in range(6):
        light = i % 3 != 2
        links.append(LinkDraft(f"l{i}", described=False) if light else LinkDraft(f"l{i}", *random_body(rng)))
        kind = "prismatic" if rng.random() < 0.2 else "revolute"
        axis = np.eye(3)[i % 3] if seed % 2 else rng.normal(size=3)
        origin = Pose.of(None, rng.uniform(-0.3, 0.3, 3) * (seed % 4 > 1)) if seed % 3 else random_pose(rng)
        joints.append(
            JointDraft(f"j{i}", kind, links[-2].name, links[-1].name, origin, axis, rotor_inertia=0.1 * rng.random())
        )
    robot = build_robot("wrist", links, joints)
    accepted_by_mujoco(robot, rng)
    back = from_mjcf(to_mjcf(robot))
    assert [x.name for x in back.links] == [x.name for x in robot.links]
    same_mechanics(robot, back, rng, frames=[x.name for x in robot.links])


@pytest.mark.parametrize("seed", range(20))
def test_random_trees_are_accepted_or_refused_with_the_link(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(
        rng, 6, bool(seed % 2), oblique=True, limits=True, payload=True, massless=True, fixed=bool(seed % 3)
    )
    problem = ""
    try:
        to_mjcf(robot)
    except DescriptionError as error:
        problem = str(error)
    if problem:
        assert any(f"Link '{x.name}' moves and has no mass" in problem and x.mass == 0 for x in robot.links)
    else:
        accepted_by_mujoco(robot, rng)


def test_rods_and_points_in_any_direction():
    rng = np.random.default_rng(5)
    for moments in ((0.0, 0.2, 0.2), (0.0, 0.0, 0.0), (0.1, 0.2, 0.1 + 0.2), (1e-9, 0.3, 0.3)):
        for turned in (np.eye(3), rotation.from_rpy(*rng.uniform(-3, 3, 3))):
            tensor = turned @ np.diag(moments) @ turned.T
            links = [
                LinkDraft("base", described=False),
                LinkDraft("one", 2.0, (0.1, 0.2, 0.3), (tensor + tensor.T) / 2),
            ]
            robot = build_robot("rod", links, [JointDraft("j", "revolute", "base", "one")])
            accepted_by_mujoco(robot, rng)
            assert from_mjcf(to_mjcf(robot)).links[0].inertia == robot.links[0].inertia


def test_moments_of_no_body_are_refused():
    links = [LinkDraft("base", described=False), LinkDraft("one", 2.0, (0, 0, 0), np.diag([0.3, 0.3, 4.0]))]
    robot = build_robot("odd", links, [JointDraft("j", "revolute", "base", "one")])
    with pytest.raises(DescriptionError, match=r"0.3, 0.3, 4 .*'one'"):
        to_mjcf(robot)


def test_nearly_parallel_axes_keep_the_digits_or_are_refused_with_the_number():
    rng = np.random.default_rng(350)
    written = refused = 0
    for _ in range(120):
        tilt = 10 ** rng.uniform(-14, -1)
        links, joints = [LinkDraft("base", described=False)], []
        for i in range(int(rng.integers(2, 6))):
            angle = rng.uniform(0, 2 * math.pi)
            near = rotation.about_axis([math.cos(angle), math.sin(angle), 0.0], tilt)
            R = near if rng.random() < 0.6 else rotation.from_rpy(*rng.uniform(-3, 3, 3))
            links.append(LinkDraft(f"l{i}", *random_body(rng)))
            kind = "revolute" if rng.random() < 0.8 else "prismatic"
            joints.append(JointDraft(f"j{i}", kind, links[-2].name, f"l{i}", Pose.of(R, rng.uniform(-0.6, 0.6, 3))))
        robot = build_robot("tilted", links, joints)
        for convention in ("standard", "modified"):
            table, problem = None, ""
            try:
                table = to_dh(robot, convention)
            except DescriptionError as error:
                problem = str(error)
            if table is not None:
                written += 1
                same_mechanics(robot, table.to_robot(), rng)
            else:
                refused += 1
                assert "rad from parallel" in problem
                assert sum(f"'{j.name}'" in problem for j in robot.joints) == 2
    assert written > 40
    assert refused > 40


def test_urdf_and_table_agree_about_refusal(tmp_path):
    """The commands hand the sentence on; no half file is left."""
    near = rotation.about_axis([1.0, 0.0, 0.0], 1e-6)
    rng = np.random.default_rng(1)
    links = [LinkDraft("base", described=False), LinkDraft("a", *random_body(rng)), LinkDraft("b", *random_body(rng))]
    joints = [
        JointDraft("j1", "revolute", "base", "a"),
        JointDraft("j2", "revolute", "a", "b", Pose.of(near, (0.3, 0.2, 0.1))),
    ]
    robot = build_robot("near", links, joints)
    assert from_urdf(to_urdf(robot)).joint_names == ("j1", "j2")
    for name in ("near.txt", "near.xml"):
        source, out = tmp_path / "in.urdf", tmp_path / name
        source.write_text(to_urdf(robot), encoding="utf-8")
        done = CliRunner().invoke(app, ["convert", str(source), str(out), "--dh", "standard"])
        assert done.exit_code == 2
        assert not out.exists()


TOOL_URDF = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="fore"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="flange"/><link name="tool0"/>
<joint name="j1" type="continuous"><origin xyz="0 0.1 0.3" rpy="0.2 0 0"/><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
<joint name="j2" type="continuous"><origin xyz="0.5 0 0.1" rpy="0 0.4 0.3"/><parent link="upper"/><child link="fore"/><axis xyz="1 0 1"/></joint>
<joint name="f" type="fixed"><origin xyz="0.2 0.05 0" rpy="0.1 0.2 0.3"/><parent link="fore"/><child link="flange"/></joint>
<joint name="t" type="fixed"><origin xyz="0 0 0.15" rpy="0 0.7 0"/><parent link="flange"/><child link="tool0"/></joint></robot>"""
TOOL_MJCF = """<mujoco><worldbody><body name="upper" pos="0 0.1 0.3"><joint name="j1" axis="0 1 0"/><inertial pos="0.1 0 0" mass="2" diaginertia="0.1 0.1 0.1"/>
<body name="fore" pos="0.5 0 0.1" euler="10 20 30"><joint name="j2" axis="1 0 0" pos="0.1 0.2 0"/><inertial pos="0 0.1 0" mass="1" diaginertia="0.1 0.1 0.1"/>
<site name="flange" pos="0.2 0 0" euler="5 0 0"/><site name="pin" pos="0.3 0.1 0" euler="0 50 0"/></body></body></worldbody></mujoco>"""
TOOL_DH = """tool = { xyz = [0.1, 0, 0.2], rpy = [0, 0.3, 0] }
[dh]
convention = "standard"
rows = [{ a = 0.4, alpha = 0.3, mass = 1, inertia = [1, 1, 1] }, { a = 0.2, d = 0.1, alpha = -0.8, mass = 1, inertia = [1, 1, 1] }]
frame = [{ name = "camera", xyz = [0.1, 0.2, 0] }]
"""


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize(
    ("suffix", "text"), [(".urdf", TOOL_URDF), (".xml", TOOL_MJCF), (".toml", TOOL_DH), ("", "panda"), ("", "gen3"), ("", "ur5e"), ("", "iiwa14")]
)  # fmt: skip
def test_the_same_frame_is_the_tip_before_and_after_a_conversion_to_dh(tmp_path, convention, suffix, text) -> None:
    """Every frame of the last link, chosen before, after, or both: its pose once, and never a tool on top of a tool."""
    source = tmp_path / f"arm{suffix}"
    source.write_text(text, encoding="utf-8")
    plain = mp.load(source if suffix else text)
    names = [f.name for f in plain.frames if f.link == plain.n - 1]
    assert len(names) > 1
    q = np.random.default_rng(4).uniform(-1, 1, (3, plain.n))
    for first in names:
        robot = plain.replace(tip=first)
        for target, written in (("arm_dh.toml", dh_to_toml(to_dh(robot, convention))), ("table.txt", None)):
            if written is None:
                if any(j.armature != 0 for j in robot.joints):
                    continue
                written = to_table(robot)
            file = tmp_path / target
            file.write_text(written, encoding="utf-8")
            for later in (None, *names):
                expected = pose_of_tip(robot.replace(tip=later or first), q)
                assert np.abs(pose_of_tip(mp.load(file, tip=later), q) - expected).max() < 1e-12, (first, later)
            again = to_dh(mp.load(file), "modified").to_robot()  # and once more
            assert np.abs(pose_of_tip(again, q) - pose_of_tip(robot, q)).max() < 1e-12
            assert set(again.frame_names) - set(mp.load(file).frame_names) == set()


def pose_of_tip(robot, q):
    return np.array([pose(robot, row) for row in q], float)


def test_an_arm_without_a_tip_gets_none_by_conversion() -> None:
    forked = mp.from_urdf(
        TOOL_URDF.replace('<parent link="flange"/><child link="tool0"/>', '<parent link="fore"/><child link="tool0"/>')
    )
    robot = forked.replace(tip=None)
    assert mp.from_toml(dh_to_toml(to_dh(robot, "standard"))).tip is None
