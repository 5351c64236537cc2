r"""Position and orientation under one law, :math:`\ddot e + 20\dot e + 100e = 0`, whatever the arm and the size of the error.

Judges: the closed form of the law; SciPy's rotations; Pinocchio's frames and dynamics under SciPy's integrator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import manipula as mp
from control.arms_and_gains import arm
from manipula import control
from manipula.motion.paths import orientation
from manipula.redundancy.orientation import TurnTarget, turn_error
from oracles import Judge

Q0 = {"panda": np.array([0.1, 0.3, -0.2, -1.2, 0.1, 1.4, 0.2]), "ur5e": np.array([0.3, -1.2, 1.5, -0.3, 1.0, 0.2])}
SHIFT = np.array([0.01, -0.02, 0.015])
LAW = 1e-9
STEP = 2.5e-4


def turned(axis: np.ndarray, angle: float) -> np.ndarray:
    return Rotation.from_rotvec(angle * np.asarray(axis)).as_matrix()


def reference(name: str, angle: float, duration: float = 0.5) -> Any:
    """A line beside the tip along which the tool also turns, ``angle`` away from the start about the tool's last axis."""
    X = mp.compile(arm(name)).pose(Q0[name])
    begin = turned(X[:3, 2], angle) @ X[:3, :3]
    keys = orientation.slerp_keys([begin, turned([0.6, 0.0, 0.8], 0.4) @ begin])
    start = X[:3, 3] + SHIFT
    path = mp.paths.line(start, start + np.array([-0.1, 0.08, 0.0])).with_orientation(keys)
    return mp.trajectory(path, mp.timing.quintic(duration))


def law(t: np.ndarray, e0: np.ndarray, rate: Any = 0.0) -> np.ndarray:
    return np.exp(-10 * t)[:, None] * (e0 + (rate + 10 * e0) * t[:, None])


def run(name: str, controller: control.Controller, motion: Any, **more: Any) -> mp.Result:
    settings = {
        "q0": Q0[name],
        "duration": 0.4,
        "step": STEP,
        "sample": 0.01,
        "integrator": "rk4",
        "verify": False,
    } | more
    return mp.simulate(mp.Scenario(robot=arm(name), controller=controller, reference=motion, **settings))


@pytest.mark.parametrize("angle", [0.2, 3.1, np.deg2rad(179.9)])
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("panda", control.TaskSpaceComputedTorque),
        ("panda", control.OperationalSpace),
        ("ur5e", control.TaskSpaceComputedTorque),
    ],
)
def test_both_parts_of_the_error_obey_the_law(name: str, kind: type, angle: float) -> None:
    motion = reference(name, angle)
    result = run(name, kind(100.0, 20.0, null_damping=4.0), motion)
    assert result.ok, result.reason
    pose = mp.compile(arm(name)).pose(result.q)
    e = motion.position(result.t) - pose[:, :3, 3]
    turn = Rotation.from_matrix(motion.rotation(result.t) @ np.swapaxes(pose[:, :3, :3], 1, 2)).as_rotvec()
    assert np.linalg.norm(turn[0]) == pytest.approx(angle, abs=1e-9)
    assert np.abs(e - law(result.t, e[0])).max() <= LAW
    assert np.abs(turn - law(result.t, turn[0])).max() <= LAW
    assert np.abs(turn - result.arrays["orientation_error"]).max() <= 1e-12


@pytest.mark.parametrize("kind", [control.TaskSpaceComputedTorque, control.OperationalSpace])
def test_the_error_passes_a_half_turn_without_a_jump(kind: type) -> None:
    """The tool starts 3.1 rad away and moves further away: the error grows beyond π and comes back the way it went."""
    X, J = mp.compile(arm("panda")).pose(Q0["panda"]), mp.compile(arm("panda")).jacobian(Q0["panda"])
    axis = X[:3, 2]
    path = mp.paths.line(X[:3, 3], X[:3, 3] + [0.02, 0.0, 0.0])
    motion = mp.trajectory(
        path.with_orientation(orientation.constant(turned(axis, 3.1) @ X[:3, :3])), mp.timing.quintic(0.5)
    )
    qd0 = np.linalg.pinv(J) @ [0.0, 0.0, 0.0, *(-12.0 * axis)]
    result = run("panda", kind(100.0, 20.0), motion, qd0=qd0, sample=0.001)
    followed = result.arrays["controller_states"]
    wanted = law(result.t, 3.1 * axis, 12.0 * axis)
    assert np.linalg.norm(followed, axis=1).max() > 3.2
    assert np.abs(followed - wanted).max() <= LAW
    assert np.abs(np.diff(result.arrays["tau"], axis=0)).max() < 1.0
    short = np.where(np.linalg.norm(wanted, axis=1)[:, None] > np.pi, wanted - 2 * np.pi * axis, wanted)
    assert np.abs(result.arrays["orientation_error"] - short).max() <= LAW


