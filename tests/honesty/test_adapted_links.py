"""Without a list of links adaptive control adapts the last link, also where joints follow others."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import manipula as mp
from manipula import control

COUPLED = mp.load(Path(__file__).parent.parent / "data" / "coupled" / "two_grippers.urdf", tip="lf2")
MOVE = mp.trajectory(mp.paths.joint([[0.0, 0.0, 0.0], [0.3, -0.2, 0.1]]), mp.timing.quintic(0.1))


def moved(links: tuple[int, ...]) -> np.ndarray:
    controller = control.SlotineLi(8.0, 15.0, 4.0, links=links, wrong_by=0.5)
    run = mp.Scenario(COUPLED, MOVE, controller, duration=2e-4, step=1e-4, integrator="rk4", q0=[0.1, 0.2, 0.02])
    return mp.simulate(run).tau


def test_the_last_link_of_a_robot_with_followers() -> None:
    last = len(COUPLED.bodies)
    assert last > COUPLED.n
    assert np.isfinite(moved(())).all()
    assert np.array_equal(moved(()), moved((last,)))
    assert not np.array_equal(moved(()), moved((COUPLED.n,)))
