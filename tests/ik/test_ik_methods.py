"""Contract of iterative methods: every one on every arm of the catalog."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp
from manipula.ik.driver import ranges
from manipula.ik.methods import REGISTRY
from manipula.ik.methods.base import damped_step

SLOW = {"jacobian_transpose": 1e-4, "cyclic_descent": 1e-4}  # linear convergence: a looser tolerance shows the same
ARMS = tuple(e.name for e in mp.catalog() if not mp.load(e.name).parameters)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("method", REGISTRY)
def test_every_method_reaches_targets_of_every_arm(method: str, name: str) -> None:
    model = mp.compile(mp.load(name))
    box = ranges(model.robot)
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
def test_damped_step_is_the_same_in_both_forms(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    J, e = rng.normal(size=shape), rng.normal(size=shape[0])
    wide = J.T @ np.linalg.solve(J @ J.T + 0.3 * np.eye(shape[0]), e)
    assert np.allclose(damped_step(e, J, 0.3), wide, rtol=0, atol=1e-13)


@pytest.mark.parametrize("method", [m for m in REGISTRY if REGISTRY[m].compiled and m != "cyclic_descent"])
def test_steps_descend(method: str) -> None:
    """For a linear error e − J dq, a step of any rule makes the error smaller."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        J, e = rng.normal(size=(3, 6)), rng.normal(size=3)
        dq = np.asarray(REGISTRY[method].step(e, J), float)
        assert np.linalg.norm(e - J @ dq) < np.linalg.norm(e)