@pytest.mark.parametrize("turn", ["x", "y", "z"])
def test_the_direction_of_one_axis_obeys_the_law(turn: str) -> None:
    """Five rows: the angle between the axis and its wanted direction decays; the tool may turn about it."""
    name, k = "panda", "xyz".index(turn)
    motion = reference(name, 0.3)
    result = run(name, control.TaskSpaceComputedTorque(100.0, 20.0, null_damping=4.0, orientation=turn), motion)
    assert result.ok, result.reason
    R, R_d = mp.compile(arm(name)).pose(result.q)[:, :3, :3], motion.rotation(result.t)
    seen = np.einsum("tji,tj->ti", R_d, R[:, :, k])  # the axis as the wanted tool sees it
    normal = np.cross(seen, np.eye(3)[k])
    angle = np.arctan2(np.linalg.norm(normal, axis=1), seen[:, k])
    first = np.linalg.norm(result.arrays["controller_states"][0])
    expected = law(result.t, np.array([first]))[:, 0]
    assert np.abs(angle - expected).max() <= LAW
    assert (angle[0] > 0.1) == (turn != "z")


def test_the_angle_of_a_planar_arm_obeys_the_law_beyond_a_half_turn() -> None:
    robot, q0 = arm("zlajpah-5r"), np.deg2rad([90.0, -40, -40, -40, -30])
    x, y, _ = mp.compile(robot).position(q0)
    motion = mp.formula_motion(
        [f"{x} - 0.1*t", f"{y} + 0.1*t"], 0.5, orientation=["0", "0", f"{q0.sum() + 3.1} + 12*t"]
    )
    result = mp.simulate(mp.Scenario(robot=robot, controller=control.TaskSpaceComputedTorque(100.0, 20.0, null_damping=4.0, kp_rotation=100.0),
                                     reference=motion, q0=q0, duration=0.1, step=STEP, sample=0.01, integrator="rk4", verify=False))  # fmt: skip
    error = q0.sum() + 3.1 + 12 * result.t - result.q.sum(axis=1)
    assert error.max() > np.pi
    assert np.abs(error[:, None] - law(result.t, np.array([3.1]), 12.0)).max() <= LAW


def test_gains_of_the_two_parts_are_their_own() -> None:
    motion = reference("panda", 0.2)
    controller = control.OperationalSpace((100.0, 400.0, 100.0), (20.0, 40.0, 20.0), kp_rotation=25.0, kv_rotation=10.0)
    result = run("panda", controller, motion)
    t, e, turn = result.t[:, None], result.arrays["error"], result.arrays["orientation_error"]
    for got, p in ((e[:, :1], 10.0), (e[:, 1:2], 20.0), (turn, 5.0)):
        assert np.abs(got - (1 + p * t) * np.exp(-p * t) * got[0]).max() <= 1e-8


def test_the_whole_closed_loop_against_pinocchio_and_scipy() -> None:
    """The same law written once more on Pinocchio's frames and dynamics, integrated by DOP853."""
    pin = pytest.importorskip("pinocchio")
    name = "panda"
    judge, motion = Judge(arm(name)), reference(name, 0.5)

    def inverse(e: np.ndarray) -> np.ndarray:
        return np.linalg.inv(pin.Jexp3(e))  # of the right Jacobian; of the left one at −e

    def flow(t: float, x: np.ndarray) -> np.ndarray:
        q, qd = x[:7], x[7:]
        X, J = judge.pose(q), judge.jacobian(q)
        w_d, w = motion.angular_velocity(t), (J @ qd)[3:]
        e = pin.log3(motion.rotation(t) @ X[:3, :3].T)
        A, B = inverse(e), inverse(-e)
        rate = B @ w_d - A @ w
        h = 1e-5 * rate  # central differences along the motion
        A_rate, B_rate = (inverse(e + h) - inverse(e - h)) / 2e-5, (inverse(-e - h) - inverse(-e + h)) / 2e-5
        turn = np.linalg.solve(A, B @ motion.angular_acceleration(t) + B_rate @ w_d - A_rate @ w + 20 * rate + 100 * e)
        off, speed = motion.position(t) - X[:3, 3], motion.velocity(t) - (J @ qd)[:3]
        wanted = (
            np.concatenate([motion.acceleration(t) + 20 * speed + 100 * off, turn]) - judge.jacobian_rate(q, qd) @ qd
        )
        back = np.linalg.pinv(J)
        qdd = back @ wanted - 4.0 * (qd - back @ (J @ qd))
        return np.concatenate([qd, judge.forward_dynamics(q, qd, judge.inverse_dynamics(q, qd, qdd))])

    found = solve_ivp(flow, (0.0, 0.2), [*Q0[name], *np.zeros(7)], "DOP853", rtol=1e-11, atol=1e-12)
    controller = control.TaskSpaceComputedTorque(100.0, 20.0, null_damping=4.0, friction=False)
    result = run(name, controller, motion, duration=0.2, friction=())
    assert np.abs(result.q[-1] - found.y[:7, -1]).max() <= 1e-9
    assert np.abs(result.qd[-1] - found.y[7:, -1]).max() <= 1e-8


