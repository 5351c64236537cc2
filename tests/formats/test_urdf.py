"""URDF in and out: Pinocchio reads the same file and must get the same torques and frames."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manipula.algebra.rotation import from_rpy
from manipula.errors import DescriptionError
from manipula.formats.urdf import from_urdf, read_urdf, to_urdf
from manipula.physics.kinematics import poses
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot import Robot
from manipula.robot.drives import Rigid
from manipula.robot.friction import Coulomb, LuGre, Viscous
from strategies import FEATURES, random_robot, random_state, robots
from xml_variants import shuffle_urdf, vary

SAME_DYNAMICS = 1e-12  # relative to the largest torque; a dozen frames composed twice in another order
SAME_FRAMES = 1e-13  # metres and sines, up to a dozen frames in a row

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><mass value="2"/>
      <inertia ixx="0.03" iyy="0.02" izz="0.04" ixy="0.001" ixz="-0.002" iyz="0.003"/></inertial>
    <visual><geometry><mesh filename="package://arm/upper.stl"/></geometry></visual>
  </link>
  <link name="slider">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="tool"><inertial><origin xyz="0 0 0.05"/><mass value="0.5"/>
      <inertia ixx="0.001" iyy="0.002" izz="0.0025" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="continuous"><origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/><parent link="base"/>
    <child link="upper"/><axis xyz="0 3 4"/><limit effort="20" velocity="3"/><dynamics damping="0.7" friction="0.2"/></joint>
  <joint name="slide" type="prismatic"><origin xyz="0.3 0 0" rpy="0.1 0.2 0.3"/><parent link="upper"/><child link="slider"/>
    <limit lower="-0.1" upper="0.4" effort="50" velocity="1"/></joint>
  <joint name="weld" type="fixed"><origin xyz="0 0.1 0" rpy="0 0 1"/><parent link="slider"/><child link="tool"/></joint>
  <transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="turn"/>
    <actuator name="motor"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>
</robot>"""


pytestmark = pytest.mark.usefixtures("folder_for_the_log_of_mujoco")


def torques(robot: Robot, state) -> np.ndarray:
    return np.array(inverse_dynamics(robot, *state), float)


