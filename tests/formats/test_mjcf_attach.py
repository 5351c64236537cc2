"""Attached models and replicated bodies of MJCF: MuJoCo compiles the same files and must get the same mass matrix, bias and poses."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from manipula.errors import BudgetError, DescriptionError
from manipula.formats.mjcf import from_mjcf, read_mjcf
from manipula.physics.kinematics import poses
from manipula.physics.newton_euler import inverse_dynamics

SAME = 1e-12  # of the largest torque


pytestmark = pytest.mark.usefixtures("folder_for_the_log_of_mujoco")
GEOM = '<geom type="capsule" size="0.05" fromto="0 0 0 0.3 0.1 0"/>'
CHILD = f"""<mujoco model="child"><compiler angle="radian" eulerseq="ZYX"/><option gravity="1 2 3"/>
  <default><joint armature="0.3" range="-1 1"/><geom density="500"/><default class="light"><geom density="100"/></default></default>
  <worldbody><body name="b" pos="0 0 1" euler="0.1 0.2 0.3"><joint name="j" axis="0 1 0"/>{GEOM}
    <body name="b2" pos="0.3 0 0" childclass="light"><joint name="j2" axis="1 0 0" ref="0.2"/>{GEOM}<site name="s" pos="0 0.1 0"/></body></body>
    <body name="other" pos="0 1 0"><joint name="oj"/>{GEOM}</body><geom size="0.1"/></worldbody>
  <actuator><motor name="m" joint="j" ctrlrange="-2 2"/><motor name="mo" joint="oj" ctrlrange="-3 3"/></actuator></mujoco>"""


def main(inside: str, more: str = "", above: str = "") -> str:
    return f"""<mujoco><asset><model name="kid" file="sub/kid.xml"/></asset><default><joint armature="0.9"/></default>{above}
      <worldbody><body name="p" euler="10 20 30"><joint name="pj" range="-90 90"/>{GEOM}{inside}</body></worldbody>{more}</mujoco>"""


def write(folder, text: str, **files: str) -> str:
    (folder / "sub").mkdir(exist_ok=True)
    for name, content in {"kid": CHILD, **files}.items():
        (folder / "sub" / f"{name}.xml").write_text(content, encoding="utf-8")
    (folder / "main.xml").write_text(text, encoding="utf-8")
    return str(folder / "main.xml")


def agrees(path: str, sites: tuple[str, ...] = ()):
    robot, model = read_mjcf(path), mujoco.MjModel.from_xml_path(path)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(model)
    assert robot.n == model.nv
    dofs = [model.joint(name).dofadr[0] for name in robot.joint_names]
    rng = np.random.default_rng(4)
    for _ in range(2):
        q, qd, qdd = (rng.uniform(-1, 1, robot.n) for _ in range(3))
        data.qpos[dofs], data.qvel[dofs] = q, qd
        mujoco.mj_forward(model, data)
        M, a = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
        mujoco.mj_fullM(model, data, M)
        a[dofs] = qdd
        truth = (M @ a + data.qfrc_bias)[dofs]
        assert np.abs(np.array(inverse_dynamics(robot, q, qd, qdd), float) - truth).max() <= SAME * np.abs(truth).max()
        for site in sites:
            own = np.array(poses(robot, q, (site,))[0], float)
            np.testing.assert_allclose(own[:3, 3], data.site(site).xpos, atol=1e-13)
    return robot


def test_one_body_of_a_model(tmp_path):
    robot = agrees(
        write(tmp_path, main('<frame pos="0 0 2" euler="0 0 40"><attach model="kid" body="b" prefix="k_"/></frame>')),
        ("k_s",),
    )
    assert robot.joint_names == ("pj", "k_j", "k_j2")
    assert [j.armature for j in robot.joints] == [0.9, 0.3, 0.3]
    assert robot.joints[0].limits.upper == pytest.approx(np.pi / 2)
    assert robot.joints[1].limits.upper == 1.0
    assert robot.joints[1].limits.effort == 2.0
    assert robot.gravity == (0.0, 0.0, -9.81)


def test_everything_of_a_model_and_a_model_twice(tmp_path):
    robot = agrees(write(tmp_path, main('<attach model="kid" prefix="k_"/>')), ("k_s",))
    assert robot.joint_names == ("pj", "k_j", "k_j2", "k_oj")
    robot = agrees(
        write(tmp_path, main('<attach model="kid" body="b" prefix="l_"/><attach model="kid" body="b2" prefix="r_"/>')),
        ("l_s", "r_s"),
    )
    assert robot.joint_names == ("pj", "l_j", "l_j2", "r_j2")


def test_what_refers_to_attached_joints_comes_along(tmp_path):
    child = CHILD.replace(
        "</mujoco>",
        '<equality><joint joint1="j2" joint2="j" polycoef="0.1 2"/><joint joint1="oj" joint2="j"/></equality></mujoco>',
    )
    robot = read_mjcf(write(tmp_path, main('<attach model="kid" body="b" prefix="k_"/>'), kid=child))
    assert robot.joint_names == ("pj", "k_j")
    assert [(f.name, f.ratio) for f in robot.followers] == [("k_j2", 2.0)]
    here = main(
        '<attach model="kid" body="b" prefix="k_"/>',
        '<actuator><motor joint="k_j2" gear="3" ctrlrange="-1 1"/></actuator>',
    )
    assert agrees(write(tmp_path, here)).joints[2].limits.effort == 3.0


def test_models_inside_models(tmp_path):
    middle = f"""<mujoco><compiler angle="radian"/><asset><model name="kid" file="kid.xml"/></asset><default><joint armature="0.5"/></default>
      <worldbody><body name="m"><joint name="mj" axis="1 1 0"/>{GEOM}<attach model="kid" body="b" prefix="k_"/></body></worldbody></mujoco>"""
    path = write(
        tmp_path, main('<attach model="kid" body="m" prefix="x_"/>').replace("kid.xml", "middle.xml"), middle=middle
    )
    robot = agrees(path, ("x_k_s",))
    assert robot.joint_names == ("pj", "x_mj", "x_k_j", "x_k_j2")
    assert [j.armature for j in robot.joints] == [0.9, 0.5, 0.3, 0.3]


def test_meshes_of_an_attached_model_lie_beside_it(tmp_path):
    child = CHILD.replace("<worldbody>", '<asset><mesh file="m.obj" scale="0.1 0.1 0.1"/></asset><worldbody>').replace(
        '<site name="s"', '<geom type="mesh" mesh="m" pos="0 0 0.1"/><site name="s"'
    )
    path = write(tmp_path, main('<attach model="kid" body="b" prefix="k_"/>'), kid=child)
    (tmp_path / "sub" / "m.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    robot, model = read_mjcf(path), mujoco.MjModel.from_xml_path(path)
    for name in ("k_b", "k_b2"):
        assert robot.links[[x.name for x in robot.links].index(name)].mass == pytest.approx(
            model.body(name).mass[0], rel=1e-12
        )


@pytest.mark.parametrize(
    "how", ['count="3" offset="0.4 0 0.1" euler="0 10 20"', 'count="12" offset="0.1 0 0" sep="_"', 'count="1"']
)
def test_replicated_bodies(how):
    text = f"""<mujoco><worldbody><body name="p"><joint name="pj"/>{GEOM}<replicate {how}><body name="r" pos="0 0.3 0"><joint name="rj" axis="0 1 0"/>
      {GEOM}</body><geom size="0.02"/></replicate></body></worldbody></mujoco>"""
    robot, model = from_mjcf(text), mujoco.MjModel.from_xml_string(text)
    assert robot.joint_names == tuple(model.joint(i).name for i in range(model.njnt))
    data = mujoco.MjData(model)
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, model.nv))
    data.qpos[:], data.qvel[:] = q, qd
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    truth = M @ qdd + data.qfrc_bias
    assert np.abs(np.array(inverse_dynamics(robot, q, qd, qdd), float) - truth).max() <= 1e-10 * np.abs(truth).max()


@pytest.mark.parametrize(
    ("inside", "problem"),
    [
        ('<attach model="nobody" prefix="k_"/>', "No model named 'nobody'"),
        ('<attach model="kid" body="nobody" prefix="k_"/>', "has no body 'nobody'"),
        ('<attach model="kid"/>', "'prefix' is missing"),
        ('<attach model="kid" body="b" prefix=""/>', "defined twice"),
        ('<attach model="kid" body="b" prefix="k_"/><attach model="kid" body="b" prefix="k_"/>', "defined twice"),
        ('<replicate count="1.5"><geom size="1"/></replicate>', "whole number"),
        ('<replicate count="1000000000"><geom size="1"/></replicate>', "1 to 1000"),
        ('<replicate count="2" offst="1 0 0"/>', "No attribute of <replicate> named 'offst'"),
    ],
)
def test_what_is_refused(tmp_path, inside, problem):
    with pytest.raises(DescriptionError, match=problem):
        read_mjcf(write(tmp_path, main(inside)))


@pytest.mark.parametrize("file", ["../../kid.xml", "/etc/passwd", "gone.xml", "sub", "sub/kid.xml"])
def test_files_of_models_lie_inside_the_folder(tmp_path, file):
    text = main('<attach model="kid" prefix="k_"/>').replace("sub/kid.xml", file)
    kid = CHILD.replace(
        "<worldbody>", '<asset><model name="kid" file="kid.xml"/></asset><worldbody><attach model="kid" prefix="z_"/>'
    )
    with pytest.raises(DescriptionError):
        read_mjcf(write(tmp_path, text, kid=kid))  # the last one is a model inside itself
    with pytest.raises(DescriptionError, match="give the path of the main file"):
        from_mjcf(text)


def test_copies_of_copies_are_counted():
    inside = GEOM
    for _ in range(4):
        inside = f'<replicate count="20">{inside}</replicate>'
    with pytest.raises(BudgetError, match="copies counted"):
        from_mjcf(f"<mujoco><worldbody><body><joint/>{inside}</body></worldbody></mujoco>")
