"""A run is recorded when it was asked to be, to its end, and what happens between two samples is not missed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import manipula as mp
from manipula.simulation.integrators import FIXED

ROD = mp.planar([1.0], [3.0])
FREE = mp.planar([1.0], [3.0], gravity=(0, 0, 0))
METHODS = ("rk4", "midpoint", "dop853", "rodas")


def limited(upper: float) -> mp.Robot:
    return ROD.replace(joints=tuple(replace(j, limits=replace(j.limits, lower=-10.0, upper=upper)) for j in ROD.joints))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("duration", "step", "sample", "times"),
    [
        (1.0, 1e-3, 0.4, [0.0, 0.4, 0.8, 1.0]),
        (1.0, 1e-3, 7.0, [0.0, 1.0]),
        (0.01, 3e-3, None, [0.0, 0.003, 0.006, 0.009, 0.01]),
        (0.01, 4e-3, 0.0025, [0.0, 0.0025, 0.005, 0.0075, 0.01]),
        (0.3, 1e-3, 0.1, [0.0, 0.1, 0.2, 0.3]),
    ],
)
def test_samples_are_where_they_were_asked_for(
    method: str, duration: float, step: float, sample: float | None, times: list[float]
) -> None:
    run = mp.Scenario(FREE, q0=[0.0], qd0=[1.5], duration=duration, step=step, sample=sample, integrator=method)
    result = mp.simulate(run)
    assert result.ok
    np.testing.assert_allclose(result.t, times, rtol=0, atol=1e-15)
    np.testing.assert_allclose(result.q[:, 0], 1.5 * np.array(times), atol=1e-12)


def test_steps_are_the_ones_asked_for() -> None:
    """Semi-implicit Euler under constant acceleration: every whole step of 3 ms leaves its own error, q = a·h²·k(k+1)/2."""
    slider = mp.from_dh([{"joint": "prismatic", "mass": 2.0}], "standard", gravity=(0, 0, 0), name="slider")
    push = mp.Wrench((0, 0, 2.0, 0, 0, 0))
    run = mp.Scenario(
        slider,
        q0=[0.0],
        duration=0.01,
        step=3e-3,
        sample=9e-3,
        integrator="semi_implicit",
        disturbances=(push,),
        verify=False,
    )
    result = mp.simulate(run)
    k, rest = 3, 0.001
    speed = 3e-3 * k + rest
    assert abs(result.q[1, 0] - 9e-6 * k * (k + 1) / 2) <= 1e-15
    assert abs(result.q[2, 0] - (9e-6 * k * (k + 1) / 2 + rest * speed)) <= 1e-15


def test_a_sample_longer_than_the_run_is_verified() -> None:
    coarse = mp.Scenario(mp.planar([0.05], [1.0]), q0=[0.0], duration=5.0, step=0.1, sample=9.0, integrator="rk4")
    result = mp.simulate(coarse)
    assert len(result.t) == 2
    assert not result.ok


def test_inverse_dynamics_reaches_the_end_too() -> None:
    move = mp.trajectory(mp.paths.joint([[0.0], [1.0]]), mp.timing.quintic(1.0))
    result = mp.simulate(mp.Scenario(ROD, reference=move, kind="inverse_dynamics", sample=0.4))
    np.testing.assert_allclose(result.t, [0.0, 0.4, 0.8, 1.0], atol=1e-15)
    assert abs(result.q[-1, 0] - 1.0) <= 1e-12


def test_kinematic_runs_reach_the_end_too() -> None:
    arm = mp.planar([1.0, 1.0], [1.0, 1.0])
    line = mp.trajectory(mp.paths.line([1.2, 0.5, 0.0], [1.0, 0.8, 0.0]), mp.timing.quintic(1.0))
    run = mp.Scenario(arm, reference=line, kind="kinematic", q0=[0.0, 0.9], start="project", sample=0.4)
    result = mp.simulate(run)
    np.testing.assert_allclose(result.t, [0.0, 0.4, 0.8, 1.0], atol=1e-15)
    np.testing.assert_allclose(result.tip[-1], [1.0, 0.8, 0.0], atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_limit_passed_between_two_samples_ends_the_run(method: str) -> None:
    """Thrown up at 5 rad/s the rod passes 0.3 rad and falls back long before the first sample at 1 s."""
    run = mp.Scenario(
        limited(0.3), q0=[0.0], qd0=[5.0], duration=2.0, sample=1.0, integrator=method, stop_at_limits=True
    )
    free = mp.simulate(run.replace(stop_at_limits=False, sample=1e-3, tolerance=1e-4))
    assert free.ok
    crossing = float(np.interp(0.3, free.q[:90, 0], free.t[:90]))
    result = mp.simulate(run)
    assert result.status == "limit"
    assert np.isnan(result.q[1:]).all()
    assert np.isnan(result.tau[1:]).all()
    assert abs(float(result.reason.split("t = ")[1].split(" s")[0]) - crossing) <= 1e-3
    assert "'" + ROD.joint_names[0] + "'" in result.reason


@pytest.mark.parametrize("method", METHODS)
def test_a_limit_that_is_not_reached_ends_nothing(method: str) -> None:
    run = mp.Scenario(
        limited(3.0),
        q0=[0.0],
        qd0=[5.0],
        duration=0.5,
        sample=0.25,
        integrator=method,
        stop_at_limits=True,
        tolerance=1e-5,
    )
    free = mp.simulate(run.replace(stop_at_limits=False))
    result = mp.simulate(run)
    assert result.ok
    if method in FIXED:
        assert np.array_equal(result.q, free.q)
    else:  # steps that follow the error are kept short where a limit ends the run
        assert np.abs(result.q - free.q).max() < 1e-10


def test_divergence_is_told_with_its_time_not_with_that_of_the_next_sample() -> None:
    law = mp.control.LQR([0.0], gain=[[-2000.0, -100.0]])
    run = mp.Scenario(ROD, q0=[0.1], controller=law, duration=5.0, integrator="rk4")
    often, rarely = (mp.simulate(run.replace(sample=s)) for s in (None, 5.0))
    for result in (often, rarely):
        assert result.status == "diverged"
        assert np.isnan(result.q[-1]).all()
    when = [float(r.reason.split("t = ")[1].split(" s")[0]) for r in (often, rarely)]
    assert when[0] == when[1] < 1.0
