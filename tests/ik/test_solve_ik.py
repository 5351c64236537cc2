"""solve_ik on targets that are reachable by construction: success, limits, and residuals judged by Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError, ShapeError
from manipula.ik import solve as solve_module
from manipula.ik.search.at_once import NearestBranch
from manipula.ik.search.joint_box import start_box
from manipula.ik.solve import solver_for
from manipula.ik.targets import read_targets
from oracles import Judge

TOLERANCE = 1e-8  # what solve_ik promises, m and rad
ROUNDING = 1e-12  # between two programs' forward kinematics of arms of about 1 m
ARMS = ("puma560", "ur5e", "iiwa14", "panda", "zlajpah-5r", "scara-khang")
TARGETS = 2000


def random_targets(name: str, count: int, seed: int) -> tuple[mp.Model, np.ndarray, np.ndarray]:
    model = mp.compile(mp.load(name))
    box = start_box(model.robot)
    q = np.random.default_rng(seed).uniform(box[:, 0], box[:, 1], (count, model.n))
    return model, q, model.pose(q)


def angle(R: np.ndarray, S: np.ndarray) -> float:
    """Angle between two rotations, from their chord: accurate for small ones."""
    return float(2.0 * np.arcsin(min(1.0, np.linalg.norm(R - S) / np.sqrt(8.0))))


@pytest.mark.parametrize("method", ["auto", "levenberg_marquardt"])
@pytest.mark.parametrize("name", ARMS)
def test_every_reachable_target_is_solved_within_the_limits(name: str, method: str) -> None:
    model, _, targets = random_targets(name, TARGETS, 7)
    found = mp.solve_ik(model, targets, method=method)
    assert found.ok, f"{np.sum(found.status != 'solved')} unsolved: {set(found.reason)}"
    low, high = model.robot.position_limits.T
    assert np.all((found.q >= low) & (found.q <= high))
    assert found.residual.max() <= TOLERANCE
    judge = Judge(model.robot)
    for q, X in list(zip(found.q, targets))[:50]:
        theirs = judge.pose(q)
        assert np.linalg.norm(theirs[:3, 3] - X[:3, 3]) <= TOLERANCE + ROUNDING
        assert angle(theirs[:3, :3], X[:3, :3]) <= TOLERANCE + ROUNDING


@pytest.mark.parametrize("name", ["puma560", "panda", "zlajpah-5r", "cobra600"])
def test_one_target_at_a_time(name: str) -> None:
    model, _, targets = random_targets(name, 200, 11)
    for X in targets:
        found = mp.solve_ik(model, X)
        assert found.status == "solved"
        assert found.q.shape == (model.n,)
        assert found.residual <= TOLERANCE
        assert np.abs(model.pose(found.q) - X).max() <= 2 * TOLERANCE


@pytest.mark.parametrize("name", ["panda", "scara-khang"])
def test_positions_leave_the_orientation_open(name: str) -> None:
    model, _, targets = random_targets(name, 300, 13)
    found = mp.solve_ik(model, targets[:, :3, 3])
    assert found.ok
    assert np.linalg.norm(model.position(found.q) - targets[:, :3, 3], axis=1).max() <= TOLERANCE


def test_batches_keep_their_shape() -> None:
    model, _, targets = random_targets("ur5e", 12, 17)
    found = mp.solve_ik(model, targets.reshape(3, 4, 4, 4))
    assert found.q.shape == (3, 4, 6)
    assert found.status.shape == found.residual.shape == found.iterations.shape == (3, 4)
    assert found.ok
    assert mp.solve_ik(model, np.zeros((0, 4, 4))).q.shape == (0, 6)


def test_the_solution_of_the_given_start_is_preferred() -> None:
    model, q, targets = random_targets("panda", 40, 19)
    low, high = model.robot.position_limits.T
    nudge = np.random.default_rng(0).uniform(-0.02, 0.02, q.shape)
    start = np.clip(q + nudge, low, high)
    for k in range(len(q)):
        found = mp.solve_ik(model, targets[k], q0=start[k])
        assert found.status == "solved"
        assert np.abs(found.q - q[k]).max() < 0.3, "another branch was returned"
    batch = mp.solve_ik(model, targets, q0=start)
    assert batch.ok
    assert np.median(np.abs(batch.q - q).max(axis=1)) < 0.1


def test_closed_forms_take_the_branch_next_to_the_start() -> None:
    model, q, targets = random_targets("puma560", 100, 23)
    for k in range(len(q)):
        assert np.abs(mp.solve_ik(model, targets[k], q0=q[k]).q - q[k]).max() < 1e-6
    assert np.abs(mp.solve_ik(model, targets, q0=q).q - q).max() < 1e-6


def test_chosen_rows_only() -> None:
    model, _, targets = random_targets("ur5e", 1, 29)
    X = targets[0]
    found = mp.solve_ik(model, X, rows=("x", "y", "rz"))
    assert found.status == "solved"
    Y = model.pose(found.q)
    assert np.abs(Y[:2, 3] - X[:2, 3]).max() <= TOLERANCE
    assert abs(Y[2, 3] - X[2, 3]) > 1e-3, "a row that was not asked for was met: the test says nothing"


def test_several_frames_at_once() -> None:
    robot = mp.load("zlajpah-5r")
    model = mp.compile(robot)
    q = np.array([0.4, 0.5, -0.3, 0.6, 0.2])
    middle = robot.frame_names[3]
    wanted = {"tip": model.position(q), middle: model.position(q, middle)}
    found = mp.solve_ik(model, wanted)
    assert found.status == "solved"
    for frame, p in wanted.items():
        assert np.linalg.norm(model.position(found.q, frame) - p) <= TOLERANCE
    far = {"tip": model.position(q), middle: model.position(q, middle) + np.array([5.0, 0.0, 0.0])}
    assert mp.solve_ik(model, far).status == "unreachable"


def test_the_same_question_has_the_same_answer() -> None:
    model, _, targets = random_targets("panda", 30, 31)
    first, second = mp.solve_ik(model, targets), mp.solve_ik(model, targets)
    assert np.array_equal(first.q, second.q)
    for X in targets[:5]:
        assert np.array_equal(mp.solve_ik(model, X).q, mp.solve_ik(model.robot, X).q)


def test_a_robot_serves_as_well_as_a_model() -> None:
    model, _, targets = random_targets("planar-3r", 1, 37)
    assert mp.solve_ik(model.robot, targets[0]).status == "solved"


@pytest.mark.parametrize(("name", "count"), [("puma560", 8), ("ur5e", 8), ("scara-khang", 2), ("planar-3r", 2)])
def test_number_of_solutions_without_limits(name: str, count: int) -> None:
    model, q, targets = random_targets(name, 1, 41)
    exact = mp.solve_ik(model, targets[0], all_solutions=True, limits=False)
    numeric = mp.solve_ik(model, targets[0], "levenberg_marquardt", True, limits=False)
    assert exact.status == numeric.status == "solved"
    assert len(exact.q) == len(numeric.q) == count
    assert exact.residual.max() <= TOLERANCE
    assert numeric.residual.max() <= TOLERANCE
    turning = np.array([j.is_revolute for j in model.robot.joints])
    for a in numeric.q:
        d = a - exact.q
        d = np.where(turning, (d + np.pi) % (2 * np.pi) - np.pi, d)
        assert np.abs(d).max(axis=1).min() < 1e-6, "the two routes disagree about a solution"
    assert q.shape == (1, model.n)


def test_all_solutions_respect_limits_and_are_distinct() -> None:
    model, _, targets = random_targets("puma560", 20, 43)
    low, high = model.robot.position_limits.T
    for X in targets:
        found = mp.solve_ik(model, X, all_solutions=True)
        assert found.status == "solved"
        assert np.all((found.q >= low) & (found.q <= high))
        for i in range(len(found.q)):
            for j in range(i):
                assert np.abs(found.q[i] - found.q[j]).max() > 1e-4


def test_redundant_arms_give_samples_of_their_continuum() -> None:
    model, _, targets = random_targets("zlajpah-5r", 1, 47)
    found = mp.solve_ik(model, targets[0][:3, 3], all_solutions=True)
    assert len(found.q) > 10
    assert "continuum" in found.reason
    assert found.residual.max() <= TOLERANCE


def test_a_general_arm_has_all_its_postures() -> None:
    """Six revolute joints without parallel or intersecting neighbours: elimination against many starts."""
    rng = np.random.default_rng(8)
    rows = [
        {"a": a, "alpha": alpha, "d": d, "theta": 0.0}
        for a, alpha, d in zip(rng.uniform(0.1, 0.4, 6), rng.uniform(0.5, 1.2, 6), rng.uniform(0.1, 0.4, 6))
    ]
    model = mp.compile(mp.from_dh(rows, "standard"))
    X = model.pose(rng.uniform(-2, 2, 6))
    everything = mp.solve_ik(model, X, all_solutions=True)
    searched = mp.solve_ik(model, X, "levenberg_marquardt", True)
    assert everything.method == "general_6r"
    assert everything.residual.max() <= TOLERANCE
    assert len(everything.q) == len(searched.q) >= 2
    for q in searched.q:
        d = (q - everything.q + np.pi) % (2 * np.pi) - np.pi
        assert np.abs(d).max(axis=1).min() < 1e-5


def test_threads_do_not_disturb_each_other() -> None:
    from concurrent.futures import ThreadPoolExecutor

    model, _, targets = random_targets("panda", 300, 53)
    alone = [mp.solve_ik(model, X).q for X in targets]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda X: mp.solve_ik(model, X).q, targets))
    assert np.array_equal(np.array(alone), np.array(together))


def test_without_machine_code_the_answers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from manipula.ik.search.starts import Search
    from manipula.ik.task import Task

    model, _, targets = random_targets("planar-3r", 5, 59)
    compiled = Search(model.robot, Task.of("position", rows=("x", "y", "rz")))
    monkeypatch.setenv("MANIPULA_NO_LLVM", "1")
    interpreted = Search(model.robot, Task.of("position", rows=("x", "y", "rz")))
    assert not interpreted.kernel.is_native
    for X in targets:
        a, b = (s.one(X[None], None, TOLERANCE, 1000, 0) for s in (compiled, interpreted))
        assert a.solved
        assert b.solved
        assert np.abs(a.q - b.q).max() < 1e-9


@pytest.mark.parametrize("name", ["puma560", "ur5e", "stanford", "scara-khang", "cobra600"])
def test_branches_looked_at_together_are_those_looked_at_one_by_one(name, monkeypatch):
    """Ordinary, singular and stretched postures: the quick look at all branches gives what the careful one does, to the last bit."""
    model = mp.compile(mp.load(name))
    low, high = np.clip(model.robot.position_limits, -3.0, 3.0).T
    q = np.random.default_rng(3).uniform(low, high, (12, model.n))
    q[0], q[1, -2:] = 0.0, 0.0
    T = model.pose(q)
    ask = lambda: [mp.solve_ik(model, x, all_solutions=True, q0=None if k % 2 else q[k]) for k, x in enumerate(T)]
    quick = ask()
    solver = solver_for(model.robot, read_targets(model.robot, T[0])[0], "auto", True)
    assert any(solver.every.answer(x, None, 1e-8) is not None for x in T)
    monkeypatch.setitem(solver.__dict__, "every", None)
    monkeypatch.setattr(solve_module, "_AT_ONCE", {})
    assert ask() == quick


@pytest.mark.parametrize("name", ["puma560", "ur5e", "stanford", "scara-khang", "iiwa14"])
def test_a_branch_found_at_once_is_the_one_found_by_the_search(name, monkeypatch):
    """Targets within and beyond the limits and the reach, with a start and without: the same posture, status and reason."""
    model = mp.compile(mp.load(name))
    low, high = np.clip(model.robot.position_limits, -3.0, 3.0).T
    q = np.random.default_rng(5).uniform(low, high, (12, model.n))
    T = model.pose(q)
    T[3, :3, 3] *= 9.0
    ask = lambda: [mp.solve_ik(model, x, q0=None if k % 2 else q[k]) for k, x in enumerate(T)]
    quick = ask()
    solver = solver_for(model.robot, read_targets(model.robot, T[0])[0], "auto", True)
    assert any(solver.nearest.answer(x, None, 1e-8) is not None for x in T)
    monkeypatch.setattr(NearestBranch, "answer", lambda self, target, q0, tolerance: None)
    for a, b in zip(ask(), quick):
        assert (a.status, a.reason) == (b.status, b.reason)
        assert b.status != "solved" or b.residual <= TOLERANCE
        if name != "iiwa14":  # whose search ends in another member of the continuum
            assert np.abs(a.q - b.q).max() < 1e-9


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [({"limits": 1}, DescriptionError), ({"all_solutions": 0}, DescriptionError), ({"seed": False}, DescriptionError),
     ({"tolerance": -1.0}, DescriptionError), ({"q0": np.zeros(5)}, ShapeError), ({"q0": np.full(6, np.nan)}, DescriptionError)],
)  # fmt: skip
def test_arguments_are_checked_however_often_the_same_was_asked(wrong, expected):
    model = mp.compile(mp.load("ur5e"))
    X = model.pose(np.array([0.3, -0.8, 0.4, 0.7, 0.9, -0.4]))
    assert mp.solve_ik(model, X).ok
    with pytest.raises(expected):
        mp.solve_ik(model, X, **wrong)
    X[0, 0] += 1e-3
    with pytest.raises(DescriptionError, match="not a pose"):
        mp.solve_ik(model, X)


@pytest.mark.parametrize("every", [False, True])
def test_an_ordinary_target_met_before_needs_no_search(every, monkeypatch):
    """The second question about an arm goes straight to its machine code: no solver is looked up, nothing is searched."""
    model = mp.compile(mp.load("ur5e"))
    X = model.pose(np.array([[0.3, -0.8, 0.4, 0.7, 0.9, -0.4], [0.5, -0.9, 0.6, 0.2, 1.1, 0.4]]))
    first = mp.solve_ik(model, X[0], all_solutions=every)

    def asked(*_):
        raise AssertionError("a solver was asked for")

    monkeypatch.setattr(solve_module, "solver_for", asked)
    assert mp.solve_ik(model, X[0], all_solutions=every) == first
    other = mp.solve_ik(model, X[1], all_solutions=every)
    assert other.ok
    assert not other.q.flags.writeable
    with pytest.raises(AssertionError, match="asked for"):
        mp.solve_ik(model, 9.0 * X[1, :3, 3])
