"""Joints that follow others: one coordinate for several bodies, against Pinocchio's reduced dynamics and against virtual work."""

from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from coupled_pairs import pair
from manipula.errors import DescriptionError
from manipula.formats.toml import from_toml, to_toml
from manipula.physics.lagrange_euler import lagrange_euler
from manipula.physics.regressor import parameters

FILE = Path(__file__).parent.parent / "data" / "coupled" / "two_grippers.urdf"
JOINTS = ("j1", "j3", "f1")


@pytest.fixture(scope="module")
def robot():
    return mp.load(FILE, tip="lf2")


@pytest.fixture(scope="module")
def model(robot):
    return mp.compile(robot)


def states(n, count=4):
    return np.random.default_rng(5).uniform(-1, 1, (count, 3, n))


def largest(a, b):
    return np.abs(np.asarray(a) - np.asarray(b)).max() / max(1.0, np.abs(np.asarray(b)).max())


def test_names_and_numbers_of_what_moves(robot):
    assert robot.joint_names == JOINTS
    assert robot.n == 3
    assert [f.name for f in robot.followers] == ["c2", "f2"]
    assert [link.name for link in robot.bodies] == ["l1", "l3", "lf1", "l2", "lf2"]
    assert robot.followers[0].ratio == -0.5
    assert robot.followers[0].offset == 0.3
    assert not robot.is_chain


def test_pinocchio_gives_the_same_reduced_dynamics(robot, model):
    pin = pytest.importorskip("pinocchio")
    other = pin.buildModelFromUrdf(str(FILE), True)
    names = [name for name in other.names if name in JOINTS]
    order = [robot.joint_names.index(name) for name in names]
    assert other.nv == robot.n
    for q, v, a in states(3):
        data = other.createData()  # its composite bodies are not cleared between calls
        tau = pin.rnea(other, data, q[order], v[order], a[order])
        assert largest(model.inverse_dynamics(q, v, a)[order], tau) < 1e-13
        data = other.createData()
        M = pin.crba(other, data, q[order])
        M = np.triu(M) + np.triu(M, 1).T
        assert largest(model.mass_matrix(q)[np.ix_(order, order)], M) < 1e-13
        pin.framesForwardKinematics(other, data, q[order])
        for frame in ("l1", "l2", "l3", "lf1", "lf2"):
            assert largest(model.pose(q, frame), data.oMf[other.getFrameId(frame)].homogeneous) < 1e-13


def test_everything_follows_from_the_free_robot_by_virtual_work(robot, model):
    """M = GᵀM̄G and so on, with the free robot's own functions."""
    free, n, coordinate, ratio, body = robot.uncoupled
    wide = mp.compile(free)
    G = np.zeros((free.n, n))
    G[range(free.n), coordinate] = ratio
    for q, v, a in states(3):
        Q, V, A = G @ q, G @ v, G @ a
        assert largest(model.mass_matrix(q), G.T @ wide.mass_matrix(Q) @ G) < 1e-14
        assert largest(model.coriolis_matrix(q, v), G.T @ wide.coriolis_matrix(Q, V) @ G) < 1e-14
        assert largest(model.gravity(q), G.T @ wide.gravity(Q)) < 1e-14
        assert largest(model.jacobian(q, "lf1"), wide.jacobian(Q, "lf1") @ G) < 1e-14
        assert largest(model.jacobian_rate(q, v, "lf1"), wide.jacobian_rate(Q, V, "lf1") @ G) < 1e-14
        assert model.kinetic_energy(q, v) == pytest.approx(wide.kinetic_energy(Q, V), abs=1e-14)
        assert model.potential_energy(q) == pytest.approx(wide.potential_energy(Q), abs=1e-13)
        assert largest(model.joint_reactions(q, v, a), wide.joint_reactions(Q, V, A)[list(body)]) < 1e-13


def test_identities_of_the_reduced_equations(robot, model):
    for q, v, a in states(3):
        tau = model.inverse_dynamics(q, v, a)
        assert largest(model.forward_dynamics(q, v, tau), a) < 1e-12
        assert largest(model.inverse_mass_matrix(q) @ model.mass_matrix(q), np.eye(3)) < 1e-12
        assert largest(model.regressor(q, v, a) @ parameters(robot), tau) < 1e-13
        assert largest(model.coriolis_matrix(q, v) @ v, model.bias(q, v)) < 1e-13
        other = lagrange_euler(robot, q)
        assert largest(other.M, model.mass_matrix(q)) < 1e-13
        assert largest(other.bias(v), model.bias(q, v)) < 1e-13
        assert largest(other.g, model.gravity(q)) < 1e-13
        h = 1e-6
        slopes = model.inverse_dynamics_derivatives(q, v, a)[0]
        numeric = [
            (model.inverse_dynamics(q + h * e, v, a) - model.inverse_dynamics(q - h * e, v, a)) / (2 * h)
            for e in np.eye(3)
        ]
        assert largest(slopes, np.stack(numeric, axis=1)) < 1e-8
        slopes = model.forward_dynamics_derivatives(q, v, tau)[0]
        numeric = [
            (model.forward_dynamics(q + h * e, v, tau) - model.forward_dynamics(q - h * e, v, tau)) / (2 * h)
            for e in np.eye(3)
        ]
        assert largest(slopes, np.stack(numeric, axis=1)) < 1e-6


