"""Methods by the names of the survey, each really that method; which solution is preferred; angles that are not wound up. Judge: Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import manipula as mp
from manipula.errors import DescriptionError, UnknownNameError
from manipula.ik.methods import ALIASES, REGISTRY
from manipula.ik.methods.base import Situation
from manipula.ik.search.joint_box import start_box
from manipula.ik.task import Task
from manipula.physics.mechanism import mechanism_of
from oracles import Judge

SURVEY = ("newton_raphson", "pseudoinverse", "ccd", "continuation", "elimination", "geometric", "optimisation")
SIX = ("puma560", "ur5e", "irb120", "gen3-lite")
NUMERIC = tuple(e.name for e in mp.catalog() if mp.load(e.name).is_numeric)


def drawn(robot: mp.Robot, rng: np.random.Generator, count: int) -> np.ndarray:
    box = start_box(robot)
    return rng.uniform(box[:, 0] + 0.1 * np.ptp(box, axis=1), box[:, 1] - 0.1 * np.ptp(box, axis=1), (count, robot.n))


def off(judge: Judge, q: np.ndarray, X: np.ndarray) -> float:
    """How far Pinocchio's forward kinematics is from a pose."""
    return float(np.abs(judge.pose(q) - X).max())


def test_the_names_of_the_survey_are_methods():
    assert set(SURVEY) <= set(REGISTRY)
    model = mp.compile(mp.load("puma560"))
    X = model.pose(np.array([0.3, 0.6, -0.8, 0.4, 0.9, -0.2]))
    for name in SURVEY:
        tolerance = 1e-4 if name == "ccd" else 1e-8
        found = mp.solve_ik(model, X, name, tolerance=tolerance, max_iterations=200_000)
        assert found.ok, (name, found.reason)
        assert off(Judge(model.robot), found.q, X) <= 2 * tolerance
    for other, name in ALIASES.items():
        np.testing.assert_array_equal(
            mp.solve_ik(model, X, other, tolerance=1e-4).q, mp.solve_ik(model, X, name, tolerance=1e-4).q
        )
    with pytest.raises(UnknownNameError, match="Did you mean 'continuation'"):
        mp.solve_ik(model, X, "continuaton")


@pytest.mark.parametrize(
    ("robot", "target", "method", "reason"),
    [
        ("panda", "pose", "elimination", "six revolute joints; 'panda' has RRRRRRR"),
        ("stanford", "pose", "elimination", "has RRPRRR"),
        ("puma560", "position", "elimination", "needs the whole pose of one frame"),
        ("sawyer", "position", "geometric", "No closed form is known for the geometry of 'sawyer' and this target"),
        ("zlajpah-5r", "pose", "geometric", "No closed form is known"),
    ],
)
def test_what_a_method_cannot_do_is_refused_with_the_reason(robot, target, method, reason):
    model = mp.compile(mp.load(robot))
    X = getattr(model, target)(np.full(model.n, 0.2))
    with pytest.raises(DescriptionError, match=reason):
        mp.solve_ik(model, X, method)


@pytest.mark.parametrize("name", [*SIX, "xarm6"])
def test_elimination_finds_the_postures_of_the_closed_form(name):
    model = mp.compile(mp.load(name, lock={"right_finger_bottom_joint": 0.1}) if name == "gen3-lite" else mp.load(name))
    judge = Judge(model.robot)
    for q in drawn(model.robot, np.random.default_rng(3), 3):
        X = model.pose(q)
        every = mp.solve_ik(model, X, "elimination", all_solutions=True, limits=False)
        assert every.method == "elimination"
        assert every.reason.endswith("by elimination.")
        assert max(off(judge, row, X) for row in every.q) < 1e-8
        assert np.min(np.abs((every.q - q + np.pi) % (2 * np.pi) - np.pi).max(axis=1)) < 1e-6
        assert len(every.q) == len(mp.solve_ik(model, X, all_solutions=True, limits=False).q)
        one = mp.solve_ik(model, X, "elimination", q0=q)
        np.testing.assert_allclose(one.q, q, atol=1e-6)
    batch = model.pose(drawn(model.robot, np.random.default_rng(4), 3))
    assert mp.solve_ik(model, batch, "elimination").ok


