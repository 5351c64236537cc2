"""Couplings, loops, free bodies and keyframes of MJCF: reduced dynamics against MuJoCo, and what selections leave out."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from manipula.errors import DescriptionError
from manipula.formats.mjcf import from_mjcf, to_mjcf
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot.drives import Spring
from manipula.robot.friction import Viscous

SAME = 1e-12  # of the largest torque


pytestmark = pytest.mark.usefixtures("folder_for_the_log_of_mujoco")
GEOM = '<geom type="capsule" size="0.05" fromto="0 0 0 0.3 0.1 0"/>'


def gripper(equality: str = "", more: str = "", one: str = "", two: str = "", beside: str = "") -> str:
    return f"""<mujoco><worldbody><body name="arm"><joint name="shoulder" axis="0 1 0"/>{GEOM}
      <body name="left" pos="0.3 0 0"><joint name="l" axis="0 0 1" {one}/>{GEOM}<site name="tip" pos="0.3 0.1 0"/></body>
      <body name="right" pos="0.3 0.1 0"><joint name="r" axis="1 0 1" {two}/>{GEOM}</body></body>{beside}</worldbody>
      <equality>{equality}</equality>{more}</mujoco>"""


def agrees(text: str, **selection):
    """The reduced torques Sᵀ (M S q̈ + h) with q̄ = S q + o; the equality holds in MuJoCo at every state that is tried."""
    robot = from_mjcf(text, **selection)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    S, o = np.zeros((model.nv, robot.n)), np.array(model.qpos0)
    for i, joint in enumerate(robot.joints):
        S[model.joint(joint.name).dofadr[0], i] = 1.0
        o[model.joint(joint.name).qposadr[0]] = 0.0
    for f in robot.followers:
        S[model.joint(f.name).dofadr[0], f.leader] = f.ratio
        o[model.joint(f.name).qposadr[0]] = f.offset
    rng = np.random.default_rng(3)
    for _ in range(3):
        q, qd, qdd = (rng.uniform(-1, 1, robot.n) for _ in range(3))
        data.qpos[:], data.qvel[:] = S @ q + o, S @ qd
        mujoco.mj_forward(model, data)
        assert np.abs(data.efc_pos[: data.ne]).max(initial=0.0) <= 1e-14
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        truth = S.T @ (M @ S @ qdd + data.qfrc_bias)
        own = np.array(inverse_dynamics(robot, q, qd, qdd), float)
        assert np.abs(own - truth).max() <= SAME * np.abs(truth).max()
    return robot


@pytest.mark.parametrize(
    "polycoef", ["", 'polycoef="0.2"', 'polycoef="0.1 -2"', 'polycoef="0 0.5 0 0 0"', 'polycoef="0.3 -1 0"']
)
@pytest.mark.parametrize("refs", [("", ""), ('ref="20"', 'ref="-30"')])
def test_a_joint_follows_another(polycoef, refs):
    robot = agrees(gripper(f'<joint joint1="l" joint2="r" {polycoef}/>', one=refs[0], two=refs[1]))
    assert robot.joint_names == ("shoulder", "r")
    assert [f.name for f in robot.followers] == ["l"]


def test_the_joint_with_the_motor_leads():
    motor = '<actuator><motor joint="l" ctrlrange="-3 3"/></actuator>'
    robot = agrees(gripper('<joint joint1="l" joint2="r" polycoef="0.1 -2"/>', motor, 'ref="10"'))
    assert robot.joint_names == ("shoulder", "l")
    assert robot.joints[1].limits.effort == 3.0
    assert robot.followers[0].ratio == -0.5


@pytest.mark.parametrize("polycoef", ["", 'polycoef="0.1"'])
def test_fixed_tendons_couple_joints(polycoef):
    tendon = '<tendon><fixed name="t"><joint joint="l" coef="2"/><joint joint="r" coef="-0.5"/></fixed></tendon>'
    robot = agrees(gripper(f'<tendon tendon1="t" {polycoef}/>', tendon, 'ref="10"', 'ref="5"'))
    assert len(robot.followers) == 1
    two = '<tendon><fixed name="t"><joint joint="l" coef="2"/></fixed><fixed name="u"><joint joint="r" coef="3"/></fixed></tendon>'
    robot = agrees(gripper('<tendon tendon1="t" tendon2="u" polycoef="0.2 1.5"/>', two, 'ref="10"'))
    assert len(robot.followers) == 1


def test_a_tendon_whose_joints_are_coupled_drives_their_leader():
    tendon = '<tendon><fixed name="t"><joint joint="l" coef="0.5"/><joint joint="r" coef="0.25"/></fixed></tendon>'
    motor = '<actuator><general tendon="t" gear="2" forcerange="-10 10" gainprm="3" biasprm="0 -3" biastype="affine"/></actuator>'
    robot = from_mjcf(gripper('<joint joint1="l" joint2="r" polycoef="0 -3"/>', tendon + motor))
    assert robot.joints[1].limits.effort == pytest.approx(abs(2 * (0.5 * -3 + 0.25)) * 10)
    loose = from_mjcf(gripper("", tendon + motor))
    assert [j.limits.effort for j in loose.joints] == [None] * 3
    assert any("drive no joint directly" in note for note in loose.notes)
    with pytest.raises(DescriptionError, match="No tendon named 'u'"):
        from_mjcf(gripper("", tendon + motor.replace('tendon="t"', 'tendon="u"')))


def test_a_motor_of_a_held_joint_does_nothing():
    robot = from_mjcf(gripper('<joint joint1="r"/>', '<actuator><motor joint="r" armature="0.1"/></actuator>'))
    assert robot.joint_names == ("shoulder", "l")


def test_a_joint_that_an_equality_holds():
    robot = from_mjcf(gripper('<joint name="stop" joint1="r" polycoef="0.3"/>', two='ref="10"'))
    assert robot.joint_names == ("shoulder", "l")
    assert any("'r' is held at 0.474532925199 by equality <joint> 'stop'" in note for note in robot.notes)


def test_springs_and_friction_of_a_follower_are_felt_by_its_leader():
    text = gripper(
        '<joint joint1="l" joint2="r" polycoef="0.2 -2"/>',
        one='stiffness="3" springref="20" damping="0.1"',
        two='stiffness="5" damping="0.7"',
    )
    robot = agrees(text)
    leader = robot.joints[1]
    assert leader.friction == Viscous(0.7 + 4 * 0.1)
    assert isinstance(leader.drive, Spring)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = (0.0, 0.2 - 2 * 0.4, 0.4)
    mujoco.mj_forward(model, data)
    left, right = data.qfrc_spring[1:]
    assert leader.drive.torque(0.0, 0.0, 0.4, 0.0, (), 0.0) == pytest.approx(right - 2 * left, rel=1e-13)


def test_three_joints_in_a_row():
    equalities = (
        '<joint joint1="l" joint2="r" polycoef="0.1 2"/><joint joint1="r" joint2="shoulder" polycoef="0.2 -1"/>'
    )
    robot = agrees(gripper(equalities))
    assert robot.joint_names == ("shoulder",)
    assert {f.name: f.ratio for f in robot.followers} == {"l": -2.0, "r": -1.0}


def test_coupled_robots_and_postures_are_written():
    keys = '<keyframe><key name="home" qpos="0.1 0.7 0.3"/></keyframe>'
    robot = from_mjcf(gripper('<joint joint1="l" joint2="r" polycoef="0.1 2"/>', keys, two='range="-50 50"'))
    text = to_mjcf(robot)
    back = agrees(text)
    assert (back.joint_names, back.followers, back.postures) == (robot.joint_names, robot.followers, robot.postures)
    model = mujoco.MjModel.from_xml_string(text)
    for name, position in (("shoulder", 0.1), ("l", 0.7), ("r", 0.3)):
        assert model.key_qpos[0][model.joint(name).qposadr[0]] == pytest.approx(position, rel=1e-15)


def test_the_order_of_joints_beyond_a_follower_is_kept():
    text = f"""<mujoco><worldbody><body name="a"><joint name="a"/>{GEOM}<body name="b"><joint name="b" axis="0 1 0"/>{GEOM}
      <body name="c"><joint name="c" axis="1 0 0"/>{GEOM}</body></body><body name="d"><joint name="d"/>{GEOM}</body></body></worldbody>
      <equality><joint joint1="b" joint2="d" polycoef="0 3"/></equality></mujoco>"""
    robot = agrees(text)
    assert robot.joint_names == ("a", "c", "d")
    assert from_mjcf(to_mjcf(robot)).joint_names == robot.joint_names
    shuffled = agrees(
        text.replace("<worldbody>", '<custom><text name="manipula.order" data="0 3 1 2"/></custom><worldbody>')
    )
    assert shuffled.joint_names == ("a", "d", "c")
    assert from_mjcf(to_mjcf(shuffled)).joint_names == shuffled.joint_names
    agrees(to_mjcf(shuffled))


@pytest.mark.parametrize(
    ("equality", "problem"),
    [
        ('<joint joint1="l" joint2="r" polycoef="0 1 0.5"/>', "not linear"),
        ('<joint joint1="l" joint2="nobody"/>', "No joint named 'nobody'"),
        ('<joint joint1="l" joint2="r"/><joint joint1="r" joint2="l" polycoef="0 2"/>', "bind already"),
        (
            '<connect name="link4" body1="left" body2="right" anchor="0 0 0"/>',
            "'link4' closes a loop between the bodies 'left' and 'right'",
        ),
        ('<weld body1="left"/>', "'left' and 'world'"),
        ('<connect body1="left" body2="nobody" anchor="0 0 0"/>', "No body named 'nobody'"),
        ('<tendon tendon1="t"/>', "No tendon named 't'"),
        ('<flex flex="f"/>', "Deformable"),
        ('<joint joint1="l" joint2="l"/>', "'l' stands on both sides"),
        ('<joint joint1="l" joint2="l" polycoef="0.01 0.5"/>', "'l' stands on both sides"),
    ],
)
def test_equalities_that_are_refused(equality, problem):
    with pytest.raises(DescriptionError, match=problem):
        from_mjcf(gripper(equality))


def test_tendons_that_bind_three_joints_are_refused():
    rows = "".join(f'<joint joint="{n}" coef="1"/>' for n in ("l", "r", "shoulder"))
    with pytest.raises(DescriptionError, match="binds 3 joints"):
        from_mjcf(gripper('<tendon tendon1="t"/>', f'<tendon><fixed name="t">{rows}</fixed></tendon>'))


def test_a_tendon_equal_to_itself_is_refused():
    fixed = '<tendon><fixed name="t"><joint joint="l" coef="1"/><joint joint="r" coef="1"/></fixed></tendon>'
    text = gripper('<tendon tendon1="t" tendon2="t" polycoef="0 0.5"/>', fixed)
    with pytest.raises(ValueError, match="repeated"):
        mujoco.MjModel.from_xml_string(text)
    with pytest.raises(DescriptionError, match="'t' stands on both sides"):
        from_mjcf(text)


def test_what_is_not_active_is_told():
    robot = from_mjcf(gripper('<weld name="grasp" body1="left" body2="right" active="false"/>'))
    assert any("equality <weld> 'grasp'" in note for note in robot.notes)
    off = gripper('<joint joint1="l" joint2="r"/>').replace(
        "<worldbody>", '<option><flag equality="disable"/></option><worldbody>'
    )
    assert from_mjcf(off).n == 3


LOOP = '<connect name="link4" body1="left" body2="right" anchor="0 0 0"/>'


def test_loops_may_be_left_out():
    for selection in ({"drop": ["left"]}, {"chain": ("world", "tip")}, {"lock": {"l": 0.1, "r": -0.1}}):
        robot = from_mjcf(gripper(LOOP), **selection)
        assert any("connect" in note for note in robot.notes)
    assert agrees(gripper(LOOP.replace("connect", "weld"), '<option><flag equality="disable"/></option>')).n == 3
    mocap = '<body name="hand" mocap="true"/>'
    robot = from_mjcf(gripper('<weld body1="hand" body2="left"/>', beside=mocap))
    assert any("mocap body is a command" in note for note in robot.notes)


def test_tendons_that_pull_may_be_left_out():
    text = gripper(more='<tendon><fixed name="t" stiffness="2"><joint joint="l" coef="2"/></fixed></tendon>')
    with pytest.raises(DescriptionError, match="stiffness pulls"):
        from_mjcf(text)
    assert from_mjcf(text, lock={"l": 0.0}).n == 2


CUBE = '<body name="cube" pos="1 0 0"><freejoint name="float"/><geom type="box" size="0.1 0.1 0.1"/><site name="on cube"/></body>'


def test_free_bodies_beside_an_arm_are_left_out():
    robot = from_mjcf(gripper(beside=CUBE))
    assert robot.n == 3
    assert "cube" not in robot.frame_names
    assert any("'cube' floats freely" in note for note in robot.notes)
    held = from_mjcf(gripper(beside=CUBE), lock={"float": 0})
    assert held.n == 3
    assert "cube" in held.frame_names
    assert from_mjcf(gripper(beside=CUBE), drop=["cube"]).n == 3


def test_floating_robots_are_refused_with_what_to_do():
    text = f'<mujoco><worldbody><body name="trunk"><freejoint name="float"/>{GEOM}<body name="leg"><joint name="hip"/>{GEOM}</body></body></worldbody></mujoco>'
    with pytest.raises(DescriptionError, match=r"lock=\{'float': 0\}"):
        from_mjcf(text)
    assert from_mjcf(text, lock={"float": 0}).n == 1
    assert from_mjcf(text, chain=("trunk", "leg")).n == 1
    with pytest.raises(DescriptionError, match="lets the body float"):
        from_mjcf(
            gripper(
                beside='<body name="car"><freejoint/><body name="wheel"><joint/><geom size="0.1"/></body><geom size="0.1"/></body>'
            )
        )


def test_ball_joints_may_be_held_or_left_out():
    ball = f'<body name="ball" pos="0 0 1"><joint name="b" type="ball"/>{GEOM}</body>'
    with pytest.raises(DescriptionError, match="three degrees of freedom"):
        from_mjcf(gripper(beside=ball))
    assert from_mjcf(gripper(beside=ball), lock={"b": 0}).n == 3
    assert from_mjcf(gripper(beside=ball), drop=["ball"]).n == 3


def test_a_body_without_its_mesh_may_be_left_out():
    text = gripper(beside='<body name="toy"><joint name="t"/><geom type="mesh" mesh="m"/></body>').replace(
        "<worldbody>", '<asset><mesh name="m" file="gone.stl"/></asset><worldbody>'
    )
    with pytest.raises(DescriptionError, match="mesh 'm'"):
        from_mjcf(text)
    assert from_mjcf(text, drop=["toy"]).n == 3
    assert from_mjcf(text, lock={"t": 0.0}).n == 3


def test_keyframes_are_postures():
    keys = '<keyframe><key name="home" qpos="0.1 0.2 0.3 1 2 3 1 0 0 0"/><key/></keyframe>'
    text = gripper(more=keys, one='ref="30"', beside=CUBE)
    robot = from_mjcf(text)
    model = mujoco.MjModel.from_xml_string(text)
    assert [name for name, _ in robot.postures] == ["home", "key1"]
    np.testing.assert_allclose(robot.posture("home"), model.key_qpos[0][:3])
    np.testing.assert_allclose(robot.posture("key1"), model.key_qpos[1][:3])
    for bad, problem in (("0.1 0.2", "10 number"), ("0 " * 9 + "nan", "decimal")):
        with pytest.raises(DescriptionError, match=problem):
            from_mjcf(gripper(more=f'<keyframe><key qpos="{bad}"/></keyframe>', beside=CUBE))
    with pytest.raises(DescriptionError, match="Two keys"):
        from_mjcf(gripper(more='<keyframe><key name="a"/><key name="a"/></keyframe>'))


def test_gravity_compensation_of_what_is_left():
    text = gripper(beside='<body name="toy"><joint name="t"/><geom size="0.1"/></body>')
    for name in ("arm", "left", "right"):
        text = text.replace(f'<body name="{name}"', f'<body name="{name}" gravcomp="1"')
    assert {link.name for link in from_mjcf(text).bodies if link.balance is None} == {"toy"}
    assert from_mjcf(text, drop=["toy"]).gravity == (0.0, 0.0, 0.0)
