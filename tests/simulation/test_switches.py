"""Gains and references that change at a time or an event: instants to rounding, held against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError

OUTSIDE = 1e-9
INERTIA = 0.4
HARD, SOFT = control.PD(40.0, 6.0, goal=[0.5]), control.PD(10.0, 9.0, goal=[0.5])


def hinge() -> mp.Robot:
    return mp.planar(lengths=[1.0], masses=[3.0 * INERTIA], gravity=(0, 0, 0))


def flow(pd: control.PD, x: np.ndarray, t: float) -> np.ndarray:
    """A double integrator under PD with the goal 0.5, by the matrix exponential."""
    A = np.array([[0.0, 1.0], [-pd.kp / INERTIA, -pd.kv / INERTIA]])
    rest = np.array([0.5, 0.0])
    return rest + expm(A * t) @ (x - rest)


def regulator(**more: Any) -> mp.Scenario:
    usual: dict[str, Any] = {"controller": HARD, "duration": 1.0, "sample": 0.05, "step": 2.5e-4}
    return mp.Scenario(robot=hinge(), q0=[0.0], qd0=[0.3], **{**usual, **more})


def switched(t: np.ndarray, instant: float) -> np.ndarray:
    start = np.array([0.0, 0.3])
    at = flow(HARD, start, instant)
    return np.array([flow(HARD, start, s) if s < instant else flow(SOFT, at, s - instant) for s in t])


@pytest.mark.parametrize("integrator", ["rk4", "dop853", "rodas"])
def test_gains_change_where_a_formula_crosses_zero(integrator: str) -> None:
    result = mp.simulate(
        regulator(switches=(mp.Switch(when="q1 - 0.25", controller=SOFT),), integrator=integrator, tolerance=1e-7)
    )
    instant = brentq(lambda s: flow(HARD, np.array([0.0, 0.3]), s)[0] - 0.25, 0.01, 0.5, xtol=1e-15)
    assert result.ok
    assert abs(result.switched[-1, 0] - instant) <= OUTSIDE
    assert np.abs(np.hstack([result.q, result.qd]) - switched(result.t, instant)).max() <= OUTSIDE
    assert np.array_equal(result.switched[:, 0] >= 0.0, result.t >= instant)
    assert f"happened at t = {instant:.9g}" in " ".join(result.notes)


def test_gains_change_at_times_that_differ_from_run_to_run() -> None:
    instants = [0.1234567, 0.4]
    scenario = regulator(switches=(mp.Switch(time=0.2, controller=SOFT),), vary={"switches[0].time": instants})
    result = mp.simulate(scenario)
    assert result.ok
    for k, instant in enumerate(instants):
        assert np.abs(np.hstack([result.q[k], result.qd[k]]) - switched(result.t, instant)).max() <= OUTSIDE
    alone = mp.simulate(scenario.replace(vary=None, switches=(mp.Switch(time=0.4, controller=SOFT),)))
    assert np.array_equal(alone.q, result.q[1])


def test_a_formula_beyond_zero_must_come_back_first_and_directions_count() -> None:
    """qd1 - 0.2 is positive at the start; it crosses upwards only after it has been negative."""
    up = mp.simulate(regulator(switches=(mp.Switch(when="q1 + 1", controller=SOFT),)))
    assert up.switched[-1, 0] < 0.0
    assert "switches[0] never happened." in up.notes
    down = mp.simulate(regulator(switches=(mp.Switch(when="qd1 - 0.5", direction="down", controller=SOFT),)))
    speed = lambda s: flow(HARD, np.array([0.0, 0.3]), s)[1] - 0.5
    top = max(np.linspace(0.0, 0.5, 500), key=speed)
    assert abs(down.switched[-1, 0] - brentq(speed, top, 1.0, xtol=1e-15)) <= OUTSIDE


def test_a_reference_begins_when_it_is_switched_to() -> None:
    """From the middle of a move the arm is sent back; it starts where the reference does, so it follows without error."""
    robot = mp.load("planar-2r")
    there = mp.trajectory(mp.paths.joint([[0.0, 0.0], [0.8, -0.6]]), mp.timing.quintic(1.0))
    back = mp.trajectory(mp.paths.joint([[0.8, -0.6], [0.1, 0.2]]), mp.timing.quintic(0.5))
    base = mp.Scenario(
        robot=robot, reference=there, controller=control.ComputedTorque(100.0, 20.0), duration=2.0, sample=0.1
    )
    timed = mp.simulate(base.replace(switches=(mp.Switch(time=1.2, reference=back),)))
    assert timed.ok
    assert np.abs(timed.error).max() <= 1e-8
    expected = [there.position(min(t, 1.0)) if t < 1.2 - 1e-9 else back.position(min(t - 1.2, 0.5)) for t in timed.t]
    np.testing.assert_allclose(timed.target, expected, atol=1e-9)
    met = mp.simulate(base.replace(switches=(mp.Switch(when="q1 - 0.4", reference=back),)))
    instant = float(met.switched[-1, 0])
    assert met.ok
    assert abs(there.position(instant)[0] - 0.4) <= OUTSIDE
    expected = [there.position(t) if t < instant else back.position(min(t - instant, 0.5)) for t in met.t]
    np.testing.assert_allclose(met.target, expected, atol=1e-9)
    assert np.abs(met.q[-1] - [0.1, 0.2]).max() < 1e-3


def test_a_digital_controller_learns_of_it_at_its_next_instant() -> None:
    T = 0.01
    result = mp.simulate(
        regulator(switches=(mp.Switch(when="q1 - 0.25", controller=SOFT),), control_period=T, sample=T)
    )
    x, on, law = np.array([0.0, 0.3]), False, []
    for _ in result.t:
        law.append(x)
        on = on or x[0] >= 0.25
        pd = SOFT if on else HARD
        u = pd.kp * (0.5 - x[0]) - pd.kv * x[1]
        x = np.array([x[0] + T * x[1] + T * T / 2 * u / INERTIA, x[1] + T * u / INERTIA])
    assert result.ok
    assert np.abs(np.hstack([result.q, result.qd]) - law).max() <= 1e-12


def test_integrals_go_on() -> None:
    soft, hard = (control.PID(kp, 30.0, 6.0, goal=[0.5]) for kp in (20.0, 40.0))
    result = mp.simulate(regulator(controller=hard, switches=(mp.Switch(time=0.3, controller=soft),), sample=0.01))
    assert result.ok
    z = result.controller_states[:, 0]
    assert np.abs(np.diff(z)).max() < 0.3 * 0.5  # no jump at the switch


def test_what_cannot_act_is_refused() -> None:
    for bad, words in (
        ({}, "give one of them"), ({"time": 0.1, "when": "q1"}, "give one of them"), ({"time": 0.1}, "another controller, or another reference"),
        ({"time": -1.0, "controller": SOFT}, "at least 0"), ({"time": 0.1, "direction": "down", "controller": SOFT}, "direction"),
        ({"when": "q1", "direction": "sideways", "controller": SOFT}, "direction"),
    ):  # fmt: skip
        with pytest.raises(DescriptionError, match=words):
            mp.Switch(**bad)
    move = mp.trajectory(mp.paths.joint([[0.0], [0.1]]), mp.timing.quintic(0.5))
    for switch, words in (
        (mp.Switch(when="q2", controller=SOFT), "q2"),
        (mp.Switch(when="2 - 1", controller=SOFT), "never crosses zero"), (mp.Switch(when="q1 +", controller=SOFT), "when"),
        (mp.Switch(time=0.1, reference=move), "follows no reference"),
        (mp.Switch(time=0.1, controller=control.PD([1.0, 2.0], 1.0)), "one per joint is needed"),
    ):  # fmt: skip
        with pytest.raises(DescriptionError, match=words):
            regulator(switches=(switch,))
    for law, words in ((control.GravityCompensation(), "the run has 'pd'"), (control.PD(1.0, 1.0), "'goal'")):
        with pytest.raises(DescriptionError, match=words):
            mp.simulate(regulator(switches=(mp.Switch(time=0.1, controller=law),)))
    late = regulator(switches=(mp.Switch(time=0.2, controller=SOFT),))
    for changes in ({"duration": 0.1}, {"vary": {"switches[0].time": [0.1, 2.0]}}):
        with pytest.raises(DescriptionError, match=r"switches\[0\].time: It would never act"):
            mp.simulate(late.replace(**changes))
    with pytest.raises(DescriptionError, match="switches"):
        mp.simulate(
            mp.Scenario(robot=hinge(), q0=[0.1], duration=1.0, switches=(mp.Switch(time=0.1, controller=SOFT),))
        )


def test_switches_in_files(tmp_path: Any) -> None:
    robot = mp.load("planar-2r")
    there = mp.trajectory(mp.paths.joint([[0.0, 0.0], [0.8, -0.6]]), mp.timing.quintic(1.0))
    back = mp.trajectory(mp.paths.joint([[0.8, -0.6], [0.1, 0.2]]), mp.timing.quintic(0.5))
    law, other = control.ComputedTorque(100.0, 20.0), control.ComputedTorque(400.0, 40.0)
    switches = (mp.Switch(time=0.5, controller=other), mp.Switch(when="qd2 + 0.1", direction="down", reference=back))
    scenario = mp.Scenario(robot=robot, reference=there, controller=law, duration=2.0, switches=switches)
    scenario.save(tmp_path / "run.toml")
    assert mp.Scenario.load(tmp_path / "run.toml") == scenario


def test_a_switch_at_a_time_is_told_and_recorded_too() -> None:
    both = (mp.Switch(time=0.4, controller=HARD), mp.Switch(when="q1 - 0.25", controller=SOFT))
    result = mp.simulate(regulator(switches=both))
    assert "switches[0] happened at t = 0.4 s." in result.notes
    np.testing.assert_array_equal(result.switched[:, 0], np.where(result.t >= 0.4 - 1e-12, 0.4, -1.0))
    assert set(result.switched[:, 1]) == {-1.0, result.switched[-1, 1]}
    assert result.jerk().exact
    varied = mp.simulate(regulator(switches=both[:1], vary={"switches[0].time": [0.2, 0.4]}))
    np.testing.assert_array_equal(varied.switched[:, -1, 0], [0.2, 0.4])


def test_gains_of_laws_that_decide_by_the_reference_can_be_switched() -> None:
    robot = mp.planar(lengths=[0.5, 0.4, 0.3], masses=[1, 1, 1], gravity=(0, 0, 0))
    q0 = [0.3, 0.4, 0.5]
    x, y = mp.compile(robot).pose(q0)[:2, 3]
    turned = mp.formula_motion([str(x + 0.01), str(y), "0"], duration=0.3, orientation=["0", "0", "1.2"])
    plain = mp.formula_motion([str(x + 0.01), str(y), "0"], duration=0.3)
    laws: Any = (
        lambda k: control.OperationalSpace(kp=100 * k, kv=20),
        lambda k: control.TaskSpaceComputedTorque(kp=100 * k, kv=20),
        lambda k: control.TaskPriorities(tasks=(control.FramePosition(gain=10 * k),), null_damping=1.0),
    )
    for law in laws:
        reference = plain if isinstance(law(1), control.TaskPriorities) else turned
        s = mp.Scenario(robot=robot, reference=reference, controller=law(1), q0=q0, sample=0.05)
        one, same, other = (
            mp.simulate(s.replace(switches=w)).check()
            for w in ((), *((mp.Switch(time=0.1, controller=law(k)),) for k in (1, 2)))
        )
        np.testing.assert_allclose(same.q, one.q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(other.q[:2], one.q[:2], rtol=0, atol=1e-9)
        assert np.abs(other.q - one.q).max() > 1e-4
    more = control.TaskPriorities(tasks=(control.FramePosition(), control.FramePosition(frame="link1", priority=2)))
    with pytest.raises(DescriptionError, match=r"switches\[0\].controller.tasks"):
        mp.simulate(s.replace(switches=(mp.Switch(time=0.1, controller=more),)))
    whole, part = (control.OperationalSpace(kp=100, kv=20, orientation=o) for o in ("auto", "free"))
    with pytest.raises(DescriptionError, match="orientation"):
        mp.simulate(s.replace(reference=turned, controller=whole, switches=(mp.Switch(time=0.1, controller=part),)))
