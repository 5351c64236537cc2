"""Tracking: joint motions along task motions, within limits, accurate between samples, repeatable when asked."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.ik.search.reach import reach_of
from manipula.ik.tracking.continuation import poses_along
from manipula.ik.tracking.cyclic import track_cyclic
from manipula.ik.tracking.posture_graph import search_graph
from manipula.ik.tracking.track import Follower, track
from manipula.motion.trajectory import Trajectory
from manipula.redundancy.null_space import Posture

PATH = 1e-6  # what track() promises between samples, m and rad
HARD_PATHS = 6  # of the 40 that the benchmark runs


class Image(Trajectory):
    """The tip's motion under a joint motion: feasible by construction."""

    has_orientation = True

    def __init__(self, model: mp.Model, joints: Trajectory) -> None:
        self.model, self.joints = model, joints
        self.duration, self.dimension, self.space = joints.duration, 3, "task"

    @property
    def breaks(self) -> np.ndarray:
        return self.joints.breaks

    def pose(self, t: Any) -> np.ndarray:
        return self.model.pose(self.joints.position(t))

    def derivatives(self, t: Any, order: int = 3, side: Any = "right") -> np.ndarray:
        return self.model.position(self.joints.position(t))[None]


@pytest.fixture(scope="module")
def panda() -> mp.Model:
    return mp.compile(mp.load("panda"))


@pytest.fixture(scope="module")
def feasible(panda: mp.Model) -> list[Image]:
    rng = np.random.default_rng(3)
    ends = rng.uniform(*panda.robot.position_limits.T, (HARD_PATHS, 2, 7))
    return [Image(panda, mp.trajectory(mp.paths.joint(pair), mp.timing.quintic(2.0))) for pair in ends]


def inside(model: mp.Model, q: np.ndarray) -> bool:
    low, high = model.robot.position_limits.T
    return bool(np.all((q >= low) & (q <= high)))


def test_random_feasible_paths_are_never_lost(panda: mp.Model, feasible: list[Image]) -> None:
    t = np.linspace(0.0, 2.0, 777)
    for path in feasible:
        found = track(panda, path)
        assert found.ok, found.reason
        q = found.trajectory.position(t)
        X, Y = path.pose(t), panda.pose(q)
        assert np.abs(X - Y).max() <= 2 * PATH
        assert inside(panda, q)
        assert found.margin >= 0.0
        assert np.abs(np.diff(q, axis=0)).max() < 0.1, "the motion jumps"
        assert np.abs(found.trajectory.velocity(np.array([0.0, 2.0]))).max() < 1e-2, "the task rests, the arm does not"


def test_the_graph_finds_a_motion_by_itself(panda: mp.Model, feasible: list[Image]) -> None:
    path = feasible[4]  # the shortest
    follower = Follower(panda.robot, path, "tip", True, (), None, 4.0, 0, 2e-3)
    t = follower.times(130)
    targets = poses_along(path, t)
    follower.pull = 1.0
    q = search_graph(follower, targets, None, np.random.default_rng(0))
    assert q is not None
    assert q.shape == (len(t), 7)
    assert np.abs(panda.pose(q) - targets[:, 0]).max() < 1e-8
    assert np.abs(np.diff(q, axis=0)).max() < 0.35
    assert inside(panda, q)


def test_a_start_is_kept_when_it_is_given(panda: mp.Model, feasible: list[Image]) -> None:
    path = feasible[2]
    q0 = track(panda, path).q[0]
    found = track(panda, path, q0=q0)
    assert found.ok
    assert np.abs(found.q[0] - q0).max() < 0.05
    wrong = track(panda, path, q0=q0 + 1.0)
    assert wrong.status == "unreachable"
    with pytest.raises(mp.SolveError):
        wrong.check()


def test_position_paths_and_secondary_criteria() -> None:
    robot = mp.load("zlajpah-5r")
    model = mp.compile(robot)
    ref = mp.trajectory(mp.paths.circle([0.8, 0.8, 0.0], 0.3, normal=[0, 0, 1]), mp.timing.quintic(3.0))
    favourite = np.array([1.2, -0.4, -0.5, -0.4, -0.3])
    plain = track(model, ref, q0=None)
    pulled = track(model, ref, q0=plain.q[0], criteria=(Posture(goal=favourite, gain=2.0),), gain=10.0)
    assert plain.ok
    assert pulled.ok
    t = np.linspace(0, 3, 301)
    for found in (plain, pulled):
        assert np.abs(model.position(found.trajectory.position(t)) - ref.position(t)).max() <= PATH
    away = lambda found: np.linalg.norm(found.q[-1] - favourite)
    assert away(pulled) < away(plain)
    energetic = track(model, ref, q0=plain.q[0], weight="kinetic_energy", gain=0.0)
    shortest = track(model, ref, q0=plain.q[0], gain=0.0)
    spent = lambda found: model.kinetic_energy(found.trajectory.position(t), found.trajectory.velocity(t)).sum()
    assert energetic.ok
    assert spent(energetic) < spent(shortest)


def test_corners_are_met_with_one_sided_velocities() -> None:
    robot = mp.load("arora-5r")
    square = mp.paths.polyline([[2, 2, 0], [1, 2, 0], [1, 1, 0], [2, 1, 0], [2, 2, 0]])
    ref = mp.trajectory(square, mp.timing.constant_speed(1.0))
    found = track(robot, ref)
    assert found.ok, found.reason
    model = mp.compile(robot)
    for t, side in ((1.0, "left"), (1.0, "right"), (2.5, "right")):
        q, qd = found.trajectory.derivatives(np.array([t]), 1, side)
        assert np.abs(model.jacobian(q[0])[:3] @ qd[0] - ref.derivatives(np.array([t]), 1, side)[1, 0]).max() < 1e-3


