"""A compiled model of MuJoCo becomes the robot with the same torques and poses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.formats.mjcf import to_mjcf
from manipula.physics.kinematics import poses
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot.drives import Spring
from manipula.robot.friction import Coulomb, Viscous
from strategies import FEATURES, random_robot, random_state

mujoco: Any = pytest.importorskip("mujoco")
SAME = 1e-12  # of the largest entry

ARM = """<mujoco model="arm"><compiler angle="radian"/><option gravity="1 2 -9"/><worldbody>
  <body name="a" pos="0 0 1" quat="0.6 0.8 0 0"><joint name="turn" axis="0 3 4" pos="0.1 0.2 0.3" ref="0.4" range="-1 2" damping="0.5"/>
    <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="0.1 0.2 0.3" mass="2"/><site name="eye" pos="0 0 0.1" euler="1 0 0"/>
    <body name="b" pos="0.3 0 0"><joint name="slide" type="slide" axis="1 0 0" ref="0.05" frictionloss="0.2" damping="0.1"/>
      <joint name="roll" axis="0 1 0" armature="0.3"/><geom type="capsule" size="0.05 0.2" mass="1.5"/>
      <body name="hand" pos="0 0 0.2"><geom size="0.1" mass="0.3"/></body></body></body></worldbody>
  <actuator><motor joint="turn" gear="2" ctrlrange="-5 5"/><motor joint="turn" gear="3" forcerange="-1 1" armature="0.1" damping="0.2"/>
    <position joint="roll" kp="3" forcerange="-7 7"/></actuator></mujoco>"""


pytestmark = pytest.mark.usefixtures("folder_for_the_log_of_mujoco")


def compiled(text: str) -> Any:
    return mujoco.MjModel.from_xml_string(text)


def assert_judge_agrees(model: Any, robot: mp.Robot, seed: int = 0) -> None:
    """Torques without friction, joint ranges and contact, and the poses of bodies and sites."""
    assert robot.joint_names == tuple(model.joint(j).name for j in range(model.njnt))
    data = mujoco.MjData(model)
    q, v, a = random_state(np.random.default_rng(seed), robot.n)
    data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
    bits = mujoco.mjtDisableBit
    off = [bits.mjDSBL_CONSTRAINT, getattr(bits, "mjDSBL_DAMPER", None) or bits.mjDSBL_PASSIVE]
    before = model.opt.disableflags
    model.opt.disableflags = before | sum(int(bit) for bit in off)
    mujoco.mj_inverse(model, data)
    model.opt.disableflags = before
    tau = np.array(inverse_dynamics(robot, q, v, a), float)
    assert np.abs(tau - data.qfrc_inverse).max() <= SAME * max(1.0, np.abs(tau).max())
    bodies, sites = (
        {of(k).name: at(k) for k in range(count)}
        for of, at, count in ((model.body, data.body, model.nbody), (model.site, data.site, model.nsite))
    )
    assert set(bodies) <= set(robot.frame_names)
    for name in set(robot.frame_names) & set(bodies | sites):  # between two joints of a body stands a link of ours
        at = (sites | bodies)[name]
        X = np.array(poses(robot, q, (name,))[0], float)
        np.testing.assert_allclose(X[:3, 3], at.xpos, atol=SAME)
        np.testing.assert_allclose(X[:3, :3].ravel(), at.xmat.ravel(), atol=SAME)


def test_every_field_of_a_small_arm():
    model = compiled(ARM)
    robot = mp.from_mujoco(model)
    assert (robot.name, robot.joint_names, robot.gravity) == ("arm", ("turn", "slide", "roll"), (1.0, 2.0, -9.0))
    turn, slide, roll = robot.joints
    assert (turn.limits.lower, turn.limits.upper, turn.limits.effort) == (-1.0, 2.0, 13.0)  # 2·5 + 3·1
    assert isinstance(turn.friction, Viscous)
    assert turn.friction.damping == pytest.approx(0.5 + 9 * 0.2)
    assert turn.armature == pytest.approx(0.9)
    assert slide.friction == Coulomb(0.2, damping=0.1)
    assert (roll.rotor_inertia, roll.limits.effort) == (0.3, 7.0)
    assert "The control law of the actuator on joint 'roll' is not read." in robot.notes
    for seed in range(5):
        model.opt.gravity[:] = robot.gravity
        assert_judge_agrees(model, robot, seed)


def test_random_robots_by_way_of_mujoco():
    features: dict[str, Any] = dict.fromkeys(FEATURES, True) | {"massless": False, "friction": False}
    for seed in range(6):
        robot = random_robot(np.random.default_rng(seed), 5, **features)
        model = compiled(to_mjcf(robot))
        assert_judge_agrees(model, mp.from_mujoco(model), seed)


def test_joints_coupled_by_constraints():
    """τ = Gᵀ τ̄(G q, G q̇, G q̈) with MuJoCo's own free robot."""
    coupled = ARM.replace(
        "</mujoco>",
        """<equality><joint joint1="slide" joint2="turn" polycoef="0.1 0.5 0 0 0"/>
      <joint joint1="roll" polycoef="0.3 0 0 0 0"/></equality></mujoco>""",
    )
    model = compiled(coupled)
    robot = mp.from_mujoco(model)
    assert (robot.joint_names, [f.name for f in robot.followers]) == (("turn",), ["slide"])
    assert robot.followers[0].ratio == 0.5
    assert robot.followers[0].offset == pytest.approx(0.05 + 0.1 - 0.5 * 0.4)
    assert "joint 'roll' is held at 0.3 by equality 1." in robot.notes
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mujoco.mjtDisableBit.mjDSBL_DAMPER)
    data = mujoco.MjData(model)
    for q, v, a in np.random.default_rng(3).normal(size=(4, 3, 1)):
        data.qpos[:] = (q[0], robot.followers[0].offset + 0.5 * q[0], 0.3)
        data.qvel[:], data.qacc[:] = (v[0], 0.5 * v[0], 0.0), (a[0], 0.5 * a[0], 0.0)
        mujoco.mj_inverse(model, data)
        tau = data.qfrc_inverse[0] + 0.5 * data.qfrc_inverse[1]
        assert float(inverse_dynamics(robot, q, v, a)[0]) == pytest.approx(tau, rel=SAME, abs=SAME)


