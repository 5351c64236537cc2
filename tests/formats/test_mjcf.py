"""MJCF in and out: MuJoCo compiles the same file and must get the same mass matrix, bias forces and frames."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from manipula.errors import DescriptionError
from manipula.formats.mjcf import from_mjcf, read_mjcf, to_mjcf
from manipula.formats.urdf import from_urdf, to_urdf
from manipula.physics.kinematics import poses
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot import Robot
from manipula.robot.drives import Rigid
from manipula.robot.friction import Coulomb, LuGre, Viscous
from strategies import random_robot, random_state, robots
from xml_variants import shuffle_mjcf, vary

SAME_DYNAMICS = 1e-12  # relative to the largest torque
SAME_FRAMES = 1e-13  # metres and sines
DIAGONALISED = 1e-10  # MuJoCo turns a full inertia into principal axes by its own iteration, stopped at 1e-12

INERTIAL = '<inertial pos="0.1 -0.2 0.3" mass="1.5" euler="10 20 30" diaginertia="0.03 0.02 0.04"/>'


pytestmark = pytest.mark.usefixtures("folder_for_the_log_of_mujoco")


def model_of(text: str):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= int(
        mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    )  # limits and dry friction are constraints there
    return mujoco, model, mujoco.MjData(model)


def mujoco_answers(text: str, names: tuple[str, ...], state, sites=(), bodies=()):
    """``M qdd + bias`` in the order of ``names``, and the poses of sites and bodies."""
    mujoco, model, data = model_of(text)
    index = [model.joint(n).dofadr[0] for n in names]
    data.qpos[[model.joint(n).qposadr[0] for n in names]] = state[0]
    data.qvel[index] = state[1]
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    qdd = np.zeros(model.nv)
    qdd[index] = state[2]
    found = {}
    for kind, wanted in (("site", sites), ("body", bodies)):
        for name in wanted:
            item = data.site(name) if kind == "site" else data.body(name)
            T = np.eye(4)
            T[:3, :3], T[:3, 3] = np.array(item.xmat).reshape(3, 3), np.array(item.xpos)
            found[name] = T
    return (M @ qdd + data.qfrc_bias)[index], found


def written(robot: Robot) -> str:
    """Its MJCF; a robot whose massless links MuJoCo has no form for is refused with that reason, and another is drawn."""
    try:
        return to_mjcf(robot)
    except DescriptionError as error:
        assume("moves and has no mass" not in str(error))
        raise


def torques(robot: Robot, state) -> np.ndarray:
    return np.array(inverse_dynamics(robot, *state), float)


def assert_agrees_with_mujoco(text: str, tolerance: float = SAME_DYNAMICS, sites=(), bodies=()) -> Robot:
    robot = from_mjcf(text)
    rng = np.random.default_rng(5)
    for _ in range(3):
        state = random_state(rng, robot.n)
        truth, frames = mujoco_answers(text, robot.joint_names, state, sites, bodies)
        assert np.abs(torques(robot, state) - truth).max() <= tolerance * max(1.0, np.abs(truth).max())
        for name, T in frames.items():
            own = np.array(poses(robot, state[0], (name,))[0], float)
            np.testing.assert_allclose(own, T, atol=SAME_FRAMES)
    return robot


def arm(above: str = "", first: str = "", joint: str = "", inertial: str = INERTIAL, inside: str = "") -> str:
    """Two links; the arguments fill in what a test is about."""
    return f"""<mujoco model="arm">{above}<worldbody>
      <geom type="plane" size="1 1 1"/><light pos="0 0 3"/>
      <body name="one" pos="0.1 0.2 0.3" {first}>{inertial}<joint name="j1" axis="1 2 3" {joint}/>
        <geom type="sphere" size="0.1" mass="0"/>
        <body name="two" pos="0.4 0 0" quat="1 2 3 4">{INERTIAL}<joint name="j2" type="slide" axis="0 1 1"/>{inside}
          <site name="end" pos="0 0.1 0.2" zaxis="1 2 3"/>
        </body></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    "sequence", ["".join(s) for s in itertools.product("xZ", "Yz", "xyZ")] + ["xyz", "XYZ", "zxz", "ZYX"]
)
@pytest.mark.parametrize("angle", ["degree", "radian"])
def test_euler_sequences(sequence, angle):
    text = arm(f'<compiler eulerseq="{sequence}" angle="{angle}"/>', 'euler="10 -0.5 0.7"')
    assert_agrees_with_mujoco(text, sites=("end",), bodies=("one", "two"))