def test_a_step_of_continuation_stays_on_the_homotopy():
    """After every step the frame is where the straight way from the start to the target has it (judged by Pinocchio), at the end exactly there."""
    robot = mp.load("puma560")
    mechanism, task, rule, judge = mechanism_of(robot), Task.of("pose"), REGISTRY["continuation"], Judge(robot)
    start = np.array([0.2, 0.4, -0.9, 0.3, 0.7, 0.1])
    X, Y = judge.pose(start), judge.pose(start + np.array([0.5, -0.3, 0.4, 0.6, -0.2, 0.8]))
    turn = Rotation.from_matrix(Y[:3, :3] @ X[:3, :3].T).as_rotvec()
    q = start
    for age in range(42):
        e, J, _ = task.error_and_jacobian(mechanism, q, Y[None])
        q = np.asarray(
            q + rule.move(Situation(mechanism, task, q, Y[None], start, float(age)), e, np.asarray(J, float)), float
        )
        s = min(1.0, (age + 1) / 40)
        wanted = np.eye(4)
        wanted[:3, :3] = Rotation.from_rotvec(s * turn).as_matrix() @ X[:3, :3]
        wanted[:3, 3] = X[:3, 3] + s * (Y[:3, 3] - X[:3, 3])
        assert off(judge, q, wanted) < 1e-9
    assert off(judge, q, Y) < 1e-14


def test_continuation_keeps_the_branch_of_its_start():
    """The postures of one target, led to a neighbouring target, stay the different postures they are."""
    model = mp.compile(mp.load("puma560"))
    q = np.array([0.2, 0.4, -0.9, 0.3, 0.9, 0.1])
    X, Y = model.pose(q), model.pose(q + 0.15)
    postures = mp.solve_ik(model, X, all_solutions=True, limits=False).q
    assert len(postures) == 8
    for row in postures:
        found = mp.solve_ik(model, Y, "continuation", q0=row, limits=False)
        assert found.ok
        assert np.abs(found.q - row).max() < 0.7


def test_pseudoinverse_takes_the_shortest_step_of_bounded_length():
    rng = np.random.default_rng(0)
    rule = REGISTRY["pseudoinverse"]
    for _ in range(10):
        J, e = rng.normal(size=(6, 7)), rng.normal(size=6)
        short = e * min(1.0, 0.2 / np.linalg.norm(e))
        np.testing.assert_allclose(np.asarray(rule.step(e, J), float), np.linalg.pinv(J) @ short, atol=1e-10)
        np.testing.assert_allclose(
            np.asarray(rule.step(1e-3 * e, J), float), np.linalg.pinv(J) @ (1e-3 * e), atol=1e-10
        )


def middle_of(robot: mp.Robot) -> np.ndarray:
    low, high = np.asarray(robot.position_limits, float).T
    return np.where(np.isfinite(low) & np.isfinite(high), (np.nan_to_num(low) + np.nan_to_num(high)) / 2, 0.0)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        *((n, "auto") for n in NUMERIC),
        *((n, "levenberg_marquardt") for n in ("gen3", "j2s6s300", "ur5e", "zlajpah-5r")),
        ("gen3", "ccd"),
    ],
)
def test_no_angle_is_wound_up(name, method):
    """Within half a turn of the middle of its range, or nearer to q0, unless the limits forbid it."""
    model = mp.compile(mp.load(name))
    robot, rng = model.robot, np.random.default_rng(5)
    turning = np.array(
        [j.is_revolute and not any(f.leader == i for f in robot.followers) for i, j in enumerate(robot.joints)]
    )
    low, high = np.asarray(robot.position_limits, float).T
    judge = Judge(robot) if not robot.followers else None
    q = drawn(robot, rng, 4)
    targets = model.pose(q)
    starts = q + 2 * np.pi * rng.integers(-1, 2, q.shape) * turning
    starts = np.where((starts >= low) & (starts <= high), starts, q)
    solved = 0
    for q0 in (None, starts):
        near = np.broadcast_to(middle_of(robot), q.shape) if q0 is None else q0
        tolerance = 1e-4 if method == "ccd" else 1e-8
        batch = mp.solve_ik(model, targets, method, q0=q0, tolerance=tolerance)
        single = [
            mp.solve_ik(model, X, method, q0=None if q0 is None else q0[k], tolerance=tolerance)
            for k, X in enumerate(targets)
        ]
        for found, X, goal in [*zip(single, targets, near), (batch, targets, near)]:
            if not found.ok:  # arms whose pose has fewer freedoms than rows may need more starts
                continue
            solved += 1
            nearer = found.q - 2 * np.pi * np.sign(found.q - goal)
            far = turning & (np.abs(found.q - goal) > np.pi + 1e-9) & (nearer >= low) & (nearer <= high)
            assert not far.any()
            if judge is not None and X.ndim == 2:
                assert off(judge, found.q, X) < 2 * tolerance + 1e-9
    assert solved > 1


