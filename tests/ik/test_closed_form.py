"""Closed forms of known arms: how many postures, singular and unreachable targets, near-matches, wrong input."""

from __future__ import annotations

import math

import numpy as np
import pytest

import manipula as mp
from arm_families import distance
from manipula.errors import DescriptionError, ShapeError
from manipula.ik.closed_form import find
from manipula.ik.general import polished, prepared
from manipula.robot.robot import Robot

REACHED = 1e-9  # m and rad, by forward kinematics
SAME = 1e-6  # rad
ONCE = 1e-9  # rad: postures that coincide are given once
DENSE = 4000  # random starts of an exhaustive search: every posture of these arms attracts more than 1 % of them
CALIBRATION = 1e-4  # m and rad by which a real arm misses its drawing

FORMS = {
    "puma560": ("articulated arm and spherical wrist", "pose", 8),
    "ur5e": ("three parallel axes (2, 3, 4)", "pose", 8),
    "stanford": ("spherical arm and spherical wrist", "pose", 8),
    "iiwa14": ("spherical–revolute–spherical", "pose", 8),
    "panda": ("articulated arm and spherical shoulder, q7 given", "pose", 8),
    "cobra600": ("SCARA RRPR", "pose", 2),
    "scara-khang": ("SCARA RRRP", "pose", 2),
    "planar-2r": ("planar 2R", "position", 2),
    "planar-3r": ("planar 3R", "pose", 2),
}


def _robot(name: str) -> Robot:
    return mp.load(name)


def _confirmed(robot: Robot, q: np.ndarray, T: np.ndarray) -> None:
    assert np.abs(mp.compile(robot).pose(q) - T).max() < REACHED


@pytest.mark.parametrize("name", FORMS)
def test_arm_is_recognised(name: str) -> None:
    form = find(_robot(name))
    assert form is not None
    assert (form.name, form.kind, form.branches) == FORMS[name]
    assert form.exact
    assert form.name in repr(form)


@pytest.mark.parametrize("name", ["arora-5r", "zlajpah-4r", "jarzebowska-4", "abdelsatar-2r"])
def test_arm_without_closed_form(name: str) -> None:
    """Redundant, underactuated with no known form, or with free parameters."""
    assert find(_robot(name)) is None


def test_inner_frame_that_not_all_joints_move_has_none() -> None:
    robot = _robot("puma560")
    assert find(robot, robot.frames[3].name) is None


@pytest.mark.parametrize(("name", "posture"), [
    ("puma560", [0.3, 0.4, -2.5, 0.9, 0.8, -0.4]),
    ("ur5e", [0.4, -1.2, 1.5, -0.8, 1.1, 0.6]),
])  # fmt: skip
def test_eight_postures_as_by_exhaustive_search(name: str, posture: list[float]) -> None:
    robot = _robot(name)
    T = mp.compile(robot).pose(np.array(posture))
    form = find(robot)
    assert form is not None
    q = form.solve(T)
    assert q.shape == (8, 6)
    _confirmed(robot, q, T)
    starts = np.random.default_rng(3).uniform(-np.pi, np.pi, (DENSE, 6))
    dense = polished(prepared(robot), T, starts)
    assert len(dense) == 8
    assert distance(robot, q[:, None], dense[None]).min(axis=1).max() < SAME
    assert (np.abs(q) <= np.pi).all()


@pytest.mark.parametrize("name", ["puma560", "ur5e", "stanford", "scara-khang", "cobra600", "planar-3r"])
def test_postures_of_one_target_differ(name: str) -> None:
    robot = _robot(name)
    form = find(robot)
    assert form is not None
    T = mp.compile(robot).pose(np.linspace(0.3, 0.9, robot.n))
    q = form.solve(T)
    apart = distance(robot, q[:, None], q[None]) + 9.0 * np.eye(len(q))
    assert apart.min() > SAME


