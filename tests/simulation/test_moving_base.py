"""A base that moves as given, and tools that change during a run: Pinocchio with a driven base, Kapitza's pendulum, closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import manipula as mp
from manipula.errors import DescriptionError
from manipula.simulation.files.scenario_file import file_text, load_text
from simulation.test_forces import slider

G = 9.81


def test_kapitzas_pendulum_stands_on_its_shaken_support() -> None:
    """θ̈ = −(g + ÿ)/l cos θ for an angle from the horizontal; shaken fast enough it stays upright."""
    length, a, w = 0.5, 0.02, 300.0
    rod = mp.planar([length], [1.0], com=[length], inertia=[0.0])
    shaken = mp.BaseMotion(position=(0, f"{a}*sin({w}*t)", 0))
    s = mp.Scenario(robot=rod, q0=[np.pi / 2 + 0.1], duration=1.0, sample=0.05, base_motion=shaken, tolerance=1e-9)
    r = mp.simulate(s).check()

    def rate(t: float, y: Any) -> list[float]:
        return [y[1], -(G - a * w * w * np.sin(w * t)) / length * np.cos(y[0])]

    exact = solve_ivp(rate, (0, 1), [np.pi / 2 + 0.1, 0], t_eval=r.t, rtol=1e-12, atol=1e-13, method="DOP853")
    np.testing.assert_allclose(r.q[:, 0], exact.y[0], atol=1e-9)
    assert np.abs(r.q - np.pi / 2).max() < 0.3
    assert np.abs(r.audit).max() < 1e-7
    assert np.abs(r.work_base).max() > 1.0
    np.testing.assert_allclose(r.tip[:, 1], length * np.sin(r.q[:, 0]) + a * np.sin(w * r.t), atol=1e-12)
    assert mp.simulate(s.replace(base_motion=None)).q[-1, 0] > 3.0  # at rest the support lets it fall


POSITION = ("0.2*sin(3*t)", "0.1*t^2", "0.05*cos(5*t)")
ROTATION = ("0.3*sin(2*t)", "0.2*t", "0.4*cos(t)")


def driven_base(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pose, velocity and acceleration of the base by hand: central differences of the rotation are good to 1e-9 here."""
    p = np.array([0.2 * np.sin(3 * t), 0.1 * t * t, 0.05 * np.cos(5 * t)])
    v = np.array([0.6 * np.cos(3 * t), 0.2 * t, -0.25 * np.sin(5 * t)])
    a = np.array([-1.8 * np.sin(3 * t), 0.2, -1.25 * np.cos(5 * t)])
    rpy = np.array([0.3 * np.sin(2 * t), 0.2 * t, 0.4 * np.cos(t)])
    d = np.array([0.6 * np.cos(2 * t), 0.2, -0.4 * np.sin(t)])
    dd = np.array([-1.2 * np.sin(2 * t), 0.0, -0.4 * np.cos(t)])
    R = Rotation.from_euler("ZYX", rpy[::-1]).as_matrix()
    (_, sp, cp), (sy, cy) = (0, np.sin(rpy[1]), np.cos(rpy[1])), (np.sin(rpy[2]), np.cos(rpy[2]))
    E = np.array([[cy * cp, -sy, 0], [sy * cp, cy, 0], [-sp, 0, 1]])  # ω = E (roll, pitch, yaw)˙
    Ed = np.array([[-sy * cp * d[2] - cy * sp * d[1], -cy * d[2], 0], [cy * cp * d[2] - sy * sp * d[1], -sy * d[2], 0],
                   [-cp * d[1], 0, 0]])  # fmt: skip
    return R, p, v, a, E @ d, E @ dd + Ed @ d


def test_the_derivatives_of_the_base_are_exact() -> None:
    motion = mp.BaseMotion(POSITION, ROTATION)
    for t in (0.0, 0.7, 2.3):
        state = motion.at(t)
        for ours, theirs in zip((state.R, state.p, state.v, state.a, state.w, state.alpha), driven_base(t)):
            np.testing.assert_allclose(np.asarray(ours, float), theirs, atol=1e-13)