@pytest.mark.parametrize(
    "orientation",
    [
        'quat="2 0 1 -1"', 'axisangle="1 2 -3 40"', 'xyaxes="1 1 0 0 1 1"', 'zaxis="1 -2 3"', 'zaxis="0 0 -1"', 'zaxis="0 0 5"',
        'euler="90 0 0"', 'euler="30 40 50"', "",
    ],
)  # fmt: skip
def test_orientations(orientation):
    text = arm(first=orientation, inside=f'<site name="s" pos="1 2 3" {orientation}/>')
    assert_agrees_with_mujoco(text, sites=("end", "s"), bodies=("one", "two"))


@pytest.mark.parametrize(
    "inertial",
    [
        '<inertial pos="0 0 0" mass="2" diaginertia="1 2 2.5"/>',
        '<inertial pos="1 0 0" mass="2" quat="1 1 0 0" diaginertia="1 2 2.5"/>',
        '<inertial pos="0 1 0" mass="2" axisangle="1 1 1 70" diaginertia="1 2 2.5"/>',
        '<inertial pos="0 1 0" mass="2" xyaxes="0 1 0 -1 0 1" diaginertia="1 2 2.5"/>',
        '<inertial pos="0 1 0" mass="2" zaxis="1 0 1" diaginertia="1 2 2.5"/>',
        '<inertial pos="0 1 1" mass="2" fullinertia="3 4 5 0.1 -0.2 0.3"/>',
    ],
)
def test_inertials(inertial):
    assert_agrees_with_mujoco(arm(inertial=inertial), DIAGONALISED)


@pytest.mark.parametrize(
    "joint",
    [
        'pos="0.1 0.2 -0.3"',
        'ref="30"',
        'pos="1 0 0" ref="-100"',
        'armature="0.3"',
        'type="slide" ref="0.2"',
        'type="slide" pos="1 2 3"',
    ],
)
def test_joints(joint):
    assert_agrees_with_mujoco(arm(joint=joint), sites=("end",), bodies=("one", "two"))


def test_reference_and_range_are_degrees_for_hinges_only():
    text = arm(joint='range="-90 45" actuatorfrcrange="-3 5"').replace('axis="0 1 1"', 'axis="0 1 1" range="-0.1 0.2"')
    one, two = assert_agrees_with_mujoco(text).joints
    assert (one.limits.lower, one.limits.upper, one.limits.effort) == (-math.pi / 2, math.pi / 4, 5.0)
    assert (two.limits.lower, two.limits.upper) == (-0.1, 0.2)
    free = from_mjcf(arm(joint='range="-90 45" limited="false"')).joints[0]
    assert free.limits.lower is None
    bare = from_mjcf(arm(joint='range="0 0"')).joints[0]
    assert bare.limits.lower is None


