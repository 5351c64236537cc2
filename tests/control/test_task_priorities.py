"""Tasks with strict priorities: the law of each, none disturbed by a later one, hard bounds, the smallest torques.

Judges: closed forms; Pinocchio's frames and centre of mass; SciPy's NNLS (multipliers of every level) and BVLS; SciPy's DOP853.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import lsq_linear

import manipula as mp
from control.arms_and_gains import arm
from manipula import control, native
from manipula.errors import DescriptionError
from manipula.physics.kinematics import centre_of_mass
from manipula.redundancy.arm import Arm
from manipula.redundancy.hierarchy import Level, solve
from manipula.robot.limits import Limits
from oracles import Judge

Q0 = np.array([0.1, 0.3, -0.2, -1.2, 0.1, 1.4, 0.2])
LAW = 1e-9


def law(t: np.ndarray, e0: np.ndarray, k: float = 10.0) -> np.ndarray:
    return ((1 + k * t) * np.exp(-k * t))[:, None] * e0


def line(shift: Any = (0.01, -0.02, 0.015), duration: float = 0.5) -> Any:
    start = mp.compile(arm("panda")).position(Q0) + np.array(shift)
    return mp.trajectory(mp.paths.line(start, start + np.array([-0.05, 0.06, 0.0])), mp.timing.quintic(duration))


def run(tasks: Any, reference: Any = None, **more: Any) -> mp.Result:
    fields = ("bounds", "approach", "null_damping", "criteria", "friction")
    controller = control.TaskPriorities(tasks, **{k: more.pop(k) for k in fields if k in more})
    settings = {
        "robot": arm("panda"),
        "q0": Q0,
        "duration": 0.4,
        "step": 5e-4,
        "sample": 0.01,
        "integrator": "rk4",
        "verify": False,
    }
    return mp.simulate(mp.Scenario(controller=controller, reference=reference, **settings | more))


@pytest.mark.parametrize("n", [3, 7])
def test_the_bounded_hierarchy_is_optimal_at_every_level(n: int) -> None:
    """A thousand instances in machine code; least squares finds multipliers of the right sign for every level, so each is at its minimum."""
    k1, k2, count = (2, 2, 500) if n == 3 else (3, 3, 500)

    def traced(J1: Any, b1: Any, J2: Any, b2: Any, z: Any, low: Any, high: Any) -> Any:
        found = solve([Level(J1, b1), Level(J2, b2)], z, (low, high))
        return {"x": found.x, "optimal": found.optimal}

    shapes: Any = {"J1": (k1, n), "b1": (k1,), "J2": (k2, n), "b2": (k2,), "z": (n,), "low": (n,), "high": (n,)}
    kernel = native.kernel_of(traced, shapes, "hierarchy", None)
    rng = np.random.default_rng(n)
    J1, J2 = rng.normal(size=(count, k1, n)), rng.normal(size=(count, k2, n))
    J2[::5, 0] = J1[::5, 0]  # a row that is decided already
    b1, b2, z = rng.normal(size=(count, k1)), rng.normal(size=(count, k2)), rng.normal(size=(count, n))
    b1[::2] *= 4.0  # out of reach
    low, high = -rng.uniform(0.1, 1, (count, n)), rng.uniform(0.1, 1, (count, n))
    x, optimal = kernel(J1, b1, J2, b2, z, low, high)
    assert (optimal == 1.0).all()
    assert (x >= low).all()
    assert (x <= high).all()
    for i in range(count):
        decided = np.zeros((0, n))
        for J, b in ((J1[i], b1[i]), (J2[i], b2[i]), (np.eye(n), z[i])):
            gradient = J.T @ (J @ x[i] - b)
            held = np.eye(n)[x[i] - low[i] < 1e-9], -np.eye(n)[high[i] - x[i] < 1e-9]
            columns = np.concatenate([decided, -decided, *held])
            # bounded least squares: nnls of SciPy 1.14 gives up on some of these
            left = (
                2.0 * lsq_linear(columns.T, gradient, (0.0, np.inf), "bvls").cost
                if len(columns)
                else gradient @ gradient
            )
            assert left <= 1e-18
            decided = np.concatenate([decided, J])
        best = lsq_linear(J1[i], b1[i], (low[i], high[i]), method="bvls", tol=1e-15).x
        assert np.linalg.norm(J1[i] @ x[i] - b1[i]) <= np.linalg.norm(J1[i] @ best - b1[i]) + 1e-9


def test_a_later_task_changes_nothing_of_an_earlier_one() -> None:
    """J q̈ of the first task, with and without tasks below it: equal to rounding, bounded or not."""
    robot = arm("panda")
    model = Arm(robot)
    rng = np.random.default_rng(0)
    target: Any = control.Target(np.array([0.5, 0.1, 0.4]), np.array([0.1, 0.0, 0.2]), np.array([0.3, 0.2, 0.0]))
    tip, below = (
        control.FramePosition().decided(model),
        (control.JointPosture(0.4, priority=2), control.LeastTorque(priority=3)),
    )
    for _ in range(20):
        q, qd = Q0 + 0.3 * rng.uniform(-1, 1, 7), rng.uniform(-1, 1, 7)
        J, b = tip.acceleration(model, q, qd, target)
        for tasks in ((tip,), (tip, *below)):
            tau = control.TaskPriorities(tasks, friction=False).torque(model, 0.0, q, qd, target, np.zeros(0))
            qdd = np.linalg.solve(model.mass_matrix(q), tau - model.nonlinear_effects(q, qd))
            assert np.abs(J @ qdd - b).max() <= 1e-12 * max(1.0, np.abs(b).max())


def test_every_task_obeys_its_law_where_all_can_be_served() -> None:
    """Tip, one axis of the tool and the height of the centre of mass: 3 + 2 + 1 rows of seven joints, each with its own gain."""
    reference, c0 = line(), np.asarray(centre_of_mass(arm("panda"), Q0), float)
    tasks = (
        control.FramePosition(gain=10.0),
        control.CentreOfMass([0.0, c0[1] + 0.002, 0.0], coordinates="y", priority=2, gain=5.0),
        control.JointPosture(Q0, priority=3),
    )
    result = run(tasks, reference, null_damping=2.0)
    assert result.ok, result.reason
    e = reference.position(result.t) - mp.compile(arm("panda")).position(result.q)
    assert np.abs(e - law(result.t, e[0])).max() <= LAW
    judge = Judge(arm("panda"))
    pin = pytest.importorskip("pinocchio")
    y = np.array([pin.centerOfMass(judge.model, judge.data, judge.theirs(q))[1] for q in result.q])
    off = (c0[1] + 0.002 - y)[:, None]
    assert np.abs(off - law(result.t, off[0], 5.0)).max() <= LAW


def test_an_orientation_below_a_position_passes_a_half_turn() -> None:
    from scipy.spatial.transform import Rotation

    X = mp.compile(arm("panda")).pose(Q0)
    goal = Rotation.from_rotvec(3.1 * X[:3, 2]).as_matrix() @ X[:3, :3]
    rpy = Rotation.from_matrix(goal).as_euler("xyz")
    tasks = (control.FramePosition(), control.FrameOrientation(rpy, priority=2))
    result = run(tasks, line((0.0, 0.0, 0.0)), null_damping=2.0)
    assert result.ok, result.reason
    R = mp.compile(arm("panda")).pose(result.q)[:, :3, :3]
    turn = Rotation.from_matrix(goal @ np.swapaxes(R, 1, 2)).as_rotvec()
    assert np.abs(turn - law(result.t, turn[0])).max() <= LAW


def test_a_pose_in_the_list_is_the_pose_controller() -> None:
    """One task of six rows and the operational-space controller are the same law, dynamically consistent null space included."""
    from control.test_pose_control import reference

    motion = reference("panda", 0.3)
    one = run((control.FramePose(),), motion, null_damping=4.0, duration=0.2)
    other = run((control.FramePosition(), control.FrameOrientation()), motion, null_damping=4.0, duration=0.2)
    settings = {
        "robot": arm("panda"),
        "q0": Q0,
        "duration": 0.2,
        "step": 5e-4,
        "sample": 0.01,
        "integrator": "rk4",
        "verify": False,
    }
    known = mp.simulate(
        mp.Scenario(controller=control.OperationalSpace(100.0, 20.0, null_damping=4.0), reference=motion, **settings)
    )
    for found in (one, other):
        assert np.abs(found.q - known.q).max() < 1e-11


def test_the_smallest_torques_against_the_formula_and_scipy() -> None:
    r"""The level is :math:`\ddot q = \ddot q_p - (MN)^+(M\ddot q_p + h)` [Hollerbach & Suh], on Pinocchio's dynamics under DOP853."""
    robot, q0 = arm("planar-3r"), np.deg2rad([-90.0, 90.0, 60.0])
    judge = Judge(robot)
    x0 = judge.pose(q0)[:2, 3]
    reference = mp.trajectory(mp.paths.line(x0, x0 + np.array([-0.07, 0.07])), mp.timing.quintic(0.3))

    def wanted(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        J = judge.jacobian(q)[:2]
        e, ed = reference.position(t)[:2] - judge.pose(q)[:2, 3], reference.velocity(t)[:2] - J @ qd
        a = reference.acceleration(t)[:2] + 20 * ed + 100 * e - (judge.jacobian_rate(q, qd) @ qd)[:2]
        back = np.linalg.pinv(J)
        M, h, qdd = judge.mass_matrix(q), judge.nonlinear_effects(q, qd), back @ a
        return qdd - np.linalg.pinv(M @ (np.eye(3) - back @ J), rcond=1e-9) @ (M @ qdd + h)

    found = solve_ivp(
        lambda t, x: [*x[3:], *wanted(t, x[:3], x[3:])], (0.0, 0.3), [*q0, 0, 0, 0], "DOP853", rtol=1e-11, atol=1e-12
    )
    tasks = (control.FramePosition(), control.LeastTorque())
    result = run(tasks, reference, robot=robot, q0=q0, duration=0.3, step=2.5e-4, friction=False)
    assert np.abs(result.q[-1] - found.y[:3, -1]).max() <= LAW


def test_the_smallest_torques_of_every_instant_are_not_those_of_a_long_move() -> None:
    """Local minimisation helps on a short move and whips the arm on a long one [Hollerbach & Suh 1987]."""
    robot, q0 = arm("planar-3r"), np.deg2rad([-90.0, 90.0, 60.0])
    x0 = mp.compile(robot).position(q0)
    largest = {}
    for name, way, time in (("short", 0.1, 0.3), ("long", 0.5, 1.5)):
        reference = mp.trajectory(mp.paths.line(x0, x0 + way * np.array([-1.0, 1.0, 0.0])), mp.timing.quintic(time))
        for tasks in ((control.FramePosition(),), (control.FramePosition(), control.LeastTorque())):
            result = run(tasks, reference, robot=robot, q0=q0, duration=time, step=1e-3)
            largest[name, len(tasks)] = np.nanmax(np.linalg.norm(result.tau, axis=1))
    assert largest["short", 2] < largest["short", 1]
    assert largest["long", 2] > 2.0 * largest["long", 1]


START = np.deg2rad([-60.0, 80.0, 50.0])


@cache
def limited() -> mp.Robot:
    """Three joints in the plane with limits of position, speed and torque."""
    robot = arm("planar-3r")
    limits = Limits(lower=-1.5, upper=1.5, velocity=1.2, effort=8.0)
    return robot.replace(joints=tuple(replace(j, limits=limits) for j in robot.joints))


def short_line(duration: float = 0.5) -> Any:
    start = mp.compile(limited()).position(START) + np.array([0.01, -0.02, 0.0])
    return mp.trajectory(mp.paths.line(start, start + np.array([-0.03, 0.04, 0.0])), mp.timing.quintic(duration))


def test_bounds_of_motion_hold_and_the_first_task_comes_before_the_second() -> None:
    """The posture asks joints beyond their range and speed; the tip keeps its law, the joints keep their limits."""
    tasks = (control.FramePosition(gain=6.0), control.JointPosture([-2.0, 3.0, 3.0], priority=2, gain=30.0))
    settings = {"robot": limited(), "q0": START, "tolerance": 1e-4}
    result = run(tasks, short_line(), bounds="motion", **settings)
    e = result.arrays["error"]
    assert (result.arrays["task_bounds"] == 1.0).all()
    assert np.abs(e - law(result.t, e[0], 6.0)).max() <= 1e-6  # of a right-hand side with kinks
    assert (np.abs(result.q) <= 1.5).all()
    assert (np.abs(result.qd) <= 1.2 + 1e-6).all()
    assert np.abs(result.qd).max() > 1.19
    free = run(tasks, short_line(), **settings)
    assert np.abs(free.qd).max() > 2.0


def test_bounds_of_torque_hold() -> None:
    tasks = (control.FramePosition(gain=6.0), control.JointPosture([-2.0, 3.0, 3.0], priority=2, gain=20.0))
    result = run(tasks, short_line(), bounds="torque", robot=limited(), q0=START, duration=0.1, tolerance=1e-3)
    command = np.abs(result.arrays["command"])
    assert (result.arrays["task_bounds"] == 1.0).all()
    assert (command <= 8.0 + 1e-9).all()
    assert np.isclose(command, 8.0).any()


def test_a_batch_of_bounded_runs_gives_what_single_runs_give() -> None:
    tasks = (control.FramePosition(gain=6.0), control.JointPosture([-2.0, 3.0, 3.0], priority=2, gain=30.0))
    starts = START + 0.02 * np.random.default_rng(0).uniform(-1, 1, (5, 3))
    settings = {"robot": limited(), "tolerance": 1e-4, "bounds": "motion", "duration": 0.1}
    many = run(tasks, short_line(), q0=starts, **settings)
    for k, q0 in enumerate(starts):
        assert np.array_equal(many.q[k], run(tasks, short_line(), q0=q0, **settings).q)


def test_kinematic_tasks_obey_their_laws_and_bounds() -> None:
    tasks = (control.FramePosition(gain=8.0), control.JointPosture([-2.0, 3.0, 3.0], priority=2))
    settings = {
        "robot": limited(),
        "kind": "kinematic",
        "reference": short_line(),
        "q0": START,
        "step": 1e-3,
        "sample": 0.02,
    }
    free = mp.simulate(mp.Scenario(tasks=tasks, **settings))
    assert free.ok, free.reason
    held = mp.simulate(mp.Scenario(tasks=tasks, bounds="motion", tolerance=1e-4, **settings))
    assert held.ok, held.reason
    for result, allowed in ((free, LAW), (held, 1e-6)):
        e = result.arrays["error"]
        assert np.abs(e - np.exp(-8 * result.t)[:, None] * e[0]).max() <= allowed
    assert np.abs(free.qd).max() > 1.5
    assert np.abs(held.qd).max() <= 1.2 * (1 + 1e-12)
    assert np.abs(held.q).max() <= 1.5


def test_kinematic_tasks_without_bounds_are_the_hierarchy_of_pseudoinverses() -> None:
    from manipula.redundancy.resolution import prioritised

    reference, robot = line(duration=1.0), arm("panda")
    tasks = (
        control.FramePosition(gain=8.0),
        control.FrameOrientation([np.pi, 0.1, -0.3], turn="z", priority=2, gain=2.0),
    )
    result = mp.simulate(
        mp.Scenario(robot=robot, kind="kinematic", tasks=tasks, reference=reference, q0=Q0, step=0.01, verify=False)
    )
    model = Arm(robot)
    for i in (0, 30, 90):
        t, q = result.t[i], result.q[i]
        target: Any = control.Target(reference.position(t), reference.velocity(t), reference.acceleration(t))
        rows = [tuple(np.asarray(v, float) for v in task.decided(model).velocity(model, q, target)) for task in tasks]
        assert np.abs(prioritised(rows) - result.qd[i]).max() < 1e-9


def test_more_rows_than_joints_are_weighted_least_squares() -> None:
    """Position and posture of one priority cannot both be served: SciPy on the normal equations, and a note on what is missed."""
    reference, robot = line(duration=0.5), arm("panda")
    tasks = (control.FramePosition(gain=5.0, weight=2.0), control.JointPosture(tuple(Q0), gain=1.0))
    result = mp.simulate(mp.Scenario(robot=robot, kind="kinematic", tasks=tasks, reference=reference, q0=Q0, step=2e-3))
    model = mp.compile(robot)

    def rate(t: float, q: np.ndarray) -> np.ndarray:
        w = np.sqrt(2.0)  # of the squares
        J = np.vstack([w * model.jacobian(q)[:3], np.eye(7)])
        b = np.concatenate([w * (reference.velocity(t) + 5.0 * (reference.position(t) - model.position(q))), Q0 - q])
        return np.linalg.lstsq(J, b, rcond=None)[0]

    judge = solve_ivp(rate, (0.0, 0.5), np.asarray(Q0, float), rtol=1e-11, atol=1e-12, method="DOP853")
    assert result.ok, result.reason
    assert np.abs(result.q[-1] - judge.y[:, -1]).max() < 1e-8
    off = float(np.linalg.norm(model.position(judge.y[:, -1]) - reference.position(0.5)))
    assert off > 1e-3
    assert any("off the reference by up to" in note for note in result.notes)


REFUSED = {
    "nothing to follow": ((control.FramePosition(),), None, {}, "follows a reference; none is given"),
    "nobody follows": ((control.JointPosture(0.1),), "line", {}, "goal of its own and would ignore"),
    "no orientation": ((control.FrameOrientation(),), "line", {}, "does not say how the tool is turned"),
    "an unknown frame": ((control.FramePosition(frame="elbow"),), "line", {}, "No frame .* named 'elbow'"),
    "no task": ((), "line", {}, "at least one"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_list_of_tasks_cannot_honour_is_refused(case: str) -> None:
    tasks, reference, more, message = REFUSED[case]
    with pytest.raises(DescriptionError, match=message):
        run(tasks, line() if reference else None, **more)


def test_kinematic_requests_that_would_not_act_are_refused() -> None:
    settings: Any = {"robot": arm("panda"), "kind": "kinematic", "reference": line(), "q0": Q0}
    with pytest.raises(DescriptionError, match="torque control only"):
        mp.simulate(mp.Scenario(tasks=(control.FramePosition(), control.LeastTorque()), **settings))
    with pytest.raises(DescriptionError, match="gain of its own"):
        mp.simulate(mp.Scenario(tasks=(control.FramePosition(),), gain=3.0, **settings))
    with pytest.raises(DescriptionError, match="Bounds act on a list of tasks"):
        mp.simulate(mp.Scenario(bounds="motion", gain=3.0, **settings))
    with pytest.raises(DescriptionError, match="kinematic runs"):
        mp.simulate(mp.Scenario(robot=arm("panda"), tasks=(control.FramePosition(),), q0=Q0, duration=0.1))
