"""Pulses, bumps, corners and fast torques act, however long the steps are; what cannot be followed is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.algebra import ops

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its axis
METHODS = ("auto", "rk4", "midpoint", "dopri5", "dop853", "rodas")
ALLOWED = 1e-5  # ten tolerances


def free(**options: Any) -> mp.Result:
    return mp.simulate(mp.Scenario(robot=ROD, q0=[0.0], duration=1.0, sample=0.25, **options))


def right_or_flagged(result: mp.Result, truth: float) -> None:
    if result.ok:
        assert abs(result.q[-1, 0] - truth) <= ALLOWED, result.reason
    else:
        assert result.status in ("inaccurate", "step_too_small")
        assert result.trusted_until < 1.0


@pytest.mark.parametrize("method", METHODS)
def test_a_wrench_shorter_than_a_step_acts(method: str) -> None:
    """2000 N·m for 0.3 ms, begun between two steps: 0.6 rad/s from then on."""
    push = mp.Wrench((0, 0, 0, 0, 0, 2000.0), start=0.50013, stop=0.50043)
    result = free(integrator=method, disturbances=(push,))
    assert result.ok, result.reason
    assert abs(result.q[-1, 0] - 0.6 * (1.0 - 0.50028)) <= 1e-9


def test_defaults_do_not_step_over_a_wrench_under_control() -> None:
    push = mp.Wrench((0, 0, 0, 0, 0, 2000.0), start=0.5, stop=0.5015)
    hold = mp.control.PD(0.0, 0.0, goal=[0.0])
    for method in ("auto", "rodas", "dop853"):
        result = free(controller=hold, integrator=method, disturbances=(push,))
        assert result.ok
        assert abs(result.q[-1, 0] - 3.0 * (1.0 - 0.50075)) <= 1e-9


def test_each_run_of_a_batch_has_its_own_instants() -> None:
    push = mp.Wrench((0, 0, 0, 0, 0, 2000.0), start=0.5, stop=0.50043)
    starts = np.array([0.4999, 0.50003, 0.50042])
    for method in ("rk4", "dop853"):
        result = free(integrator=method, disturbances=(push,), vary={"disturbances[0].start": starts})
        assert result.ok
        kick = 2000.0 * (0.50043 - starts)
        np.testing.assert_allclose(result.q[:, -1, 0], kick * (1.0 - (starts + 0.50043) / 2), atol=1e-10)


def test_a_payload_that_changes_between_steps() -> None:
    """A turning arm meets a mass that already moves with the tip: no torque, so nothing but the time matters under gravity."""
    arm = mp.planar([1.0], [3.0])
    change = mp.PayloadChange(0.12345, 2.0)
    runs = [
        mp.simulate(mp.Scenario(arm, q0=[0.3], duration=0.3, sample=0.1, integrator=i, disturbances=(change,), step=h))
        for i, h in (("rk4", 1e-2), ("rk4", 1e-3), ("dop853", 1e-3))
    ]
    for run in runs[1:]:
        assert run.ok
        np.testing.assert_allclose(run.q, runs[-1].q, atol=1e-10)
    np.testing.assert_allclose(
        runs[0].q, runs[-1].q, atol=1e-6
    )  # steps of 10 ms, one of them divided where the mass appears


@pytest.mark.parametrize("method", METHODS)
def test_a_bump_in_a_formula_is_found(method: str) -> None:
    bump = mp.Wrench((0, 0, 0, 0, 0, "3000*exp(-((t - 0.4567)/0.0002)^2)"))
    right_or_flagged(free(integrator=method, disturbances=(bump,)), 3000 * np.sqrt(np.pi) * 2e-4 * (1.0 - 0.4567))


@pytest.mark.parametrize("method", ["rk4", "dop853", "rodas"])
def test_jumps_of_a_formula_are_found(method: str) -> None:
    """sign(sin(π(t − 0.1234)/0.2)) changes sides every 0.2 s."""
    result = free(integrator=method, disturbances=(mp.Wrench((0, 0, 0, 0, 0, "5*sign(sin(pi*(t - 0.1234)/0.2))")),))
    assert result.ok, result.reason
    edges, sign, q, v = [0.0, 0.1234, 0.3234, 0.5234, 0.7234, 0.9234, 1.0], -1.0, 0.0, 0.0
    for a, b in zip(edges, edges[1:]):
        q, v, sign = q + v * (b - a) + 2.5 * sign * (b - a) ** 2, v + 5.0 * sign * (b - a), -sign
    assert abs(result.q[-1, 0] - q) <= 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_a_torque_of_four_kilohertz_does_not_become_a_constant(method: str) -> None:
    fast = mp.Wrench((0, 0, 0, 0, 0, "10*cos(2*pi*4000*t)"))
    right_or_flagged(free(integrator=method, disturbances=(fast,)), 0.0)


def test_a_users_torque_of_four_kilohertz_is_not_called_finished_when_it_aliases() -> None:
    def torque(t: Any, q: Any, qd: Any, target: Any) -> Any:
        return np.array([10.0 * ops.cos(2 * np.pi * 4000 * t)])

    law = mp.control.UserFunction(torque)
    for method in ("auto", "rk4", "semi_implicit", "dop853"):
        right_or_flagged(free(controller=law, integrator=method), 0.0)


@pytest.mark.parametrize("method", ["auto", "rk4", "dop853", "rodas"])
@pytest.mark.parametrize("width", [1.6e-3, 6e-5])
def test_a_users_pulse_is_met_or_confessed(method: str, width: float) -> None:
    def torque(t: Any, q: Any, qd: Any, target: Any) -> Any:
        return np.array([ops.where(ops.abs(t - 0.70033) < width / 2, 2.0 / width, 0.0)])

    right_or_flagged(free(controller=mp.control.UserFunction(torque), integrator=method), 2.0 * (1.0 - 0.70033))


def test_played_torques_turn_at_their_own_times() -> None:
    """A triangle of 1 ms around 0.5 s: the impulse is half its base times its height."""
    times, values = [0.0, 0.49951, 0.50001, 0.50051, 1.0], [[0.0], [0.0], [2000.0], [0.0], [0.0]]
    for method in ("auto", "rk4", "dopri5", "rodas"):
        result = free(integrator=method, torques=(times, values))
        assert result.ok
        assert abs(result.q[-1, 0] - 1.0 * (1.0 - 0.50001)) <= 1e-9


def test_a_short_motion_of_the_reference_is_followed() -> None:
    """The target rests, jumps by 0.1 rad within 2 ms, and rests again: an adaptive method may not sleep through it."""
    move = mp.trajectory(mp.paths.joint([[0.0], [0.1]]), mp.timing.quintic(0.002))
    law = mp.control.PD(100.0, 20.0)
    runs = [mp.simulate(mp.Scenario(ROD, reference=move, controller=law, duration=1.0, sample=0.25, integrator=i, step=h))
            for i, h in (("rk4", 1e-4), ("dop853", 1e-3), ("rodas", 1e-3))]  # fmt: skip
    for run, allowed in zip(runs, (1e-6, 1e-9, 0.0)):
        assert run.ok, run.reason
        np.testing.assert_allclose(run.q, runs[-1].q, rtol=0, atol=allowed)


def test_what_no_step_can_follow_is_said() -> None:
    wild = mp.Wrench((0, 0, 0, 0, 0, "10*cos(1e9*t)"))
    for method in ("rk4", "dop853"):
        result = free(integrator=method, disturbances=(wild,))
        assert result.status == "inaccurate"
        assert "10*cos(1e9*t)" in result.reason


def test_a_pulse_of_a_controller_in_python_is_met_and_what_was_covered_is_told() -> None:
    """One millisecond in a quarter of a second, by code that cannot be traced."""

    def torque(t: Any, q: Any, qd: Any, target: Any) -> Any:
        return np.array([2000.0 if 0.10013 < float(t) < 0.10113 else 0.0])

    law = mp.control.UserFunction(torque)
    result = mp.simulate(mp.Scenario(ROD, q0=[0.0], duration=0.25, sample=0.25, controller=law, integrator="rk4"))
    right_or_flagged(result, 2.0 * (0.25 - 0.10063))
    assert any("asked at 1024 times" in note for note in result.notes)


def test_a_force_that_is_periodic_along_a_step_hides_from_no_repetition() -> None:
    """Every stage of RK4, and of a repetition by half steps, meets the same phase: only steps divided at another ratio see that it swings."""
    slider = mp.from_urdf(
        '<robot name="s"><link name="base"/><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
        'iyz="0"/></inertial></link><joint name="j" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="1 0 0"/>'
        '<limit lower="-9" upper="9" velocity="9" effort="9"/></joint></robot>'
    )
    step = 1e-3
    push = mp.Wrench([f"0.002*sin(2*pi*x/{step / 4} + 1)", 0, 0, 0, 0, 0])
    run = mp.simulate(
        mp.Scenario(slider, q0=[0.0], qd0=[1.0], duration=0.05, step=step, integrator="rk4", disturbances=(push,))
    )
    assert abs(run.qd[-1, 0] - 1.0) > 1e-5  # the mean of the force is zero: this is wrong
    assert run.status == "inaccurate"
