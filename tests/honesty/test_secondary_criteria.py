"""Secondary criteria do what their names say: each improves its quantity, barriers hold where the null space allows it, and notes tell where not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.control import Arm
from manipula.errors import DescriptionError
from manipula.redundancy.null_space import REGISTRY, Criterion

Q0 = np.deg2rad([90.0, -40.0, -40.0, -40.0, -30.0])
FIVE = mp.load("zlajpah-5r")
TIP = mp.compile(FIVE).position(Q0)
MOVE = mp.trajectory(mp.paths.line(TIP, TIP + np.array([-0.8, 0.3, 0.0])), mp.timing.quintic(2.0))
NARROW = np.deg2rad([[-180, 180], [-180, 180], [-180, 180], [-60, 60], [-45, 45]])


def limited(robot: mp.Robot, limits: Any) -> mp.Robot:
    joints = [replace(j, limits=replace(j.limits, lower=a, upper=b)) for j, (a, b) in zip(robot.joints, limits)]
    return robot.replace(joints=tuple(joints))


def margin(robot: mp.Robot, q: np.ndarray) -> float:
    """Least distance from a limit [rad]."""
    low, high = np.asarray(robot.position_limits, float).T
    return float(np.minimum(q - low, high - q).min())


def run_of(robot: mp.Robot, kind: str, criteria: tuple[Criterion, ...], **changes: Any) -> mp.Scenario:
    """A run along MOVE, kinematic or under one of the controllers that take criteria."""
    if kind == "kinematic":
        options: dict[str, Any] = {"kind": "kinematic", "gain": 10.0, "criteria": criteria, "step": 2e-3}
    elif kind == "task_priorities":
        law = control.TaskPriorities((control.FramePosition(),), null_damping=3.0, criteria=criteria)
        options = {"controller": law, "step": 1e-3, "integrator": "rk4"}
    else:
        law = control.REGISTRY[kind]
        options = {"controller": law(kp=100.0, kv=20.0, null_damping=3.0, criteria=criteria), "step": 1e-3}  # pyright: ignore[reportCallIssue]
        options["integrator"] = "rk4"
    return mp.Scenario(**{"robot": robot, "reference": MOVE, "q0": Q0, "sample": 0.02, **options, **changes})


KINDS = ("kinematic", "task_space_computed_torque", "operational_space", "task_priorities")


def test_every_controller_with_criteria_is_tried() -> None:
    with_criteria = {n for n, c in control.REGISTRY.items() if "criteria" in getattr(c, "__dataclass_fields__", {})}
    assert with_criteria == set(KINDS) - {"kinematic"}


# ---------------------------------------------------------------------- joint limits
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gain", [0.1, 1.0, 10.0])
def test_joints_stay_within_their_range_where_there_is_room(kind: str, gain: float) -> None:
    robot = limited(FIVE, NARROW)
    assert margin(robot, mp.simulate(run_of(robot, kind, ())).q) < np.deg2rad(-5.0)  # without the criterion
    result = mp.simulate(run_of(robot, kind, (control.JointLimits(gain),)))
    assert result.ok, result.reason
    assert margin(robot, result.q) > 0.0
    assert np.abs(result.error).max() < 1e-8  # and the tip does not notice
    assert result.notes == ()


@pytest.mark.parametrize(("gain", "step"), [(1e-3, 2e-3), (1e-2, 5e-3), (1.0, 2e-2), (20.0, 2e-3)])
def test_weak_gains_and_long_steps_hold_too(gain: float, step: float) -> None:
    robot = limited(FIVE, NARROW)
    run = run_of(robot, "kinematic", (control.JointLimits(gain),), step=step, tolerance=1e-3, sample=None)
    result = mp.simulate(run)
    assert result.ok, result.reason
    assert margin(robot, result.q) > 0.0


def test_a_joint_with_one_limit_is_kept_as_well() -> None:
    robot = limited(FIVE, [[None, None], [None, None], [None, None], [np.deg2rad(-60), None], [None, None]])
    assert margin(robot, mp.simulate(run_of(robot, "kinematic", ())).q) < np.deg2rad(-5.0)
    result = mp.simulate(run_of(robot, "kinematic", (control.JointLimits(0.1),)))
    assert margin(robot, result.q) > 0.0


def test_a_joint_that_begins_outside_is_brought_back() -> None:
    robot = limited(FIVE, np.vstack([NARROW[:3], np.deg2rad([[-38, 60], [-45, 45]])]))
    result = mp.simulate(run_of(robot, "kinematic", (control.JointLimits(1.0),)))
    assert result.q[0, 3] < np.deg2rad(-38.0)
    assert margin(robot, result.q[len(result.q) // 2 :]) > 0.0
    assert "Joint 'joint4' left its range by 2° from t = 0 s" in result.notes[0]


@pytest.mark.parametrize("kind", KINDS[:2])
def test_a_note_tells_when_and_where_the_null_space_leaves_no_room(kind: str) -> None:
    """Three joints hold the tip in the plane with one to spare; two of them are not allowed to bend enough."""
    robot = limited(mp.planar(lengths=[0.5, 0.4, 0.3], masses=[1.0, 1.0, 1.0]), [[-3, 3], [-0.6, 0.6], [-0.4, 0.4]])
    q0 = np.array([0.3, 0.4, 0.3])
    tip = mp.compile(robot).position(q0)
    inwards = mp.trajectory(mp.paths.line(tip, 0.6 * tip), mp.timing.quintic(1.0))
    run = run_of(robot, kind, (control.JointLimits(0.05),), reference=inwards, q0=q0, step=2.5e-4, sample=None)
    result = mp.simulate(run.replace(verify=False))
    outside = np.maximum(result.q - robot.position_limits[:, 1], robot.position_limits[:, 0] - result.q)
    left = np.flatnonzero(outside.max(axis=0) > 1e-9)
    assert len(left)
    assert len(result.notes) == len(left)
    for i, note in zip(left, result.notes):
        assert note.startswith(
            f"Joint '{robot.joint_names[i]}' left its range by {np.rad2deg(outside[:, i].max()):.2g}°"
        )
        assert note.endswith("the null space leaves no room.")
        told, first = float(note.split("t = ")[1].split(" s")[0]), result.t[np.argmax(outside[:, i] > 1e-9)]
        assert first - 5e-4 <= told <= first + 1e-4  # between two samples, told with four digits


def test_batches_say_which_run_left() -> None:
    robot = limited(FIVE, NARROW)
    inside, outside = Q0, Q0 + np.deg2rad([0, 0, 0, -25.0, 0])
    run = run_of(robot, "kinematic", (control.JointLimits(1.0),), q0=[inside, outside], gain=2.0)
    notes = [note for note in mp.simulate(run).notes if "left its range" in note]
    assert notes[0] == "Run 1: Joint 'joint4' left its range by 5° from t = 0 s: it began outside."
    assert all(note.startswith("Run 1: ") for note in notes)


def test_criteria_that_cannot_act_are_told() -> None:
    with pytest.raises(DescriptionError, match=r"no joint of .* has a position limit"):
        mp.simulate(run_of(limited(FIVE, [[None, None]] * 5), "kinematic", (control.JointLimits(),)))
    two = mp.load("planar-2r")
    q0 = np.array([0.3, 0.9])
    tip = mp.compile(two).position(q0)
    line = mp.trajectory(mp.paths.line(tip, tip + np.array([0.0, 0.05, 0.0])), mp.timing.quintic(1.0))
    result = mp.simulate(mp.Scenario(two, line, kind="kinematic", q0=q0, criteria=(control.Posture((0.0, 0.0)),)))
    assert "no null space in which 'posture' could act" in result.notes[0]


# ---------------------------------------------------------------------- obstacles
def nearest(robot: mp.Robot, q: np.ndarray, centre: np.ndarray) -> float:
    """Least distance of the links' middle lines from a point, by a fine grid on every link."""
    model, out = mp.compile(robot), np.inf
    names = [link.name for link in robot.links]
    for row in q:
        joints = [model.pose(row, name)[:3, 3] for name in names] + [model.position(row)]
        for a, b in zip([np.zeros(3), *joints], joints):
            points = a + np.linspace(0, 1, 200)[:, None] * (b - a)
            out = min(out, float(np.linalg.norm(points - centre, axis=1).min()))
    return out