def test_accelerations_are_those_of_pinocchio_with_a_driven_free_flyer() -> None:
    pin = pytest.importorskip("pinocchio")
    from manipula.formats.urdf import to_urdf

    arm = mp.load("ur5e")
    theirs = pin.buildModelFromXML(to_urdf(arm), pin.JointModelFreeFlyer())
    theirs.armature[6:] = [float(j.armature) for j in arm.joints]
    data = theirs.createData()
    rng = np.random.default_rng(4)
    s = mp.Scenario(robot=arm, q0=rng.uniform(-1, 1, 6), qd0=rng.uniform(-1, 1, 6), duration=0.4, sample=0.1, friction=(),
                    base_motion=mp.BaseMotion(POSITION, ROTATION), integrator="rk4")  # fmt: skip
    r = mp.simulate(s).check()
    for k, t in enumerate(r.t):
        R, p, v, a, w, alpha = driven_base(t)
        x, y, z, scalar = Rotation.from_matrix(R).as_quat()
        q = np.concatenate([p, [x, y, z, scalar], r.q[k]])
        qd = np.concatenate([R.T @ v, R.T @ w, r.qd[k]])
        vb, wb = R.T @ v, R.T @ w
        qdd = np.concatenate([R.T @ a - np.cross(wb, vb), R.T @ alpha, r.qdd[k]])
        tau = pin.rnea(theirs, data, q, qd, qdd)
        np.testing.assert_allclose(tau[6:], r.tau[k], atol=1e-9 * (1 + np.abs(tau).max()))
        pin.forwardKinematics(theirs, data, q)
        kinetic = pin.computeKineticEnergy(theirs, data, q, qd)  # with the rotors
        assert r.kinetic[k] == pytest.approx(kinetic, rel=1e-9)
    assert np.abs(r.audit).max() < 1e-8


def test_a_carried_robot_falls_past_a_wall_that_stands_in_the_world() -> None:
    """A slide along x on a cart that moves with 0.5 m/s hits a wall fixed to the world."""
    free = slider("x").replace(gravity=(0, 0, 0))
    wall = mp.contact.PlaneContact(1e5, point=(1.0, 0, 0), normal=(-1, 0, 0))
    s = mp.Scenario(robot=free, duration=3.0, sample=0.05, contacts=(wall,), base_motion=mp.BaseMotion(("0.5*t", 0, 0)))
    r = mp.simulate(s.replace(qd0=[0.0])).check()
    assert r.tip[:, 0].max() < 1.01
    assert r.qd[-1, 0] + 0.5 == pytest.approx(-0.5, abs=1e-8)  # it rebounds in the world with the speed it came with
    assert np.abs(r.audit).max() < 1e-8


def test_the_base_motion_is_written_and_refused_where_it_cannot_act() -> None:
    s = mp.Scenario(robot=mp.load("planar-2r"), duration=0.1, base_motion=mp.BaseMotion(POSITION, ROTATION))
    assert load_text(file_text(s)) == s
    with pytest.raises(DescriptionError, match="position"):
        mp.BaseMotion(("sin(x)", 0, 0))
    with pytest.raises(DescriptionError, match="base_motion"):
        mp.Scenario(robot=mp.load("planar-2r"), duration=0.1, base_motion="ship")


def test_a_tool_change_brings_mass_inertia_and_another_tip() -> None:
    arm = mp.load("planar-2r")
    tool = mp.PayloadChange(
        0.5, 2.0, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.03), tool=(0.2, 0.1, 0.0), tool_rpy=(0, 0, 0.3)
    )
    s = mp.Scenario(robot=arm, q0=[0.3, 0.4], duration=1.0, sample=0.1, disturbances=(tool,))
    r = mp.simulate(s).check()
    assert np.abs(r.audit).max() < 1e-9
    payload = mp.Payload(2.0, (0.1, 0.0, 0.0), ((0.01, 0, 0), (0, 0.02, 0), (0, 0, 0.03)))
    carrying = mp.compile(arm.replace(payload=payload))
    model, after = mp.compile(arm), r.t >= 0.5
    for k in range(len(r.t)):
        own, forces = (carrying if after[k] else model), (r.q[k], r.qd[k], r.qdd[k])
        np.testing.assert_allclose(np.asarray(own.inverse_dynamics(*forces)), r.tau[k] - r.friction[k], atol=1e-9)
        X = np.asarray(model.pose(r.q[k]))
        new = np.array([0.2, 0.1, 0.0, 1.0]) if after[k] else np.array([0.0, 0.0, 0.0, 1.0])
        np.testing.assert_allclose(r.tip[k], (X @ new)[:3], atol=1e-12)
    turned = np.asarray(model.pose(r.q[-1]))[:3, :3] @ Rotation.from_euler("z", 0.3).as_matrix()
    np.testing.assert_allclose(r.pose[-1][:3, :3], turned, atol=1e-12)
    assert load_text(file_text(s)) == s


def test_a_tool_that_no_body_has_is_refused() -> None:
    with pytest.raises(DescriptionError, match="principal moments"):
        mp.PayloadChange(0.5, 1.0, inertia=(1.0, 0.1, 0.1))
    with pytest.raises(DescriptionError, match="tool"):
        mp.PayloadChange(0.5, 1.0, tool_rpy=(0, 0, 1.0))


