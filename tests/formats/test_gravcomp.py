"""Weight that something else carries: ``gravcomp`` of MJCF, balances of links. MuJoCo is the judge."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import manipula as mp
from manipula.errors import DescriptionError
from manipula.formats.load import to_text
from manipula.physics import articulated, composite, energy, lagrange_euler, newton_euler
from manipula.physics.derivatives import inverse_dynamics_derivatives
from manipula.robot import Balance

mujoco = pytest.importorskip("mujoco")

SAME = 1e-13  # of the largest torque
BODIES = """<body name="a" pos="0 0 .3" gravcomp="0.3"><joint name="j1" axis="0 .1 1" {0}/><inertial pos=".1 .02 .05" mass="3" diaginertia=".1 .11 .12"/>
<body name="b" pos=".1 0 .2" gravcomp="1"><joint name="j2" axis="0 1 0" pos="0 0 .02" {1}/><inertial pos=".2 .03 0" mass="2" diaginertia=".05 .06 .05"/>
{fixed}<body name="c" pos=".4 0 0"><joint name="j3" type="slide" axis="1 0 .3" {1}/><inertial pos=".05 0 .04" mass="1" diaginertia=".01 .01 .01"/>
<body name="d" pos=".1 0 0" gravcomp="-0.2"><joint name="j4" axis="0 1 0" {1}/><joint name="j5" axis="1 0 0" {1}/>
<inertial pos=".05 0 .04" mass=".5" diaginertia=".01 .01 .01"/></body></body></body></body>"""
WELDED = '<body name="e" pos=".1 .1 0" euler="10 20 30" gravcomp=".5"><inertial pos=".2 .03 0" mass=".7" diaginertia=".05 .06 .05"/></body>'


def arm(above: str = "", first: str = "", rest: str = "", fixed: str = WELDED) -> str:
    return f"<mujoco>{above}<worldbody>{BODIES.format(first, rest, fixed=fixed)}</worldbody></mujoco>"


def states(count: int = 4, n: int = 5) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(count, 3, n))


def mujoco_torques(text: str, q, qd, qdd) -> np.ndarray:
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
    mujoco.mj_inverse(model, data)
    return np.array(data.qfrc_inverse)


def agrees(robot: mp.Robot, text: str) -> None:
    for state in states(n=robot.n):
        truth = mujoco_torques(text, *state)
        found = np.asarray(newton_euler.inverse_dynamics(robot, *state), float)
        assert np.abs(found - truth).max() <= SAME * np.abs(truth).max()


def test_shares_of_single_bodies_are_those_of_mujoco():
    robot = mp.from_mjcf(arm(), tip="d")
    assert robot.gravity == (0.0, 0.0, -9.81)
    assert robot.links[0].balance == Balance(pytest.approx(0.9), (0.1, 0.02, 0.05))
    assert any("a, b, e, d is carried" in note for note in robot.notes)
    agrees(robot, arm())
    agrees(mp.from_mujoco(mujoco.MjModel.from_xml_string(arm()), tip="d"), arm())


@pytest.mark.parametrize("flags", ["spring", "damper", "spring damper", "gravity"])
def test_flags_that_switch_it_off(flags):
    words = " ".join(f'{name}="disable"' for name in flags.split())
    text = arm(f"<option><flag {words}/></option>")
    agrees(mp.from_mjcf(text, tip="d"), text)
    agrees(mp.from_mujoco(mujoco.MjModel.from_xml_string(text), tip="d"), text)
    uniform = text.replace('gravcomp="0.3"', 'gravcomp="1"').replace('gravcomp="-0.2"', 'gravcomp="1"')
    uniform = uniform.replace('gravcomp=".5"', 'gravcomp="1"').replace('name="c"', 'name="c" gravcomp="1"')
    agrees(mp.from_mjcf(uniform, tip="d"), uniform)


def test_weight_that_motors_carry_is_left_to_the_controller():
    text = arm("", 'actuatorgravcomp="true"', 'actuatorgravcomp="true"')
    robot = mp.from_mjcf(text, tip="d")
    assert all(link.balance is None for link in robot.links)
    assert any("left to the controller" in note for note in robot.notes)
    agrees(robot, text)
    with pytest.raises(DescriptionError, match=r"motors of some joints \(j1\)"):
        mp.from_mjcf(arm("", 'actuatorgravcomp="true"'), tip="d")


@pytest.mark.parametrize("beside", ["", '<body gravcomp="1"><geom size=".1"/></body>'])
def test_shares_below_zero_act_beside_others_only(beside):
    bodies = '<body gravcomp="-.5"><joint axis="0 1 0"/><inertial pos=".1 0 0" mass="1" diaginertia=".1 .1 .1"/></body>'
    text = f"<mujoco><worldbody>{bodies}{beside}</worldbody></mujoco>"
    agrees(mp.from_mjcf(text), text)
    agrees(mp.from_mujoco(mujoco.MjModel.from_xml_string(text)), text)


def test_every_route_to_the_equations_knows_it():
    robot = mp.from_mjcf(arm(), tip="d")
    for q, qd, qdd in states(2):
        tau = np.asarray(newton_euler.inverse_dynamics(robot, q, qd, qdd), float)
        size = np.abs(tau).max()
        second = lagrange_euler.lagrange_euler(robot, q)
        other = np.asarray(second.M @ qdd + second.bias(qd) + second.g, float)
        assert np.abs(other - tau).max() <= SAME * size
        for solve in (composite.forward_dynamics, articulated.forward_dynamics):
            back = np.asarray(solve(robot, q, qd, tau), float)
            assert np.abs(back - qdd).max() <= 1e-10 * np.abs(qdd).max()
        h = 1e-5
        slope = [
            (float(energy.potential_energy(robot, q + h * e)) - float(energy.potential_energy(robot, q - h * e)))
            / (2 * h)
            for e in np.eye(5)
        ]
        assert np.abs(slope - np.asarray(newton_euler.gravity(robot, q), float)).max() <= 1e-8 * size
        dq = np.asarray(inverse_dynamics_derivatives(robot, q, qd, qdd).dq, float)
        steps = [
            np.asarray(newton_euler.inverse_dynamics(robot, q + h * e, qd, qdd) - newton_euler.inverse_dynamics(robot, q - h * e, qd, qdd), float)
            for e in np.eye(5)
        ]  # fmt: skip
        assert np.abs(dq - np.stack(steps, axis=1) / (2 * h)).max() <= 1e-7 * size


def test_machine_code_equations_and_certificate():
    text = arm(fixed="").replace('axis="0 .1 1"', 'axis="0 0 1"').replace('axis="1 0 .3"', 'axis="1 0 0"')
    robot = mp.from_mjcf(text, tip="d")
    model = mp.compile(robot)
    q, qd, qdd = states(1)[0]
    truth = mujoco_torques(text, q, qd, qdd)
    assert np.abs(model.inverse_dynamics(q, qd, qdd) - truth).max() <= SAME * np.abs(truth).max()
    compact, recursive = mp.equations(robot), mp.equations(robot, level="recursive")
    at = dict(zip([*compact.q, *compact.qd, *compact.qdd], [*q, *qd, *qdd]))
    found = np.array([float(row.subs(at)) for row in compact.tau])
    assert np.abs(found - truth).max() <= 1e-12 * np.abs(truth).max()
    known = dict(at)
    for symbol, formula in recursive.assignments:
        known[symbol] = formula.subs(known)
    found = np.array([float(row.subs(known)) for row in recursive.tau])
    assert np.abs(found - truth).max() <= 1e-12 * np.abs(truth).max()
    certificate = mp.certify(robot, states=4)
    assert certificate.ok, certificate.text()


@pytest.mark.parametrize("level", ["raw", "compact", "lumped", "base"])
@pytest.mark.parametrize("inertia", ["given", "symbolic"])
def test_every_level_of_the_equations(level, inertia):
    rod = {"a": 0.5, "mass": 2.0, "com": [-0.2, 0.03, 0.0], "inertia": [0.01, 0.05, 0.05]}
    rows = [
        {**rod, "alpha": np.pi / 2},
        {**rod, "balance": {"mass": 1.3, "com": [-0.1, 0.05, 0.02]}},
        {**rod, "joint": "prismatic"},
    ]
    robot = mp.from_dh(rows, "standard")
    q = np.array([0.3, -0.8, 0.2])
    eq = mp.equations(robot, level=level, inertia=inertia)
    values = dict(zip(eq.q, q)) | _link_symbols(robot)
    found = [float(row.subs(eq.definitions).subs(values).subs(values)) for row in eq.g]
    assert np.abs(found - mp.compile(robot).gravity(q)).max() < 1e-12


def _link_symbols(robot: mp.Robot) -> dict:
    out = {}
    for i, link in enumerate(robot.links, 1):
        m, h, J = link.moments().seen_from(link.frame.R, link.frame.p)  # the symbols are of the frame on the joint
        for name, value in zip(
            ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"),
            (m, *h, *(J[k] for k in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))),
        ):
            out[sympy.Symbol(f"{name}{i}")] = value
    return out


def test_a_run_keeps_its_energy():
    robot = mp.from_mjcf(arm(), tip="d")
    run = mp.simulate(mp.Scenario(robot, q0=[0.3, -0.4, 0.1, 0.5, 0.2], duration=0.3))
    assert run.status == "finished"
    assert np.abs(run.audit).max() < 1e-8


def test_it_is_written_and_read_again(tmp_path):
    robot = mp.from_mjcf(arm(), tip="d")
    again = mp.from_toml(to_text(robot, ".toml"))
    assert again == robot
    chain = mp.from_mjcf(arm(fixed=""), tip="d")
    assert chain.select(lock={"j4": 0.1}).n == 4
    written = to_text(chain, ".xml")
    agrees(mp.from_mjcf(written), written)
    assert [link.balance is None for link in mp.from_mjcf(written).links] == [False, False, True, True, False]
    table = mp.to_dh(chain, "modified").to_robot()
    agrees(table, arm(fixed=""))
    mp.save(chain, tmp_path / "arm.toml")
    assert mp.load(tmp_path / "arm.toml") == chain
    with pytest.raises(DescriptionError, match="acts elsewhere"):
        to_text(robot, ".xml")
    with pytest.raises(DescriptionError, match="URDF has no place for weight"):
        to_text(chain, ".urdf")
    with pytest.raises(DescriptionError, match="13-column table"):
        to_text(chain.replace(joints=tuple(j for j in chain.joints)), ".txt")
    with pytest.raises(DescriptionError, match="weight that something else carries"):
        mp.base_parameters(chain)


def test_joints_that_are_held_add_up_what_is_carried():
    text = arm()
    robot = mp.from_mjcf(text, tip="d", lock={"j2": 0.4, "j3": -0.1})
    assert robot.n == 3
    for q, qd, qdd in states(n=3):
        full = [np.array([x[0], a, b, x[1], x[2]]) for x, a, b in ((q, 0.4, -0.1), (qd, 0, 0), (qdd, 0, 0))]
        truth = mujoco_torques(text, *full)[[0, 3, 4]]
        found = np.asarray(newton_euler.inverse_dynamics(robot, q, qd, qdd), float)
        assert np.abs(found - truth).max() <= SAME * np.abs(truth).max()


@pytest.mark.parametrize(
    "line",
    ["balance = { com = [0, 0, 0] }", "balance = 3", "balance = { mass = inf }", "balance = { mass = 1, weight = 2 }"],
)
def test_a_balance_that_means_nothing_is_refused(line):
    text = (
        'format = 1\n[[link]]\nname = "base"\n[[joint]]\nname = "j"\ntype = "revolute"\nparent = "base"\nchild = "a"\n'
        f'[[link]]\nname = "a"\nmass = 1\n{line}\n'
    )
    with pytest.raises(DescriptionError, match="balance"):
        mp.from_toml(text)


def test_links_between_the_joints_of_one_body_are_no_warning():
    said = mp.doctor(mp.from_mjcf(arm(), tip="d"))
    assert not said.find("inertial.missing")
    assert said.find("inertial.between")[0].value == ("d_1",)
    assert mp.from_toml(to_text(mp.from_mjcf(arm(), tip="d"), ".toml")).links[3].between
