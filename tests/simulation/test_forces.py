"""Wrenches of time, pose and velocity, tables of forces, contacts, end stops: against closed forms and SciPy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import manipula as mp
from manipula.algebra import ops
from manipula.errors import DescriptionError
from manipula.simulation.files.scenario_file import file_text, load_text
from manipula.simulation.plant.contact import Touch

G = 9.81
AXES = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}
EXACT = 1e-9  # of closed forms and of SciPy at rtol 1e-12


def slider(axes: str = "z", mass: float = 1.0, limit: float = 1000.0) -> mp.Robot:
    """A body on prismatic joints along the given axes."""
    parts, parent = ['<link name="base"/>'], "base"
    for i, axis in enumerate(axes):
        inertial = '<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>'
        body = f'<inertial><mass value="{mass}"/>{inertial}' if i == len(axes) - 1 else ""
        parts.append(
            f'<link name="l{i}">{body}</link><joint name="j{axis}" type="prismatic"><parent link="{parent}"/><child link="l{i}"/>'
            f'<axis xyz="{AXES[axis]}"/><limit effort="1000" velocity="100" lower="{-limit}" upper="{limit}"/></joint>'
        )
        parent = f"l{i}"
    return mp.from_urdf(f'<robot name="slider">{"".join(parts)}</robot>')


BALL = slider()
MOVE = mp.joint_move([0.0, 0.5], [0.1, 0.6], velocity=1.0, acceleration=1.0, jerk=1.0)


def finished(scenario: mp.Scenario) -> mp.Result:
    result = mp.simulate(scenario).check()
    assert np.abs(result.audit).max() < 1e-8
    return result


def test_a_spring_by_formulas_of_position_and_velocity_swings_like_one() -> None:
    k, b = 200.0, 3.0
    wrench = mp.Wrench([0, 0, f"-{k}*z - {b}*vz + {G}", 0, 0, 0])
    r = finished(mp.Scenario(robot=BALL, q0=[0.1], duration=1.0, disturbances=(wrench,), sample=0.05))
    w, d = np.sqrt(k - b * b / 4), b / 2
    exact = 0.1 * np.exp(-d * r.t) * (np.cos(w * r.t) + d / w * np.sin(w * r.t))
    np.testing.assert_allclose(r.q[:, 0], exact, atol=EXACT)


def test_a_function_of_pose_and_twist_is_the_formula() -> None:
    text = mp.Wrench(["-3*vx", "2*sin(yaw)", "x*cos(t)", 0, 0, "0.1*wz"], frame="link2")

    def function(t: Any, pose: Any, twist: Any) -> list[Any]:
        yaw = ops.atan2(pose[1, 0], pose[0, 0])
        return [-3 * twist[0], 2 * ops.sin(yaw), pose[0, 3] * ops.cos(t), 0, 0, 0.1 * twist[5]]

    s = mp.Scenario(robot=mp.load("planar-2r"), q0=[0.3, 0.4], duration=0.3, sample=0.05)
    a, b = (finished(s.replace(disturbances=(w,))) for w in (text, mp.Wrench(function, frame="link2")))
    np.testing.assert_allclose(a.q, b.q, atol=1e-12)
    with pytest.raises(DescriptionError, match="six numbers"):
        mp.simulate(s.replace(disturbances=(mp.Wrench(lambda t, pose, twist: [0.0]),)))


def test_a_wrench_in_body_axes_turns_with_the_frame() -> None:
    arm = mp.load("planar-2r").replace(gravity=(0, 0, 0))
    s = mp.Scenario(robot=arm, q0=[0.3, 0.4], duration=0.5, sample=0.1)
    body = finished(s.replace(disturbances=(mp.Wrench([1.0, 2.0, 0, 0, 0, 0.5], axes="body"),)))
    turned = mp.Wrench(["cos(yaw) - 2*sin(yaw)", "sin(yaw) + 2*cos(yaw)", 0, 0, 0, 0.5])
    np.testing.assert_allclose(body.q, finished(s.replace(disturbances=(turned,))).q, atol=1e-10)


@pytest.mark.parametrize("held", [False, True])
def test_a_table_pushes_as_it_says(held: bool) -> None:
    times, force = np.array([0.1, 0.3, 0.35]), np.array([2.0, 5.0, -4.0])
    table = mp.WrenchTable.of(times, force[:, None] * [0, 0, 1, 0, 0, 0], interpolation="held" if held else "linear")
    free = BALL.replace(gravity=(0, 0, 0))
    r = finished(mp.Scenario(robot=free, duration=0.5, disturbances=(table,), sample=0.05))
    impulse = 2.0 * 0.2 + 5.0 * 0.05 if held else 3.5 * 0.2 + 0.5 * 0.05
    np.testing.assert_allclose(r.qd[-1, 0], impulse, atol=1e-12)


def test_columns_of_forces_are_found_by_their_names(tmp_path: Path) -> None:
    for text in ("time,mz,fy,fx,my,mx,fz\n0,6,2,1,5,4,3\n1,6,2,1,5,4,3\n", "0,1,2,3,4,5,6\n1,1,2,3,4,5,6\n"):
        (tmp_path / "push.csv").write_text(text)
        for source in (text, tmp_path / "push.csv"):
            np.testing.assert_array_equal(mp.WrenchTable(source).rows, [[0, 1, 2, 3, 4, 5, 6], [1, 1, 2, 3, 4, 5, 6]])
    for names in (
        "time,a,b,c,d,e,f",
        "t,fx,fx,fz,mx,my,mz",
        "t,time,fy,fz,mx,my,mz",
        "t,fx,fy,fz,mx,my",
        "t,fx,fy,fz,mx,my,mz,n",
    ):
        with pytest.raises(DescriptionError, match="t \\(or time\\), fx, fy, fz, mx, my, mz, in any order"):
            mp.WrenchTable(f"{names}\n0,1,2,3,4,5,6\n1,1,2,3,4,5,6\n")


def test_measured_forces_come_from_a_file_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "push.csv").write_text("t,fx,fy,fz,mx,my,mz\n0,0,1,0,0,0,0\n1,0,3,0,0,0,0\n")
    text = 'robot = "planar-2r"\nduration = 0.5\n[[disturbances]]\nkind = "wrench_table"\ntable = "push.csv"\naxes = "body"\n'
    (tmp_path / "run.toml").write_text(text)
    s = mp.Scenario.load(tmp_path / "run.toml")
    np.testing.assert_allclose(s.disturbances[0].times, [0.0, 1.0])
    assert load_text(file_text(s)) == s  # the numbers are in the scenario
    (tmp_path / "push.csv").write_text("0,0,0,1,0,0,0\n0,0,0,3,0,0,0\n")
    with pytest.raises(DescriptionError, match="Times must increase"):
        mp.Scenario.load(tmp_path / "run.toml")
    (tmp_path / "run.toml").write_text(text.replace("push.csv", "../push.csv"))
    with pytest.raises(DescriptionError):
        mp.Scenario.load(tmp_path / "run.toml")


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.2])
def test_a_body_at_rest_sinks_by_its_weight_over_the_stiffness(exponent: float) -> None:
    k, m, radius = 3e4, 2.0, 0.05
    depth = (m * G / k) ** (1 / exponent)
    plane = mp.contact.PlaneContact(k, radius=radius, exponent=exponent)
    r = finished(mp.Scenario(robot=slider(mass=m), q0=[radius - depth], duration=0.5, contacts=(plane,), sample=0.1))
    np.testing.assert_allclose(r.penetration[:, 0], depth, atol=EXACT)
    np.testing.assert_allclose(r.contact_force[:, 0], m * G, rtol=1e-7)
    np.testing.assert_allclose(r.contact_wrench[:, 0, 2], r.contact_force[:, 0])


def bounce(v: float, k: float, n: float, c: float) -> float:
    """Speed after one collision without gravity, by SciPy with an event."""

    def rate(t: float, y: Any) -> list[float]:
        depth, speed = max(-y[0], 0.0), -y[1]
        return [y[1], max(0.0, k * depth**n * (1.0 + 1.5 * c * speed))]

    def apart(t: float, y: Any) -> float:
        return y[0] if t > 0.0 else -1.0

    apart.terminal, apart.direction = True, 1.0  # type: ignore[attr-defined]
    run = solve_ivp(rate, (0, 1), [0.0, -v], events=apart, rtol=1e-12, atol=1e-14, method="DOP853")
    return float(run.y_events[0][0, 1])


@pytest.mark.parametrize(("n", "c"), [(1.0, 0.2), (1.5, 0.4)])
def test_a_ball_rebounds_as_scipy_says(n: float, c: float) -> None:
    v, k, radius = 1.0, 1e4, 0.1
    plane = mp.contact.PlaneContact(k, radius=radius, exponent=n, damping=c)
    ball = BALL.replace(gravity=(0, 0, 0))
    r = finished(mp.Scenario(robot=ball, q0=[radius + 0.1], qd0=[-v], duration=0.5, contacts=(plane,), sample=0.01))
    assert r.qd[-1, 0] == pytest.approx(bounce(v, k, n, c), abs=EXACT)
    np.testing.assert_allclose(r.contact_loss[-1], 0.5 * (v * v - r.qd[-1, 0] ** 2), atol=1e-9)


def test_restitution_falls_with_speed_to_first_order() -> None:
    alpha, v = 0.2, np.array([0.002, 0.004, 0.008])
    plane = mp.contact.PlaneContact(1e4, radius=0.1, exponent=1.5, damping=alpha)
    ball = BALL.replace(gravity=(0, 0, 0))
    s = mp.Scenario(robot=ball, q0=np.full((3, 1), 0.1), qd0=-v[:, None], duration=0.5, contacts=(plane,), sample=0.5)
    lost = 1.0 - finished(s).qd[:, -1, 0] / v
    np.testing.assert_allclose(lost, alpha * v, rtol=2e-3)  # e = 1 − α v + O(α² v²)


def test_a_sliding_block_slows_down_by_mu_g() -> None:
    mu, k = 0.3, 1e4
    plane = mp.contact.PlaneContact(k, friction=mu, slip_speed=1e-3)
    block = slider("xz")
    r = finished(mp.Scenario(robot=block, q0=[0, -G / k], qd0=[2.0, 0.0], duration=0.4, contacts=(plane,), sample=0.1))
    np.testing.assert_allclose(r.qd[:, 0], 2.0 - mu * G * r.t, atol=EXACT)
    np.testing.assert_allclose(r.contact_wrench[:, 0, 0], -mu * G, rtol=1e-8)


def test_corners_of_a_box_share_the_load() -> None:
    k = 1e4
    corners = [[x, y, -0.1] for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    plane = mp.contact.PlaneContact(k, points=corners)
    r = finished(mp.Scenario(robot=BALL, q0=[0.1 - G / k / 4], duration=0.2, contacts=(plane,), sample=0.1))
    np.testing.assert_allclose(r.penetration[:, 0], G / k / 4, atol=EXACT)
    np.testing.assert_allclose(r.contact_wrench[:, 0, 3:], 0.0, atol=1e-9)


def test_an_end_stop_gives_back_what_it_does_not_lose() -> None:
    cart = slider("x", limit=0.5)
    hard, lossy = mp.contact.EndStop(1e4), mp.contact.EndStop(1e4, damping=0.3)
    s = mp.Scenario(robot=cart, q0=[0.0], qd0=[2.0], duration=1.0, sample=0.01)
    r = finished(s.replace(contacts=(hard,)))
    assert abs(r.qd[-1, 0]) == pytest.approx(2.0, abs=EXACT)
    assert r.contact_energy.max() > 0.1
    r = finished(s.replace(contacts=(lossy,), duration=0.4))
    assert -r.qd[-1, 0] == pytest.approx(bounce(2.0, 1e4, 1.0, 0.3), abs=EXACT)


def test_a_follower_stops_its_leader() -> None:
    hand = mp.load("panda-hand")
    stop = mp.contact.EndStop(1e4).fitted(hand)
    assert hand.followers
    for f in hand.followers:
        ends = sorted((v - f.offset) / f.ratio for v in (f.joint.limits.lower, f.joint.limits.upper))
        assert stop.low[f.leader] >= ends[0]
        assert stop.high[f.leader] <= ends[1]


def test_contacts_are_written_and_read() -> None:
    contacts = (mp.contact.PlaneContact(1e4, normal=(1, 0, 1), friction=0.2), mp.contact.EndStop(100.0, low=-1, high=2))
    s = mp.Scenario(robot=mp.load("planar-2r"), duration=0.1, contacts=contacts)
    assert load_text(file_text(s)) == s


@pytest.mark.parametrize(
    ("contact", "told"),
    [
        (lambda: mp.contact.PlaneContact(1e4, normal=(0, 0, 0)), "normal"),
        (lambda: mp.contact.PlaneContact(-1.0), "stiffness"),
        (lambda: mp.contact.PlaneContact(1.0, exponent=0.5), "exponent"),
        (lambda: mp.contact.PlaneContact(1.0, points=[[0, 0]]), "three coordinates"),
        (lambda: mp.contact.EndStop(1.0, low=1.0, high=0.0), "not below"),
        (lambda: mp.simulate(scene(mp.contact.PlaneContact(1.0, frame="base"))), "no joint moves"),
        (lambda: mp.simulate(scene(mp.contact.EndStop(1.0))), "no position limit"),
        (lambda: mp.simulate(scene(mp.contact.EndStop(1.0, joints=["elbow"], low=-1, high=1))), "No joint .*elbow"),
        (lambda: scene("wall"), "contacts"),
        (lambda: mp.simulate(scene(mp.contact.EndStop(1.0), kind="inverse_dynamics", reference=MOVE)), "contacts"),
    ],
)
def test_what_cannot_act_is_refused(contact: Any, told: str) -> None:
    with pytest.raises(DescriptionError, match=told):
        contact()


def scene(contact: Any, **more: Any) -> mp.Scenario:
    return mp.Scenario(robot=mp.load("planar-2r"), duration=0.1, contacts=(contact,), **more)


def test_the_contact_force_can_be_measured_at_the_tip() -> None:
    from manipula.simulation.plant_of_scenario import plant_of

    plane = mp.contact.PlaneContact(1e4, radius=0.1)
    s = mp.Scenario(robot=BALL, duration=0.1, contacts=(plane,))
    plant = plant_of(s)[0]
    x = plant.start(np.array([0.09]), np.array([0.0])).astype(float)
    np.testing.assert_allclose(np.asarray(plant.measured_wrench(0.0, x), float), [0, 0, 100, 0, 0, 0])


class ForceControl(mp.control.Controller):
    """Presses with a given force: integrates what a sensor at the tip measures."""

    name, space, measures = "force", "none", ("wrench",)

    def states(self, n: int) -> int:
        return 1

    def torque(self, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any) -> Any:
        return arm.gravity(q) - 20.0 * qd + arm.jacobian(q).T[:, 2] * (-state[0])

    def state_rate(self, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any) -> Any:
        return [5.0 * (5.0 - arm.wrench[2])]

    def initial_state(self, arm: Any) -> Any:
        return [0.0]


def test_a_controller_can_measure_the_contact_force() -> None:
    plane = mp.contact.PlaneContact(1e3, radius=0.1)
    s = mp.Scenario(robot=BALL, q0=[0.1], controller=ForceControl(), duration=5.0, sample=0.5, contacts=(plane,))
    r = mp.simulate(s).check()
    assert r.contact_force[-1, 0] == pytest.approx(5.0, abs=1e-6)


def test_fixed_steps_fly_and_touch_as_adaptive_ones_do() -> None:
    """Where nothing touches the compiled loop leaves contacts out; runs side by side are in the air and on the ground at different times."""
    ground = mp.contact.PlaneContact(stiffness=3e3, exponent=1.5, damping=0.2)
    heights = np.linspace(0.02, 0.3, 9)[:, None]
    base = mp.Scenario(robot=BALL, q0=heights, duration=1.0, step=2e-4, sample=0.02, contacts=(ground,))
    fixed = mp.simulate(base.replace(integrator="rk4"))
    judge = mp.simulate(base.replace(integrator="dop853"))
    assert fixed.status == judge.status == "finished"
    assert (fixed.penetration > 0).any()
    assert (fixed.penetration < 0).any()
    np.testing.assert_allclose(fixed.q, judge.q, atol=1e-6)
    for k in (0, 4, 8):
        alone = mp.simulate(base.replace(integrator="rk4", q0=heights[k]))
        np.testing.assert_array_equal(alone.q, fixed.q[k])


@dataclass(frozen=True)
class Magnet(mp.contact.Contact):
    """Pulls towards z = 0 from anywhere, and has its gap there all the same."""

    pull: float = 4.0
    name: ClassVar[str] = "magnet"

    def touch(self, around: Any) -> Any:
        at = around.frame("tip")
        wrench = np.array([0.0, 0.0, -self.pull, 0.0, 0.0, 0.0])
        torque, power = around.work_of(at, wrench)
        return Touch(torque, power, wrench, self.pull, -at.p[2], 0.0, [at.p[2]])


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_a_contact_of_somebodys_own_may_act_at_a_distance(integrator: str) -> None:
    r = mp.simulate(
        mp.Scenario(robot=BALL, q0=[5.0], duration=0.5, step=1e-3, contacts=(Magnet(),), integrator=integrator)
    )
    assert r.status == "finished"
    np.testing.assert_allclose(r.q[:, 0], 5.0 - 0.5 * (G + 4.0) * r.t**2, atol=EXACT)