@pytest.mark.parametrize("name", ["puma560", "ur10e", "panda", "scara-khang", "gen3-6dof"])
def test_the_preferred_solution_is_the_best_of_all(name):
    robot = mp.load(name).numeric
    model, rng = mp.compile(robot), np.random.default_rng(7)
    turning = np.array([j.is_revolute for j in robot.joints])
    low, high = np.asarray(robot.position_limits, float).T
    q = drawn(robot, rng, 3)
    targets, starts = model.pose(q), drawn(robot, rng, 3)
    for prefer in ("middle", "nearest"):
        near = np.broadcast_to(middle_of(robot), q.shape) if prefer == "middle" else starts
        batch = mp.solve_ik(model, targets, q0=starts, prefer=prefer)
        for k, X in enumerate(targets):
            found = mp.solve_ik(model, X, q0=starts[k], prefer=prefer)
            assert found.ok
            np.testing.assert_array_equal(found.q, batch.q[k])
            assert off(Judge(robot), found.q, X) < 1e-7
            ranked = mp.solve_ik(model, X, q0=starts[k], prefer=prefer, all_solutions=True)
            np.testing.assert_array_equal(ranked.q[0], found.q)
            distances = np.abs(ranked.q - near[k]).max(axis=1)
            assert (np.diff(distances) >= -1e-12).all()
            if robot.n > 6:
                continue  # samples of a continuum
            turned = (
                mp.solve_ik(model, X, all_solutions=True).q[:, None] + 2 * np.pi * turning * np.arange(-2, 3)[:, None]
            )
            inside = (turned >= low - 1e-9) & (turned <= high + 1e-9)
            least = np.where(inside, np.abs(turned - near[k]), np.inf).min(axis=1)  # of every joint, within its range
            assert distances[0] == pytest.approx(least.max(axis=1).min(), abs=1e-7)


def test_a_preference_that_means_nothing_is_refused():
    model = mp.compile(mp.load("puma560"))
    X = model.pose(np.full(6, 0.3))
    with pytest.raises(DescriptionError, match="nearest to q0; give it"):
        mp.solve_ik(model, X, prefer="nearest")
    with pytest.raises(DescriptionError, match="allowed: middle, nearest"):
        mp.solve_ik(model, X, prefer="best")
    far = np.eye(4)
    far[0, 3] = 50.0
    found = mp.solve_ik(model, far, prefer="middle")
    assert found.status == "unreachable"
    assert found.q.shape == (6,)
    assert mp.solve_ik(model, np.stack([far, X]), prefer="middle").status.tolist() == ["unreachable", "solved"]


@pytest.mark.parametrize("name", ["panda", "iiwa14", "zlajpah-5r", "gen3", "planar-2r", "ur10e"])
def test_the_nearest_solution_is_never_farther_than_the_one_without_a_preference(name):
    robot = mp.load(name).numeric
    model, rng = mp.compile(robot), np.random.default_rng(1)
    for q in drawn(robot, rng, 4):
        target = model.pose(q) if robot.n > 5 else model.position(q)
        q0 = q + rng.uniform(-0.2, 0.2, robot.n)
        plain, nearest = mp.solve_ik(model, target, q0=q0), mp.solve_ik(model, target, q0=q0, prefer="nearest")
        batch = mp.solve_ik(model, target[None], q0=q0[None])
        ranked = mp.solve_ik(model, target, q0=q0, prefer="nearest", all_solutions=True)
        assert plain.ok
        assert nearest.ok
        for other in (plain.q, batch.q[0]):
            assert np.abs(nearest.q - q0).max() <= np.abs(other - q0).max() + 1e-6
        np.testing.assert_array_equal(ranked.q[0], nearest.q)
        assert len(ranked.q) == len(ranked.residual) == len(ranked.continuum)