def test_links_keep_clear_of_a_sphere_between_their_ends() -> None:
    robot = limited(FIVE, [[None, None]] * 5)
    plain = mp.simulate(run_of(robot, "kinematic", ()))
    model = mp.compile(robot)
    elbow, wrist = (
        model.pose(plain.q[-1], robot.links[2].name)[:3, 3],
        model.pose(plain.q[-1], robot.links[3].name)[:3, 3],
    )
    middle = 0.5 * (elbow + wrist)
    length = float(np.linalg.norm(wrist - elbow))
    criterion = control.ObstacleDistance(middle, radius=0.4 * length, gain=2.0, obstacle=0.15 * length)
    assert nearest(robot, plain.q[::10], middle) < 0.05 * length
    result = mp.simulate(run_of(robot, "kinematic", (criterion,)))
    assert result.ok, result.reason
    assert nearest(robot, result.q[::5], middle) > criterion.obstacle - 1e-3 * length  # the grid of the judge
    assert result.notes == ()
    assert np.abs(result.error).max() < 1e-8


def test_an_obstacle_on_the_path_is_told() -> None:
    criterion = control.ObstacleDistance(MOVE.position(1.0), radius=0.3, gain=1.0, obstacle=0.1)
    result = mp.simulate(run_of(FIVE, "kinematic", (criterion,), verify=False))
    assert any("into the obstacle of radius 0.1 m" in n for n in result.notes)
    with pytest.raises(DescriptionError, match="obstacle"):
        control.ObstacleDistance((0.0, 0.0, 0.0), radius=0.1, obstacle=0.2)


