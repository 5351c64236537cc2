"""What happens to targets that cannot be met, that are hard, or that are no targets at all."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

import manipula as mp
from manipula.ik.base import Status
from manipula.ik.search.reach import reach_of

TOLERANCE = 1e-8


@pytest.fixture(scope="module")
def panda() -> mp.Model:
    return mp.compile(mp.load("panda"))


@pytest.fixture(scope="module")
def puma() -> mp.Model:
    return mp.compile(mp.load("puma560"))


@pytest.mark.parametrize("name", ["puma560", "ur5e", "panda", "iiwa14", "gen3", "arora-5r", "cobra600", "stanford"])
def test_no_posture_leaves_the_shell_of_the_reach(name: str) -> None:
    model = mp.compile(mp.load(name))
    reach = reach_of(model.robot)
    assert reach is not None
    low, high = model.robot.position_limits.T
    low, high = np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)
    q = np.random.default_rng(0).uniform(low, high, (5000, model.n))
    assert reach.gap(model.position(q)).max() <= 1e-12
    p = model.position(q[0])
    assert reach.gap_of(*p) == pytest.approx(float(reach.gap(p)))


def test_unreachable_targets_say_how_far_they_are(panda: mp.Model) -> None:
    reach = reach_of(panda.robot)
    assert reach is not None
    far = reach.centre + np.array([0.0, 0.0, reach.farthest + 0.25])
    found = mp.solve_ik(panda, far)
    assert found.status == "unreachable"
    assert found.iterations == 0
    assert "0.25 m" in found.reason
    assert np.isfinite(found.q).all()
    assert found.residual >= 0.25 - 1e-9
    batch = mp.solve_ik(panda, np.stack([far, panda.position(np.array([0.1, 0.2, 0.3, -1.5, 0.2, 1.5, 0.3]))]))
    assert batch.status.tolist() == ["unreachable", "solved"]
    assert not batch.ok
    with pytest.raises(mp.SolveError, match="outside the reach") as caught:
        batch.check()
    assert caught.value.result is batch


def test_a_planar_arm_cannot_leave_its_plane() -> None:
    found = mp.solve_ik(mp.load("zlajpah-5r"), [0.5, 0.5, 0.2])
    assert found.status == "unreachable"
    assert found.residual == pytest.approx(0.2, abs=1e-6)


def test_unreachable_inside_the_shell_is_noticed_too() -> None:
    robot = mp.planar(lengths=[1.0, 0.3], masses=[1.0, 1.0])
    found = mp.solve_ik(robot, [0.2, 0.0, 0.0])  # the hole in the middle has radius 0.7
    assert found.status == "unreachable"
    assert "0.5 m" in found.reason


def test_limits_in_the_way_are_named(puma: mp.Model) -> None:
    q = np.array([0.3, -1.5, 0.4, 0.2, 0.5, 0.1])  # joint 2 far below its limit
    X = puma.pose(q)
    free = mp.solve_ik(puma, X, all_solutions=True, limits=False)
    low, high = puma.robot.position_limits.T
    turns = 2 * np.pi * np.arange(-1, 2)
    inside = [all(np.any((x + turns >= a) & (x + turns <= b)) for x, a, b in zip(row, low, high)) for row in free.q]
    assert not any(inside), "this target has another branch within the limits: choose another"
    found = mp.solve_ik(puma, X)
    assert found.status == "limits"
    assert "joint" in found.reason
    assert np.all((found.q >= low - 1e-12) & (found.q <= high + 1e-12))
    assert mp.solve_ik(puma, X, limits=False).status == "solved"


def test_limits_of_a_two_link_arm() -> None:
    robot = mp.load("arora-5r")
    stiff = robot.replace(
        joints=tuple(
            j if i == 0 else type(j)(**{**j.__dict__, "limits": type(j.limits)(lower=-0.1, upper=0.1)})
            for i, j in enumerate(robot.joints)
        )
    )
    found = mp.solve_ik(stiff, [0.5, 0.5, 0.0])  # would need the arm folded
    assert found.status == "limits"
    assert mp.solve_ik(stiff, [0.5, 0.5, 0.0], limits=False).status == "solved"


@pytest.mark.parametrize("name", ["puma560", "ur5e", "panda", "iiwa14", "zlajpah-5r", "scara-khang"])
def test_singular_targets_are_solved(name: str) -> None:
    """Stretched arms, aligned wrists: the Jacobian has no full rank at the solution."""
    model = mp.compile(mp.load(name))
    low, high = model.robot.position_limits.T
    postures = [np.zeros(model.n), np.full(model.n, 0.5 * np.pi)]
    rng = np.random.default_rng(3)
    for _ in range(10):
        q = rng.uniform(-1.0, 1.0, model.n)
        q[rng.integers(0, model.n)] = 0.0
        postures.append(q)
    for q in np.clip(postures, np.maximum(low, -10), np.minimum(high, 10)):
        found = mp.solve_ik(model, model.pose(q))
        assert found.status == "solved", found.reason
        assert found.residual <= TOLERANCE


@pytest.mark.parametrize("name", ["puma560", "panda", "iiwa14", "cobra600"])
def test_targets_with_joints_on_their_limits_are_solved(name: str) -> None:
    model = mp.compile(mp.load(name))
    low, high = (np.where(np.isfinite(x), x, 1.0) for x in model.robot.position_limits.T)
    rng = np.random.default_rng(5)
    q = rng.uniform(low, high, (60, model.n))
    corner = rng.integers(0, 3, q.shape)
    q = np.where(corner == 0, low, np.where(corner == 1, high, q))
    found = mp.solve_ik(model, model.pose(q))
    assert found.ok, [r for r in found.reason if r][:3]
    hard = model.robot.position_limits
    assert np.all((found.q >= hard[:, 0]) & (found.q <= hard[:, 1]))


def test_a_half_turn_away_is_not_mistaken_for_arrival(panda: mp.Model) -> None:
    """At θ = π the vector part of the rotation error vanishes."""
    q = np.array([0.1, 0.2, 0.3, -1.5, 0.2, 1.5, 0.3])
    X = panda.pose(q)
    for axis in range(3):
        turned = X.copy()
        turned[:3, :3] = X[:3, :3] @ np.diag([1.0 if k == axis else -1.0 for k in range(3)])
        found = mp.solve_ik(panda, turned, q0=q)
        assert found.status == "solved"
        assert np.abs(panda.pose(found.q) - turned).max() < 1e-7


def test_solved_always_means_a_small_residual(panda: mp.Model) -> None:
    """A mixture of possible and impossible poses: whatever is called solved is, and nothing else."""
    rng = np.random.default_rng(9)
    targets = panda.pose(rng.uniform(*panda.robot.position_limits.T, (60, 7)))
    targets[::2, :3, 3] += rng.normal(0.0, 0.4, (30, 3))
    found = mp.solve_ik(panda, targets, max_iterations=300)
    assert set(found.status) <= set(get_args(Status))
    solved = found.status == "solved"
    assert 0 < solved.sum() < 60
    miss = np.linalg.norm(panda.position(found.q) - targets[:, :3, 3], axis=1)
    assert miss[solved].max() <= TOLERANCE
    assert np.all(found.residual[~solved] > TOLERANCE)
    assert all(reason for reason in found.reason[~solved])


def test_impossible_orientations_of_a_short_arm() -> None:
    robot = mp.load("scara-khang")
    X = np.eye(4)
    X[:3, 3] = [0.3, 0.2, 0.3]  # the tool of this arm always points down
    found = mp.solve_ik(robot, X)
    assert found.status == "unreachable"


HOSTILE = [
    ([0.1, np.nan, 0.2], mp.DescriptionError, "finite"),
    ([0.1, np.inf, 0.2], mp.DescriptionError, "finite"),
    (np.full((4, 4), np.nan), mp.DescriptionError, "finite"),
    (np.zeros((4, 4)), mp.DescriptionError, "not a pose"),
    (np.diag([1.0, 1.0, -1.0, 1.0]), mp.DescriptionError, "not a pose"),
    (np.diag([2.0, 2.0, 2.0, 1.0]), mp.DescriptionError, "not a pose"),
    (np.eye(4)[None] * np.nan, mp.DescriptionError, "finite"),
    ([0.1, 0.2], mp.ShapeError, "shape"),
    (np.eye(3)[:, :2], mp.ShapeError, "shape"),
    (0.5, mp.ShapeError, "shape"),
    ("here", mp.ShapeError, "numbers"),
    ([[1, 2], [3]], mp.ShapeError, "numbers"),
    ({}, mp.DescriptionError, "empty"),
    ({"tip": [0.1, 0.2]}, mp.ShapeError, "shape"),
    ({"nose": [0.1, 0.2, 0.3]}, mp.UnknownNameError, "nose"),
]


@pytest.mark.parametrize(("target", "error", "words"), HOSTILE)
def test_what_is_no_target_raises(panda: mp.Model, target: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        mp.solve_ik(panda, target)


def test_a_pose_with_infinite_position_raises(panda: mp.Model) -> None:
    X = np.eye(4)
    X[0, 3] = np.inf
    with pytest.raises(mp.DescriptionError, match="finite"):
        mp.solve_ik(panda, X)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"method": "newtn"}, mp.UnknownNameError, "newton"),
        ({"frame": "panda_link"}, mp.UnknownNameError, "panda_link"),
        ({"rows": ("x", "w")}, mp.UnknownNameError, "'w'"),
        ({"rows": ()}, mp.DescriptionError, "empty"),
        ({"rows": ("x", "rz")}, mp.DescriptionError, "rotation"),
        ({"q0": np.zeros(6)}, mp.ShapeError, r"\(6,\)"),
        ({"q0": np.full(7, np.nan)}, mp.DescriptionError, "finite"),
        ({"q0": "zero"}, mp.ShapeError, "numbers"),
        ({"tolerance": 0.0}, mp.DescriptionError, "tolerance"),
        ({"tolerance": float("nan")}, mp.DescriptionError, "tolerance"),
        ({"method": "closed_form"}, mp.DescriptionError, "closed form"),
    ],
)
def test_wrong_options_raise(panda: mp.Model, options: dict, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        mp.solve_ik(panda, [0.3, 0.2, 0.5], **options)


def test_wrong_robots_raise() -> None:
    with pytest.raises(mp.DescriptionError, match="Robot"):
        mp.solve_ik("panda", [0.3, 0.2, 0.5])  # type: ignore[arg-type]
    with pytest.raises(mp.DescriptionError, match="parameters"):
        mp.solve_ik(mp.load("abdelsatar-2r"), [0.3, 0.2, 0.5])
    with pytest.raises(mp.DescriptionError, match="moves"):
        mp.solve_ik(mp.load("planar-2r"), [0.0, 0.0, 0.0], frame="base")
    with pytest.raises(mp.ShapeError, match="all_solutions"):
        mp.solve_ik(mp.load("ur5e"), np.zeros((2, 3)), all_solutions=True)