SINGULAR = {
    "puma wrist": ("puma560", [0.2, 0.3, -2.0, 0.5, 0.0, 0.7]),
    "puma wrist turned over": ("puma560", [0.2, 0.3, -2.0, 0.5, math.pi, 0.7]),
    "puma zero": ("puma560", [0.0] * 6),
    "ur wrist": ("ur5e", [0.2, -1.3, 1.0, 0.5, 0.0, 0.7]),
    "ur stretched": ("ur5e", [0.2, -1.3, 0.0, 0.5, 1.0, 0.7]),
    "ur zero": ("ur5e", [0.0] * 6),
    "stanford wrist": ("stanford", [0.2, 0.8, 0.5, 0.5, 0.0, 0.7]),
    "iiwa zero": ("iiwa14", [0.0] * 7),
    "iiwa stretched": ("iiwa14", [0.4, 0.5, 0.1, 0.0, 0.3, 0.7, 0.2]),
    "iiwa overhead": ("iiwa14", [0.4, 0.0, 0.1, 0.8, 0.3, 0.7, 0.2]),
    "panda ready": ("panda", [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]),
    "scara stretched": ("cobra600", [0.3, 0.0, 0.1, 0.4]),
    "scara folded": ("cobra600", [0.3, math.pi, 0.1, 0.4]),
    "planar stretched": ("planar-3r", [0.3, 0.0, 0.4]),
}


@pytest.mark.parametrize("case", SINGULAR)
def test_singular_posture_has_a_representative(case: str) -> None:
    name, posture = SINGULAR[case]
    robot = _robot(name)
    form = find(robot)
    assert form is not None
    T = mp.compile(robot).pose(np.array(posture))
    q = form.solve(T, form.parameter_of(posture)) if form.parameter else form.solve(T)
    assert len(q) >= 1
    _confirmed(robot, q, T)
    apart = distance(robot, q[:, None], q[None]) + 9.0 * np.eye(len(q))
    assert apart.min() > ONCE


def test_shoulder_singularity_of_a_spherical_arm() -> None:
    """The point stands on axis 1, where its angle is arbitrary and a cosine would lose half of the digits."""
    rows = [{"alpha": math.pi / 2, "d": 0.4}, {"a": 0.5}, {"a": 0.4}]
    robot = mp.from_dh(rows, "standard")
    form = find(robot)
    assert form is not None
    for lateral in (0.0, 1e-15, 1e-12, 1e-9, 1e-6):
        p = np.array([lateral, 0.0, 1.05])
        q = form.solve_position(p)
        assert len(q) >= 2
        assert np.abs(mp.compile(robot).position(q) - p).max() < REACHED


@pytest.mark.parametrize("name", [name for name in FORMS if name != "stanford"])  # its slide has no end here
def test_unreachable_target_has_no_posture(name: str) -> None:
    form = find(_robot(name))
    assert form is not None
    T = np.eye(4)
    T[:3, 3] = [30.0, 20.0, 0.0]
    if form.kind == "position":
        assert form.solve_position(T[:3, 3]).shape == (0, form.robot.n)
    assert form.solve(T).shape == (0, form.robot.n)
    assert np.isnan(form.solve_batch(T[None])).all()


def test_out_of_plane_and_tilted_targets_have_no_posture() -> None:
    form = find(_robot("scara-khang"))
    assert form is not None
    T = mp.compile(form.robot).pose(np.array([0.3, 0.5, 0.2, 0.1]))
    assert len(form.solve(T)) == 2
    c, s = math.cos(1e-3), math.sin(1e-3)
    tilted = T @ np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])
    assert len(form.solve(tilted)) == 0


def test_orientation_decides_for_position_arms() -> None:
    """A planar 2R reaches a point twice, but a pose at most once."""
    robot = _robot("planar-2r")
    form = find(robot)
    assert form is not None
    q0 = np.array([0.4, 0.9])
    T = mp.compile(robot).pose(q0)
    assert len(form.solve_position(T[:3, 3])) == 2
    q = form.solve(T)
    assert len(q) == 1
    assert distance(robot, q[0], q0) < SAME


def test_rotation_written_with_few_digits_is_understood() -> None:
    form = find(_robot("puma560"))
    assert form is not None
    T = np.round(mp.compile(form.robot).pose(np.array([0.3, 0.4, -2.5, 0.9, 0.8, -0.4])), 5)
    q = form.solve(T)
    assert len(q) == 8
    assert np.abs(mp.compile(form.robot).pose(q) - T).max() < 2e-5
    assert np.isfinite(form.solve_batch(T[None])).all()


