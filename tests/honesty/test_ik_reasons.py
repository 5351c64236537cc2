"""Inverse kinematics: no reachable target is missed near a singularity, and a reason is a true one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

import manipula as mp

POSTURES = json.loads((Path(__file__).parents[1] / "data" / "near_singular.json").read_text())
FR3 = ((-2.7437, 2.7437), (-1.7837, 1.7837), (-2.9007, 2.9007), (-3.0421, -0.1518), (-2.8065, 2.8065), (0.5445, 4.5169),
       (-3.0159, 3.0159))  # fmt: skip  # ranges of Franka's data sheet, on the geometry of the Panda


def arm(name):
    if name != "fr3":
        return mp.compile(mp.load(name))
    panda = mp.load("panda")
    joints = (replace(j, limits=replace(j.limits, lower=a, upper=b)) for j, (a, b) in zip(panda.joints, FR3))
    return mp.compile(panda.replace(joints=tuple(joints)))


def inside(model, q):
    low, high = np.asarray(model.robot.position_limits, float).T
    return bool(np.all((q >= low - 1e-9) & (q <= high + 1e-9)))


@pytest.mark.parametrize("name", sorted(POSTURES))
def test_no_target_is_missed_within_a_millionth_of_a_singularity(name):
    """The stored postures lie within the limits, so their poses are reachable; the Jacobian has lost a direction there."""
    model = arm(name)
    q = np.array(POSTURES[name])
    assert all(inside(model, row) for row in q)
    s = np.linalg.svd(model.jacobian(q), compute_uv=False)
    assert np.all(s[:, -1] < 1e-5)
    X = model.pose(q)
    batch = mp.solve_ik(model, X)
    assert batch.ok, [(k, r) for k, r in enumerate(batch.reason) if r]
    assert all(inside(model, row) for row in batch.q)
    assert np.max(np.abs(model.pose(batch.q) - X)) < 1e-7
    for k in range(12):
        one = mp.solve_ik(model, X[k])
        assert one.ok, one.reason
        assert inside(model, one.q)


def tilt(angle, axis):
    X, c, s = np.eye(4), np.cos(angle), np.sin(angle)
    i, j = ((1, 2), (0, 2))[axis]
    X[i, i] = X[j, j] = c
    X[i, j], X[j, i] = -s, s
    return X


@pytest.mark.parametrize("name", ["cobra600", "scara-khang"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("angle", [np.pi, np.pi / 2, 0.5])
def test_a_tilted_target_of_a_scara_is_unreachable_whatever_the_limits(name, axis, angle):
    model = arm(name)
    q = np.random.default_rng(2).uniform(-1.0, 1.0, (12, 4)) * [1.5, 1.5, 0.15, 1.5]
    X = model.pose(q) @ tilt(angle, axis)
    for limits in (True, False):
        found = mp.solve_ik(model, X, limits=limits)
        assert set(found.status) == {"unreachable"}
        assert all(f"{np.degrees(angle):.6g}°" in reason for reason in found.reason)
        one = mp.solve_ik(model, X[0], limits=limits)
        assert (one.status, one.reason) == (found.status[0], found.reason[0])
    assert mp.solve_ik(model, X[0], all_solutions=True).status == "unreachable"


@pytest.mark.parametrize("name", ["puma560", "iiwa14", "panda", "stanford", "cobra600", "gen3"])
def test_limits_are_blamed_only_when_a_posture_exists_beyond_them(name):
    model = arm(name)
    low, high = np.asarray(model.robot.position_limits, float).T
    bounded = np.isfinite(low) & np.isfinite(high)
    low, high = np.where(bounded, low, -1.0), np.where(bounded, high, 1.0)
    wide, middle = 0.45 * (high - low), 0.5 * (high + low)
    X = model.pose(np.random.default_rng(4).uniform(middle - 2 * wide, middle + 2 * wide, (40, model.n)))
    found = mp.solve_ik(model, X)
    assert np.any(found.status == "limits")
    for k in np.flatnonzero(found.status == "limits"):
        assert mp.solve_ik(model, X[k], limits=False).ok
        assert "limits=" not in found.reason[k]  # advice for Python does not fit on a command line
    for k in np.flatnonzero(found.status == "solved"):
        assert inside(model, found.q[k])
    assert (
        not np.any(found.status == "unreachable") or name == "stanford"
    )  # whose slide is shorter than twice its range


def test_a_target_that_is_met_counts_as_met():
    """A residual below the tolerance within the limits is a solution, whatever the search thought of its progress."""
    model = arm("gen3")
    X = model.pose(np.array(POSTURES["gen3"]))
    found = mp.solve_ik(model, X, tolerance=1e-7)
    wrong = (found.residual <= 1e-7) & (found.status != "solved")
    assert not [k for k in np.flatnonzero(wrong) if inside(model, found.q[k])]


def test_failing_costs_a_bounded_number_of_iterations():
    """What a failure costs is counted, not timed: iterations of all starts together."""
    model = arm("panda")
    X = model.pose(np.random.default_rng(0).uniform(-1.0, 1.0, (6, 7)))
    X[:, :3, 3] *= 1.2
    found = mp.solve_ik(model, X)
    assert np.any(found.status == "unreachable")
    assert np.max(found.iterations) < 15_000


def stretched(model, q):
    """The posture with the third joint where the Jacobian has lost a direction."""
    least = lambda x: np.linalg.svd(model.jacobian(np.r_[q[:2], x, q[3:]]), compute_uv=False)[-1]
    at = np.linspace(-2.0, 2.0, 41)
    best = at[np.argmin([least(x) for x in at])]
    found = minimize_scalar(least, bounds=(best - 0.1, best + 0.1), method="bounded", options={"xatol": 1e-12})
    return np.r_[q[:2], found.x, q[3:]]


@pytest.mark.parametrize("name", ["ur5e", "ur10e", "puma560", "irb120"])
def test_a_target_just_outside_the_reach_is_unreachable(name):
    """Along the direction that a stretched arm has lost, one side of its target is out of reach; closed forms say so."""
    model, rng = mp.compile(mp.load(name)), np.random.default_rng(777010)
    q = rng.uniform(-1.0, 1.0, (20, 6))
    q[:, 4] = np.copysign(np.maximum(np.abs(q[:, 4]), 0.4), q[:, 4])  # away from the other singularity
    q[:, 2] = stretched(model, q[0])[2]
    statuses = []
    for X, U in zip(model.pose(q), np.linalg.svd(model.jacobian(q))[0]):
        for side in (5e-4, -5e-4):
            move = side * U[:, -1] / np.linalg.norm(U[:3, -1])
            target = X.copy()
            target[:3, 3] += move[:3]
            target[:3, :3] = Rotation.from_rotvec(move[3:]).as_matrix() @ X[:3, :3]
            found = mp.solve_ik(model, target, limits=False)
            statuses.append(found.status)
    assert set(statuses) == {"solved", "unreachable"}