def test_classes_fill_in_what_a_joint_leaves_out():
    above = """<default><joint damping="1" armature="0.1"/>
        <default class="big"><joint armature="0.5" frictionloss="0.3" range="-10 10"/>
          <default class="huge"><joint axis="0 1 0"/></default></default></default>"""
    text = f"""<mujoco>{above}<worldbody><body childclass="big">{INERTIAL}<joint name="a"/>
        <body>{INERTIAL}<joint name="b" class="huge"/><body childclass="main">{INERTIAL}<joint name="c"/>
        <frame childclass="huge" pos="1 0 0"><body>{INERTIAL}<joint name="d"/></body></frame></body></body></body></worldbody></mujoco>"""
    robot = assert_agrees_with_mujoco(text)
    assert [j.armature for j in robot.joints] == [0.5, 0.5, 0.1, 0.5]
    assert [j.friction for j in robot.joints] == [Coulomb(0.3, damping=1.0)] * 2 + [
        Viscous(1.0),
        Coulomb(0.3, damping=1.0),
    ]
    assert robot.joints[1].axis == robot.joints[3].axis == (0.0, 1.0, 0.0)


def test_several_joints_in_one_body_and_bodies_without_any():
    text = f"""<mujoco><worldbody><body name="stand" pos="0 0 1" euler="0 20 0"><geom size="0.1"/>
      <body name="shoulder">{INERTIAL}<joint name="x" axis="1 0 0" pos="0 0.1 0"/><joint name="y" axis="0 1 0" ref="20"/>
        <joint name="z" type="slide" axis="0 0 2"/>
        <body name="plate" pos="0.3 0 0" axisangle="1 0 0 30">{INERTIAL}<site name="mark" pos="0 0 0.1"/>
          <body name="hand" pos="0 0.2 0">{INERTIAL}<joint name="w" axis="1 1 0" pos="0.05 0 0"/></body></body>
      </body></body></worldbody></mujoco>"""
    robot = assert_agrees_with_mujoco(text, sites=("mark",), bodies=("stand", "shoulder", "plate", "hand"))
    assert robot.joint_names == ("x", "y", "z", "w")
    assert robot.n == 4


def test_frames_carry_their_pose_to_bodies_sites_and_joints():
    text = f"""<mujoco><worldbody><frame pos="1 2 3" euler="10 20 30"><frame pos="0 0 1">
      <body name="one" pos="0.5 0 0" euler="0 0 40">{INERTIAL}<frame pos="0.1 0 0" euler="90 0 0"><joint name="j" pos="0 1 0"/>
      <site name="s" pos="1 1 1"/></frame></body></frame></frame></worldbody></mujoco>"""
    assert_agrees_with_mujoco(text, sites=("s",), bodies=("one",))


def test_sites_between_two_points():
    text = arm(inside='<site name="rod" type="capsule" size="0.01" fromto="0 0 0 1 2 3"/>')
    assert_agrees_with_mujoco(text, sites=("rod",))


def test_gravity_and_its_switch():
    assert from_mjcf(arm()).gravity == (0.0, 0.0, -9.81)
    assert assert_agrees_with_mujoco(arm('<option gravity="1 2 -3"/>')).gravity == (1.0, 2.0, -3.0)
    assert assert_agrees_with_mujoco(arm('<option><flag gravity="disable"/></option>')).gravity == (0.0, 0.0, 0.0)


def test_armature_and_force_of_motors():
    text = arm().replace(
        "</mujoco>",
        '<actuator><motor joint="j1" gear="50" armature="0.001" damping="0.0002" forcerange="-2 2"/></actuator></mujoco>',
    )
    robot = from_mjcf(text)
    assert (robot.joints[0].rotor_inertia, robot.joints[0].gear_ratio) == (0.001, 50.0)
    assert robot.joints[0].friction == Viscous(0.5)
    assert robot.joints[0].limits.effort == 100.0
    mujoco = pytest.importorskip("mujoco")
    if mujoco.mj_versionString() >= "4":
        assert_agrees_with_mujoco(text)


@pytest.mark.parametrize("dynamics", ["none", "filter", "filterexact", "integrator"])
def test_a_filter_stays_within_the_controls(dynamics):
    motor = f'<general joint="j1" gear="2" gainprm="5" dyntype="{dynamics}" ctrlrange="-3 3"/>'
    robot = from_mjcf(arm().replace("</mujoco>", f"<actuator>{motor}</actuator></mujoco>"))
    assert robot.joints[0].limits.effort == (None if dynamics == "integrator" else 30.0)
    assert any("control law" in note for note in robot.notes) == (dynamics != "none")


