"""An integrator left open is chosen again where the first one cannot be trusted."""

from __future__ import annotations

import numpy as np

import manipula as mp

AGREE = 1e-9  # two methods that each claim about 1e-12


def stiff(**options: object) -> mp.Scenario:
    """A light last link under strong gains: RK4 at 1 ms sees it at its limit of stability."""
    arm = mp.planar([0.5, 0.4, 0.3], [3.0, 2.0, 1.0], payload=0.5)
    law = mp.control.PDGravity(100.0, 20.0, goal=[0.0, 0.0, 0.0])
    return mp.Scenario(arm, controller=law, q0=[0.4, -0.3, 0.2], duration=0.5, sample=0.01, **options)  # pyright: ignore[reportArgumentType]


def test_stiff_gains_are_solved_by_the_method_for_them_and_the_result_says_so() -> None:
    chosen = mp.simulate(stiff())
    assert chosen.status == "finished"
    assert chosen.meta["integrator"] == "rodas"
    assert any("repeated with rodas" in note for note in chosen.notes)
    small = mp.simulate(stiff(integrator="rk4", step=2e-5))
    assert small.status == "finished"
    assert np.abs(chosen.q - small.q).max() <= AGREE


def test_a_stated_integrator_is_not_replaced() -> None:
    asked = mp.simulate(stiff(integrator="rk4"))
    assert asked.status == "inaccurate"
    assert asked.meta["integrator"] == "rk4"


def test_what_is_unstable_stays_so() -> None:
    law = mp.control.LQR([0.0, 0.0, 0.0], gain=np.hstack([-500.0 * np.eye(3), -50.0 * np.eye(3)]))
    assert not mp.simulate(stiff().replace(controller=law, duration=5.0)).ok