def test_cyclic_resolution_repeats_itself_and_the_pseudoinverse_does_not() -> None:
    robot = mp.load("zlajpah-5r")
    model = mp.compile(robot)
    ref = mp.trajectory(mp.paths.circle([0.9, 0.7, 0.0], 0.35, normal=[0, 0, 1]), mp.timing.quintic(3.0))
    closed = track_cyclic(model, ref, posture=np.array([1.0, -0.4, -0.4, -0.4, -0.4]))
    assert closed.ok, closed.reason
    assert np.abs(closed.q[-1] - closed.q[0]).max() < 1e-8
    open_ = track(model, ref, q0=closed.q[0], gain=0.0)
    assert open_.ok
    assert np.abs(open_.q[-1] - open_.q[0]).max() > 1e-3
    t = np.linspace(0, 3, 301)
    assert np.abs(model.position(closed.trajectory.position(t)) - ref.position(t)).max() <= PATH


def test_paths_that_leave_the_workspace_are_refused(panda: mp.Model) -> None:
    far = mp.trajectory(mp.paths.line([3.0, 0.0, 0.5], [3.5, 0.0, 0.5]), mp.timing.quintic(1.0))
    assert track(panda, far).status == "unreachable"
    out = mp.trajectory(mp.paths.line([0.5, 0.0, 0.5], [1.5, 0.0, 0.5]), mp.timing.quintic(1.0))
    found = track(panda, out)
    assert found.status == "unreachable"
    assert found.trajectory is None


def test_a_path_that_leaves_the_reach_is_told_where_and_by_how_much(panda: mp.Model) -> None:
    """At the time that is told the path passes the shell of the links' lengths; at the end it is as far outside as is told."""
    out = mp.trajectory(mp.paths.line([0.5, 0.0, 0.5], [1.6, 0.2, 0.5]), mp.timing.quintic(1.0))
    reach = reach_of(panda.robot)
    for found in (track(panda, out), track_cyclic(panda, out)):
        assert found.status == "unreachable"
        time, place, end, gap = map(float, re.findall(r"(?<= )\d[\d.]*(?= )", found.reason))
        assert abs(np.linalg.norm(out.position(time) - reach.centre) - reach.farthest) < 1e-4
        assert abs(float(out.arc_length(time, 0)[0]) - place) < 1e-4
        assert end == 1.0
        assert abs(np.linalg.norm(out.position(end) - reach.centre) - reach.farthest - gap) < 1e-5


def test_a_planar_path_that_leaves_the_reach_is_told_too() -> None:
    """A planar 2R arm of reach 2 m: from x = 1 straight outwards to 2.5 m."""
    arm = mp.planar([1.0, 1.0], masses=[1.0, 1.0])
    out = mp.trajectory(mp.paths.line([1.0, 0.0, 0.0], [2.5, 0.0, 0.0]), mp.timing.quintic(1.0))
    found = track(arm, out)
    assert found.status == "unreachable"
    place, gap = (float(re.search(rf"([\d.]+) m {word}", found.reason)[1]) for word in ("along", "at"))
    assert 1.0 <= place < 1.04  # one sample later at most
    assert abs(gap - 0.5) < 1e-5


def test_a_path_within_the_lengths_of_the_links_but_out_of_reach_is_told_too(panda: mp.Model) -> None:
    """The links of a Panda are bent: its real reach is 0.1 m shorter than their lengths. Nearest postures are judged by solve_ik."""
    q = np.array([0.1, 0.3, 0.2, -1.5, 0.1, 1.8, 0.3])
    p = panda.pose(q)[:3, 3]
    out = mp.trajectory(
        mp.paths.line(p, p + 0.3 * np.array([p[0], p[1], 0.0]) / np.hypot(p[0], p[1])), mp.timing.quintic(1.0)
    )
    found = track(panda, out, q0=q)
    assert found.status == "unreachable"
    time = float(re.search(r"at t = ([\d.]+) s", found.reason)[1])
    assert mp.solve_ik(panda, out.position(time - 0.05), limits=False).ok
    assert mp.solve_ik(panda, out.position(time + 0.05), limits=False).status == "unreachable"


def test_a_path_that_joint_limits_forbid_is_no_matter_of_reach() -> None:
    """Within the reach of a 2R arm, but its elbow would have to bend further than it can."""
    arm = mp.planar([1.0, 1.0], masses=[1.0, 1.0])
    limits = replace(arm.joints[1].limits, lower=-0.5, upper=0.5)
    arm = replace(arm, joints=(arm.joints[0], replace(arm.joints[1], limits=limits)))
    path = mp.paths.line([1.98, 0.0, 0.0], [1.0, 0.0, 0.0])
    found = track(arm, mp.trajectory(path, mp.timing.quintic(1.0)))
    assert found.status == "limits"
    assert "within the limits" in found.reason


def test_wrong_input_raises(panda: mp.Model, feasible: list[Image]) -> None:
    with pytest.raises(mp.DescriptionError, match="joints already"):
        track(panda, feasible[0].joints)
    with pytest.raises(mp.ShapeError, match="q0"):
        track(panda, feasible[0], q0=np.zeros(3))
    with pytest.raises(mp.DescriptionError, match="kinetic_energy"):
        track(panda, feasible[0], weight="mass")
    with pytest.raises(mp.DescriptionError, match="Robot"):
        track("panda", feasible[0])  # type: ignore[arg-type]
