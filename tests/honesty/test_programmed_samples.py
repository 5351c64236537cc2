"""Programmed motions: the end is recorded, samples lie where they were asked for, and a verification sees what a run aliases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import manipula as mp


def pendulum(drive):
    """A 2R arm whose tip slides on y = 0.2 + x/10 … with joint 0 driven by a torque in t."""
    arm = mp.planar([1.0, 1.0], [1.0, 1.0])
    return mp.programmed_motion(arm, ["y = 0.8"], independent=[0], drives={0: drive})


START = [2.2, -1.7]


@pytest.mark.parametrize(
    ("duration", "sample", "wanted"),
    [
        (0.1, 0.04, [0.0, 0.04, 0.08, 0.1]),
        (0.1, 0.5, [0.0, 0.1]),
        (0.1, 0.025, [0.0, 0.025, 0.05, 0.075, 0.1]),
        (0.1003, 0.05, [0.0, 0.05, 0.1, 0.1003]),
        (0.01, 0.0015, [0.0, 0.0015, 0.003, 0.0045, 0.006, 0.0075, 0.009, 0.01]),
    ],
)
def test_samples_lie_where_they_were_asked_for_and_the_end_is_one_of_them(duration, sample, wanted):
    run = pendulum(1.0).run(START, duration=duration, step=1e-3, sample=sample, start="project")
    assert run.status == "finished", run.reason
    assert run.t == pytest.approx(wanted, abs=1e-15)
    fine = pendulum(1.0).run(START, duration=duration, step=1e-4, start="project")
    assert fine.t[-1] == pytest.approx(duration, abs=1e-15)
    assert run.q[-1] == pytest.approx(fine.q[-1], abs=1e-8)


def test_a_fast_motor_is_not_aliased_by_the_run_and_its_verification():
    """At 1 ms steps the stages of RK4 and of its half steps see cos(2π·4000·t) = 1 always."""
    slow = pendulum("3*cos(2*3.141592653589793*4000*t)")
    run = slow.run(START, duration=0.2, step=1e-3, start="project")
    assert run.status == "inaccurate"
    still = pendulum(0.0).run(START, duration=0.2, step=1e-3, start="project")
    fine = slow.run(START, duration=0.2, step=5e-6, sample=0.01, start="project")
    assert fine.status == "finished", fine.reason
    assert np.max(np.abs(fine.q[-1] - still.q[-1])) < 1e-4  # a torque without mean at 4 kHz hardly moves a link


@pytest.mark.parametrize("at", [0.05037, 0.0999])
def test_a_pulse_between_two_steps_is_not_passed_over(at):
    pulse = f"2000*exp(-((t - {at})/1e-4)^2)"
    motor = mp.drives.Flexible(stiffness=1e3, damping=1.0, motor=f"0.01*({pulse})")
    for drive in (pulse, motor):
        run = pendulum(drive).run(START, duration=0.2, step=5e-3, start="project")
        if run.ok:
            fine = pendulum(drive).run(START, duration=0.2, step=2e-5, sample=5e-3, start="project")
            np.testing.assert_allclose(run.q, fine.q, atol=1e-5)
        else:
            assert run.status in ("inaccurate", "singular"), drive


def test_drives_of_the_robot_that_do_not_act_are_told():
    arm = mp.planar([1.0, 1.0], [1.0, 1.0])
    sprung = arm.replace(joints=tuple(replace(j, drive=mp.drives.Flexible(stiffness=100.0)) for j in arm.joints))
    run = mp.programmed_motion(sprung, ["y = 0.8"], independent=[0]).run(
        START, duration=0.05, step=1e-3, start="project"
    )
    assert any("drives of joint1, joint2 do not act" in note for note in run.notes)


def test_a_verification_that_cannot_reach_the_end_is_no_verification(monkeypatch):
    from manipula.simulation.programmed import run as programmed_run

    true = programmed_run.integrate

    def broken(program, independent, x, parts, integrator):
        done = true(program, independent, x, parts, integrator)
        return done if parts[0].ratio == 1.0 else done._replace(ending=0.05)

    monkeypatch.setattr(programmed_run, "integrate", broken)
    run = pendulum(1.0).run(START, duration=0.1, step=1e-3, start="project")
    assert run.status == "inaccurate"
    assert "end" in run.reason
