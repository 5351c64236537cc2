"""Every place at which a run is looked at is there for a motion that only this place shows; judged by closed forms of one turning rod."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.algebra import ops
from manipula.errors import DescriptionError

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its axis
PERIOD = 0.1


def decided(t: Any, q: Any, qd: Any, target: Any) -> Any:
    """2 N·m in the first period, nothing after it."""
    return [ops.where(t < PERIOD / 2, 2.0, 0.0)]


@pytest.mark.parametrize("delay", [0.0, 0.04])
@pytest.mark.parametrize("many", [False, True])
def test_what_a_held_command_asks_for_at_its_end(many: bool, delay: float) -> None:
    """The power is largest just before the command changes, 2 N·m at 0.2 rad/s or later; all looks but that one see less."""
    s = mp.Scenario(
        ROD, controller=control.UserFunction(decided), q0=[[0.0], [0.1]] if many else [0.0], duration=0.3, step=PERIOD, control_period=PERIOD,
        actuator=mp.Actuator(delay=delay), limits={"power": 0.01},
    )  # fmt: skip
    run = mp.simulate(s)
    assert run.ok, run.reason
    end = PERIOD + delay  # what was decided first acts until what is decided next arrives
    verdicts = [run.run(k).feasibility for k in range(2)] if many else [run.feasibility]
    for (check,) in (v.broken for v in verdicts):
        assert check.worst == pytest.approx(2.0 * 2.0 * end, rel=1e-9)
        assert check.time == pytest.approx(end, abs=1e-6)


def test_a_pulse_on_a_motion_that_is_given() -> None:
    """A push of a fifth of a millisecond, between two looks and beside every sample."""
    motion = mp.trajectory(mp.paths.joint([[0.0], [1.0]]), mp.timing.quintic(1.0))
    push = mp.Wrench((0, 0, 0, 0, 0, 50.0), start=0.50032, stop=0.50052)
    s = mp.Scenario(ROD, motion, kind="inverse_dynamics", step=0.1, disturbances=push, limits={"torque": 40.0})
    run = mp.simulate(s)
    assert run.feasible is False
    check = run.feasibility.broken[0]
    assert 0.50032 - 1e-6 <= check.first <= 0.50052 + 1e-6
    assert check.worst == pytest.approx(-50.0 + float(motion.acceleration(0.50052)[0]), rel=1e-4)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_pulse_that_comes_at_another_time_in_every_run(method: str) -> None:
    push = mp.Wrench((0, 0, 0, 0, 0, 50.0), start=0.1234, stop=0.4)
    times = np.array([0.1234, 0.33217])
    s = mp.Scenario(
        ROD, q0=np.zeros((2, 1)), duration=0.5, step=0.05, integrator=method, disturbances=push, limits={"acceleration": 40.0},
        vary={"disturbances[0].start": times, "disturbances[0].stop": times + 2e-4},
    )  # fmt: skip
    run = mp.simulate(s)
    assert run.ok, run.reason
    for k in range(2):
        (check,) = run.run(k).feasibility.broken
        assert check.worst == pytest.approx(50.0, rel=1e-9)
        assert times[k] - 1e-6 <= check.first <= times[k] + 2e-4 + 1e-6


@pytest.mark.parametrize("time", [0.2, 0.3])
def test_a_switch_at_the_end_or_later_never_acts(time: float) -> None:
    law, other = control.PD(10.0, 5.0, goal=[1.0]), control.PD(20.0, 5.0, goal=[1.0])
    s = mp.Scenario(ROD, controller=law, q0=[0.0], duration=0.2)
    with pytest.raises(DescriptionError, match="is over") as error:
        mp.simulate(s.replace(switches=mp.Switch(time=time, controller=other)))
    assert error.value.field == "switches[0].time"
    with pytest.raises(DescriptionError, match="is over"):
        mp.simulate(
            s.replace(
                q0=np.zeros((2, 1)), switches=mp.Switch(time=0.1, controller=other), vary={"switches[0].time": np.array([0.1, time])}
            )
        )  # fmt: skip
    assert mp.simulate(s.replace(switches=mp.Switch(time=0.199, controller=other))).switched[-1].tolist() == [0.199]