def test_impedance_of_the_orientation_is_a_spring_with_an_energy() -> None:
    r"""Without damping :math:`T + \tfrac12e^TKe + \tfrac12e_o^TK_oe_o` is constant, also for stiffnesses that differ from axis to axis."""
    X = mp.compile(arm("panda")).pose(Q0["panda"])
    goal = turned([0.0, 0.6, 0.8], 1.0) @ X[:3, :3]
    path = mp.paths.line(X[:3, 3], X[:3, 3] + [1e-3, 0.0, 0.0])
    motion = mp.trajectory(path.with_orientation(orientation.constant(goal)), mp.timing.quintic(1e-3))
    K, K_o = np.array([300.0, 500.0, 400.0]), np.array([20.0, 40.0, 30.0])
    spring = control.Impedance(K, 0.0, stiffness_rotation=K_o, damping_rotation=0.0)
    result = run("panda", spring, motion, duration=0.3, friction=(), step=2.5e-4)
    assert result.ok
    after = result.t > 1e-3
    e, turn = result.arrays["error"][after], result.arrays["orientation_error"][after]
    energy = result.arrays["kinetic"][after] + 0.5 * e**2 @ K + 0.5 * turn**2 @ K_o
    assert result.arrays["kinetic"].max() > 1.0
    assert np.ptp(energy) < 1e-6


def test_a_batch_gives_what_single_runs_give() -> None:
    motion = reference("panda", 0.2)
    controller = control.TaskSpaceComputedTorque(100.0, 20.0, null_damping=4.0, criteria=(control.Posture(0.1),))
    starts = Q0["panda"] + 0.01 * np.random.default_rng(0).uniform(-1, 1, (3, 7))
    many = run("panda", controller, motion, q0=starts, duration=0.1)
    for k, q0 in enumerate(starts):
        assert np.array_equal(many.q[k], run("panda", controller, motion, q0=q0, duration=0.1).q)


def test_a_wrist_singularity_is_not_passed_over() -> None:
    """The wrist of a UR5e at q5 = 0: six rows cannot be inverted there, and no status says finished."""
    q0 = np.array([0.0, -1.2, 1.5, -0.3, 0.0, 0.0])
    X = mp.compile(arm("ur5e")).pose(q0)
    keys = orientation.slerp_keys([X[:3, :3], X[:3, :3] @ turned([0.8, 0.6, 0.0], 0.5)])
    motion = mp.trajectory(
        mp.paths.line(X[:3, 3], X[:3, 3] + [0.1, 0.0, 0.0]).with_orientation(keys), mp.timing.quintic(1.0)
    )
    scenario = mp.Scenario(robot=arm("ur5e"), reference=motion, q0=q0, kind="kinematic", step=0.01)
    assert mp.simulate(scenario).status == "singular"
    dynamic = scenario.replace(kind="auto", controller=control.TaskSpaceComputedTorque(100.0, 20.0), integrator="rk4")
    assert mp.simulate(dynamic).status != "finished"


@pytest.mark.parametrize("turn", ["full", "x", "y", "z"])
@pytest.mark.parametrize("long", [False, True])
def test_error_rates_are_the_derivatives_of_the_error(turn: str, long: bool) -> None:
    """Against fourth-order differences of SciPy's exponentials; on the long way round as well."""
    rng = np.random.default_rng(3)
    c, d = rng.uniform(-1, 1, (2, 2, 3))
    a = np.array([[0.3, -0.2, 0.5], [1.5, 0.7, -0.8]])
    R = [lambda t, i=i: Rotation.from_rotvec(a[i] + c[i] * t + d[i] * t * t).as_matrix() for i in (0, 1)]

    def slope(f: Any, t: float, h: float = 1e-3) -> np.ndarray:
        return (8 * (f(t + h) - f(t - h)) - (f(t + 2 * h) - f(t - 2 * h))) / (12 * h)

    def omega(i: int, t: float) -> np.ndarray:
        W = slope(R[i], t, 1e-4) @ R[i](t).T
        return np.array([W[2, 1], W[0, 2], W[1, 0]])

    def at(t: float, near: Any) -> Any:
        wanted = TurnTarget(R[1](t), omega(1, t), slope(lambda s: omega(1, s), t))
        return turn_error(turn, R[0](t), omega(0, t), wanted, near)

    near = at(0.0, None).e
    if long:
        near = near * (1.0 - 2 * np.pi / np.linalg.norm(near))
    found = at(0.0, near)
    assert (np.linalg.norm(found.e) > np.pi) == long
    assert np.abs(slope(lambda t: at(t, near).e, 0.0) - found.rate).max() < 1e-8
    second = slope(lambda t: at(t, near).rate, 0.0)
    assert np.abs(second - (found.bias - found.rows @ slope(lambda t: omega(0, t), 0.0))).max() < 1e-7
