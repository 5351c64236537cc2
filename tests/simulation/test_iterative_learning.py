"""Learning from run to run, held against the same recursion with splines and loops of SciPy and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError

INERTIA, T = 0.4, 0.01


def sluggish() -> mp.Scenario:
    robot = mp.planar(lengths=[1.0], masses=[3.0 * INERTIA], gravity=(0, 0, 0))
    move = mp.trajectory(mp.paths.joint([[0.0], [0.7]]), mp.timing.quintic(1.0))
    return mp.Scenario(
        robot=robot, reference=move, controller=control.PD(30.0, 6.0), duration=1.0, control_period=T, sample=T
    )


def test_the_runs_are_those_of_the_recursion() -> None:
    scenario = sluggish()
    learned = mp.iterative_learning(scenario, iterations=4, gain=0.8, lead=0.05)
    t = scenario.times
    wanted = scenario.reference.position(t)[:, 0]
    r, rate = wanted.copy(), scenario.reference.velocity(t)[:, 0]
    for k, result in enumerate(learned.results):
        x, motion = np.zeros(2), []
        for now, speed in zip(r, rate):
            motion.append(x[0])
            u = 30.0 * (now - x[0]) + 6.0 * (speed - x[1])
            x = np.array([x[0] + T * x[1] + T * T / 2 * u / INERTIA, x[1] + T * u / INERTIA])
        assert np.abs(result.q[:, 0] - motion).max() <= 1e-9
        error = wanted - motion
        np.testing.assert_allclose(learned.errors[k, 0], np.sqrt(np.mean(error**2)), rtol=1e-6)
        r = r + 0.8 * np.interp(t + 0.05, t, error)
        spline = CubicSpline(t, r, bc_type="natural")
        rate = spline(t, 1)
    assert learned.errors[-1, 0] < 0.2 * learned.errors[0, 0]


def test_an_arm_learns_its_own_weight() -> None:
    robot = mp.load("planar-2r")
    move = mp.trajectory(mp.paths.joint([[0.0, 0.3], [0.6, -0.3]]), mp.timing.quintic(1.0))
    pd = control.PDGravity([200.0, 80.0], [40.0, 15.0])
    run = mp.Scenario(
        robot=robot, model=robot.replace(payload=None), reference=move, controller=pd, duration=1.0, sample=0.01
    )
    learned = mp.iterative_learning(run, iterations=5, gain=0.7, lead=0.02)
    assert np.all(learned.errors[-1] < 0.25 * learned.errors[0])
    assert learned.results[-1].ok


def test_errors_that_grow_again_are_told() -> None:
    """A lead of half the motion turns the phase of what is learned beyond a right angle."""
    scenario = sluggish()
    learned = mp.iterative_learning(scenario, iterations=8, gain=1.5, lead=0.5)
    least = int(np.argmin(learned.errors[:, 0]))
    assert least < 8
    assert learned.errors[-1, 0] > 1.1 * learned.errors[least, 0]
    assert f"joint1 ({learned.errors[least, 0]:.3g} in run {least}," in learned.notes[0]
    assert mp.iterative_learning(scenario, iterations=2, gain=0.8, lead=0.05).notes == ()


def test_what_cannot_be_learned_is_refused() -> None:
    scenario = sluggish()
    for bad in ({"gain": 0.0}, {"gain": 3.0}, {"lead": -0.1}, {"lead": 2.0}, {"iterations": 0}, {"gain": "much"}):
        with pytest.raises(DescriptionError, match=next(iter(bad))):
            mp.iterative_learning(scenario, **bad)
    with pytest.raises(DescriptionError, match="one run along a joint reference"):
        mp.iterative_learning(scenario.replace(vary={"controller.kp": [1.0, 2.0]}))
    with pytest.raises(DescriptionError, match="dynamic"):
        mp.iterative_learning(scenario.replace(kind="inverse_dynamics", controller=None, control_period=None))


def test_a_run_that_switches_to_another_reference_is_refused() -> None:
    back = mp.trajectory(mp.paths.joint([[0.7], [0.0]]), mp.timing.quintic(1.0))
    for instant in ({"time": 0.5}, {"when": "t - 0.5"}):
        scenario = sluggish().replace(switches=(mp.Switch(reference=back, **instant),))
        with pytest.raises(DescriptionError, match="switches to another"):
            mp.iterative_learning(scenario, iterations=1)
    gains = sluggish().replace(switches=(mp.Switch(time=0.5, controller=control.PD(40.0, 8.0)),))
    assert len(mp.iterative_learning(gains, iterations=1).results) == 2
