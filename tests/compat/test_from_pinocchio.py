"""A model of Pinocchio becomes the robot with the same torques, mass matrix and poses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manipula as mp
from manipula.errors import DescriptionError
from manipula.formats.urdf import to_urdf
from manipula.physics.composite import mass_matrix
from manipula.physics.kinematics import poses
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot.friction import Asymmetric, Coulomb
from strategies import random_state, robots

pin: Any = pytest.importorskip("pinocchio")
SAME = 1e-12  # of the largest entry


def angles(model: Any, q: np.ndarray) -> np.ndarray:
    """Joint positions as Pinocchio counts them: cosine and sine for a joint without ends."""
    out = np.zeros(model.nq)
    for x, joint in zip(q, list(model.joints)[1:]):
        out[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(x), np.sin(x)) if joint.nq == 2 else x
    return out


def assert_judge_agrees(model: Any, robot: mp.Robot, seed: int = 0) -> None:
    data = model.createData()
    q, v, a = random_state(np.random.default_rng(seed), robot.n)
    there = angles(model, q)
    theirs = {
        "tau": (pin.rnea(model, data, there, v, a), inverse_dynamics(robot, q, v, a)),
        "M": (np.triu(pin.crba(model, data, there)), np.triu(np.array(mass_matrix(robot, q), float))),
    }
    pin.framesForwardKinematics(model, data, there)
    for f in model.frames:
        if f.name in robot.frame_names and str(f.type) == "BODY":
            pose = np.array(poses(robot, q, (f.name,))[0], float)
            theirs[f.name] = (data.oMf[model.getFrameId(f.name, f.type)].homogeneous, pose)
    for what, (x, y) in theirs.items():
        error = np.abs(np.asarray(x) - np.array(y, float)).max(initial=0.0)
        assert error <= SAME * max(1.0, np.abs(x).max(initial=0.0)), what


@settings(max_examples=40, deadline=None)
@given(robots(), st.integers(0, 2**32 - 1))
def test_any_model_read_from_urdf(robot, seed):
    model = pin.buildModelFromXML(to_urdf(robot))
    model.armature[:] = np.random.default_rng(seed).uniform(0, 2, model.nv)
    model.gravity.linear = np.array([1.0, -2.0, 3.0])
    found = mp.from_pinocchio(model)
    assert found.joint_names == tuple(model.names)[1:]
    assert_judge_agrees(model, found, seed)


KINDS = {
    "JointModelRX": (), "JointModelRY": (), "JointModelRZ": (), "JointModelPX": (), "JointModelPY": (), "JointModelPZ": (),
    "JointModelRUBX": (), "JointModelRUBY": (), "JointModelRUBZ": (),
    "JointModelRevoluteUnaligned": ([0.0, 0.6, -0.8],), "JointModelPrismaticUnaligned": ([0.48, 0.6, 0.64],),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint(kind):
    model = pin.Model()
    last = 0
    for name, joint in (("first", pin.JointModelRZ()), ("second", getattr(pin, kind)(*map(np.array, KINDS[kind])))):
        last = model.addJoint(last, joint, pin.SE3.Random(), name)
        model.appendBodyToJoint(last, pin.Inertia.Random(), pin.SE3.Random())
    model.addFrame(pin.Frame("camera", last, pin.SE3.Random(), pin.FrameType.OP_FRAME))
    robot = mp.from_pinocchio(model, tip="camera")
    assert (robot.n, robot.tip, robot.joints[1].kind[0]) == (2, "camera", kind.removeprefix("JointModel")[0].lower())
    assert_judge_agrees(model, robot)


@pytest.mark.parametrize("kind", ["FreeFlyer", "Planar", "Spherical", "HX", "Universal", "Translation"])
def test_other_joints_are_refused_by_name(kind):
    model = pin.Model()
    made = {"HX": (0.3,), "Universal": (np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))}.get(kind, ())
    model.addJoint(0, getattr(pin, f"JointModel{kind}")(*made), pin.SE3.Identity(), "odd")
    with pytest.raises(DescriptionError, match=rf"joint 'odd': A joint of type JointModel{kind} is not modelled"):
        mp.from_pinocchio(model)


def test_a_free_flyer_may_be_held():
    X_WB, X_BJ, body = pin.SE3.Random(), pin.SE3.Random(), pin.Inertia.Random()
    model, held = pin.Model(), pin.Model()
    base = model.addJoint(0, pin.JointModelFreeFlyer(), X_WB, "root")
    model.appendBodyToJoint(base, pin.Inertia.Random(), pin.SE3.Identity())
    for other, parent, X in ((model, base, X_BJ), (held, 0, X_WB * X_BJ)):
        last = other.addJoint(parent, pin.JointModelRX(), X, "turn")
        other.appendBodyToJoint(last, body, pin.SE3.Identity())
    with pytest.raises(DescriptionError, match=r"lock=\{'root': 0\}"):
        mp.from_pinocchio(model)
    robot = mp.from_pinocchio(model, lock={"root": 0})
    assert robot.joint_names == ("turn",)
    assert_judge_agrees(held, robot)


def test_joints_that_mimic_others():
    path = Path(__file__).parent.parent / "data" / "coupled" / "two_grippers.urdf"
    model = pin.buildModelFromUrdf(str(path), True)
    robot, read = mp.from_pinocchio(model), mp.load(path)
    assert robot.n == model.nv == 3
    assert {(f.name, f.ratio, f.offset) for f in robot.followers} == {("c2", -0.5, 0.3), ("f2", 1.0, 0.01)}
    order = [robot.joint_names.index(name) for name in read.joint_names]
    for seed in range(3):
        q, v, a = random_state(np.random.default_rng(seed), 3)
        there = [np.empty(3) for _ in range(3)]
        for target, source in zip(there, (q, v, a)):
            target[order] = source
        tau = pin.rnea(model, model.createData(), *there)
        for ours in (inverse_dynamics(robot, *there), np.array(inverse_dynamics(read, q, v, a))[np.argsort(order)]):
            assert np.abs(tau - np.array(ours, float)).max() <= SAME * max(1.0, np.abs(tau).max())


def test_the_tip_is_that_of_the_file():
    text = """<robot name="r"><link name="b0"/><link name="base"/><link name="arm"/><link name="flange"/><link name="tool0"/>
      <joint name="f" type="fixed"><parent link="b0"/><child link="base"/></joint>
      <joint name="j" type="continuous"><parent link="b0"/><child link="arm"/></joint>
      <joint name="g" type="fixed"><parent link="arm"/><child link="flange"/></joint>
      <joint name="h" type="fixed"><parent link="flange"/><child link="tool0"/></joint></robot>"""
    assert mp.from_pinocchio(pin.buildModelFromXML(text)).tip == mp.from_urdf(text).tip == "tool0"


def test_fields():
    model = pin.Model()
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "j",
                   np.array([5.0]), np.array([2.0]), np.array([-1.0]), np.array([1.5]))  # fmt: skip
    model.appendBodyToJoint(1, pin.Inertia.Random(), pin.SE3.Identity())
    model.rotorInertia[:], model.rotorGearRatio[:], model.armature[:] = 1e-4, 100.0, 1.0
    model.damping[:], model.friction[:] = 0.3, 0.2
    joint = mp.from_pinocchio(model).joints[0]
    assert (joint.limits.lower, joint.limits.upper, joint.limits.velocity, joint.limits.effort) == (-1.0, 1.5, 2.0, 5.0)
    assert (joint.rotor_inertia, joint.gear_ratio) == (1e-4, 100.0)
    assert isinstance(joint.friction, (Coulomb, Asymmetric))
    model.armature[:] = 3.0
    found = mp.from_pinocchio(model)
    assert found.joints[0].armature == pytest.approx(3.0, rel=1e-15)
    assert "count the armature 3, not the rotor inertia 0.0001" in found.notes[0]
    assert_judge_agrees(model, found)


@pytest.mark.parametrize("thing", [None, 3, "panda", object()])
def test_what_is_no_model_is_refused(thing):
    with pytest.raises(DescriptionError, match=r"pinocchio.Model is needed"):
        mp.from_pinocchio(thing)