INERTIAL = '<inertial><mass value="0.4"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>'
JOINT = '<parent link="palm"/><axis xyz="0 {} 0"/><limit effort="9" velocity="9" lower="{}" upper="{}"/>'
HAND = (
    f'<robot name="hand"><link name="palm"/><link name="left">{INERTIAL}</link><link name="right">{INERTIAL}</link>'
    f'<joint name="a" type="prismatic"><child link="left"/>{JOINT.format(1, 0.0, 0.05)}</joint>'
    f'<joint name="b" type="prismatic"><child link="right"/>{JOINT.format(-1, 0.0, 0.08)}<mimic joint="a" multiplier="2.0"/></joint></robot>'
)


def test_followers_take_wrenches_contacts_and_stops() -> None:
    """Two fingers, the second following the first with twice its stroke: forces on it act on the leader by virtual work."""
    hand = mp.from_urdf(HAND, tip="right").replace(gravity=(0, 0, 0))
    mass = 0.4 + 4 * 0.4  # seen by the leader
    s = mp.Scenario(robot=hand, q0=[0.02], duration=0.1, sample=0.1, friction=())
    r = mp.simulate(s.replace(disturbances=(mp.Wrench([0, -0.5, 0, 0, 0, 0], frame="right"),))).check()
    np.testing.assert_allclose(r.external, 1.0)
    assert r.q[-1, 0] == pytest.approx(0.02 + 0.5 * 1.0 / mass * 0.01, abs=1e-12)
    wall = mp.contact.PlaneContact(1e4, frame="right", point=(0, -0.05, 0), normal=(0, 1, 0))
    r = mp.simulate(s.replace(contacts=(wall,), qd0=[0.2], sample=0.01)).check()
    np.testing.assert_allclose(r.contact_torque[:, 0], -2.0 * r.contact_wrench[:, 0, 1], atol=1e-9)
    assert r.qd[-1, 0] == pytest.approx(-0.2, abs=1e-9)
    assert np.abs(r.audit).max() < 1e-12
    stops = mp.contact.EndStop(1e5)
    assert stops.fitted(hand).high == (0.04,)  # the follower is at its end before the leader is
    r = mp.simulate(s.replace(contacts=(stops,), qd0=[0.5])).check()
    assert r.qd[-1, 0] == pytest.approx(-0.5, abs=1e-9) or r.qd[-1, 0] == pytest.approx(0.5, abs=1e-9)
    held = mp.Wrench([0, -0.5, 0, 0, 0, 0], frame="right")
    r = mp.simulate(s.replace(friction=mp.friction.Stiction(static=1.1), disturbances=(held,))).check()
    assert r.q[-1, 0] == 0.02
    np.testing.assert_allclose(r.friction, 1.0)  # the follower's load, carried by the leader's friction


def test_a_tool_taken_on_a_fast_base_leaves_no_energy_unaccounted_for() -> None:
    """The energy it brings is that of the very instant: the base moves on by 10 m/s beside it."""
    arm = mp.planar([0.4, 0.3], [2.0, 1.0])
    tool = mp.PayloadChange(time=0.37, mass=3.0, com=(0.05, 0, 0), inertia=(0.01, 0.01, 0.01), tool=(0.1, 0, 0))
    base = mp.BaseMotion(position=("0.5*sin(20*t)", "0.3*cos(9*t)", 0), rotation=(0, 0, "0.8*sin(5*t)"))
    s = mp.Scenario(arm, q0=[0.2, 0.5], duration=0.8, sample=0.1, base_motion=base, disturbances=(tool,), integrator="dop853",
                    tolerance=1e-10)  # fmt: skip
    r = mp.simulate(s).check()
    assert np.abs(r.work_base).max() > 10.0
    assert np.abs(r.audit).max() < 1e-10 * np.abs(r.work_base).max()


def test_a_longer_tool_put_on_inside_a_wall_loses_no_energy() -> None:
    """The spring of the wall is pressed by putting the tool on: damping and friction have taken nothing, and never give anything back."""
    arm = mp.planar([0.4, 0.3], [2.0, 1.0], gravity=(0, 0, 0))
    wall = mp.contact.PlaneContact(stiffness=500.0, point=(0.695, 0, 0), normal=(-1, 0, 0))
    tool = mp.PayloadChange(time=0.1, mass=0.5, tool=(0.03, 0, 0))
    hold = mp.control.PD(kp=50, kv=5, goal=[0.0, 0.0])
    s = mp.Scenario(arm, None, hold, q0=[0.0, 0.0], duration=0.5, sample=0.01, contacts=(wall,), disturbances=(tool,))
    r = mp.simulate(s).check()
    assert np.isclose(r.contact_energy[11:].max(), 0.5 * 500.0 * 0.035**2, rtol=0.1)
    assert np.abs(r.contact_loss).max() < 1e-9  # a spring alone
    lossy = mp.simulate(
        s.replace(contacts=(mp.contact.PlaneContact(500.0, wall.point, wall.normal, damping=1.0),))
    ).check()
    assert lossy.contact_loss.min() > -1e-9
    assert np.diff(np.asarray(lossy.contact_loss)).min() > -1e-9