def test_a_run_keeps_its_energy_and_an_arm_is_found(robot, model):
    bare = robot.replace(joints=tuple(j.__class__(**{**vars(j), "friction": None}) for j in robot.joints))
    run = mp.simulate(mp.Scenario(robot=bare, duration=0.5, q0=[0.1, 0.2, 0.01]))
    assert run.status == "finished"
    assert np.abs(run.audit).max() < 1e-9
    compiled = mp.compile(bare)
    assert np.ptp(compiled.kinetic_energy(run.q, run.qd) + compiled.potential_energy(run.q)) < 1e-9
    q = np.array([0.3, -0.4, 0.02])
    found = mp.solve_ik(robot, model.pose(q))
    assert found.status == "solved"
    assert np.abs(model.pose(found.q) - model.pose(q)).max() < 1e-9


def test_friction_and_range_of_a_follower_are_felt_by_its_leader(robot):
    finger = robot.joints[robot.joint_index("f1")]
    assert finger.friction == mp.friction.Coulomb(0.2, damping=1.0)  # twice 0.1 N and 0.5 N·s/m
    assert (finger.limits.lower, finger.limits.upper) == (0.0, 0.03)  # f2 = 0.01 + f1 ≤ 0.04
    free = robot.joints[robot.joint_index("j1")]
    assert (free.limits.lower, free.limits.upper) == (-2.0, 2.0)


def test_toml_keeps_couplings_and_postures(robot):
    named = mp.Robot(**{**vars_of(robot), "postures": (("home", (0.0, 0.5, 0.01)),)})
    again = from_toml(to_toml(named))
    assert again == named
    assert again.digest == named.digest
    assert again.notes == robot.notes
    assert again.posture("home").tolist() == [0.0, 0.5, 0.01]
    with pytest.raises(DescriptionError, match=r"No posture named 'hom'\. Did you mean 'home'"):
        again.posture("hom")


def vars_of(robot):
    import dataclasses

    return {f.name: getattr(robot, f.name) for f in dataclasses.fields(robot)}


def test_locking_a_leader_holds_its_followers_and_keeps_the_mass(robot):
    held = mp.load(FILE, tip="lf2", lock={"f1": 0.02})
    assert held.joint_names == ("j1", "j3")
    assert [f.name for f in held.followers] == ["c2"]
    q, v, a = np.random.default_rng(1).uniform(-1, 1, (3, 2))
    wide = mp.compile(robot).inverse_dynamics([*q, 0.02], [*v, 0.0], [*a, 0.0])
    assert largest(mp.compile(held).inverse_dynamics(q, v, a), wide[:2]) < 1e-13
    assert largest(mp.compile(held).pose(q, "lf2"), mp.compile(robot).pose([*q, 0.02], "lf2")) < 1e-14
    assert robot.select(lock={"f1": 0.02}) == held


def test_what_is_dropped_is_told_with_its_mass():
    less = mp.load(FILE, drop=["f1", "f2"])
    assert less.joint_names == ("j1", "j3")
    assert less.tip == "l3"
    assert any("2 link(s) left out (0.2 kg): lf1, lf2" in note for note in less.notes)
    chain = mp.load(FILE, chain=("base", "l3"))
    assert chain == less


def test_a_chain_that_begins_elsewhere_feels_the_same_gravity():
    whole = mp.load(FILE, tip="l3", lock={"j1": 0.0}, drop=["f1", "f2"])
    part = mp.load(FILE, lock={"j1": 0.0}, chain=("l1", "l3"))
    assert part.joint_names == ("j3",)
    assert part.tip == "l3"
    for q in (0.0, 0.7, -1.2):
        assert largest(mp.compile(part).gravity([q]), mp.compile(whole).gravity([q])) < 1e-13