# ---------------------------------------------------------------------- every criterion improves on its quantity
def quantity(name: str, robot: mp.Robot, q: np.ndarray) -> float:
    """What the name promises to make small, averaged over a motion and computed anew (not by the criterion itself)."""
    model = mp.compile(robot)
    if name == "posture":
        return float(np.linalg.norm(q - (Q0 + 0.3), axis=1).mean())
    if name == "joint_limits":
        return -margin(limited(robot, NARROW), q)
    if name == "manipulability":
        J = model.jacobian(q)[:, :2]
        return -float(np.sqrt(np.linalg.det(J @ np.swapaxes(J, 1, 2))).mean())
    if name == "minimum_torque":
        return float((model.gravity(q) ** 2).sum(axis=1).mean())
    return -nearest(robot, q[::10], CENTRE)


CENTRE = np.array([-0.35, 0.9, 0.0])
TRIED = {
    "posture": control.Posture(tuple(Q0 + 0.3), gain=5.0),
    "joint_limits": control.JointLimits(1.0),
    "manipulability": control.Manipulability(gain=3.0),
    "minimum_torque": control.MinimumTorque(gain=1e-3),
    "obstacle_distance": control.ObstacleDistance(CENTRE, radius=0.6, gain=4.0),
}


def test_every_criterion_is_tried() -> None:
    assert set(TRIED) == set(REGISTRY)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TRIED)
def test_each_improves_what_it_is_named_after(name: str, kind: str) -> None:
    robot = limited(FIVE, NARROW).replace(gravity=(0.0, -9.81, 0.0))
    found = []
    criterion = TRIED[name]
    if kind != "kinematic":
        criterion = replace(criterion, gain=10.0 * criterion.gain)  # of an acceleration, 1/s²
    for criteria in ((), (criterion,)):
        result = mp.simulate(run_of(robot, kind, criteria, verify=False, sample=0.1))
        assert result.ok, result.reason
        assert np.abs(result.error).max() < 1e-6
        found.append(quantity(name, robot, result.q))
    assert found[1] < found[0] - 0.01 * abs(found[0]), found


def test_gradients_of_criteria_descend_in_every_metric() -> None:
    """Under operational space control a posture criterion lowers its own cost at every posture, whatever M is."""
    robot = FIVE
    arm, rng = Arm(robot), np.random.default_rng(3)
    for _ in range(20):
        q = rng.uniform(-1.5, 1.5, 5)
        goal = rng.uniform(-1.5, 1.5, 5)
        law = control.OperationalSpace(100.0, 20.0, criteria=(control.Posture(tuple(goal)),))
        plain = control.OperationalSpace(100.0, 20.0)
        still = np.zeros(5)
        x = np.asarray(arm.position(q), float)
        target = control.Target(x, np.zeros(3), np.zeros(3))
        push = np.asarray(law.torque(arm, 0.0, q, still, target, still), float)
        push = push - np.asarray(plain.torque(arm, 0.0, q, still, target, still), float)
        qdd = np.linalg.solve(np.asarray(arm.mass_matrix(q), float), push)
        assert (q - goal) @ qdd <= 1e-9
        assert np.abs(np.asarray(arm.task_jacobian(q), float) @ qdd).max() < 1e-8
