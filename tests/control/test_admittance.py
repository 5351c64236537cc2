"""A tip that yields like a mass on a spring, held against the closed form of that mass."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import manipula as mp
from control.arms_and_gains import arm
from manipula import control

OUTSIDE = 1e-9


@pytest.mark.parametrize(("name", "q0"), [("planar-2r", [0.4, 0.9]), ("panda", [0.1, 0.3, -0.2, -1.2, 0.1, 1.4, 0.2])])
def test_the_tip_yields_as_the_virtual_mass_says(name: str, q0: list[float]) -> None:
    robot = arm(name)
    tip = mp.compile(robot).position(q0)
    aim = tip + np.array([0.05, -0.04, 0.0 if name == "planar-2r" else 0.03])
    force = np.array([6.0, -4.0, 0.0 if name == "planar-2r" else 5.0])
    reference = mp.trajectory(mp.paths.line(tip, aim), mp.timing.quintic(0.6))
    scenario = mp.Scenario(
        robot=robot, reference=reference, controller=control.Admittance(2.0, 25.0, 150.0), q0=q0, duration=1.0, sample=0.05, friction=(),
        step=2.5e-4, disturbances=(mp.Wrench((*force, 0.0, 0.0, 0.0), start=0.1),),
    )  # fmt: skip
    result = mp.simulate(scenario)
    A = np.array([[0.0, 1.0], [-75.0, -12.5]])
    law = [np.outer(force / 150.0, (np.eye(2) - expm(A * max(0.0, t - 0.1)))[0] @ [1.0, 0.0]).ravel() for t in result.t]
    assert result.ok
    assert np.abs(-result.error - law).max() <= OUTSIDE
    assert not any("Python" in note for note in result.notes)