def test_flags_are_obeyed():
    model = compiled(ARM)
    bits = mujoco.mjtDisableBit
    model.opt.disableflags = int(bits.mjDSBL_GRAVITY) | int(bits.mjDSBL_FRICTIONLOSS) | int(bits.mjDSBL_LIMIT)
    robot = mp.from_mujoco(model)
    assert robot.gravity == (0.0, 0.0, 0.0)
    assert robot.joints[1].friction == Viscous(0.1)
    assert robot.joints[0].limits.lower is None


REFUSED = {
    "free": ('<body><freejoint name="f"/><geom size="1"/></body>', "", "joint 'f': A free joint"),
    "ball": ('<body><joint type="ball" name="k"/><geom size="1"/></body>', "", "joint 'k': A ball joint"),
    "gravity compensation": ('<body name="b" gravcomp="1"><joint actuatorgravcomp="true"/><geom size="1"/><body><joint/><geom size="1"/></body></body>',
                             "", "gravcomp"),
    "weld": ('<body name="b"><joint/><geom size="1"/></body>', '<equality><weld body1="b"/></equality>', "closes a loop"),
    "polynomial": ('<body><joint name="k"/><geom size="1"/><body><joint name="l"/><geom size="1"/></body></body>',
                   '<equality><joint joint1="k" joint2="l" polycoef="0 1 2 0 0"/></equality>', "polynomial"),
    "two leaders": ('<body><joint name="k"/><geom size="1"/><body><joint name="l"/><geom size="1"/></body></body>',
                    '<equality><joint joint1="k" joint2="l"/><joint joint1="k" joint2="l"/></equality>', "others bind already"),
    "tendon": ('<body><joint name="k"/><geom size="1"/></body>',
               '<tendon><fixed stiffness="2"><joint joint="k" coef="1"/></fixed></tendon>', "A tendon with 'stiffness'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_modelled_is_refused_by_name(case):
    body, after, reason = REFUSED[case]
    with pytest.raises(DescriptionError, match=reason):
        mp.from_mujoco(compiled(f"<mujoco><worldbody>{body}</worldbody>{after}</mujoco>"))


def test_what_is_not_modelled_may_be_held_or_left_out():
    free = '<body name="ball"><freejoint name="f"/><geom size="1"/></body>'
    loop = '<equality><weld body1="hand" body2="ball"/></equality></mujoco>'
    text = ARM.replace("</worldbody>", f"{free}</worldbody>").replace("</mujoco>", loop)
    alone = mp.from_mujoco(compiled(ARM))
    for robot in (mp.from_mujoco(compiled(text), drop=["f"]), mp.from_mujoco(compiled(text))):
        assert robot.joint_names == alone.joint_names
        assert "left out with the bodies that it ties together" in robot.notes[-1]
    assert mp.from_mujoco(compiled(ARM), lock={"roll": 0.1}).n == 2
    with pytest.raises(DescriptionError, match=r"closes a loop"):
        mp.from_mujoco(compiled(text), lock={"f": 0})


def test_what_stands_beside_the_arm_is_told_as_load_tells_it(tmp_path):
    beside = (
        '<body name="ball" pos="1 0 0"><freejoint name="f"/><geom size="0.1"/></body>'
        '<body name="goal" mocap="true"><geom size="0.1"/></body>'
    )
    weld = '<equality><weld name="w" body1="hand" body2="goal"/></equality></mujoco>'
    text = ARM.replace("</worldbody>", f"{beside}</worldbody>").replace("</mujoco>", weld)
    file = tmp_path / "arm.xml"
    file.write_text(text, encoding="utf-8")
    for robot in (mp.load(file, tip="hand"), mp.from_mujoco(compiled(text), tip="hand")):
        assert robot.joint_names == ("turn", "slide", "roll")
        assert "ball" not in robot.frame_names
        assert "body 'ball' floats freely beside the arm; it is left out." in robot.notes
        assert "body 'goal' is a mocap body: here it is fixed." in robot.notes
        assert any("'w' to a mocap body is a command, not a joint; it is not read." in note for note in robot.notes)


def test_springs_are_drives_and_gravcomp_of_all_bodies_is_less_gravity():
    model = compiled(ARM.replace('name="roll"', 'name="roll" stiffness="2" springref="0.3"'))
    robot = mp.from_mujoco(model)
    assert robot.joints[2].drive == Spring(2.0, 0.3)
    model.body_gravcomp[1:] = 0.5
    assert mp.from_mujoco(model).gravity == (0.5, 1.0, -4.5)


@pytest.mark.parametrize("thing", [None, 3, "panda", object()])
def test_what_is_no_model_is_refused(thing):
    with pytest.raises(DescriptionError, match=r"mujoco.MjModel is needed"):
        mp.from_mujoco(thing)