def pinocchio_torques(text: str, robot: Robot, state) -> np.ndarray:
    """Pinocchio's torques for URDF text, in the robot's order of joints."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(text)
    model.gravity.linear = np.array(robot.gravity, float)
    data = model.createData()
    joints = [model.joints[model.getJointId(name)] for name in robot.joint_names]
    index = [j.idx_v for j in joints]
    q, v, a = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
    for j, x in zip(joints, state[0]):
        q[j.idx_q : j.idx_q + j.nq] = (math.cos(x), math.sin(x)) if j.nq == 2 else x
    v[index], a[index] = state[1], state[2]
    model.armature[index] = [float(j.armature) for j in robot.joints]
    return pin.rnea(model, data, q, v, a)[index]


def assert_same_dynamics(a: Robot, b: Robot, state) -> None:
    index = [b.joint_names.index(name) for name in a.joint_names]
    there = [np.empty(b.n) for _ in range(3)]
    for target, source in zip(there, state):
        target[index] = source
    x, y = torques(a, state), torques(b, there)[index]
    assert np.abs(x - y).max() <= SAME_DYNAMICS * max(1.0, np.abs(x).max())


def assert_same_frames(a: Robot, b: Robot, q) -> None:
    index = [b.joint_names.index(name) for name in a.joint_names]
    there = np.empty(b.n)
    there[index] = q
    assert set(a.frame_names) <= set(b.frame_names)
    x = np.array(poses(a, q, a.frame_names), float)
    y = np.array(poses(b, there, a.frame_names), float)
    assert np.abs(x - y).max() <= SAME_FRAMES * max(1.0, np.abs(x).max())


def test_every_field_of_a_small_arm():
    robot = from_urdf(ARM)
    assert (robot.name, robot.joint_names, robot.tip) == ("arm", ("turn", "slide"), "tool")
    turn, slide = robot.joints
    assert (turn.kind, slide.kind) == ("revolute", "prismatic")
    assert turn.axis == pytest.approx((0.0, 0.6, 0.8))
    assert slide.axis == (1.0, 0.0, 0.0)  # URDF's default
    assert (turn.limits.lower, turn.limits.upper, turn.limits.effort, turn.limits.velocity) == (None, None, 20.0, 3.0)
    assert (slide.limits.lower, slide.limits.upper) == (-0.1, 0.4)
    assert turn.friction == Coulomb(0.2, damping=0.7)
    assert turn.gear_ratio == 50.0
    R = from_rpy(0.4, -0.5, 0.6)
    tensor = np.array([[0.03, 0.001, -0.002], [0.001, 0.02, 0.003], [-0.002, 0.003, 0.04]])
    np.testing.assert_allclose(robot.links[0].inertia, R @ tensor @ R.T, atol=1e-16)
    assert robot.links[0].com == (0.1, 0.2, 0.3)
    assert robot.links[1].mass == 1.5  # slider and tool, merged
    assert {"base", "upper", "slider", "tool"} <= set(robot.frame_names)
    assert robot.notes[0] == "1 mesh is named: for pictures, no mass comes from it."
    assert len(robot.notes) == 2  # and it is not there to be looked at


def test_torques_are_those_of_pinocchio():
    rng = np.random.default_rng(7)
    robot = from_urdf(ARM)
    for _ in range(20):
        state = random_state(rng, robot.n)
        truth = pinocchio_torques(ARM, robot, state)
        assert np.abs(torques(robot, state) - truth).max() <= SAME_DYNAMICS * max(1.0, np.abs(truth).max())


def test_of_two_inertials_the_first_counts_as_in_pinocchio():
    first = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = ARM.replace(first, first + first.replace('value="1"', 'value="7"'))
    robot, state = from_urdf(text), random_state(np.random.default_rng(3), 2)
    assert robot == from_urdf(ARM)
    assert "link 'slider', line 9: of 2 <inertial> elements the first counts, the others are ignored." in robot.notes
    truth = pinocchio_torques(text, robot, state)
    assert np.abs(torques(robot, state) - truth).max() <= SAME_DYNAMICS * max(1.0, np.abs(truth).max())


def test_a_reduction_in_words_is_told_and_a_rotor_is_read():
    robot = from_urdf(ARM.replace(">50<", ">harmonic<"))
    assert robot.joints[0].gear_ratio == 1.0
    assert (
        "<transmission name='t'>, line 19: <mechanicalReduction> is 'harmonic', no number; it is not read."
        in robot.notes
    )
    drake = '<actuator name="motor"><drake:rotor_inertia value="2e-5"/><drake:gear_ratio value="80"/></actuator>'
    ros = '<actuator name="motor"><rotorInertia>2e-5</rotorInertia><mechanicalReduction>80</mechanicalReduction></actuator>'
    old = '<actuator name="motor"><mechanicalReduction>50</mechanicalReduction></actuator>'
    for motor in (drake, ros):
        turn = from_urdf(ARM.replace(old, motor)).joints[0]
        assert (turn.rotor_inertia, turn.gear_ratio) == (2e-5, 80.0)
    with pytest.raises(DescriptionError, match="rotor inertia"):
        from_urdf(ARM.replace(old, drake.replace("2e-5", "-2e-5")))
    with pytest.raises(
        DescriptionError, match="rotor inertia is 2e-05, but the rotor inertia of joint 'turn' is stated as 1"
    ):
        from_urdf(ARM.replace(old, drake).replace("<dynamics", '<manipula rotor_inertia="1"/><dynamics'))
    two = from_urdf(ARM.replace(old, drake + drake.replace("motor", "other")))
    assert two.joints[0].rotor_inertia == 0.0
    assert sum("couples several joints or actuators" in note for note in two.notes) == 2


def test_frames_are_those_of_pinocchio():
    pin = pytest.importorskip("pinocchio")
    text = ARM.replace('type="continuous"', 'type="revolute"').replace(
        "<limit effort", '<limit lower="-9" upper="9" effort'
    )
    model = pin.buildModelFromXML(text)
    data = model.createData()
    q = np.array([0.7, 0.2])
    pin.framesForwardKinematics(model, data, q)
    robot = from_urdf(text)
    for name in ("upper", "slider", "tool"):
        truth = data.oMf[model.getFrameId(name)].homogeneous
        np.testing.assert_allclose(np.array(poses(robot, q, (name,))[0], float), truth, atol=SAME_FRAMES)


def test_limits_that_are_left_out():
    def limits(element: str, kind: str = "revolute"):
        ends = '<parent link="a"/><child link="b"/>'
        joint = f'<joint name="j" type="{kind}">{ends}{element}</joint>'
        text = f'<robot name="r"><link name="a"/><link name="b"/>{joint}</robot>'
        return from_urdf(text).joints[0].limits

    assert limits("").lower is None
    assert (limits('<limit upper="2" effort="1" velocity="1"/>').lower) == 0.0  # URDF's default when the other is given
    assert limits('<limit effort="1" velocity="1"/>').upper is None
    assert limits('<limit lower="1" upper="2" effort="5" velocity="1"/>', "continuous").lower is None
    assert limits('<limit lower="-1.79769e+308" upper="1.79769e+308" effort="0" velocity="0"/>').effort == 0.0


def test_tip_can_be_chosen_and_is_checked():
    assert from_urdf(ARM, tip="upper").tip == "upper"
    with pytest.raises(DescriptionError, match="Did you mean 'tool'"):
        from_urdf(ARM, tip="tol")


def test_file_path_and_text_give_the_same_robot(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM, encoding="utf-8")
    assert read_urdf(path) == from_urdf(ARM) == from_urdf(str(path)) == from_urdf(ARM.encode())


@settings(max_examples=60, deadline=None)
@given(robots(), st.integers(0, 2**32 - 1))
def test_round_trip_keeps_dynamics_frames_and_fields(robot, seed):
    state = random_state(np.random.default_rng(seed), robot.n)
    once = from_urdf(to_urdf(robot))
    again = from_urdf(to_urdf(once))
    for other in (once, again):
        assert_same_dynamics(robot, other, state)
        assert_same_frames(robot, other, state[0])
        assert other.joint_names == robot.joint_names
        assert other.tip == robot.tip
        assert [j.limits for j in other.joints] == [j.limits for j in robot.joints]
        assert [(j.rotor_inertia, j.gear_ratio, j.friction) for j in other.joints] == [
            (j.rotor_inertia, j.gear_ratio, j.friction) for j in robot.joints
        ]
        np.testing.assert_allclose(np.array(other.base.matrix(), float), robot.base.matrix(), atol=SAME_FRAMES)
        np.testing.assert_allclose(np.array(other.tool.matrix(), float), robot.tool.matrix(), atol=SAME_FRAMES)
        assert other.payload == robot.payload


@settings(max_examples=40, deadline=None)
@given(robots(), st.integers(0, 2**32 - 1))
def test_other_programs_compute_the_same_from_what_is_written(robot, seed):
    state = random_state(np.random.default_rng(seed), robot.n)
    truth = pinocchio_torques(to_urdf(robot), robot, state)
    assert np.abs(torques(robot, state) - truth).max() <= SAME_DYNAMICS * max(1.0, np.abs(truth).max())


def test_mujoco_reads_what_is_written():
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(11)
    features: dict[str, Any] = dict.fromkeys(FEATURES, True) | {"massless": False}
    for n in (1, 4, 6):
        robot = random_robot(rng, n, **features)
        assert mujoco.MjModel.from_xml_string(to_urdf(robot)).nv == n


@settings(max_examples=50, deadline=None)
@given(robots(), st.integers(0, 2**32 - 1))
def test_legal_files_are_never_refused_however_they_are_written(robot, seed):
    rng = np.random.default_rng(seed)
    other = from_urdf(vary(to_urdf(robot), rng, shuffle_urdf))
    state = random_state(rng, robot.n)
    assert_same_dynamics(robot, other, state)
    assert_same_frames(robot, other, state[0])
    by_name = {j.name: j for j in other.joints}
    for j in robot.joints:
        assert by_name[j.name].limits == j.limits
        assert by_name[j.name].friction == j.friction


def test_origins_at_gimbal_lock_survive():
    for pitch in (math.pi / 2, 1.5707963, 1.5707963267, -1.57079632679, math.pi / 2 - 1e-12, 1.5708):
        text = ARM.replace("0 1.5707963267948966 0", f"0.3 {pitch!r} -0.2")
        assert_same_frames(from_urdf(text), from_urdf(to_urdf(from_urdf(text))), np.array([0.3, 0.1]))


def test_friction_laws_and_drives_survive():
    laws = [
        Viscous(0.0), Viscous(1.5), Coulomb(0.0), Coulomb(2.0), Coulomb(2.0, width=0.1, damping=0.3),
        LuGre(1e4, 30.0, 0.1, 0.01, 0.3, 0.2, diameter=0.04),
    ]  # fmt: skip
    for law in laws:
        robot = from_urdf(ARM)
        first = robot.joints[0].__class__(**{**robot.joints[0].__dict__, "friction": law, "drive": Rigid()})
        changed = robot.replace(joints=(first, robot.joints[1]))
        back = from_urdf(to_urdf(changed))
        assert back.joints[0].friction == law
        assert back.joints[0].drive == Rigid()


def test_names_with_signs_of_xml_survive():
    robot = from_urdf(
        ARM.replace('name="tool"', 'name="a&lt;b&amp;&quot;c&apos; é"').replace(
            '"tool"', '"a&lt;b&amp;&quot;c&apos; é"'
        )
    )
    assert "a<b&\"c' é" in robot.frame_names
    assert from_urdf(to_urdf(robot)).frame_names == robot.frame_names


def test_free_parameters_cannot_be_written():
    import sympy

    robot = from_urdf(ARM)
    link = robot.links[0].__class__("upper", mass=sympy.Symbol("m1"))
    with pytest.raises(DescriptionError, match="free parameters m1"):
        to_urdf(robot.replace(links=(link, robot.links[1])))


def test_a_long_chain_is_written_and_read():
    robot = random_robot(np.random.default_rng(2), 300)
    assert from_urdf(to_urdf(robot)).n == 300


def test_what_is_edited_in_urdf_words_wins_over_the_extension():
    robot = from_urdf(ARM)
    slide = robot.joints[1]
    open_ended = slide.__class__(
        **{**slide.__dict__, "limits": slide.limits.__class__(lower=-0.1), "friction": Coulomb(2.0, width=0.1)}
    )
    text = to_urdf(robot.replace(joints=(robot.joints[0], open_ended)))
    assert from_urdf(text).joints[1].limits.upper is None
    edited = from_urdf(text.replace('upper="1000000000"', 'upper="0.5"').replace('friction="2"', 'friction="3"'))
    assert edited.joints[1].limits.upper == 0.5
    assert edited.joints[1].friction == Coulomb(3.0)
