"""Contract of iterative methods: every one on every arm of the catalog."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp
from manipula.ik.methods import REGISTRY
from manipula.ik.search.joint_box import start_box
from manipula.ik.task import Task
from manipula.redundancy.pseudoinverse import pseudoinverse_times

SLOW = {"jacobian_transpose": 1e-4, "ccd": 1e-4}  # linear convergence: a looser tolerance shows the same
ARMS = tuple(e.name for e in mp.catalog() if not mp.load(e.name).parameters)


SEARCHING = [m for m in REGISTRY if not REGISTRY[m].algebraic]
QUICK = {(SEARCHING[k % len(SEARCHING)], name) for k, name in enumerate(ARMS)}  # every arm and every method once


@pytest.mark.parametrize(
    ("method", "name"),
    [
        pytest.param(method, name, marks=[] if (method, name) in QUICK else [pytest.mark.slow])
        for method in SEARCHING
        for name in ARMS
    ],
)
def test_every_method_reaches_targets_of_every_arm(method: str, name: str) -> None:
    model = mp.compile(mp.load(name))
    box = start_box(model.robot)
    rng = np.random.default_rng(2)
    q = rng.uniform(box[:, 0] + 0.2 * np.ptp(box, axis=1), box[:, 1] - 0.2 * np.ptp(box, axis=1), (2, model.n))
    tolerance = SLOW.get(method, 1e-8)
    low, high = model.robot.position_limits.T
    for row in q:
        target = model.position(row) if method in SLOW else model.pose(row)
        found = mp.solve_ik(model, target, method=method, tolerance=tolerance, max_iterations=200_000)
        assert found.status == "solved", found.reason
        assert found.method == method
        assert found.residual <= tolerance
        assert found.iterations > 0
        assert np.linalg.norm(model.position(found.q) - model.position(row)) <= tolerance
        assert np.all((found.q >= low) & (found.q <= high))


@pytest.mark.parametrize("shape", [(3, 5), (6, 6), (6, 4)])
def test_damped_pseudoinverse_is_the_same_in_both_forms(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    J, e = rng.normal(size=shape), rng.normal(size=shape[0])
    wide = J.T @ np.linalg.solve(J @ J.T + 0.3 * np.eye(shape[0]), e)
    assert np.allclose(pseudoinverse_times(J, e, 0.3), wide, rtol=0, atol=1e-13)


@pytest.mark.parametrize("method", [m for m in REGISTRY if REGISTRY[m].compiled and m != "ccd"])
def test_steps_descend(method: str) -> None:
    """For a linear error e − J dq, a step of any rule makes the error smaller."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        J, e = rng.normal(size=(3, 6)), rng.normal(size=3)
        dq = np.asarray(REGISTRY[method].step(e, J), float)
        assert np.linalg.norm(e - J @ dq) < np.linalg.norm(e)


@pytest.mark.parametrize("name", ["panda", "stanford", "scara-khang"])
def test_curvature_completes_the_hessian_of_the_squared_error(name: str) -> None:
    """∇(eᵀe/2) = −Jᵀe; its derivative at the target side is JᵀJ − S, here by central differences with small errors."""
    from manipula.physics.mechanism import mechanism_of

    model = mp.compile(mp.load(name))
    mechanism, task = mechanism_of(model.robot), Task.of("pose")
    rng = np.random.default_rng(1)
    q = rng.uniform(-0.8, 0.8, model.n)
    target = model.pose(q + 1e-3 * rng.normal(size=model.n))[None]

    def cost(x: np.ndarray) -> float:
        e, _, _ = task.error_and_jacobian(mechanism, x, target)
        return 0.5 * float(np.dot(e, e))

    e, J, _ = task.error_and_jacobian(mechanism, q, target)
    J = np.asarray(J, float)
    h = 1e-3
    steps = h * np.eye(model.n)
    numeric = np.array([[(cost(q + a + b) - cost(q + a - b) - cost(q - a + b) + cost(q - a - b)) / (4 * h * h)
                         for b in steps] for a in steps])  # fmt: skip
    S = np.asarray(task.curvature(mechanism, q, e), float)
    left = numeric - J.T @ J
    assert np.max(np.abs(left + S)) < 0.02 * np.max(np.abs(S))  # terms of second order in the error, and h²
