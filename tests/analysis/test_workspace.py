"""Workspace, manipulability and singularities against closed expressions of simple arms."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp
from manipula.analysis.manipulability import limit_distance, manipulability
from manipula.analysis.singularities import singularities
from manipula.analysis.workspace import bounding_box, spread_rotations, workspace

ROUNDING = 1e-12
CELL = 2.5  # cells: the boundary of a map is a staircase


@pytest.fixture(scope="module")
def two() -> mp.Model:
    return mp.compile(mp.planar(lengths=[1.0, 0.6], masses=[1.0, 1.0]))


def test_manipulability_of_two_links_is_the_textbook_product(two: mp.Model) -> None:
    """w = l1 l2 |sin q2| [Yoshikawa 1985]."""
    q = np.random.default_rng(0).uniform(-3, 3, (50, 2))
    d = manipulability(two, q)
    assert np.abs(d.manipulability - 0.6 * np.abs(np.sin(q[:, 1]))).max() < ROUNDING
    assert d.singular_values.shape == (50, 2)
    assert np.abs(d.condition - d.singular_values[:, 0] / d.singular_values[:, 1]).max() < 1e-6 * d.condition.max()
    J = two.jacobian(q[0])[:2]
    assert d.condition[0] == pytest.approx(np.linalg.cond(J))
    stretched = manipulability(two, [0.3, 0.0])
    assert stretched.manipulability < 1e-15
    assert stretched.condition > 1e12


def test_manipulability_equals_the_root_of_the_gramian() -> None:
    model = mp.compile(mp.load("panda"))
    q = np.array([0.2, 0.4, -0.3, -1.6, 0.3, 1.4, 0.5])
    J = model.jacobian(q)
    for kind, rows in (("pose", J), ("position", J[:3]), ("orientation", J[3:])):
        expected = np.sqrt(np.linalg.det(rows @ rows.T))
        assert manipulability(model, q, kind).manipulability == pytest.approx(expected, rel=1e-10)
    scaled = J.copy()
    scaled[:3] /= 0.5
    expected = np.linalg.cond(scaled)
    assert manipulability(model.robot, q, "pose", length=0.5).condition == pytest.approx(expected, rel=1e-10)


def test_an_arm_with_too_few_joints_has_no_manipulability() -> None:
    """Three rows and two joints: det JJᵀ = 0 whatever the posture, and no motion reaches all directions of the task."""
    arm = mp.compile(mp.load("planar-2r"))
    q = np.random.default_rng(1).uniform(-2, 2, (20, 2))
    d = manipulability(arm, q, "pose")
    J = arm.jacobian(q)[..., [0, 1, 5], :]
    assert np.abs(d.manipulability**2 - np.linalg.det(J @ J.mT)).max() < 1e-12
    assert (d.manipulability == 0.0).all()
    assert np.isinf(d.condition).all()
    assert d.singular_values.shape == (20, 3)
    assert np.allclose(d.singular_values[:, :2], np.linalg.svd(J, compute_uv=False))
    pan_tilt = mp.from_dh([{"alpha": np.pi / 2, "d": 0.3}, {"a": 0.5}], "standard")
    assert manipulability(pan_tilt, [0.3, 0.4], "position").manipulability == 0.0  # its tip stays on a sphere


def test_singularities_are_those_of_the_motion_that_the_joints_have() -> None:
    """Of the pose of two links nothing more is lost anywhere: the second joint turns the tool when the arm is stretched."""
    arm = mp.compile(mp.load("planar-2r"))
    path = mp.trajectory(mp.paths.joint([[0.1, -1.0], [0.4, 1.0]]), mp.timing.quintic(1.0))
    J = arm.jacobian(path.position(np.linspace(0.0, 1.0, 501)))[:, [0, 1, 5]]
    report = singularities(arm, path, "pose")
    assert report.places == ()
    assert report.worst == pytest.approx(np.linalg.svd(J, compute_uv=False)[:, -1].min(), rel=1e-3)


def test_reachable_area_of_two_links_is_a_ring(two: mp.Model) -> None:
    found = workspace(two, cells=40)
    assert found.reachable.shape[2] == 1
    r = np.linalg.norm(found.centres()[..., :2], axis=-1)
    size = max(found.spacing)
    assert np.all(found.reachable[(r > 0.4 + 1e-6) & (r < 1.6 - 1e-6)])
    assert not found.reachable[(r < 0.4 - 1e-6) | (r > 1.6 + 1e-6)].any()
    exact = np.pi * (1.6**2 - 0.4**2)
    assert found.measure == pytest.approx(exact, abs=CELL * size * 2 * np.pi * (1.6 + 0.4) / 2)
    good = found.q[found.reachable]
    assert np.abs(two.position(good)[:, :2] - found.centres()[found.reachable][:, :2]).max() < 1e-6
    assert np.isnan(found.q[~found.reachable]).all()


def test_limits_shrink_the_workspace() -> None:
    robot = mp.load("cobra600")
    box = [[-0.7, 0.7], [-0.7, 0.7], [0.2, 0.2]]
    kept, free = workspace(robot, 14, box), workspace(robot, 14, box, limits=False)
    assert kept.reachable.sum() < free.reachable.sum()
    assert not np.any(kept.reachable & ~free.reachable)


def test_dexterity_of_a_spherical_wrist_and_of_a_scara() -> None:
    near = [[0.35, 0.45], [0.0, 0.1], [0.2, 0.3]]
    free = workspace(mp.load("puma560"), 2, near, orientations=12, limits=False)
    assert free.dexterity is not None
    assert free.dexterous is not None
    assert free.dexterous.any(), "a spherical wrist turns every way in the middle of the workspace"
    scara = workspace(mp.load("cobra600"), 2, [[0.3, 0.5], [-0.1, 0.1], [0.2, 0.3]], orientations=12)
    assert scara.dexterity is not None
    assert scara.dexterity.max() == 0.0, "this arm only turns about the vertical"


def test_manipulability_map_takes_the_best_posture(two: mp.Model) -> None:
    found = workspace(two, cells=8, postures=3)
    assert found.manipulability is not None
    r = np.linalg.norm(found.centres()[..., :2], axis=-1)[found.reachable]
    cosine = (r**2 - 1.0 - 0.36) / 1.2
    exact = 0.6 * np.sqrt(1.0 - np.clip(cosine, -1, 1) ** 2)  # the same for both elbows
    assert np.abs(found.manipulability[found.reachable] - exact).max() < 1e-3


def test_spread_rotations_are_rotations_and_spread() -> None:
    R = spread_rotations(60)
    assert np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max() < ROUNDING
    assert np.abs(np.linalg.det(R) - 1.0).max() < ROUNDING
    assert np.linalg.norm(R.mean(axis=0)) < 0.2
    gram = np.einsum("aij,bij->ab", R, R)
    nearest = np.arccos(np.clip((np.where(np.eye(60, dtype=bool), -1.0, gram) - 1) / 2, -1, 1)).min(axis=1)
    assert nearest.min() > 0.4, "two of the rotations are nearly the same"


def test_the_box_holds_every_posture(two: mp.Model) -> None:
    box = bounding_box(two)
    assert np.abs(box[:2] - [[-1.6, 1.6], [-1.6, 1.6]]).max() < 0.01
    assert np.all(box[2] == 0.0)


def test_singularities_along_a_motion_are_located(two: mp.Model) -> None:
    path = mp.trajectory(mp.paths.joint([[0.2, 1.0], [0.8, -0.6]]), mp.timing.quintic(2.0))
    report = singularities(two, path)
    assert len(report.places) == 1
    place = report.places[0]
    assert abs(place.q[1]) < 1e-6
    assert place.rows == ("x", "y")
    along = np.array([np.cos(place.q[0]), np.sin(place.q[0])])  # a stretched arm cannot move along itself
    assert abs(abs(place.lost @ along) - 1.0) < 1e-6
    assert report.worst == place.smallest < 1e-6
    bent = mp.trajectory(mp.paths.joint([[0.2, 1.0], [0.8, 1.3]]), mp.timing.quintic(2.0))
    assert not singularities(two, bent).places
    samples = singularities(two, path.position(np.linspace(0, 2, 101)))
    assert len(samples.places) == 1


def test_distance_from_limits() -> None:
    robot = mp.load("panda")
    low, high = robot.position_limits.T
    assert np.allclose(limit_distance(robot, high - 0.1), np.minimum(0.1, high - 0.1 - low))
    assert np.all(limit_distance(robot, high + 0.1) < 0)
    assert np.allclose(limit_distance(robot, 0.5 * (low + high), relative=True), 1.0)
    assert np.all(np.isinf(limit_distance(mp.load("zlajpah-5r"), np.zeros(5))))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda m: manipulability(m, np.zeros(3)), mp.ShapeError),
        (lambda m: manipulability(m, np.zeros(2), "speed"), mp.UnknownNameError),
        (lambda m: manipulability(m, np.zeros(2), frame="base"), mp.DescriptionError),
        (lambda m: limit_distance(m.robot, np.zeros(3)), mp.ShapeError),
        (lambda m: workspace(m, 0), mp.DescriptionError),
        (lambda m: workspace(m, 4, [[0, 1], [0, np.nan], [0, 1]]), mp.DescriptionError),
        (lambda m: workspace(m, 4, [[1, 0], [0, 1], [0, 1]]), mp.ShapeError),
        (lambda m: workspace(m, 10_000), mp.BudgetError),
        (
            lambda m: singularities(m, mp.trajectory(mp.paths.line([0, 0, 0], [1, 0, 0]), mp.timing.quintic(1.0))),
            mp.DescriptionError,
        ),
    ],
)
def test_wrong_input_raises(two: mp.Model, call, error: type[Exception]) -> None:
    with pytest.raises(error):
        call(two)
