"""All solutions at singular targets: a posture that stands for infinitely many says so, and one that does not, does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import manipula as mp

SOLVED = 1e-8


def every(model: mp.Model, target: np.ndarray, **options: object) -> mp.IkResult:
    found = mp.solve_ik(model, target, all_solutions=True, **options)  # pyright: ignore[reportArgumentType]
    assert found.ok, found.reason
    assert found.continuum.shape == (len(found.q),)
    return found


def test_an_arm_folded_onto_its_base_may_turn() -> None:
    model = mp.compile(mp.load("planar-2r"))
    found = every(model, np.zeros(3), limits=False)
    assert found.continuum.tolist() == [True]
    assert "joint 'joint1' may move freely" in found.reason
    for angle in (-2.0, 0.3, 1.0):  # the claim itself
        assert np.linalg.norm(model.position([angle, found.q[0, 1]])) < SOLVED


def test_a_stretched_arm_has_one_posture() -> None:
    model = mp.compile(mp.load("planar-2r"))
    found = every(model, model.position([0.3, 0.0]), limits=False)
    assert found.continuum.tolist() == [False]
    assert "continuum" not in found.reason


def test_a_wrist_with_two_parallel_axes() -> None:
    """Puma at q5 = 0: q4 + q6 matters, not each of them; the other shoulders and elbows reach the pose in a regular way."""
    model = mp.compile(mp.load("puma560"))
    X = model.pose([0.3, 0.4, 0.5, 0.6, 0.0, 0.7])
    found = every(model, X, limits=False)
    (k,) = np.flatnonzero(found.continuum)
    assert abs(found.q[k, 4]) < 1e-6
    assert "'joint4' and 'joint6' may move against each other" in found.reason
    for turn in (-1.0, 0.5):
        q = found.q[k] + turn * np.array([0, 0, 0, 1, 0, -1])
        assert np.abs(model.pose(q) - X).max() < SOLVED
    for k in np.flatnonzero(~found.continuum):
        q = found.q[k] + 0.01 * np.array([0, 0, 0, 1, 0, -1])
        assert np.abs(model.pose(q) - X).max() > 1e-4


@pytest.mark.parametrize("q5", [1e-6, 1e-3, 0.4])
def test_beside_the_singularity_there_are_eight_postures_and_no_continuum(q5: float) -> None:
    model = mp.compile(mp.load("puma560"))
    found = every(model, model.pose([0.3, 0.4, 0.5, 0.6, q5, 0.7]), limits=False)
    assert len(found.q) == 8
    assert not found.continuum.any()


def test_four_parallel_axes_of_a_ur5e() -> None:
    model = mp.compile(mp.load("ur5e"))
    X = model.pose([0.3, -1.4, 1.5, 0.6, 0.0, 0.7])
    found = every(model, X, limits=False)
    assert found.continuum.sum() == 2
    assert np.abs(found.q[found.continuum, 4]).max() < 1e-6
    assert "'wrist_3_joint' may move together" in found.reason


def test_a_shoulder_under_its_wrist() -> None:
    """A spherical wrist on the first axis: that axis turns, the wrist turns back."""
    half = np.pi / 2
    table = [(0, half, 0.3), (0.5, 0, 0), (0, half, 0), (0, -half, 0.5), (0, half, 0), (0, 0, 0.1)]
    rows = [{"a": a, "alpha": alpha, "d": d, "theta": 0.0, "joint": "revolute"} for a, alpha, d in table]
    model = mp.compile(mp.from_dh(rows, convention="standard"))
    q = np.array([0.4, 1.0, 1.5 * np.pi - 2.0, 0.3, 0.6, -0.2])
    X = model.pose(q)
    assert np.linalg.norm((X[:3, 3] - 0.1 * X[:3, 2])[:2]) < 1e-12
    found = every(model, model.pose(q), limits=False)
    assert found.continuum.any()
    assert f"'{model.robot.joint_names[0]}'" in found.reason


def test_redundant_arms_are_continua() -> None:
    model = mp.compile(mp.load("panda"))
    found = every(model, model.pose([0.3, 0.4, 0.5, -1.6, 0.3, 1.7, 0.2]))
    assert found.continuum.all()
    assert "redundant" in found.reason


def test_postures_that_nearly_coincide_are_told() -> None:
    model = mp.compile(mp.load("ur5e"))
    found = every(model, model.pose([0.3, -1.4, 1e-4, 0.6, 0.3, 0.7]), limits=False)
    assert "2 of them have a neighbour" in found.reason


def test_a_representative_beyond_its_limits_is_replaced_by_a_member_within() -> None:
    """The closed form puts the free joint at 0; here 0 is outside its range, the continuum is not."""
    robot = mp.load("planar-2r")
    limits = ((0.5, 1.0), (-3.5, 3.5))
    joints = tuple(replace(j, limits=replace(j.limits, lower=a, upper=b)) for j, (a, b) in zip(robot.joints, limits))
    model = mp.compile(robot.replace(joints=joints))
    found = every(model, np.zeros(3))
    assert np.all((found.q[:, 0] >= 0.5) & (found.q[:, 0] <= 1.0))
    assert found.continuum.all()


def test_all_solutions_are_sorted_from_q0() -> None:
    model = mp.compile(mp.load("puma560"))
    q = np.array([0.3, 0.4, 0.5, 0.6, 0.8, 0.7])
    found = every(model, model.pose(q), q0=q, limits=False)
    assert np.abs(found.q[0] - q).max() < 1e-8
    assert np.all(np.diff(np.abs(found.q - q).max(axis=1)) >= 0)


def test_iterations_bound_the_search_for_all_solutions() -> None:
    model = mp.compile(mp.load("planar-3r"))
    target = model.pose([0.3, 0.4, 0.5])
    found = mp.solve_ik(model, target, all_solutions=True, method="levenberg_marquardt", max_iterations=200)
    assert "of perhaps more" in found.reason
    assert "perhaps" not in mp.solve_ik(model, target, all_solutions=True, method="levenberg_marquardt").reason
