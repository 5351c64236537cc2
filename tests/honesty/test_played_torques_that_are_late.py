"""Torques that are played back with a delay act as they are given, later: between their times they are lines, whatever the step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp

ARM = mp.load("planar-2r")
TIMES = np.linspace(0.0, 1.0, 6)
TORQUES = np.stack([30.0 + 5.0 * np.sin(7.0 * TIMES), 10.0 * np.cos(5.0 * TIMES)], axis=1)


def played(times: np.ndarray, torques: np.ndarray, **options: Any) -> mp.Result:
    return mp.simulate(mp.Scenario(ARM, torques=(times, torques), q0=[0.2, 0.4], duration=1.0, **options))


@pytest.mark.parametrize(
    "options", [{}, {"step": 0.01}, {"integrator": "rk4"}, {"integrator": "dop853"}, {"step": 0.3}]
)
@pytest.mark.parametrize("delay", [0.2, 0.0137, 1.5])
def test_the_same_torques_later(delay: float, options: dict[str, Any]) -> None:
    late = played(TIMES, TORQUES, actuator=mp.Actuator(delay=delay), **options)
    given = played(np.append(0.0, TIMES + delay), np.concatenate([TORQUES[:1], TORQUES]), sample=1.0)
    assert late.ok
    assert np.abs(late.q[-1] - given.q[-1]).max() < 1e-6
    rows = [np.interp(late.t - delay, TIMES, column) for column in TORQUES.T]
    assert np.allclose(late.tau, np.stack(rows, axis=1), atol=1e-9)


def test_torques_from_before_the_start() -> None:
    times = TIMES * 2.0 - 1.0
    late = played(times, TORQUES, actuator=mp.Actuator(delay=0.25))
    assert np.allclose(late.tau[0], [np.interp(-0.25, times, column) for column in TORQUES.T])


def test_a_delay_below_rounding() -> None:
    times = TIMES * 2.0 - 1.0
    late, given = played(times, TORQUES, actuator=mp.Actuator(delay=1e-18)), played(times, TORQUES)
    assert np.allclose(late.q, given.q, atol=1e-12)
