"""What URDF and MJCF say beside the rigid bodies is taken over, refused, or told; never dropped without a word."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError

INERTIAL = '<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="1 1.5 1.2"/>'


def mjcf(inside: str = INERTIAL, after: str = "", before: str = "", joint: str = "") -> str:
    return (
        f'<mujoco model="m"><compiler angle="radian"/>{before}<worldbody><body name="a" pos="0 0 1">'
        f'<joint name="j" axis="0 1 0" {joint}/>{inside}</body></worldbody>{after}</mujoco>'
    )


@pytest.mark.parametrize(
    "inertial",
    [
        INERTIAL,
        INERTIAL.replace("/>", ' quat="1 0.2 0.1 0.3"/>'),
        '<inertial pos="0.1 0.2 0.3" mass="2" fullinertia="1 1.5 1.2 0.1 0.2 0.3"/>',
    ],
)
def test_an_inertial_inside_frames_stands_where_mujoco_has_it(inertial: str) -> None:
    frames = '<frame pos="1 2 3" euler="0.3 0.2 0.5"><frame euler="0 1 0">', "</frame></frame>"
    text = mjcf(inertial.join(frames))
    theirs = mujoco.MjModel.from_xml_string(text)
    link = mp.from_mjcf(text).links[0]
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, theirs.body_iquat[1])
    tensor = R.reshape(3, 3) @ np.diag(theirs.body_inertia[1]) @ R.reshape(3, 3).T
    np.testing.assert_allclose(link.com, theirs.body_ipos[1], atol=1e-14)
    np.testing.assert_allclose(np.array(link.inertia, float), tensor, atol=1e-14)


def limit_of(actuators: str, joint: str = "", before: str = "") -> float | None:
    return (
        mp.from_mjcf(mjcf(after=f"<actuator>{actuators}</actuator>", joint=joint, before=before))
        .joints[0]
        .limits.effort
    )


@pytest.mark.parametrize(
    ("actuators", "joint", "torque"),
    [
        ('<motor joint="j" gear="50" ctrlrange="-2 2"/>', "", 100),
        ('<motor joint="j" gear="-5" forcerange="-3 3" ctrlrange="-2 2"/>', "", 10),
        ('<general joint="j" gear="5" gainprm="4" ctrlrange="-2 2"/>', "", 40),
        ('<motor joint="j" ctrlrange="-2 2"/><motor joint="j" ctrlrange="-3 3"/>', "", 5),
        ('<motor joint="j" ctrlrange="-2 2"/>', 'actuatorfrcrange="-1 1"', 1),
        ('<motor joint="j" ctrlrange="-2 2"/><motor joint="j"/>', "", None),
        ('<motor joint="j" ctrllimited="false" ctrlrange="-2 2"/>', "", None),
        ('<position joint="j" kp="10" ctrlrange="-2 2"/>', "", None),
        ('<position joint="j" kp="10" forcerange="-2 2"/>', "", 2),
    ],
)
def test_ranges_of_actuators_bound_the_torque(actuators: str, joint: str, torque: float | None) -> None:
    """The largest torque that MuJoCo applies when the control asks for more than any range allows."""
    assert limit_of(actuators, joint) == torque
    model = mujoco.MjModel.from_xml_string(mjcf(after=f"<actuator>{actuators}</actuator>", joint=joint))
    data = mujoco.MjData(model)
    data.ctrl[:] = 1e6 * np.sign(model.actuator_gear[:, 0])
    mujoco.mj_forward(model, data)
    if torque is not None:
        assert data.qfrc_actuator[0] == pytest.approx(torque)
    elif "<position" not in actuators:
        assert data.qfrc_actuator[0] > 1e5


def notes_of(**parts: str) -> str:
    return "\n".join(mp.from_mjcf(mjcf(**parts)).notes)


def test_what_is_not_read_of_mjcf_is_told() -> None:
    servo = '<actuator><position joint="j" kp="3"/><motor site="s"/></actuator>'
    said = notes_of(inside=INERTIAL + '<site name="s"/>', after=servo)
    assert "1 <position> actuator(s): their control law is not read" in said
    assert "1 actuator(s) that drive no joint directly are not read" in said
    assert "is not symmetric" in notes_of(after='<actuator><motor joint="j" ctrlrange="-1 2"/></actuator>')
    assert "contact of geoms is not modelled" in notes_of(inside=INERTIAL + '<geom size="1" contype="0"/>')
    assert "joint limits are disabled" in notes_of(before='<option><flag limit="disable"/></option>')
    tendon = '<tendon><fixed name="t" range="0 1"><joint joint="j" coef="1"/></fixed></tendon>'
    assert "the limits of tendons are not read" in notes_of(after=tendon)


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ('<actuator><motor joint="jj"/></actuator>', "No joint named 'jj'. Did you mean 'j'"),
        ('<tendon><fixed damping="1"><joint joint="j" coef="1"/></fixed></tendon>', "with damping pulls"),
        ('<tendon><fixed frictionloss="1"><joint joint="j" coef="1"/></fixed></tendon>', "with frictionloss pulls"),
        ('<deformable><flex name="f"/></deformable>', "Deformable bodies are not modelled"),
        ('<equality><connect body1="a" anchor="0 0 1"/></equality>', "closes a loop"),
    ],
)
def test_what_would_change_the_motion_is_refused(after: str, words: str) -> None:
    with pytest.raises(DescriptionError, match=words):
        mp.from_mjcf(mjcf(after=after))


def test_forces_that_the_file_switches_off_are_off() -> None:
    """As MuJoCo computes it: passive and constraint forces of the same file."""
    rubbing = 'damping="3" frictionloss="2"'
    assert mp.from_mjcf(mjcf(joint=rubbing)).joints[0].friction == mp.friction.Coulomb(2.0, damping=3.0)
    for flag, law in (
        ("damper", mp.friction.Coulomb(2.0)),
        ("frictionloss", mp.friction.Viscous(3.0)),
        ("constraint", mp.friction.Viscous(3.0)),
    ):
        off = mjcf(joint=rubbing, before=f'<option><flag {flag}="disable"/></option>')
        assert mp.from_mjcf(off).joints[0].friction == law
        model = mujoco.MjModel.from_xml_string(off)
        data = mujoco.MjData(model)
        data.qvel[0] = 1.0
        mujoco.mj_forward(model, data)
        assert data.qfrc_passive[0] == (0.0 if flag == "damper" else -3.0)
        assert (data.qfrc_constraint[0] != 0.0) == (flag == "damper")


def urdf(inside: str = "", after: str = "", limit: str = "") -> str:
    return (
        '<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="revolute"><parent link="base"/><child link="arm"/>'
        f'<limit lower="-1" upper="1" effort="3" velocity="2" {limit}/>{inside}</joint>{after}</robot>'
    )


def transmission(ratio: str, joints: str = '<joint name="j"/>', motors: int = 1) -> str:
    motor = f'<actuator name="m"><mechanicalReduction>{ratio}</mechanicalReduction></actuator>'
    return f'<transmission name="t"><type>x</type>{joints}{motor * motors}</transmission>'


def test_reductions_are_honoured_told_or_refused() -> None:
    assert mp.from_urdf(urdf(after=transmission("50"))).joints[0].gear_ratio == 50
    ros2 = '<transmission name="t"><joint name="j"><mechanical_reduction>7</mechanical_reduction></joint><actuator name="m"/></transmission>'
    assert mp.from_urdf(urdf(after=ros2)).joints[0].gear_ratio == 7
    old = '<transmission name="t"><joint name="j"/><actuator name="m"/><mechanicalReduction>9</mechanicalReduction></transmission>'
    assert mp.from_urdf(urdf(after=old)).joints[0].gear_ratio == 9
    for strange in (transmission("50", motors=2), transmission("50", '<joint name="j"/><joint name="j"/>')):
        robot = mp.from_urdf(urdf(after=strange))
        assert robot.joints[0].gear_ratio == 1
        assert "couples several joints or actuators" in robot.notes[-1]
    assert "no joint 'elbow'" in mp.from_urdf(urdf(after=transmission("50", '<joint name="elbow"/>'))).notes[-1]
    with pytest.raises(DescriptionError, match="reduction must not be 0"):
        mp.from_urdf(urdf(after=transmission("0")))
    with pytest.raises(DescriptionError, match="The reduction is 50, but the gear ratio of joint 'j' is stated as 3"):
        mp.from_urdf(urdf('<manipula gear_ratio="3"/>', transmission("50")))


def test_what_is_not_read_of_urdf_is_told() -> None:
    soft = '<safety_controller k_velocity="1" k_position="1" soft_lower_limit="-0.5" soft_upper_limit="0.5"/>'
    robot = mp.from_urdf(urdf(soft + '<dynamics damping="1" spring_stiffness="4"/><wobble/>', "<gazebo/><gazebo/>"))
    said = "\n".join(robot.notes)
    assert "joint 'j': <safety_controller> is not read" in said
    assert "1 'spring_stiffness' in <dynamics> not part of URDF" in said
    assert "1 <wobble> in <joint> not part of URDF" in said
    assert "2 <gazebo> not part of URDF" in said
    assert mp.from_urdf(urdf()).notes == ()


def test_limits_of_acceleration_and_jerk_are_read() -> None:
    limits = mp.from_urdf(urdf(limit='acceleration="5" jerk="40"')).joints[0].limits
    assert (limits.acceleration, limits.jerk) == (5.0, 40.0)
