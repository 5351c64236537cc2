"""Base parameters, identification, calibration and DH tables of robots with coupled joints: τ = Gᵀ τ̄."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.formats.load import to_text

ROW = {"mass": 1.2, "com": [0.1, 0.02, -0.03], "inertia": [0.02, 0.03, 0.025, 0.001, -0.002, 0.0015]}
CHAIN = [
    {**ROW, "name": "a", "d": 0.3, "alpha": 1.5707963267948966, "rotor_inertia": 1e-4, "gear_ratio": 50.0},
    {**ROW, "name": "b", "a": 0.4, "mass": 2.0},
    {
        **ROW,
        "name": "c",
        "a": 0.3,
        "follows": "b",
        "ratio": -1.5,
        "offset": 0.4,
        "rotor_inertia": 2e-4,
        "gear_ratio": 30.0,
    },
    {**ROW, "name": "d", "d": 0.1, "joint": "prismatic", "alpha": 0.7, "mass": 0.6},
]
MIMIC = """<robot name="gripper"><link name="base"/>
<link name="arm"><inertial><origin xyz=".1 .2 .05"/><mass value="2"/><inertia ixx=".03" iyy=".02" izz=".04" ixy="0" ixz=".001" iyz="0"/></inertial></link>
<link name="left"><inertial><origin xyz=".02 0 .05"/><mass value=".3"/><inertia ixx=".003" iyy=".002" izz=".004" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="right"><inertial><origin xyz=".02 .01 .05"/><mass value=".2"/><inertia ixx=".002" iyy=".003" izz=".004" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
<joint name="f1" type="revolute"><parent link="arm"/><child link="left"/><origin xyz="0 .1 .5"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="5" velocity="1"/></joint>
<joint name="f2" type="revolute"><parent link="arm"/><child link="right"/><origin xyz="0 -.1 .5"/><axis xyz="1 0 0"/>
<limit lower="-3" upper="3" effort="5" velocity="9"/><mimic joint="f1" multiplier="-2" offset="0.1"/></joint></robot>"""


def coupled_chain() -> mp.Robot:
    return mp.from_dh(CHAIN, "standard")


def motion(n: int, samples: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    w, a, b = rng.uniform(0.5, 4.0, (6, n)), rng.normal(size=(6, n)) * 0.3, rng.normal(size=(6, n)) * 0.3
    t = np.linspace(0.0, 10.0, samples)[:, None, None]
    s, c = np.sin(w * t), np.cos(w * t)
    return (a * s + b * c).sum(1), (w * (a * c - b * s)).sum(1), (-(w**2) * (a * s + b * c)).sum(1)


def test_base_parameters_are_those_of_the_contracted_regressor_of_pinocchio():
    pin = pytest.importorskip("pinocchio")
    robot = mp.from_urdf(MIMIC, tip="left")
    model = (
        pin.buildModelFromXML(MIMIC, mimic=False) if hasattr(pin, "JointModelMimic") else pin.buildModelFromXML(MIMIC)
    )
    data, G = model.createData(), np.zeros((model.nv, 2))
    G[model.joints[model.getJointId("turn")].idx_v, 0] = 1.0
    G[model.joints[model.getJointId("f1")].idx_v, 1] = 1.0
    G[model.joints[model.getJointId("f2")].idx_v, 1] = -2.0
    rows = []
    for q, qd, qdd in np.random.default_rng(2).normal(size=(60, 3, 2)):
        f2 = 0.1 - 2.0 * q[1]
        full = np.array([np.cos(q[0]), np.sin(q[0]), q[1], f2])
        rows.append(G.T @ pin.computeJointTorqueRegressor(model, data, full, G @ qd, G @ qdd))
    values = np.linalg.svd(np.vstack(rows), compute_uv=False)
    base = mp.base_parameters(robot)
    assert base.count == int(np.sum(values > 1e-9 * values[0]))
    assert base.columns.names[20] == "m3"


@pytest.mark.parametrize("robot", [coupled_chain(), mp.from_urdf(MIMIC, tip="left")], ids=["chain", "gripper"])
def test_torques_are_regressor_times_base_parameters(robot):
    from manipula.physics.regressor import parameters

    base = mp.base_parameters(robot, "armature")
    q, qd, qdd = motion(robot.n, 20)
    rotors = [j.armature for j in robot.joints]
    for f in robot.followers:
        rotors[f.leader] += f.ratio**2 * f.joint.armature
    beta = base.values(np.concatenate([np.asarray(parameters(robot), float), rotors]))
    tau = mp.compile(robot).inverse_dynamics(q, qd, qdd)
    assert np.abs(base.regressor(q, qd, qdd) @ beta - tau).max() <= 1e-12 * np.abs(tau).max()


@pytest.mark.parametrize("extras", [("viscous", "coulomb"), ("viscous", "armature")])
def test_identification_finds_a_coupled_robot(extras):
    robot = coupled_chain()
    q, qd, qdd = motion(robot.n)
    tau = mp.compile(robot).inverse_dynamics(q, qd, qdd) + 0.7 * qd
    found = mp.identify(robot, q, qd, qdd, tau, extras=extras, smooth=0.1)
    assert found.parameters is not None
    assert len(found.is_physical) == 4
    assert found.is_physical.all()
    size = np.abs(tau).max()
    assert np.abs(found.predict(q, qd, qdd) - tau).max() <= 1e-9 * size
    identified = found.robot
    assert [f.name for f in identified.followers] == ["c"]
    torque = mp.compile(identified).inverse_dynamics(q, qd, qdd) + found.friction["viscous"] * qd
    assert np.abs(torque - tau).max() <= 2e-3 * size
    assert "link 4" in found.text()


def test_bounds_name_links_that_follow():
    robot = coupled_chain()
    q, qd, qdd = motion(robot.n)
    tau = mp.compile(robot).inverse_dynamics(q, qd, qdd)
    link = robot.followers[0].link.name
    found = mp.identify(robot, q, qd, qdd, tau, extras=(), masses={link: (1.3, 1.4)})
    assert 1.3 <= found.robot.followers[0].link.mass <= 1.4
    with pytest.raises(DescriptionError, match="moving links"):
        mp.identify(robot, q, qd, qdd, tau, extras=(), prior=mp.from_dh([*CHAIN[:2], CHAIN[3]], "standard"))


def test_an_excitation_moves_a_coupled_robot_within_its_limits():
    robot = coupled_chain().select(lock={"d": 0.1})
    motion = mp.excitation(robot, 4.0, 3, velocity=2.0, acceleration=8.0, starts=4, iterations=2)
    assert motion.base.columns.bodies == 3
    assert np.isfinite(motion.condition)


def test_calibration_knows_coupled_joints_on_the_way():
    true = coupled_chain()
    moved = true.followers[0].joint.placement.matrix() @ _small(0.002, -0.001, 0.0015)
    from dataclasses import replace

    from manipula.algebra.pose import Pose

    f = true.followers[0]
    off = true.replace(followers=(replace(f, joint=replace(f.joint, placement=Pose.from_matrix(moved))),))
    q = np.random.default_rng(3).uniform(-1.0, 1.0, (60, 3))
    found = mp.calibrate(true, q, mp.compile(off).pose(q), what="joints")
    again = np.random.default_rng(5).uniform(-1.0, 1.0, (10, 3))
    assert np.abs(mp.compile(found.robot).pose(again) - mp.compile(off).pose(again)).max() < 1e-9


def _small(x: float, y: float, z: float) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_a_chain_with_coupled_joints_has_a_dh_table(convention):
    robot = coupled_chain()
    table = mp.to_dh(robot, convention)
    assert [row.get("follows") for row in table.rows] == [None, None, "b", None]
    again = table.to_robot()
    assert again.joint_names == robot.joint_names == ("a", "b", "d")
    q, qd, qdd = motion(3, 20)
    one, two = mp.compile(robot), mp.compile(again)
    tau = one.inverse_dynamics(q, qd, qdd)
    assert np.abs(two.inverse_dynamics(q, qd, qdd) - tau).max() <= 1e-12 * np.abs(tau).max()
    assert np.abs(two.pose(q) - one.pose(q)).max() <= 1e-13
    from manipula.formats.toml import dh_to_toml

    assert mp.from_toml(dh_to_toml(table)) == again
    with pytest.raises(DescriptionError, match="follow others"):
        to_text(
            robot.replace(
                joints=tuple(_bare(j) for j in robot.joints),
                followers=tuple(_without_rotor(f) for f in robot.followers),
            ),
            ".txt",
        )


def _bare(joint):
    from dataclasses import replace

    return replace(joint, rotor_inertia=0.0)


def _without_rotor(f):
    from dataclasses import replace

    return replace(f, joint=_bare(f.joint))


def test_fingers_beside_a_chain_have_no_place_in_a_table():
    with pytest.raises(DescriptionError, match="no place beside them for a coupled joint: 'f2' follows 'f1'"):
        mp.to_dh(mp.from_urdf(MIMIC, tip="left"), "standard")


@pytest.mark.parametrize(
    "row", [{"ratio": 2.0}, {"offset": 0.1}, {"follows": 3}, {"follows": "nobody"}, {"follows": "a", "ratio": "x"}]
)
def test_couplings_of_rows_that_mean_nothing_are_refused(row):
    rows = [{**ROW, "name": "a"}, {**ROW, "name": "b", **row}]
    if row.get("ratio") == "x":
        assert mp.from_dh(rows, "standard").parameters == ("x",)
        return
    with pytest.raises(DescriptionError):
        mp.from_dh(rows, "standard")