def test_sections_may_be_repeated_and_come_in_any_order():
    text = f"""<mujoco><worldbody><body euler="1 2 3">{INERTIAL}<joint name="a"/></body></worldbody><compiler angle="radian"/>
      <worldbody><body>{INERTIAL}<joint name="b"/></body></worldbody><compiler eulerseq="ZYX"/><default><joint armature="1"/></default>
      <default><joint damping="2"/></default></mujoco>"""
    robot = assert_agrees_with_mujoco(text)
    assert [j.armature for j in robot.joints] == [1.0, 1.0]


def test_names_are_made_up_without_collisions():
    text = f"""<mujoco><worldbody><body>{INERTIAL}<joint/><body name="body">{INERTIAL}<joint/><joint name="body_joint"/></body>
      <body>{INERTIAL}<joint/><site name="body"/></body></body></worldbody></mujoco>"""
    robot = from_mjcf(text)
    assert robot.n == 4
    assert len(set(robot.joint_names)) == 4
    assert "body_joint" in robot.joint_names


def test_geoms_that_weigh_nothing_are_not_guessed_about():
    above = (
        '<compiler inertiagrouprange="0 1"/><default><default class="visual"><geom density="0"/></default></default>'
    )
    geoms = '<geom size="1" class="visual"/><geom size="1" group="2"/><geom size="1" mass="0"/>'
    text = f"<mujoco>{above}<worldbody><geom size='1'/><body><joint name='a'/>{geoms}<body>{INERTIAL}</body></body></worldbody></mujoco>"
    assert_agrees_with_mujoco(text)


@settings(max_examples=50, deadline=None)
@given(robots(), st.integers(0, 2**32 - 1))
def test_round_trip_keeps_dynamics_frames_and_fields(robot, seed):
    state = random_state(np.random.default_rng(seed), robot.n)
    tau = torques(robot, state)
    once = from_mjcf(written(robot))
    for other in (once, from_mjcf(to_mjcf(once)), from_urdf(to_urdf(once))):
        assert other.joint_names == robot.joint_names
        assert np.abs(tau - torques(other, state)).max() <= SAME_DYNAMICS * max(1.0, np.abs(tau).max())
        assert set(other.frame_names) == set(robot.frame_names)
        x, y = (np.array(poses(r, state[0], robot.frame_names), float) for r in (robot, other))
        assert np.abs(x - y).max() <= SAME_FRAMES * max(1.0, np.abs(x).max())
        assert (other.tip, other.gravity) == (robot.tip, robot.gravity)
        assert [j.limits for j in other.joints] == [j.limits for j in robot.joints]
        assert [(j.rotor_inertia, j.gear_ratio, j.friction) for j in other.joints] == [
            (j.rotor_inertia, j.gear_ratio, j.friction) for j in robot.joints
        ]
        assert (other.payload is None) == (robot.payload is None)


@settings(max_examples=40, deadline=None)
@given(robots(), st.integers(0, 2**32 - 1))
def test_mujoco_computes_the_same_from_what_is_written(robot, seed):
    state = random_state(np.random.default_rng(seed), robot.n)
    truth, _ = mujoco_answers(written(robot), robot.joint_names, state)
    assert np.abs(torques(robot, state) - truth).max() <= DIAGONALISED * max(1.0, np.abs(truth).max())


@settings(max_examples=40, deadline=None)
@given(robots(), st.integers(0, 2**32 - 1))
def test_legal_files_are_never_refused_however_they_are_written(robot, seed):
    rng = np.random.default_rng(seed)
    other = from_mjcf(vary(written(robot), rng, shuffle_mjcf))
    state = random_state(rng, robot.n)
    tau = torques(robot, state)
    assert other.joint_names == robot.joint_names
    assert np.abs(tau - torques(other, state)).max() <= SAME_DYNAMICS * max(1.0, np.abs(tau).max())