@pytest.mark.parametrize("name", ["ur5e", "puma560"])
def test_calibrated_arm_is_a_near_match(name: str) -> None:
    """Every DH entry off by 1e-4: postures are those of the ideal arm, next to the true ones, and say so."""
    table = mp.to_dh(_robot(name), "standard")
    rng = np.random.default_rng(9)
    rows = []
    for row in table.rows:
        row = {k: row[k] for k in ("a", "alpha", "d", "theta") if k in row}
        rows.append({k: float(v) + CALIBRATION * rng.uniform(-1, 1) for k, v in row.items()})
    robot = mp.from_dh(rows, "standard", base=table.base, tool=table.tool)
    form = find(robot)
    assert form is not None
    assert not form.exact
    assert 1e-6 < form.deviation < 2e-3
    q0 = np.array([0.4, -1.2, 1.5, -0.8, 1.1, 0.6])
    T = mp.compile(robot).pose(q0)
    rough = form.solve(T)
    assert len(rough) == 8
    assert np.abs(mp.compile(robot).pose(rough) - T).max() > REACHED  # so the caller must polish
    fine = polished(prepared(robot), T, rough)
    assert len(fine) == 8
    assert distance(robot, fine, q0).min() < SAME


@pytest.mark.parametrize("name", ["ur5e", "puma560", "cobra600"])
def test_batch_single_and_interpreted_agree(name: str) -> None:
    robot = _robot(name)
    form = find(robot)
    assert form is not None
    T = mp.compile(robot).pose(np.random.default_rng(2).uniform(-1.5, 1.5, (20, robot.n)))
    batch = form.solve_batch(T)
    assert batch.shape == (20, form.branches, robot.n)
    np.testing.assert_allclose(batch, form._pose_kernel.python(T)[0], atol=1e-9)
    for target, rows in zip(T, batch):
        np.testing.assert_array_equal(form.solve(target), rows[np.isfinite(rows[:, 0])])


def test_arm_angle_is_what_was_asked() -> None:
    robot = _robot("iiwa14")
    form = find(robot)
    assert form is not None
    assert form.parameter == "arm_angle"
    T = mp.compile(robot).pose(np.array([0.3, 0.6, -0.2, -1.2, 0.4, 0.9, 0.1]))
    for angle in (-2.0, 0.0, 0.7, 3.0):
        q = form.solve(T, angle)
        assert q.shape == (8, 7)
        _confirmed(robot, q, T)
        off = np.array([form.parameter_of(row) - angle for row in q])
        assert np.abs(np.remainder(off + np.pi, 2 * np.pi) - np.pi).max() < SAME
    every = form.solve(T)
    assert len(every) == 8 * 16
    _confirmed(robot, every, T)


def test_given_joint_of_the_panda() -> None:
    robot = _robot("panda")
    form = find(robot)
    assert form is not None
    q0 = np.array([0.1, -0.6, 0.2, -2.1, 0.3, 1.6, 0.5])
    T = mp.compile(robot).pose(q0)
    q = form.solve(T, 0.5)
    np.testing.assert_allclose(q[:, 6], 0.5, atol=1e-12)
    assert distance(robot, q, q0).min() < SAME
    _confirmed(robot, q, T)


@pytest.mark.parametrize("target", [np.eye(3), np.zeros(3), np.zeros((2, 4, 4))])
def test_wrong_shape_is_refused(target: np.ndarray) -> None:
    form = find(_robot("puma560"))
    assert form is not None
    with pytest.raises(ShapeError, match="shape"):
        form.solve(target)


def test_nan_position_only_and_missing_parameter_are_refused() -> None:
    form = find(_robot("puma560"))
    assert form is not None
    with pytest.raises(ShapeError, match="finite"):
        form.solve(np.full((4, 4), np.nan))
    with pytest.raises(ShapeError, match="finite"):
        form.solve_batch(np.full((1, 4, 4), np.inf))
    with pytest.raises(ShapeError, match="takes poses"):
        form.solve_position(np.zeros(3))
    with pytest.raises(DescriptionError, match="no free parameter"):
        form.parameter_of(np.zeros(6))
