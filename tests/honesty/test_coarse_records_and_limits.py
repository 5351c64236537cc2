"""Samples far apart say nothing of the motion between them: a limit that the run keeps on every step is not broken by what they seem to show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its axis

# a torque that swings for a while, a constant one, a spring, a speed to begin with
PUSHES = [
    (-18.79, 28.86, -2.01, 5.45, 0.66, 0.93, -1.2),
    (2.68, 37.0, -4.71, 51.05, 0.17, 0.96, 0.5),
    (5.2, 13.33, 3.87, 43.33, 0.22, 0.83, 0.6),
]


def run(push: tuple[float, ...], **options: Any) -> mp.Result:
    size, rate, steady, stiffness, begin, end, speed = push
    swing = mp.Wrench((0, 0, 0, 0, 0, f"{size}*sin({rate}*t)"), start=begin, stop=end)
    common: dict[str, Any] = {"q0": [0.0], "qd0": [speed], "duration": 1.0, "integrator": "rk4", "step": 1e-3}
    scenario = mp.Scenario(
        ROD, disturbances=(swing, mp.Wrench((0, 0, 0, 0, 0, steady))), drives=mp.drives.Spring(stiffness, 0.2), **common | options
    )  # fmt: skip
    return mp.simulate(scenario)


@pytest.mark.parametrize("sample", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("quantity", ["position", "velocity"])
@pytest.mark.parametrize("push", PUSHES)
def test_a_limit_that_is_kept_on_every_step_is_kept(push: tuple[float, ...], quantity: str, sample: float) -> None:
    fine = run(push, step=1e-4)
    top = float(np.abs(fine.q if quantity == "position" else fine.qd).max())

    def limit(factor: float) -> Any:
        return {quantity: [(-factor * top, factor * top) if quantity == "position" else factor * top]}

    for factor, kept in ((1.0005, True), (0.9995, False)):
        result = run(push, sample=sample, limits=limit(factor))
        assert result.feasible is kept, result.feasibility.reason
        assert mp.feasibility(result).feasible is kept
        check = result.feasibility.checks[0]
        assert abs(check.worst) == pytest.approx(top, rel=2e-4)
        batch = run(push, sample=sample, limits=limit(factor), q0=[[0.0], [0.0]])
        assert batch.feasible is kept, batch.feasibility.reason
        assert batch.run(1).feasible is kept


@pytest.mark.parametrize("push", PUSHES)
def test_limits_that_come_later_are_not_broken_by_what_samples_far_apart_seem_to_show(push: tuple[float, ...]) -> None:
    top = float(np.abs(run(push, step=1e-4).qd).max())
    for sample in (0.25, 0.5, 1.0):
        assert mp.feasibility(run(push, sample=sample), {"velocity": 1.0005 * top}).feasible is not False