def test_friction_laws_and_drives_survive():
    for law in (
        Viscous(1.5),
        Coulomb(2.0, width=0.1, damping=0.3),
        LuGre(1e4, 30.0, 0.1, 0.01, 0.3, 0.2, diameter=0.04),
    ):
        robot = from_mjcf(arm())
        first = robot.joints[0].__class__(**{**robot.joints[0].__dict__, "friction": law, "drive": Rigid()})
        back = from_mjcf(to_mjcf(robot.replace(joints=(first, robot.joints[1]))))
        assert (back.joints[0].friction, back.joints[0].drive) == (law, Rigid())


@pytest.mark.parametrize("angle", ["degree", "radian"])
@pytest.mark.parametrize("kind", ["hinge", "slide"])
def test_springs_are_drives(angle, kind):
    spring = f'type="{kind}" stiffness="7" springref="0.3" ref="0.1"'
    text = arm(f'<compiler angle="{angle}"/>', joint=spring)
    robot = assert_agrees_with_mujoco(text)
    for once in (robot, from_mjcf(to_mjcf(robot))):
        drive = once.joints[0].drive
        mujoco, model, data = model_of(text)
        data.qpos[:] = (0.7, 0.2)
        mujoco.mj_forward(model, data)
        assert drive.torque(0.0, 0.0, 0.7, 0.0, (), 0.0) == pytest.approx(data.qfrc_spring[0], rel=1e-14)
        assert once.joints[1].drive is None
    written = to_mjcf(robot)
    assert from_mjcf(written.replace('stiffness="7"', 'stiffness="8"')).joints[0].drive.stiffness == 8.0
    off = text.replace("<worldbody>", '<option><flag spring="disable"/></option><worldbody>')
    assert from_mjcf(off).joints[0].drive is None


def test_gravity_compensation_of_every_body_is_a_smaller_gravity():
    text = arm(first='gravcomp="0.75"').replace('<body name="two"', '<body name="two" gravcomp="0.75"')
    robot = from_mjcf(text)
    assert robot.gravity == (0.0, 0.0, -9.81 / 4)
    mujoco, model, data = model_of(text)
    state = random_state(np.random.default_rng(2), 2)
    data.qpos[:], data.qvel[:] = state[:2]
    mujoco.mj_forward(model, data)
    M = np.zeros((2, 2))
    mujoco.mj_fullM(model, data, M)
    truth = M @ state[2] + data.qfrc_bias - data.qfrc_gravcomp
    assert np.abs(torques(robot, state) - truth).max() <= SAME_DYNAMICS * np.abs(truth).max()


def test_files_that_nothing_opens_may_lie_anywhere():
    text = arm('<asset><mesh name="m" file="../../etc/passwd"/><texture file="/dev/zero" type="2d"/></asset>')
    assert any("outside the folder" in note for note in from_mjcf(text).notes)


def test_an_edited_armature_wins_over_the_words_beside_it():
    robot = random_robot(np.random.default_rng(3), 1, drives=True)
    text = to_mjcf(robot)
    stated = f'armature="{robot.joints[0].armature!r}"'
    assert stated in text
    edited = from_mjcf(text.replace(stated, 'armature="0.25"'))
    assert edited.joints[0].armature == 0.25


def test_file_path_and_text_give_the_same_robot(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(arm(), encoding="utf-8")
    assert read_mjcf(path) == from_mjcf(arm()) == from_mjcf(str(path))
    nameless = tmp_path / "nameless.xml"
    nameless.write_text(arm().replace(' model="arm"', ""), encoding="utf-8")
    assert read_mjcf(nameless).name == "nameless"


def test_free_parameters_cannot_be_written():
    import sympy

    robot = from_mjcf(arm())
    with pytest.raises(DescriptionError, match="free parameters g"):
        to_mjcf(robot.replace(gravity=(0, 0, -sympy.Symbol("g"))))