def test_select_works_on_any_robot():
    panda = mp.load("panda")
    name = panda.joint_names[2]
    held = panda.select(lock={name: 0.3})
    assert held.n == 6
    assert name not in held.joint_names
    q = np.random.default_rng(0).uniform(-1, 1, 6)
    full = np.insert(q, 2, 0.3)
    assert largest(mp.compile(held).gravity(q), np.delete(mp.compile(panda).gravity(full), 2)) < 1e-13


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ({"lock": {"zz": 1}}, "No joint named 'zz'"),
        ({"lock": {"f1": 1.0}}, "its range is 0 … 0.03, where its follower .f2. keeps"),
        ({"lock": {"c2": 0}}, "'c2' follows 'j1'; lock that one"),
        ({"lock": {"f1": "open"}}, "A position is a number"),
        ({"lock": [("f1", 1)]}, "positions by joint name"),
        ({"drop": ["f1"]}, "which is left out"),
        ({"drop": "base"}, "is the root"),
        ({"drop": ["no"]}, "No joint or link named 'no'"),
        ({"drop": 3}, "a name or a list of names"),
        ({"chain": ("lf1", "base")}, "does not hang on"),
        ({"chain": ("l1", "lf1")}, "which is left out"),
        ({"chain": "base"}, "the two links"),
        ({"chain": ("base", "nowhere")}, "No link named 'nowhere'"),
    ],
)
def test_what_cannot_be_selected_is_refused(words, found):
    with pytest.raises(DescriptionError, match=found):
        mp.load(FILE, **words)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ('follows = "c"', "No joint \\(which 'b' follows\\) named 'c'"),
        ('follows = "b"', "follows itself"),
        ('follows = "a"\ndrive = { drive = "rigid" }', "no drive of its own"),
        ("ratio = 2.0", "ratio"),
        ('follows = "a"\nfriction = { law = "dahl", level = 1.0, stiffness = 1e4 }', "one law only where it is viscous or Coulomb's, found 'Dahl'"),
    ],
)  # fmt: skip
def test_couplings_that_are_none(words, found):
    with pytest.raises(DescriptionError, match=found):
        from_toml(pair(words))


def test_a_follower_of_a_follower_and_one_that_stands_still():
    text = (
        pair('follows = "a"\nratio = -1.0\noffset = 0.5')
        + """
[[joint]]
name = "c"
type = "prismatic"
parent = "two"
child = "three"
follows = "b"
ratio = 0.1
[[link]]
name = "three"
mass = 0.5
[[joint]]
name = "d"
type = "revolute"
parent = "three"
child = "four"
follows = "a"
ratio = 0.0
offset = 0.25
[[link]]
name = "four"
mass = 0.1
"""
    )
    robot = from_toml(text)
    assert robot.joint_names == ("a",)
    assert [f.name for f in robot.followers] == ["b", "c"]
    c = robot.followers[1]
    assert c.leader == 0
    assert c.ratio == pytest.approx(-0.1)
    assert c.offset == pytest.approx(0.05)
    X = mp.compile(robot).pose([0.3], "four")
    # a = 0.3, b = 0.5 − 0.3, c = 0.1·b along z, d = 0.25
    angle = 0.3 + 0.2 + 0.25
    assert X[0, 0] == pytest.approx(np.cos(angle))
    assert X[2, 3] == pytest.approx(0.02)


def test_a_free_ratio_stays_a_parameter_of_the_robot():
    free = from_toml(pair('follows = "a"\nratio = "r"'))
    assert free.parameters == ("r",)
    assert free.with_parameters(r=2.0) == from_toml(pair('follows = "a"\nratio = 2.0'))


def test_the_doctor_tells_what_is_coupled(robot):
    found = mp.doctor(robot).find("coupling")
    assert [f.place for f in found] == ["c2", "f2"]


def test_what_has_no_coupled_joints_says_so(robot):
    with pytest.raises(DescriptionError, match="a coupled joint: 'c2' follows 'j1'"):
        mp.to_dh(robot, "standard")


def test_the_doctor_holds_the_coupled_arm(robot, model):
    """Virtual work: a leader holds what its followers carry."""
    found = mp.doctor(robot).find("holding")[0].value
    assert list(found) == list(robot.joint_names)
    np.testing.assert_allclose(list(found.values()), model.gravity(np.zeros(robot.n)), atol=1e-12)


def test_a_follower_that_is_always_outside_its_range_is_refused():
    """As reversed limits are: no posture keeps both ranges."""
    text = pair(
        'follows = "a"\noffset = 5.0\nlimits = { position = [-1, 1] }', leader="limits = { position = [-1, 1] }"
    )
    with pytest.raises(
        DescriptionError, match=r"puts it between 4 and 6, always outside its own range \(-1 … 1\).*drop=\['b'\]"
    ):
        from_toml(text)
    urdf = FILE.read_text("utf-8").replace('<mimic joint="f1" offset="0.01"/>', '<mimic joint="f1" offset="0.5"/>')
    with pytest.raises(DescriptionError, match="always outside its own range"):
        mp.from_urdf(urdf)
    assert mp.from_urdf(urdf, drop=["f2"]).joints[-1].limits.upper == 0.04


def test_one_whose_range_is_known_only_with_values_is_an_error_of_the_doctor():
    text = pair(
        'follows = "a"\noffset = "o"\nlimits = { position = [-1, 1] }', leader="limits = { position = [-1, 1] }"
    )
    (found,) = mp.doctor(from_toml(text).with_parameters(o=5.0)).find("coupling.range")
    assert found.severity == "error"
    assert "between 4 and 6" in found.sentence


@pytest.mark.parametrize("words", ['follows = "a"\nratio = 0.0\noffset = 0.3', 'follows = "base_weld"'])
def test_a_follower_that_stands_still_is_told(words):
    text = (
        pair(words)
        + """
[[joint]]
name = "base_weld"
type = "fixed"
parent = "base"
child = "stand"
[[link]]
name = "stand"
"""
    )
    assert any("'b' follows" in note and "held still" in note for note in from_toml(text).notes)
