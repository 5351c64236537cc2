"""Names in files win: a frame called ``tip`` or ``base`` in a file is that frame, whatever our own words mean elsewhere."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import manipula as mp
from manipula.compat import pinocchio as familiar
from manipula.errors import DescriptionError, UnknownNameError
from manipula.simulation.programmed.constraint import read_constraints

ACROBOT = """
<mujoco model="acrobot">
  <compiler angle="radian"/>
  <worldbody>
    <body name="upper" pos="0 0 2">
      <joint name="shoulder" axis="0 1 0"/>
      <inertial pos="0 0 0.5" mass="1" diaginertia="0.1 0.1 0.01"/>
      <site name="tip" pos="0.1 0.2 0.9"/>
      <body name="lower" pos="0 0 1">
        <joint name="elbow" axis="0 1 0"/>
        <inertial pos="0 0 0.5" mass="1" diaginertia="0.1 0.1 0.01"/>
        <site name="end" pos="0 0 1"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
Q, QD = np.array([0.7, -0.4]), np.array([0.3, 1.1])


@pytest.fixture(scope="module")
def oracle():
    model = mujoco.MjModel.from_xml_string(ACROBOT)
    data = mujoco.MjData(model)
    data.qpos[:] = Q
    mujoco.mj_forward(model, data)

    def site(name):
        k = model.site(name).id
        J = np.zeros((6, 2))
        mujoco.mj_jacSite(model, data, J[:3], J[3:], k)
        return data.site_xpos[k].copy(), data.site_xmat[k].reshape(3, 3).copy(), J

    return site


@pytest.mark.parametrize("stated", [None, "lower", "end"])
@pytest.mark.parametrize("tool", [np.eye(4), np.array([[1, 0, 0, 0.3], [0, 1, 0, 0], [0, 0, 1, 0.2], [0, 0, 0, 1.0]])])
def test_a_site_called_tip_is_that_site(oracle, stated, tool):
    robot = mp.from_mjcf(ACROBOT, tip=stated).replace(tool=tool)
    model = mp.compile(robot)
    p, R, J = oracle("tip")
    assert np.allclose(model.position(Q, "tip"), p, atol=1e-14)
    assert np.allclose(model.pose(Q, "tip")[:3, :3], R, atol=1e-14)
    assert np.allclose(model.jacobian(Q, "tip"), J, atol=1e-14)
    assert np.allclose(model.external_torque(Q, np.arange(6.0), "tip"), J.T @ np.arange(6.0), atol=1e-13)
    assert np.allclose(
        np.array(mp.equations(robot).p("tip").subs(dict(zip(("q1", "q2"), Q))), float).ravel(), p, atol=1e-12
    )
    assert np.allclose(familiar.framePlacement(model, Q, "tip")[:3, 3], p, atol=1e-14)
    assert robot.frame("tip").link == 0


@pytest.mark.parametrize("stated", ["lower", "end"])
def test_a_tip_that_somebody_chose_is_the_default_all_the_same(oracle, stated):
    model = mp.compile(mp.from_mjcf(ACROBOT, tip=stated))
    assert np.array_equal(model.position(Q), model.position(Q, stated))
    assert not np.allclose(model.position(Q), oracle("tip")[0])


def test_unasked_the_tip_of_a_file_is_the_tip(oracle):
    model = mp.compile(mp.from_mjcf(ACROBOT))
    assert np.allclose(model.position(Q), oracle("tip")[0], atol=1e-14)


def test_inverse_kinematics_brings_the_site_there(oracle):
    robot = mp.from_mjcf(ACROBOT, tip="end")
    for frame in ("tip", "end"):
        target = oracle(frame)[0]
        found = mp.solve_ik(robot, target, frame=frame, rows=("x", "z"), seed=1)
        assert found.status == "solved"
        assert np.allclose(mp.compile(robot).position(found.q, frame)[[0, 2]], target[[0, 2]], atol=1e-6)


def test_a_wrench_acts_on_the_site_it_names():
    robot = mp.from_mjcf(ACROBOT, tip="end")
    runs = {
        frame: mp.simulate(
            mp.Scenario(robot, q0=Q, duration=0.01, disturbances=(mp.Wrench((5.0, 0, 0, 0, 0, 0), **frame_of(frame)),))
        )
        for frame in ("tip", "end", None)
    }
    assert np.array_equal(runs["end"].q, runs[None].q)
    assert not np.allclose(runs["end"].qdd, runs["tip"].qdd)
    expected = mp.compile(robot).external_torque(Q, np.array([5.0, 0, 0, 0, 0, 0]), "tip")
    M, h = mp.compile(robot).mass_matrix(Q), mp.compile(robot).nonlinear_effects(Q, np.zeros(2))
    assert np.allclose(runs["tip"].qdd[0], np.linalg.solve(M, expected - h), atol=1e-9)


def frame_of(name):
    return {} if name is None else {"frame": name}


def test_both_tips_survive_a_file(tmp_path):
    robot = mp.from_mjcf(ACROBOT, tip="end")
    for suffix in ("toml", "xml", "urdf"):
        path = tmp_path / f"a.{suffix}"
        mp.save(robot, path)
        again = mp.compile(mp.load(path))
        for frame in ("tip", "end"):
            assert np.allclose(again.position(Q, frame), mp.compile(robot).position(Q, frame), atol=1e-14)
        assert np.allclose(again.position(Q), mp.compile(robot).position(Q, "end"), atol=1e-14)


def test_base_is_the_base_unless_the_file_says_otherwise():
    robot = mp.from_mjcf(ACROBOT.replace('"tip"', '"base"'))
    assert np.allclose(mp.compile(robot).position(Q, "base"), mp.compile(mp.from_mjcf(ACROBOT)).position(Q, "tip"))
    assert np.array_equal(mp.compile(mp.from_mjcf(ACROBOT)).pose(Q, "base"), np.eye(4))


def test_a_tip_that_is_no_frame_is_refused():
    robot = mp.planar([1.0], masses=[1.0])
    with pytest.raises(UnknownNameError, match="tip"):
        robot.replace(tip="tip")


def test_a_parameter_with_the_name_of_a_coordinate_is_refused():
    robot = mp.planar([1.0, 0.8], masses=[1.0, 1.0])
    for name in ("x", "q1", "t"):
        with pytest.raises(DescriptionError, match=f"'{name}'"):
            read_constraints([f"y - 0.3 - {name}"], robot.n, {name: 0.2})
